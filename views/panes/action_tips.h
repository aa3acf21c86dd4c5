// SPDX-License-Identifier: GPL-3.0-or-later
// What a button says under the mouse: what it does with its keys, and below that what holds at the moment. What an action
// is called.
#pragma once

#include <QString>

class QAction;

namespace pf::views {

/// The first line: what it does, with its keys.
[[nodiscard]] QString firstLineOfTip(const QAction& action);
void setFirstLineOfTip(QAction& action, const QString& text);
/// It can be done now, and `note` is said of it; empty: nothing.
void setPossible(QAction& action, const QString& note = {});
/// It cannot, and the tip says why; empty: it can.
void setWhyNot(QAction& action, const QString& why);
/// Why it cannot be done now; empty: it can.
[[nodiscard]] QString whyNot(const QAction& action);
/// What it is called away from its menu, in which "it" means something.
void setWholeName(QAction& action, const QString& name);
/// Its text, unless it has one.
[[nodiscard]] QString wholeName(const QAction& action);

}  // namespace pf::views

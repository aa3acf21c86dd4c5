// SPDX-License-Identifier: GPL-3.0-or-later
// One entry of the window's menus.
#pragma once

#include <functional>

class QAction;
class QIcon;
class QKeySequence;
class QString;
class QWidget;

namespace pf::gui {

/// Owned by `window`. `tip` says what it does, in the status bar and, with its keys, over a button. Without `does` the
/// caller connects it.
[[nodiscard]] QAction* makeCommand(QWidget& window, const QString& text, const QString& tip,
                                   const QIcon& icon, const QKeySequence& keys,
                                   const std::function<void()>& does);

}  // namespace pf::gui

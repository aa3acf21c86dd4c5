// SPDX-License-Identifier: GPL-3.0-or-later
// Another GDB than the first of the search path, kept in the settings.
#pragma once

#include <QString>

class QWidget;

namespace pf::gui {

/// Takes what was chosen in an earlier window, unless --gdb or PHOTOFINISH_GDB says something. What is wrong with it; empty:
/// nothing.
[[nodiscard]] QString takeChosenGdb();
/// Asks for a path or a name; nothing given: the first `gdb` of the search path. Debuggers that run stay. What to tell; empty:
/// it was cancelled.
[[nodiscard]] QString chooseGdb(QWidget* parent);

}  // namespace pf::gui

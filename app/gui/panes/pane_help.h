// SPDX-License-Identifier: GPL-3.0-or-later
// What each pane shows and does, in the window itself: F1, and "What's this?".
#pragma once

#include <QString>

class QAction;
class QMainWindow;

namespace pf::gui {

/// The help of a pane by the object name of its dock ("ranks", "stacks" …), or of "centre"; empty if there is none.
[[nodiscard]] QString paneHelp(const QString& name);

/// Gives every dock and the centre its help. The action shows that of the pane with the keyboard focus.
[[nodiscard]] QAction* makePaneHelp(QMainWindow& window);

}  // namespace pf::gui

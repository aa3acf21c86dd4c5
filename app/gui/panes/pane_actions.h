// SPDX-License-Identifier: GPL-3.0-or-later
// Going to a pane by keys: a command for each, which raises it and gives it the keyboard focus.
#pragma once

#include <vector>

#include <QList>

class QAction;
class QDockWidget;
class QMainWindow;
class QWidget;

namespace pf::gui {

/// "Go to Races" … for the diagram, the source and each dock; Alt+1 … Alt+9 for the most used ones.
/// Owned by `window`.
[[nodiscard]] QList<QAction*> makePaneActions(QMainWindow& window, QWidget& diagram,
                                              QWidget& source,
                                              const std::vector<QDockWidget*>& docks);

/// Shows the pane, in front of those that share its place, and gives the focus to what is operated
/// in it.
void goToPane(QDockWidget& dock);

}  // namespace pf::gui

// SPDX-License-Identifier: GPL-3.0-or-later
// A pane as a picture (SVG, PNG), its table as CSV.
#pragma once

#include <functional>

#include <QList>
#include <QString>

class QAbstractItemView;
class QAction;
class QDockWidget;
class QMainWindow;
class QWidget;

namespace pf::gui {

/// What was written, or what is wrong and what to do.
using ExportSaid = std::function<void(const QString& text, bool problem)>;

/// "Export Races …" for each dock: in its title's menu, and for a menu of the window. Owned by
/// `window`.
[[nodiscard]] QList<QAction*> makeExportActions(QMainWindow& window,
                                                const QList<QDockWidget*>& docks,
                                                const ExportSaid& said);

/// Writes what the pane shows into `path`: .svg and .png as it is seen, .csv all rows of its table
/// (the one that has the keyboard, else the longest). CSV is written in parts, so that the window
/// goes on; `said` is called at the end.
void exportPane(QWidget& pane, const QString& path, const ExportSaid& said);

/// The table that exportPane() takes; null: the pane has none.
[[nodiscard]] QAbstractItemView* tableOf(QWidget& pane);

}  // namespace pf::gui

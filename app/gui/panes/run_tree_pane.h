// SPDX-License-Identifier: GPL-3.0-or-later
// Pane Runs: the run that is shown, those that it is another order of, and their other orders: what each took, and how it ended.
#pragma once

#include <QFutureWatcher>
#include <QTreeWidget>

#include "app/branching/run_tree.h"
#include "replay_engine/base/result.h"

class QAction;

namespace pf::gui {

class RunTreePane : public QTreeWidget {
  Q_OBJECT
 public:
  explicit RunTreePane(QWidget* parent = nullptr);

  /// The run that is shown. Empty: it is in no file. What lies beside it is read once the pane is seen.
  void setTrace(const QString& path);
  /// Others may have come.
  void refresh();

 Q_SIGNALS:
  void openWanted(const QString& trace);
  void comparisonWanted(const QString& trace);

 private:
  void showEvent(QShowEvent* event) override;
  void read();
  void fill();
  void renewActions();
  [[nodiscard]] QString chosen() const;

  QString m_path;
  bool m_stale = false;
  QFutureWatcher<Result<app::RunTree>> m_reading;
  QAction* m_open;
  QAction* m_compare;
};

}  // namespace pf::gui

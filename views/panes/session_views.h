// SPDX-License-Identifier: GPL-3.0-or-later
// Breakpoints, cycles, and the strip that shows long work.
//
// BreakpointsView  in: setBreakpoints   out: enableRequested, conditionEdited, ignoreCountEdited,
// ranksEdited,
// stopsEdited,
//                                            addRequested, editRequested(id),
//                                            removeRequested(ids), showRequested(breakpoint)
// CyclesView       in: setCycles        out: cycleActivated(number), stopActivated(event)
// ProgressStrip    in: start, setProgress, finish    out: cancelRequested
#pragma once

#include <QList>
#include <QWidget>

#include "views/values/debug_values.h"

class QAction;
class QLabel;
class QProgressBar;
class QTableView;
class QToolButton;
class QTreeView;

namespace pf::views {

class BreakpointsModel;
class CyclesModel;

class BreakpointsView : public QWidget {
  Q_OBJECT
 public:
  explicit BreakpointsView(QWidget* parent = nullptr);
  void setBreakpoints(const QList<Breakpoint>& breakpoints);
  [[nodiscard]] BreakpointsModel* model() const { return m_model; }
  [[nodiscard]] QTableView* table() const { return m_table; }
  [[nodiscard]] QAction* addAction() const { return m_add; }
  [[nodiscard]] QAction* removeAction() const { return m_remove; }
  [[nodiscard]] QAction* removeAllAction() const { return m_removeAll; }

 Q_SIGNALS:
  void enableRequested(int id, bool enabled);
  void conditionEdited(int id, const QString& condition);
  void ignoreCountEdited(int id, int count);
  void ranksEdited(int id, const QString& ranks);  ///< "" = all
  void stopsEdited(int id, const QString& stops);  ///< as stopsText()
  void addRequested();
  void editRequested(int id);
  void removeRequested(const QList<int>& ids);
  void showRequested(const pf::values::Breakpoint& breakpoint);  ///< its source line or its event

 private:
  BreakpointsModel* m_model;
  QTableView* m_table;
  QAction* m_add;
  QAction* m_edit;
  QAction* m_remove;
  QAction* m_removeAll;
};

class CyclesView : public QWidget {
  Q_OBJECT
 public:
  explicit CyclesView(QWidget* parent = nullptr);
  void setCycles(const QList<Cycle>& cycles);
  [[nodiscard]] CyclesModel* model() const { return m_model; }
  [[nodiscard]] QTreeView* tree() const { return m_tree; }
  /// Number of the cycle that is selected, unless that is the newest; 0 = none.
  [[nodiscard]] int selectedCycle() const;

 Q_SIGNALS:
  void cycleActivated(int number);
  void stopActivated(const pf::EventRef& event);

 private:
  CyclesModel* m_model;
  QTreeView* m_tree;
};

/// For a status bar: what goes on, how far it is, and a way to stop it. Hidden when idle.
class ProgressStrip : public QWidget {
  Q_OBJECT
 public:
  explicit ProgressStrip(QWidget* parent = nullptr);
  void start(const QString& task, bool canCancel = true);
  /// `total` 0 = unknown.
  void setProgress(qint64 done, qint64 total);
  void finish();
  [[nodiscard]] QString task() const;
  [[nodiscard]] QSize sizeHint() const override;

 Q_SIGNALS:
  void cancelRequested();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fit();

  QString m_task;
  QLabel* m_label;  ///< as much of it as there is room for
  QProgressBar* m_bar;
  QToolButton* m_cancel;
};

}  // namespace pf::views

// SPDX-License-Identifier: GPL-3.0-or-later
// All ranks' stacks as a tree: parallel stacks.
//
// Data in:  showStacks(stacks, milliseconds), setCurrentRank().
// Out:      refreshRequested, rankRequested(rank), sourceRequested(file, line),
// groupRequested(name,
//           ranks).
#pragma once

#include <QWidget>

#include "views/values/debug_values.h"

class QAction;
class QLabel;
class QTreeView;

namespace pf::values {
class StackTreeModel;
}

namespace pf::views {

class StackTreeView : public QWidget {
  Q_OBJECT
 public:
  explicit StackTreeView(QWidget* parent = nullptr);

  /// `milliseconds`: how long asking has taken.
  void showStacks(const QList<RankStack>& stacks, qint64 milliseconds);
  /// Where the ranks' records end: the last call of each, and where it was made.
  void showRecordEnds(const QList<RankStack>& ends);
  /// Stacks are being asked for.
  void setBusy();
  /// A click on a node that has this rank does not change the rank.
  void setCurrentRank(int rank) { m_rank = rank; }

  [[nodiscard]] values::StackTreeModel* model() const { return m_model; }
  [[nodiscard]] QTreeView* tree() const { return m_tree; }
  [[nodiscard]] QAction* refreshAction() const { return m_refresh; }
  [[nodiscard]] QAction* byLineAction() const { return m_byLine; }
  [[nodiscard]] QAction* groupAction() const { return m_group; }
  [[nodiscard]] QString summary() const;

 Q_SIGNALS:
  void refreshRequested();
  void rankRequested(int rank);
  void sourceRequested(const QString& file, int line);
  void groupRequested(const QString& name, const QList<int>& ranks);

 private:
  void choose(const QModelIndex& index);

  values::StackTreeModel* m_model;
  QTreeView* m_tree;
  QLabel* m_summary;
  QAction* m_refresh;
  QAction* m_byLine;
  QAction* m_group;
  int m_rank = -1;
};

}  // namespace pf::views

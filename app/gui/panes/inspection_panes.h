// SPDX-License-Identifier: GPL-3.0-or-later
// The panes that look at all ranks, or deeper into one: made, docked and wired to the session in
// one place. A pane asks for its data only while it can be seen.
#pragma once

#include <functional>
#include <map>

#include <QObject>
#include <QSet>

#include "app/session/debug_session.h"

class QAction;
class QDockWidget;
class QWidget;

namespace pf::views {
class ArrayView;
class RankStrip;
class RowsView;
class StackTreeView;
class ValuesAcrossView;
}  // namespace pf::views

namespace pf::session {
class ArrayReader;
}

namespace pf::gui {

using session::DebugSession;

class InspectionPanes : public QObject {
  Q_OBJECT
 public:
  /// Makes a dock of a widget: name, title, widget.
  using MakeDock =
      std::function<QDockWidget*(const QString& name, const QString& title, QWidget* widget)>;

  InspectionPanes(DebugSession& session, views::RankStrip& ranks, QWidget* window,
                  const MakeDock& makeDock);

  [[nodiscard]] views::StackTreeView& stacks() { return *m_stacks; }
  [[nodiscard]] QDockWidget* stacksDock() const { return m_stacksDock; }
  [[nodiscard]] views::ValuesAcrossView& across() { return *m_across; }
  [[nodiscard]] QDockWidget* acrossDock() const { return m_acrossDock; }
  [[nodiscard]] views::ArrayView& array() { return *m_array; }
  [[nodiscard]] QDockWidget* arrayDock() const { return m_arrayDock; }
  [[nodiscard]] views::RowsView& rows(session::Look look) { return *m_rows.at(look).view; }
  [[nodiscard]] QDockWidget* rowsDock(session::Look look) const { return m_rows.at(look).dock; }
  /// The ranks have moved, or another one is the current one, or something else is open.
  void refresh();
  /// Asks for the name, with `name` as a proposal.
  void askGroup(const QString& name, const QList<int>& ranks);
  /// A line of the console of `rank`: "@GROUPS command" goes to all ranks of the expression.
  void console(int rank, const QString& line);
  /// Asks for an expression of groups until it can be read, then for the name.
  void askCombination(const QString& proposal = {}, const QString& problem = {});

 Q_SIGNALS:
  void sourceRequested(const QString& file, int line);

 private:
  [[nodiscard]] QList<int> ranksOf(const QString& expression, QString* problem) const;
  void makeRows(const MakeDock& makeDock);
  void connectStacks();
  void connectAcross();
  void connectRows();
  void connectArray();
  void connectGroups();
  /// A dock whose pane is filled by `ask` when it comes into view.
  void fillWhenSeen(QDockWidget* dock, const std::function<void()>& ask);
  void askStacks();
  void showRecordEnds();
  void ask(session::Look look);

  /// A tab behind others counts as visible for Qt; here it does not.
  [[nodiscard]] bool isSeen(const QDockWidget* dock) const { return m_seen.contains(dock); }

  struct Rows {
    views::RowsView* view = nullptr;
    QDockWidget* dock = nullptr;
  };
  DebugSession& m_session;
  views::RankStrip& m_ranks;
  QWidget* m_window;
  views::StackTreeView* m_stacks;
  QDockWidget* m_stacksDock;
  views::ValuesAcrossView* m_across;
  QDockWidget* m_acrossDock;
  views::ArrayView* m_array;
  QDockWidget* m_arrayDock;
  session::ArrayReader* m_arrayReader;
  std::map<session::Look, Rows> m_rows;
  QSet<const QDockWidget*> m_seen;
};

}  // namespace pf::gui

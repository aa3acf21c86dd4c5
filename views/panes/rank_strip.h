// SPDX-License-Identifier: GPL-3.0-or-later
// The ranks, their states, the focus ticks, and the buttons that move them. A table up to 32 ranks,
// a compact grid above.
//
// Data in:  model()->setRanks()/updateRank()/setFocusRanks(), setCurrentRank(), setGroups(),
//           setCommunicators(), setRunText(), setLooksOnly().
// Out:      currentRankChanged(rank), focusChanged(ranks), actionRequested(action, ranks, who),
//           groupRequested(name, ranks) (the name may be asked for), groupMade, groupRemoved.
#pragma once

#include <map>

#include <QList>
#include <QWidget>

#include "views/values/debug_values.h"
#include "views/values/rank_groups.h"

class QAction;
class QComboBox;
class QItemSelectionModel;
class QLabel;
class QListView;
class QMenu;
class QStackedWidget;
class QTableView;
class QToolBar;

namespace pf::views {

class RanksModel;

class RankStrip : public QWidget {
  Q_OBJECT
 public:
  static constexpr int kTableLimit = 32;

  explicit RankStrip(QWidget* parent = nullptr);

  [[nodiscard]] RanksModel* model() const { return m_model; }
  /// Selects without emitting.
  void setCurrentRank(int rank);
  [[nodiscard]] int currentRank() const;
  /// Further scopes besides "current rank", "selected ranks", "focus set" and "all ranks".
  void setGroups(const QList<RankGroup>& groups);
  /// What "Groups" offers to make groups of.
  void setCommunicators(const QList<RankGroup>& communicators) { m_communicators = communicators; }
  /// Ranks of what is selected in the diagram.
  void setDiagramGroups(const QList<RankGroup>& groups) { m_diagramGroups = groups; }
  /// How far the last action has come; empty: the states of all ranks are counted instead.
  void setRunText(const QString& text);
  /// A sentence why no rank can ever run here, as of core files; empty: they can.
  void setLooksOnly(const QString& why);
  /// Ranks that an action is for now.
  [[nodiscard]] QList<int> scopeRanks() const;
  [[nodiscard]] QList<int> selectedRanks() const;
  /// Further entries of the context menu.
  void addCommands(const QList<QAction*>& commands);
  /// The name of the chosen group; empty for other scopes.
  [[nodiscard]] QString scopeName() const;
  [[nodiscard]] QAction* groupAction() const { return m_makeGroup; }
  [[nodiscard]] QMenu* groupMenu() const { return m_groupMenu; }
  [[nodiscard]] QString summary() const;
  /// Continue, Pause, Step, Next, Finish: with shortcuts F5, F6, F11, F10, Shift+F11.
  [[nodiscard]] QAction* action(RankAction action) const;
  /// Why it cannot be done now with the ranks that the buttons are for, as a sentence; empty: it can.
  [[nodiscard]] QString whyNot(RankAction action) const;
  [[nodiscard]] QComboBox* scopeBox() const { return m_scope; }
  [[nodiscard]] bool isCompact() const;

 Q_SIGNALS:
  void currentRankChanged(int rank);
  void focusChanged(const QList<int>& ranks);
  void actionRequested(pf::values::RankAction action, const QList<int>& ranks, const QString& who);
  void groupRequested(const QString& name, const QList<int>& ranks);
  void groupMade(const QString& name, const QList<int>& ranks);
  void groupRemoved(const QString& name);
  void combineRequested();  ///< a group of an expression (ranksOfExpression())

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void showCurrent();
  void makeActions(QToolBar& bar);
  void makeViews();
  void makeGroupMenu(QToolBar& bar);
  void fitWhere();
  void fillGroupMenu();
  void refreshMode();
  void refreshActions();

  RanksModel* m_model;
  QItemSelectionModel* m_selection = nullptr;
  QStackedWidget* m_stack;
  QTableView* m_table;
  QListView* m_grid;
  QComboBox* m_scope;
  QLabel* m_summary;
  std::map<RankAction, QAction*> m_actions;
  QList<RankGroup> m_groups;
  QList<RankGroup> m_communicators;
  QList<RankGroup> m_diagramGroups;
  QAction* m_makeGroup = nullptr;
  QMenu* m_groupMenu = nullptr;
  QString m_runText;
  QString m_looksOnly;
  bool m_quiet = false;
};

}  // namespace pf::views

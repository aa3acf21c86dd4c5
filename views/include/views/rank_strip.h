// The ranks, their states, the focus ticks, and the buttons that move them. A table up to 32 ranks,
// a compact grid above.
//
// Data in:  model()->setRanks()/updateRank()/setFocusRanks(), setCurrentRank(), setGroups().
// Out:      currentRankChanged(rank), focusChanged(ranks), actionRequested(action, ranks).
#pragma once

#include <map>

#include <QList>
#include <QWidget>

#include "views/debug_values.h"

class QAction;
class QComboBox;
class QItemSelectionModel;
class QLabel;
class QListView;
class QStackedWidget;
class QTableView;
class QToolBar;

namespace pf::views {

class RanksModel;

/// A named set of ranks in the scope list.
struct RankGroup {
  QString name;
  QList<int> ranks;
  friend bool operator==(const RankGroup&, const RankGroup&) = default;
};

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
  /// Ranks that an action is for now.
  [[nodiscard]] QList<int> scopeRanks() const;
  /// Continue, Pause, Step, Next, Finish: with shortcuts F5, F6, F11, F10, Shift+F11.
  [[nodiscard]] QAction* action(RankAction action) const;
  [[nodiscard]] QComboBox* scopeBox() const { return m_scope; }
  [[nodiscard]] bool isCompact() const;

 Q_SIGNALS:
  void currentRankChanged(int rank);
  void focusChanged(const QList<int>& ranks);
  void actionRequested(pf::views::RankAction action, const QList<int>& ranks);

 private:
  void makeActions(QToolBar& bar);
  void makeViews();
  void refreshMode();
  void refreshActions();
  [[nodiscard]] QList<int> selectedRanks() const;

  RanksModel* m_model;
  QItemSelectionModel* m_selection = nullptr;
  QStackedWidget* m_stack;
  QTableView* m_table;
  QListView* m_grid;
  QComboBox* m_scope;
  QLabel* m_summary;
  std::map<RankAction, QAction*> m_actions;
  QList<RankGroup> m_groups;
  bool m_quiet = false;
};

}  // namespace pf::views

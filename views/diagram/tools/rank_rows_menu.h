// SPDX-License-Identifier: GPL-3.0-or-later
// Commands that choose which ranks the diagram shows, in which order, and which share a row: for
// the menu of the rows' names, the View menu and the command palette.
#pragma once

#include <functional>

#include <QList>
#include <QObject>

#include "views/trace/analyses/rank_arrangement.h"

class QAction;
class QMenu;
class QPoint;
class QWidget;

namespace pf::views {

class SpaceTimeCanvas;

/// Adds what can be done with these ranks besides.
using RankCommands = std::function<void(QMenu& menu, const QList<int>& ranks)>;

class RankRowsMenu : public QObject {
  Q_OBJECT
 public:
  /// Actions are children of `owner`.
  RankRowsMenu(SpaceTimeCanvas& canvas, QWidget& owner);
  /// Named by the user; those of the trace's communicators are known.
  void setGroups(const QList<RankGroup>& groups) { m_groups = groups; }
  void setRankCommands(RankCommands add) { m_addRankCommands = std::move(add); }
  void addRankCommands(QMenu& menu, const QList<int>& ranks) const;
  [[nodiscard]] QList<QAction*> actions() const;
  /// The menu of a row's name; -1: of none.
  void popup(int row, const QPoint& globalPosition);
  /// What can be done now.
  void refresh();

  /// Asked for by typing: ranks of an expression of groups. Asks again with what is wrong.
  void askShowOnly(const QString& proposal = {}, const QString& problem = {});
  void askCollapse(const QString& proposal = {}, const QString& problem = {});

 private:
  [[nodiscard]] QAction* add(const QString& text, const QString& tip,
                             const std::function<void()>& does);
  void makeOrders();
  [[nodiscard]] QList<RankGroup> groups() const;
  [[nodiscard]] QList<int> around(EventRef event) const;
  [[nodiscard]] QString ask(const QString& title, const QString& question, const QString& proposal,
                            const QString& problem) const;
  void change(const std::function<void(RankArrangement&)>& edit);

  SpaceTimeCanvas& m_canvas;
  QWidget& m_owner;
  QList<RankGroup> m_groups;
  RankCommands m_addRankCommands;
  QAction* m_hide;
  QAction* m_onlyPartners;
  QAction* m_showOnly;
  QAction* m_collapse;
  QAction* m_expandAll;
  QAction* m_showAll;
  QList<QAction*> m_orders;  ///< by RankOrder
};

}  // namespace pf::views

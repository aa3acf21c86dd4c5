// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/tools/rank_rows_menu.h"

#include <algorithm>
#include <set>

#include <QAction>
#include <QActionGroup>
#include <QInputDialog>
#include <QMenu>

#include "views/diagram/canvas/space_time_canvas.h"
#include "views/trace/analyses/trace_causality.h"
#include "views/trace/analyses/trace_text.h"
#include "views/values/text.h"

namespace pf::views {

RankRowsMenu::RankRowsMenu(SpaceTimeCanvas& canvas, QWidget& owner)
    : QObject(&owner), m_canvas(canvas), m_owner(owner) {
  m_hide =
      add(tr("Hide this rank"), tr("Take the selected event's rank out of the diagram"), [this] {
        change([rank = m_canvas.eventCursor().selected().rank](RankArrangement& to) {
          to.hide({rank});
        });
      });
  m_onlyPartners = add(
      tr("Show only its partners"),
      tr("Show the selected event's rank, those it exchanges messages with, and racing senders"),
      [this] {
        change([this](RankArrangement& to) {
          to.showOnly(around(m_canvas.eventCursor().selected()),
                      toInt(m_canvas.trace()->rankCount()));
        });
      });
  m_showOnly = add(tr("Show only ranks …"),
                   tr("Show the ranks of a group, a communicator, or an expression of them"),
                   [this] { askShowOnly(); });
  m_collapse =
      add(tr("Collapse ranks into a row …"),
          tr("Draw the ranks of a group or communicator in one row"), [this] { askCollapse(); });
  m_expandAll = add(tr("Expand all shared rows"), tr("Give each rank a row of its own again"),
                    [this] { change([](RankArrangement& to) { to.sharedRows.clear(); }); });
  m_showAll = add(tr("Show all ranks"), tr("All ranks, each in a row of its own, by number"),
                  [this] { change([](RankArrangement& to) { to = {}; }); });
  makeOrders();
  connect(&m_canvas.viewport(), &SpaceTimeViewport::arrangementChanged, this,
          &RankRowsMenu::refresh);
  connect(&m_canvas.eventCursor(), &EventCursor::selectionChanged, this, &RankRowsMenu::refresh);
  refresh();
}

QAction* RankRowsMenu::add(const QString& text, const QString& tip,
                           const std::function<void()>& does) {
  auto* action = new QAction(text, &m_owner);
  action->setToolTip(tip);
  action->setStatusTip(tip);
  connect(action, &QAction::triggered, this, does);
  return action;
}

void RankRowsMenu::makeOrders() {
  auto* group = new QActionGroup(this);
  const auto order = [&](RankOrder by, const QString& text, const QString& tip) {
    QAction* action =
        add(text, tip, [this, by] { change([by](RankArrangement& to) { to.order = by; }); });
    action->setCheckable(true);
    group->addAction(action);
    m_orders.append(action);
  };
  order(RankOrder::Number, tr("Sort ranks by number"), tr("Rank 0 at the top"));
  order(RankOrder::Waiting, tr("Sort ranks by waiting"),
        tr("Who waited most for others, in steps of logical time, at the top"));
  order(RankOrder::Racing, tr("Sort ranks by racing receives"),
        tr("Who has most racing receives at the top"));
  order(RankOrder::Host, tr("Sort ranks by host"), tr("Ranks of one host together"));
}

QList<QAction*> RankRowsMenu::actions() const {
  return QList<QAction*>{m_hide, m_onlyPartners, m_showOnly, m_collapse, m_expandAll, m_showAll} +
         m_orders;
}

void RankRowsMenu::refresh() {
  const TraceIndexPtr& trace = m_canvas.trace();
  const RankArrangement& now = m_canvas.viewport().arrangement();
  const bool selected = trace && trace->contains(m_canvas.eventCursor().selected());
  m_hide->setEnabled(selected);
  m_onlyPartners->setEnabled(selected);
  for (QAction* action : QList<QAction*>{m_showOnly, m_collapse} + m_orders) {
    action->setEnabled(trace != nullptr);
  }
  m_expandAll->setEnabled(!now.sharedRows.isEmpty());
  m_showAll->setEnabled(!now.isPlain());
  std::set<QString> hosts;
  if (trace) {
    hosts.insert(trace->data().hosts.begin(), trace->data().hosts.end());
  }
  m_orders.last()->setEnabled(hosts.size() > 1);
  m_orders[static_cast<int>(now.order)]->setChecked(true);
}

void RankRowsMenu::change(const std::function<void(RankArrangement&)>& edit) {
  const TraceIndexPtr& trace = m_canvas.trace();
  if (!trace) {
    return;
  }
  RankArrangement to = m_canvas.viewport().arrangement();
  edit(to);
  if (to.hidden.size() < toInt(trace->rankCount())) {  // one row at least
    m_canvas.viewport().arrange(to);
  }
  refresh();
}

QList<RankGroup> RankRowsMenu::groups() const {
  QList<RankGroup> out = m_groups;
  const TraceIndexPtr& trace = m_canvas.trace();
  const auto& communicators =
      trace ? trace->execution().communicators : std::vector<Communicator>();
  for (std::size_t i = 0; i < communicators.size(); ++i) {
    const QList<int> ranks(communicators[i].group.begin(), communicators[i].group.end());
    const QString name = commText(*trace, static_cast<std::uint32_t>(i));
    const bool known = std::any_of(out.begin(), out.end(),
                                   [&](const RankGroup& group) { return group.name == name; });
    if (!known && !ranks.isEmpty() && std::cmp_less(ranks.size(), trace->rankCount())) {
      out.append({name, ranks});
    }
  }
  return out;
}

QList<int> RankRowsMenu::around(EventRef event) const {
  const TraceIndex& trace = *m_canvas.trace();
  std::set<int> ranks{event.rank};
  for (const EventRef& partner : partnersOf(trace, event)) {
    ranks.insert(partner.rank);
  }
  for (const std::uint32_t race : trace.races().at(event)) {
    for (const std::uint32_t message : trace.data().races[race].alternatives) {
      if (message < trace.messages().count()) {
        ranks.insert(trace.execution().messages[message].send.rank);
      }
    }
  }
  return {ranks.begin(), ranks.end()};
}

QString RankRowsMenu::ask(const QString& title, const QString& question, const QString& proposal,
                          const QString& problem) const {
  QStringList items;
  for (const RankGroup& group : groups()) {
    items << (group.name.contains(u' ') ? u"'%1'"_s.arg(group.name) : group.name);
  }
  items.removeAll(proposal);
  items.prepend(proposal);
  bool ok = false;
  const QString text = QInputDialog::getItem(
      &m_owner, title, problem.isEmpty() ? question : problem + u'\n' + question, items, 0, true,
      &ok);
  return ok ? text.trimmed() : QString();
}

void RankRowsMenu::askShowOnly(const QString& proposal, const QString& problem) {
  const QString text =
      ask(tr("Show only"), tr("Ranks and groups, such as workers + 0, or 2-5:"), proposal, problem);
  if (text.isEmpty()) {
    return;
  }
  QString wrong;
  const QList<int> ranks =
      ranksOfExpression(text, groups(), toInt(m_canvas.trace()->rankCount()), &wrong);
  if (ranks.isEmpty()) {
    askShowOnly(text, wrong.isEmpty() ? tr("No rank is left of that.") : wrong);
    return;
  }
  change([&](RankArrangement& to) { to.showOnly(ranks, toInt(m_canvas.trace()->rankCount())); });
}

void RankRowsMenu::askCollapse(const QString& proposal, const QString& problem) {
  const QString text = ask(tr("Collapse into one row"),
                           tr("Ranks and groups, such as workers - 0, or 2-5:"), proposal, problem);
  if (text.isEmpty()) {
    return;
  }
  QString wrong;
  const QList<int> ranks =
      ranksOfExpression(text, groups(), toInt(m_canvas.trace()->rankCount()), &wrong);
  if (ranks.isEmpty()) {
    askCollapse(text, wrong.isEmpty() ? tr("No rank is left of that.") : wrong);
    return;
  }
  QString name = text;
  change([&](RankArrangement& to) { to.collapse({name.remove(u'\''), ranks}); });
}

void RankRowsMenu::addRankCommands(QMenu& menu, const QList<int>& ranks) const {
  if (m_addRankCommands) {
    m_addRankCommands(menu, ranks);
  }
}

void RankRowsMenu::popup(int row, const QPoint& globalPosition) {
  const TraceIndexPtr& trace = m_canvas.trace();
  if (!trace) {
    return;
  }
  QMenu menu(&m_owner);
  const auto plain = [](QString text) { return text.replace(u'&', u"&&"_s); };
  if (const std::vector<Rank> ranks = m_canvas.view().ranksOf(row); !ranks.empty()) {
    const RankRowsPtr& rows = m_canvas.view().arranged;
    const QString sharedRow = rows ? rows->rows()[at(row)].sharedRow : QString();
    const QString name = sharedRow.isEmpty() ? tr("rank %1").arg(ranks.front()) : sharedRow;
    const QList<int> all(ranks.begin(), ranks.end());
    menu.addAction(tr("Hide %1").arg(plain(name)), this,
                   [this, all] { change([&](RankArrangement& to) { to.hide(all); }); });
    if (!sharedRow.isEmpty()) {
      menu.addAction(tr("Expand %1").arg(plain(sharedRow)), this, [this, sharedRow] {
        change([&](RankArrangement& to) { to.expand(sharedRow); });
      });
    }
    addRankCommands(menu, all);
    menu.addSeparator();
  }
  if (const QList<RankGroup> known = groups(); !known.isEmpty()) {
    QMenu* only = menu.addMenu(tr("Show only"));
    QMenu* sharedRows = menu.addMenu(tr("Collapse into a row"));
    for (const RankGroup& group : known) {
      const QString title = u"%1 (%2)"_s.arg(plain(group.name), rankSetText(group.ranks));
      only->addAction(title, this, [this, group] {
        change([&](RankArrangement& to) {
          to.showOnly(group.ranks, toInt(m_canvas.trace()->rankCount()));
        });
      });
      sharedRows->addAction(
          title, this, [this, group] { change([&](RankArrangement& to) { to.collapse(group); }); });
    }
  }
  menu.addActions({m_onlyPartners, m_showOnly, m_collapse, m_expandAll, m_showAll});
  menu.addSeparator();
  menu.addActions(m_orders);
  menu.exec(globalPosition);
}

}  // namespace pf::views

#include "moc_rank_rows_menu.cpp"

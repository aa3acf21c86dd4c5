// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/diagram_groups.h"

#include <set>

#include <QCoreApplication>

#include "views/trace/analyses/trace_causality.h"

namespace pf::gui {
namespace {

void add(QList<values::RankGroup>& groups, const QString& name, const std::set<int>& ranks) {
  if (ranks.size() > 1) {
    groups.append({name, QList<int>(ranks.begin(), ranks.end())});
  }
}

}  // namespace

QList<values::RankGroup> groupsOfEvent(const views::TraceIndex& index, EventRef event) {
  QList<values::RankGroup> groups;
  if (!event.valid()) {
    return groups;
  }
  const QString name = QStringLiteral("%1:%2").arg(event.rank).arg(event.serial);
  std::set<int> ends{event.rank};
  for (const EventRef& partner : partnersOf(index, event)) {
    ends.insert(partner.rank);
  }
  add(groups, QCoreApplication::translate("DiagramGroups", "event %1 and its partners").arg(name),
      ends);
  std::set<int> senders;
  for (const std::uint32_t number : index.races().at(event)) {
    const Race& race = index.data().races[number];
    const auto& messages = index.execution().messages;
    if (race.taken < messages.size()) {
      senders.insert(messages[race.taken].send.rank);
    }
    for (const std::uint32_t other : race.alternatives) {
      if (other < messages.size()) {
        senders.insert(messages[other].send.rank);
      }
    }
  }
  add(groups, QCoreApplication::translate("DiagramGroups", "racing senders of %1").arg(name),
      senders);
  return groups;
}

}  // namespace pf::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/mcp/waits_text.h"

#include <algorithm>

#include "app/collation/event_text.h"
#include "views/values/debug_values.h"

namespace pf::headless {
namespace {

std::string rankText(const std::vector<Rank>& ranks) {
  QList<int> list;
  for (const Rank rank : ranks) {
    list << rank;
  }
  return (list.size() == 1 ? "rank " : "ranks ") + values::rankSetText(list).toStdString();
}

std::string waitText(const views::TraceIndex& trace, const views::RankWait& wait) {
  return "rank " + std::to_string(wait.rank) + " waits for " + (wait.anyOne ? "one of " : "") +
         rankText(wait.on) + ": event " + std::to_string(wait.event.serial) + ", " +
         app::eventText(trace.data().execution, wait.event) + " (" + wait.why.toStdString() + ")\n";
}

std::string cycleText(const std::vector<Rank>& cycle) {
  std::string text = "a cycle: rank " + std::to_string(cycle.front());
  for (std::size_t i = 1; i < cycle.size(); ++i) {
    text += " waits for rank " + std::to_string(cycle[i]) + ", which";
  }
  return text + " waits for rank " + std::to_string(cycle.front()) + "\n";
}

}  // namespace

std::string waitsText(const views::TraceIndex& trace, const std::optional<views::JobCut>& replay) {
  if (trace.eventCount() == 0) {
    return "Not known: the trace has no events.\n";
  }
  const views::JobState state = views::jobStateAt(trace, replay ? *replay : views::cutAtEnd(trace));
  const auto unexpected = std::count_if(
      state.items.begin(), state.items.end(),
      [](const views::QueueItem& item) { return item.kind == views::QueueItem::Kind::Unexpected; });
  std::string text = replay ? "where the replay is: " : "at the end of the record: ";
  text += std::to_string(static_cast<std::ptrdiff_t>(state.items.size()) - unexpected) +
          " receives posted, " + std::to_string(unexpected) + " messages unexpected, " +
          std::to_string(state.waits.size()) + " of " + std::to_string(trace.rankCount()) +
          " ranks wait for another\n";
  if (!state.cycle.empty()) {
    text += cycleText(state.cycle);
  }
  if (!state.stuck.empty()) {
    text += rankText(state.stuck) + " cannot go on, whatever the others do\n";
  }
  for (const views::RankWait& wait : state.waits) {
    text += waitText(trace, wait);
  }
  return text;
}

}  // namespace pf::headless

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replaying/other_contents.h"

#include <algorithm>

#include "app/collation/event_text.h"
#include "app/collation/logs_of_trace.h"
#include "replay_engine/log/contents.h"

namespace pf::app {
namespace {

/// The logs that have a recording's events.
Result<std::vector<RankLog>> eventLogs(db::TraceStore& store) {
  const auto which =
      store.run().mode == "all" ? db::TraceStore::Log::Recorded : db::TraceStore::Log::Survey;
  return readLogs(store, which, true);
}

/// The event of the first one that differs, 0 if none does among the first `compared` events.
template <typename Part>
Serial firstEvent(const std::vector<unsigned char>& a, const std::vector<unsigned char>& b,
                  const std::vector<Part>& parts, Serial compared) {
  const std::optional<std::size_t> number = firstOther(a, b);
  const Serial event = number && *number < parts.size() ? parts[*number].event : 0;
  return event <= compared ? event : 0;
}

std::uint64_t beginOf(const Execution& execution, EventRef event) {
  const auto& times = execution.ranks[static_cast<std::size_t>(event.rank)].times;
  return event.serial <= times.size() ? times[event.serial - 1].begin : 0;
}

}  // namespace

Result<std::vector<EventRef>> otherContents(ComparedTraces& traces, const Comparison& comparison) {
  Result<std::vector<RankLog>> a = eventLogs(traces.a.loaded.store);
  Result<std::vector<RankLog>> b = a ? eventLogs(traces.b.loaded.store) : a.error();
  if (!b) {
    return b.error();
  }
  const Execution& execution = traces.a.execution();
  std::vector<EventRef> found;
  for (std::size_t i = 0;
       i < std::min({a->size(), b->size(), comparison.compared.size(), execution.ranks.size()});
       ++i) {
    const RankHistory& history = execution.ranks[i];
    const Serial compared = comparison.compared[i];
    const Serial sent = firstEvent((*a)[i].sent, (*b)[i].sent, history.sends, compared);
    const Serial given = firstEvent((*a)[i].given, (*b)[i].given, history.collectives, compared);
    if (sent != 0 || given != 0) {
      const Serial first = sent == 0 || (given != 0 && given < sent) ? given : sent;
      found.push_back({static_cast<Rank>(i), first});
    }
  }
  std::stable_sort(found.begin(), found.end(), [&](const EventRef& x, const EventRef& y) {
    return beginOf(execution, x) < beginOf(execution, y);
  });
  return found;
}

std::string otherContentsText(const Execution& execution, const std::vector<EventRef>& events) {
  if (events.empty()) {
    return {};
  }
  const EventRef first = events.front();
  return "other contents, first at rank " + std::to_string(first.rank) + " event " +
         std::to_string(first.serial) + ": " + eventText(execution, first) +
         (events.size() == 1 ? "" : " (of " + std::to_string(events.size()) + " ranks)") + "\n";
}

}  // namespace pf::app

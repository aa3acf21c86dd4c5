// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/trace_times.h"

#include <algorithm>
#include <numeric>

namespace pf::views {

static bool haveLogicalTimes(const TraceData& data) {
  const std::vector<RankHistory>& ranks = data.execution.ranks;
  bool good = data.logicalTimes.size() == ranks.size();
  for (std::size_t r = 0; good && r < ranks.size(); ++r) {
    const auto& times = data.logicalTimes[r];
    good = times.size() == ranks[r].events.size() && std::is_sorted(times.begin(), times.end());
  }
  return good;
}

TraceTimes::TraceTimes(const TraceEvents& events)
    : m_events(events),
      m_pages(events.pages()),
      m_axis(TimeAxis::Logical),
      m_last(events.hasEvents() ? 1 : events.data().outline->lastTime),
      m_pyramid(events.data().pyramid) {
  if (m_pages == nullptr) {
    const bool good = haveLogicalTimes(events.data());
    if (!good) {
      fallBackToSerials();
    }
    const auto& times = good ? events.data().logicalTimes : m_own;
    m_kept.assign(times.begin(), times.end());
  }
  for (std::size_t r = 0; r < events.rankCount(); ++r) {
    const EventSteps steps = of(static_cast<Rank>(r));
    m_last = std::max(m_last, steps.empty() ? 1U : steps.back());
  }
}

void TraceTimes::fallBackToSerials() {
  for (const RankHistory& rank : m_events.data().execution.ranks) {
    m_own.emplace_back(rank.events.size());
    std::iota(m_own.back().begin(), m_own.back().end(), 1U);
  }
}

EventSteps TraceTimes::of(Rank rank) const {
  if (rank < 0 || index(rank) >= m_events.rankCount()) {
    return {};
  }
  return m_pages != nullptr ? EventSteps(*m_pages, rank) : EventSteps(m_kept[index(rank)]);
}

std::pair<Serial, Serial> TraceTimes::serialsIn(Rank rank, double from, double to) const {
  const EventSteps steps = of(rank);
  const std::size_t lower = steps.before(from);
  return {lower + 1, std::max(lower, steps.upTo(to)) + 1};
}

EventRef TraceTimes::nearest(Rank rank, std::uint32_t time) const {
  const EventSteps steps = of(rank);
  if (steps.empty()) {
    return {};
  }
  std::size_t at = steps.before(time);
  if (at == steps.size() || (at != 0 && time - steps[at - 1] < steps[at] - time)) {
    --at;
  }
  return {rank, at + 1};
}

std::uint32_t TraceTimes::departure(const Message& message) const {
  if (m_axis == TimeAxis::Logical) {
    return at(message.send);
  }
  const std::optional<EventTime> clock = clockTime(message.send);
  return clock ? timeAt(clock->begin) : 0;
}

}  // namespace pf::views

// SPDX-License-Identifier: GPL-3.0-or-later
// A trace on the physical axis.
#include <algorithm>

#include "views/trace/trace_index.h"

namespace pf::views {

namespace {

/// Whether an event stands where its call ends: what it waited for is there then.
bool standsAtItsEnd(EventKind kind) {
  return kind == EventKind::Receive || kind == EventKind::SendReceive ||
         kind == EventKind::Completion || kind == EventKind::Probe || kind == EventKind::Collective;
}

}  // namespace

std::shared_ptr<const TraceIndex> TraceIndex::onPhysicalAxis(const TraceIndex& logical,
                                                             const PyramidMaker& pyramid) {
  if (logical.m_pages != nullptr && logical.hasPhysicalTimes() && logical.data().whole) {
    TraceDataPtr whole = logical.data().whole();
    return whole != nullptr ? onPhysicalAxis(TraceIndex(std::move(whole)), pyramid) : nullptr;
  }
  return logical.hasPhysicalTimes() && logical.m_pages == nullptr
             ? std::shared_ptr<const TraceIndex>(new TraceIndex(logical, pyramid, OnPhysicalAxis{}))
             : nullptr;
}

TraceIndex::TraceIndex(const TraceIndex& logical, const PyramidMaker& pyramid,
                       OnPhysicalAxis /*tag*/)
    : m_data(logical.m_data),
      m_view(m_data->execution),
      m_base(logical.m_base),
      m_total(logical.m_total),
      m_links(logical.m_links),
      m_groups(logical.m_groups),
      m_axis(TimeAxis::Physical) {
  layOutPhysicalTimes(pyramid);
  orderMessages();
  orderRaces();
  for (CollectiveGroup& group : m_groups) {
    placeGroup(group);
  }
}

// Times of 31 bits, so that all that counts in steps of logical time can count in these.
void TraceIndex::layOutPhysicalTimes(const PyramidMaker& pyramid) {
  constexpr std::uint64_t kMostTime = (std::uint64_t{1} << 31) - 16;
  std::uint64_t last = 0;
  std::size_t longest = 1;
  for (const RankHistory& rank : data().execution.ranks) {
    last = std::max(last, rank.times.empty() ? 0 : rank.times.back().end);
    longest = std::max(longest, rank.times.size());
  }
  m_unit = 1;
  while (last / m_unit >= kMostTime) {
    m_unit *= 2;
  }
  m_lastTime = timeAt(last);
  m_step = std::max(1.0, static_cast<double>(m_lastTime) / static_cast<double>(longest));
  std::vector<std::vector<std::uint32_t>> begins(rankCount());
  for (std::size_t r = 0; r < rankCount(); ++r) {
    const RankHistory& rank = data().execution.ranks[r];
    std::vector<std::uint32_t>& times = m_physicalTimes.emplace_back();
    times.reserve(rank.times.size());
    begins[r].reserve(rank.times.size());
    for (std::size_t i = 0; i < rank.times.size(); ++i) {
      const EventTime& at = rank.times[i];
      times.push_back(timeAt(standsAtItsEnd(rank.events[i].kind) ? at.end : at.begin));
      begins[r].push_back(timeAt(at.begin));
    }
  }
  DensityPyramid made =
      pyramid ? pyramid(data().execution, data().races.list(), m_physicalTimes, begins)
              : DensityPyramid();
  if (!made.levels.empty()) {
    m_pyramid = std::make_shared<const KeptCutLevels>(std::move(made));
  }
}

std::optional<EventTime> TraceIndex::clockTime(EventRef ref) const {
  return contains(ref) && hasPhysicalTimes()
             ? std::optional(
                   execution().ranks[static_cast<std::size_t>(ref.rank)].times[ref.serial - 1])
             : std::nullopt;
}

std::uint32_t TraceIndex::logicalTime(EventRef ref) const {
  if (!contains(ref)) {
    return 0;
  }
  if (m_pages != nullptr) {
    return EventSteps(*m_pages, ref.rank)[ref.serial - 1];
  }
  const auto rank = static_cast<std::size_t>(ref.rank);
  return m_links->fallbackTimes.empty() ? data().logicalTimes[rank][ref.serial - 1]
                                        : m_links->fallbackTimes[rank][ref.serial - 1];
}

std::uint32_t TraceIndex::departure(const Message& message) const {
  if (m_axis == TimeAxis::Logical) {
    return time(message.send);
  }
  const std::optional<EventTime> at = clockTime(message.send);
  return at ? timeAt(at->begin) : 0;
}

}  // namespace pf::views

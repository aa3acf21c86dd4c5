// SPDX-License-Identifier: GPL-3.0-or-later
// The physical axis.
#include <algorithm>

#include "views/trace/trace_times.h"

namespace pf::views {

namespace {

/// Whether an event stands where its call ends: what it waited for is there then.
bool standsAtItsEnd(EventKind kind) {
  return kind == EventKind::Receive || kind == EventKind::SendReceive ||
         kind == EventKind::Completion || kind == EventKind::Probe || kind == EventKind::Collective;
}

}  // namespace

TraceTimes::TraceTimes(const TraceEvents& events, const PyramidMaker& pyramid)
    : m_events(events), m_axis(TimeAxis::Physical) {
  chooseUnit();
  layOut(pyramid);
  m_kept.assign(m_own.begin(), m_own.end());
}

// Times of 31 bits, so that all that counts in steps of logical time can count in these.
void TraceTimes::chooseUnit() {
  constexpr std::uint64_t kMostTime = (std::uint64_t{1} << 31) - 16;
  std::uint64_t last = 0;
  std::size_t longest = 1;
  for (const RankHistory& rank : m_events.data().execution.ranks) {
    last = std::max(last, rank.times.empty() ? 0 : rank.times.back().end);
    longest = std::max(longest, rank.times.size());
  }
  m_unit = 1;
  while (last / m_unit >= kMostTime) {
    m_unit *= 2;
  }
  m_last = timeAt(last);
  m_step = std::max(1.0, static_cast<double>(m_last) / static_cast<double>(longest));
}

void TraceTimes::layOut(const PyramidMaker& pyramid) {
  const TraceData& data = m_events.data();
  std::vector<std::vector<std::uint32_t>> begins;
  for (const RankHistory& rank : data.execution.ranks) {
    std::vector<std::uint32_t>& times = m_own.emplace_back();
    std::vector<std::uint32_t>& departures = begins.emplace_back();
    times.reserve(rank.times.size());
    departures.reserve(rank.times.size());
    for (std::size_t i = 0; i < rank.times.size(); ++i) {
      const EventTime& at = rank.times[i];
      times.push_back(timeAt(standsAtItsEnd(rank.events[i].kind) ? at.end : at.begin));
      departures.push_back(timeAt(at.begin));
    }
  }
  DensityPyramid made =
      pyramid ? pyramid(data.execution, data.races.list(), m_own, begins) : DensityPyramid();
  if (!made.levels.empty()) {
    m_pyramid = std::make_shared<const KeptCutLevels>(std::move(made));
  }
}

}  // namespace pf::views

// SPDX-License-Identifier: GPL-3.0-or-later
// When events began and ended, from the ticks in a log (RecordKind::Clock, ::Time).
#pragma once

#include <cstdint>
#include <vector>

#include "replay_engine/execution/execution.h"
#include "replay_engine/log/record_reader.h"

namespace pf {

class EventTimes {
 public:
  void clock(RecordReader& in);
  void time(RecordReader& in);
  /// Nanoseconds of CLOCK_MONOTONIC, one for each of `events` events; none where the log has not as many.
  [[nodiscard]] std::vector<EventTime> finish(std::size_t events);
  /// What CLOCK_REALTIME was ahead of CLOCK_MONOTONIC when the log began, in nanoseconds.
  [[nodiscard]] std::int64_t realTimeAhead() const { return m_realTimeAhead; }

 private:
  struct Look {
    std::uint64_t ticks = 0;
    std::uint64_t nanoseconds = 0;
  };
  std::vector<Look> m_looks;
  std::vector<EventTime> m_ticks;
  std::uint64_t m_now = 0;
  std::int64_t m_realTimeAhead = 0;
};

/// Puts the times of all ranks on one scale that begins with the first event. Ranks whose clocks show times of another host are
/// moved by what their CLOCK_REALTIME says; of `ahead` there is one for each rank (EventTimes::realTimeAhead()).
void alignTimes(std::vector<RankHistory>& ranks, const std::vector<std::int64_t>& ahead);

}  // namespace pf

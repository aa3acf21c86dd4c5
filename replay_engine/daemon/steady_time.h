// SPDX-License-Identifier: GPL-3.0-or-later
// Time in which the machine ran.
#pragma once

#include <algorithm>
#include <chrono>

namespace pf::daemon {

/// A clock that is read at least every kTick. Where it has not been read for longer, nobody here had a processor (a
/// virtual machine stands still now and then), and the ranks had none either: of such a time kMostAtOnce counts. What
/// is concluded from that all wait, or that somebody does not answer, so never comes from a machine that stood still.
class SteadyTime {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kTick{50};
  static constexpr std::chrono::milliseconds kMostAtOnce = 4 * kTick;

  explicit SteadyTime(Clock::time_point now) : m_read(now), m_time(now) {}

  /// `now`: of the clock.
  Clock::time_point at(Clock::time_point now) {
    m_time += std::min<Clock::duration>(now - m_read, kMostAtOnce);
    m_read = now;
    return m_time;
  }

 private:
  Clock::time_point m_read;
  Clock::time_point m_time;
};

}  // namespace pf::daemon

// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/log/event_times.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace pf {
namespace {

constexpr std::uint64_t kFarAway =
    std::uint64_t{1} << 61;  // no clock shows it: such a record is none, and sums of them fit

}  // namespace

void EventTimes::clock(RecordReader& in) {
  const auto [ticks, monotonic, realTime] = fieldsOf<RecordKind::Clock>(in);
  if (ticks > kFarAway || monotonic > kFarAway || realTime > kFarAway) {
    return;
  }
  if (m_looks.empty()) {
    m_realTimeAhead = static_cast<std::int64_t>(realTime) - static_cast<std::int64_t>(monotonic);
  }
  if (m_looks.empty() || (ticks > m_looks.back().ticks && monotonic > m_looks.back().nanoseconds)) {
    m_looks.push_back({ticks, monotonic});
  }
  if (m_ticks.empty()) {
    m_now = ticks;
  }
}

void EventTimes::time(RecordReader& in) {
  const auto [ticksBefore, inCall] = fieldsOf<RecordKind::Time>(in);
  const std::uint64_t gap = std::min(ticksBefore, kFarAway - m_now);
  std::uint64_t took = inCall;
  if (!m_ticks.empty()) {
    took = std::min(took, kFarAway - m_now);
    m_now += took;
    m_ticks.back().end = m_now;
  }
  m_now += std::min(gap, kFarAway - m_now);
  m_ticks.push_back({m_now, m_now});
}

std::vector<EventTime> EventTimes::finish(std::size_t events) {
  if (m_looks.size() < 2 || m_ticks.size() + 1 < events) {
    return {};
  }
  if (m_ticks.size() < events) {  // the rank ended before it could say when its last event began
    m_ticks.push_back({m_now, m_now});
  }
  m_ticks.resize(events);  // one more where a rank ended inside of a call that is not known
  std::size_t piece = 0;
  std::uint64_t latest = 0;
  const auto nanoseconds = [&](std::uint64_t ticks) {
    while (piece + 2 < m_looks.size() && ticks >= m_looks[piece + 1].ticks) {
      ++piece;
    }
    const bool beyond = ticks >= m_looks[piece + 1].ticks;
    const Look& from = beyond ? m_looks.back() : m_looks[piece];
    const Look& slopeFrom = beyond ? m_looks.front() : m_looks[piece];
    const Look& slopeTo = beyond ? m_looks.back() : m_looks[piece + 1];
    const double slope = static_cast<double>(slopeTo.nanoseconds - slopeFrom.nanoseconds) /
                         static_cast<double>(slopeTo.ticks - slopeFrom.ticks);
    const std::uint64_t since = ticks > from.ticks ? ticks - from.ticks : 0;
    const auto passed = static_cast<std::uint64_t>(
        std::min(static_cast<double>(since) * slope, static_cast<double>(kFarAway)));
    latest = std::max(latest, std::min(from.nanoseconds + passed, kFarAway));
    return latest;
  };
  for (EventTime& time : m_ticks) {
    time.begin = nanoseconds(time.begin);
    time.end = nanoseconds(time.end);
  }
  return std::move(m_ticks);
}

void alignTimes(std::vector<RankHistory>& ranks, const std::vector<std::int64_t>& ahead) {
  constexpr std::int64_t kOtherHost =
      10'000'000;  // ns; hosts do not start within that of each other, clocks are not set by so much
  const auto known = [](const RankHistory& rank) { return !rank.times.empty(); };
  const auto first = std::find_if(ranks.begin(), ranks.end(), known);
  if (first == ranks.end()) {
    return;
  }
  const std::int64_t here = ahead[static_cast<std::size_t>(first - ranks.begin())];
  std::int64_t zero = INT64_MAX;
  std::vector<std::int64_t> moved(ranks.size(), 0);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (known(ranks[r])) {
      moved[r] = std::abs(ahead[r] - here) > kOtherHost ? ahead[r] - here : 0;
      zero = std::min(zero, static_cast<std::int64_t>(ranks[r].times.front().begin) + moved[r]);
    }
  }
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const auto shift = static_cast<std::uint64_t>(moved[r]) -
                       static_cast<std::uint64_t>(zero);  // wraps, and the sum is right
    for (EventTime& time : ranks[r].times) {
      time.begin += shift;
      time.end += shift;
    }
  }
}

}  // namespace pf

#include "cut_pyramid.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace pf::views {

namespace {

constexpr std::uint32_t kBlock = 4096;  ///< messages between two looks at whether to stop

std::size_t index(Rank rank) {
  return static_cast<std::size_t>(rank);
}

/// Where the line of a message ends; invalid where it has none between two rows.
EventRef lineEnd(const TraceIndex& trace, const Message& message) {
  const EventRef end = trace.arrival(message);
  return trace.contains(end) && trace.contains(message.send) && end.rank != message.send.rank
             ? end
             : EventRef{};
}

/// The gap after those from `gap` to `last` that are `same` as `gap`; behind them none is.
template <typename Same>
Rank endOfRun(Rank gap, Rank last, Same&& same) {
  if (same(last)) {
    return last + 1;
  }
  Rank known = gap;    // the same
  Rank beyond = last;  // not
  for (Rank step = 1; step < beyond - known; step *= 2) {
    if (!same(known + step)) {
      beyond = known + step;
      break;
    }
    known += step;
  }
  while (beyond - known > 1) {
    const Rank middle = known + (beyond - known) / 2;
    if (same(middle)) {
      known = middle;
    } else {
      beyond = middle;
    }
  }
  return beyond;
}

}  // namespace

CutPyramid::CutPyramid(const TraceIndex& trace, std::size_t eventsACell,
                       const std::atomic<bool>* stop)
    : m_stop(stop) {
  const std::size_t ranks = std::max<std::size_t>(trace.rankCount(), 1);
  const std::size_t bins = trace.eventCount() / (ranks * std::max<std::size_t>(eventsACell, 1)) + 1;
  Level base;
  while ((std::size_t{trace.lastTime()} + 1) / base.width > bins) {
    base.width *= 2;
  }
  base.bins = trace.lastTime() / base.width + 1;
  base.cells.resize(trace.rankCount() * base.bins);
  m_levels.push_back(std::move(base));
  countEvents(trace);
  if (!stopped()) {
    countMessages(trace);
  }
  if (!stopped()) {
    addLevels();
  }
  m_stop = nullptr;  // it may be gone soon
}

std::size_t CutPyramid::bin(double time) const {
  const Level& base = m_levels.front();
  return std::min(static_cast<std::size_t>(std::max(time, 0.0)) / base.width, base.bins - 1);
}

void CutPyramid::countEvents(const TraceIndex& trace) {
  Level& base = m_levels.front();
  for (std::size_t rank = 0; rank < trace.rankCount() && !stopped(); ++rank) {
    Cell* const row = base.cells.data() + rank * base.bins;
    for (const std::uint32_t time : trace.times(static_cast<Rank>(rank))) {
      ++row[std::min<std::size_t>(time / base.width, base.bins - 1)].events;
    }
  }
  for (const EventRef race : trace.racingEvents()) {
    ++base.cells[index(race.rank) * base.bins + bin(trace.time(race))].races;
  }
}

double CutPyramid::crossing(double t0, Rank from, double t1, Rank to, Rank gap) {
  return t0 + (t1 - t0) * (gap + 0.5 - from) / (to - from);
}

void CutPyramid::findLong(const TraceIndex& trace) {
  const std::vector<Message>& messages = trace.execution().messages;
  const double longest = double{kLongBins} * m_levels.front().width;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> lengths;  // of long ones, and which
  for (std::uint32_t m = 0; m < messages.size(); ++m) {
    if (m % kBlock == 0 && stopped()) {
      return;
    }
    if (const EventRef end = lineEnd(trace, messages[m]); end.valid()) {
      const std::uint32_t from = trace.time(messages[m].send);
      const std::uint32_t to = trace.time(end);
      if (to > from && to - from > longest) {
        lengths.emplace_back(to - from, m);
      }
    }
  }
  const std::size_t kept = std::min(lengths.size(), kMostLong);
  std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(kept),
                   lengths.end(), std::greater<>());
  for (std::size_t i = 0; i < kept; ++i) {
    m_long.push_back(lengths[i].second);
  }
  std::sort(m_long.begin(), m_long.end());
}

/// One more in the cells that the line goes through, as a difference to the row above: of the gaps
/// of one bin, the first has one more and the one after the last has one less.
void CutPyramid::countLine(double t0, Rank from, double t1, Rank to, bool race) {
  Level& base = m_levels.front();
  const auto binOf = [&](Rank gap) { return bin(crossing(t0, from, t1, to, gap)); };
  const Rank last = std::max(from, to) - 1;
  for (Rank gap = std::min(from, to); gap <= last;) {
    const std::size_t here = binOf(gap);
    const Rank end = endOfRun(gap, last, [&](Rank other) { return binOf(other) == here; });
    Cell& first = base.cells[index(gap) * base.bins + here];
    Cell& after = base.cells[index(end) * base.bins + here];
    ++first.cut;
    --after.cut;  // unsigned: wraps, and the sum is right
    first.racing += race ? 1U : 0U;
    after.racing -= race ? 1U : 0U;
    gap = end;
  }
}

void CutPyramid::countMessages(const TraceIndex& trace) {
  findLong(trace);
  const std::vector<Message>& messages = trace.execution().messages;
  std::size_t next = 0;
  for (std::uint32_t m = 0; m < messages.size(); ++m) {
    if (m % kBlock == 0 && stopped()) {
      return;
    }
    if (next < m_long.size() && m_long[next] == m) {
      ++next;
      continue;
    }
    if (const EventRef end = lineEnd(trace, messages[m]); end.valid()) {
      countLine(trace.time(messages[m].send), messages[m].send.rank, trace.time(end), end.rank,
                trace.takenInRace(m));
    }
  }
  Level& base = m_levels.front();
  for (std::size_t i = base.bins; i < base.cells.size(); ++i) {
    base.cells[i].cut += base.cells[i - base.bins].cut;
    base.cells[i].racing += base.cells[i - base.bins].racing;
  }
}

void CutPyramid::addLevels() {
  while (m_levels.back().bins > 1) {
    const Level& fine = m_levels.back();
    const std::size_t ranks = fine.cells.size() / fine.bins;
    Level coarse;
    coarse.width = fine.width * 2;
    coarse.bins = (fine.bins + 1) / 2;
    coarse.cells.resize(ranks * coarse.bins);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      for (std::size_t b = 0; b < fine.bins; ++b) {
        const Cell& from = fine.cells[rank * fine.bins + b];
        Cell& to = coarse.cells[rank * coarse.bins + b / 2];
        to.events += from.events;
        to.races += from.races;
        to.cut += from.cut;
        to.racing += from.racing;
      }
    }
    m_levels.push_back(std::move(coarse));
  }
}

const CutPyramid::Level* CutPyramid::levelFor(double steps) const {
  const Level* found = nullptr;
  for (const Level& level : m_levels) {
    if (static_cast<double>(level.width) <= steps) {
      found = &level;
    }
  }
  return found;
}

}  // namespace pf::views

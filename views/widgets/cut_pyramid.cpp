#include "cut_pyramid.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace pf::views {

namespace {

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

}  // namespace

CutPyramid::CutPyramid(const TraceIndex& trace, std::size_t eventsACell) {
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
  countMessages(trace);
  addLevels();
}

std::size_t CutPyramid::bin(double time) const {
  const Level& base = m_levels.front();
  return std::min(static_cast<std::size_t>(std::max(time, 0.0)) / base.width, base.bins - 1);
}

void CutPyramid::countEvents(const TraceIndex& trace) {
  Level& base = m_levels.front();
  for (std::size_t rank = 0; rank < trace.rankCount(); ++rank) {
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

void CutPyramid::countMessages(const TraceIndex& trace) {
  Level& base = m_levels.front();
  const std::vector<Message>& messages = trace.execution().messages;
  const double longest = double{kLongBins} * base.width;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> lengths;  // of long ones, and which
  for (std::uint32_t m = 0; m < messages.size(); ++m) {
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
  std::size_t next = 0;
  for (std::uint32_t m = 0; m < messages.size(); ++m) {
    if (next < m_long.size() && m_long[next] == m) {
      ++next;
      continue;
    }
    const EventRef end = lineEnd(trace, messages[m]);
    if (!end.valid()) {
      continue;
    }
    const Rank from = messages[m].send.rank;
    const double t0 = trace.time(messages[m].send);
    const double t1 = trace.time(end);
    const bool race = trace.takenInRace(m);
    for (Rank gap = std::min(from, end.rank); gap < std::max(from, end.rank); ++gap) {
      Cell& cell = base.cells[index(gap) * base.bins + bin(crossing(t0, from, t1, end.rank, gap))];
      ++cell.cut;
      cell.racing += race ? 1U : 0U;
    }
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

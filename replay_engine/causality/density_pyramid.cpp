// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/causality/density_pyramid.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace pf {
namespace {

using Times = std::vector<std::vector<std::uint32_t>>;

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

bool areTimesOf(const Times& times, const Execution& execution) {
  bool good = times.size() == execution.ranks.size();
  for (std::size_t rank = 0; good && rank < times.size(); ++rank) {
    good = times[rank].size() == execution.ranks[rank].events.size() &&
           std::is_sorted(times[rank].begin(), times[rank].end());
  }
  return good;
}

class Counting {
 public:
  Counting(const Execution& execution, const Times& times, const Times& departures)
      : m_execution(execution), m_times(times), m_departures(departures) {}

  DensityPyramid run(const std::vector<Race>& races, std::size_t eventsInCell) {
    layOut(eventsInCell);
    countEvents(races);
    countMessages(races);
    addCutLevels(m_pyramid);
    return std::move(m_pyramid);
  }

 private:
  void layOut(std::size_t eventsInCell);
  void countEvents(const std::vector<Race>& races);
  void countMessages(const std::vector<Race>& races);
  void countLine(const LongLine& line);

  [[nodiscard]] const RankHistory* history(Rank rank) const {
    return rank >= 0 && index(rank) < m_times.size() ? &m_execution.ranks[index(rank)] : nullptr;
  }
  /// 0: there is no such event.
  [[nodiscard]] std::uint32_t time(Rank rank, Serial serial) const {
    return timeIn(m_times, rank, serial);
  }
  [[nodiscard]] std::uint32_t timeIn(const Times& times, Rank rank, Serial serial) const {
    return history(rank) != nullptr && serial >= 1 && serial <= times[index(rank)].size()
               ? times[index(rank)][serial - 1]
               : 0;
  }
  /// False where a message has no line between two rows.
  [[nodiscard]] bool lineOf(const Message& message, LongLine& line) const {
    const RankHistory* const dest = history(message.dest);
    Serial end = message.completion;
    if (end == 0 && dest != nullptr && message.post < dest->receives.size()) {
      end = dest->receives[message.post].post;
    }
    line = {message.send.rank, message.dest,
            timeIn(m_departures, message.send.rank, message.send.serial), time(message.dest, end),
            false};
    return line.from != line.to && line.sent != 0 && line.arrived != 0;
  }
  [[nodiscard]] std::size_t bin(double time) const {
    const DensityLevel& base = m_pyramid.levels.front();
    return std::min(static_cast<std::size_t>(std::max(time, 0.0)) / base.width, base.bins - 1);
  }
  [[nodiscard]] std::uint32_t longest() const {
    return DensityPyramid::kLongBins * m_pyramid.levels.front().width;
  }
  [[nodiscard]] static std::uint32_t lengthOf(const LongLine& line) {
    return line.arrived > line.sent ? line.arrived - line.sent : 0;
  }

  const Execution& m_execution;
  const Times& m_times;
  const Times& m_departures;
  DensityPyramid m_pyramid;
};

void Counting::layOut(std::size_t eventsInCell) {
  std::size_t events = 0;
  std::uint32_t last = 1;
  for (const std::vector<std::uint32_t>& times : m_times) {
    events += times.size();
    last = std::max(last, times.empty() ? 1U : times.back());
  }
  const std::size_t ranks = std::max<std::size_t>(m_times.size(), 1);
  const std::size_t each = eventsInCell == 0 ? eventsACell(events) : eventsInCell;
  const std::size_t bins = events / (ranks * each) + 1;
  DensityLevel base;
  while ((std::size_t{last} + 1) / base.width > bins) {
    base.width *= 2;
  }
  base.bins = last / base.width + 1;
  base.cells.resize(m_times.size() * base.bins);
  m_pyramid.levels.push_back(std::move(base));
}

void Counting::countEvents(const std::vector<Race>& races) {
  DensityLevel& base = m_pyramid.levels.front();
  for (std::size_t rank = 0; rank < m_times.size(); ++rank) {
    DensityCell* const row = base.cells.data() + rank * base.bins;
    for (const std::uint32_t time : m_times[rank]) {
      ++row[std::min<std::size_t>(time / base.width, base.bins - 1)].events;
    }
  }
  std::vector<std::pair<Rank, Serial>> racing;
  for (const Race& race : races) {
    const RankHistory* const rank = history(race.rank);
    if (rank != nullptr && race.probe && race.index < rank->probes.size()) {
      racing.emplace_back(race.rank, rank->probes[race.index].event);
    } else if (rank != nullptr && !race.probe && race.index < rank->receives.size()) {
      racing.emplace_back(race.rank, rank->receives[race.index].post);
    }
  }
  std::sort(racing.begin(), racing.end());
  racing.erase(std::unique(racing.begin(), racing.end()), racing.end());
  for (const auto& [rank, serial] : racing) {
    if (const std::uint32_t at = time(rank, serial); at != 0) {
      ++base.cells[index(rank) * base.bins + bin(at)].races;
    }
  }
}

/// One more in the cells that the line goes through, as a difference to the row above: of the gaps
/// of one bin, the first has one more and the one after the last has one less.
void Counting::countLine(const LongLine& line) {
  DensityLevel& base = m_pyramid.levels.front();
  const auto binOf = [&](Rank gap) { return bin(DensityPyramid::crossing(line, gap)); };
  const Rank last = std::max(line.from, line.to) - 1;
  for (Rank gap = std::min(line.from, line.to); gap <= last;) {
    const std::size_t here = binOf(gap);
    const Rank end = endOfRun(gap, last, [&](Rank other) { return binOf(other) == here; });
    DensityCell& first = base.cells[index(gap) * base.bins + here];
    DensityCell& after = base.cells[index(end) * base.bins + here];
    ++first.cut;
    --after.cut;  // unsigned: wraps, and the sum is right
    first.racing += line.racing ? 1U : 0U;
    after.racing -= line.racing ? 1U : 0U;
    gap = end;
  }
}

void Counting::countMessages(const std::vector<Race>& races) {
  const std::vector<Message>& messages = m_execution.messages;
  std::vector<bool> taken(messages.size(), false);
  for (const Race& race : races) {
    if (race.taken < taken.size()) {
      taken[race.taken] = true;
    }
  }
  std::vector<LongLine> longOnes;
  std::vector<std::uint32_t> lengths;  // of these
  LongLine line;
  for (std::size_t m = 0; m < messages.size(); ++m) {
    if (!lineOf(messages[m], line)) {
      continue;
    }
    line.racing = taken[m];
    if (lengthOf(line) <= longest()) {
      countLine(line);
    } else {
      longOnes.push_back(line);
      lengths.push_back(lengthOf(line));
    }
  }
  // Those longer than `shortest` stay lines, and as many as there is room for of those as long.
  std::uint32_t shortest = longest();
  std::size_t asLong = lengths.size();
  if (lengths.size() > DensityPyramid::kMostLines) {
    const auto border = lengths.begin() + DensityPyramid::kMostLines;
    std::nth_element(lengths.begin(), border, lengths.end(), std::greater<>());
    shortest = *border;
    asLong = DensityPyramid::kMostLines -
             static_cast<std::size_t>(std::count_if(
                 lengths.begin(), border, [&](std::uint32_t each) { return each > shortest; }));
  }
  for (const LongLine& each : longOnes) {
    if (lengthOf(each) > shortest || (lengthOf(each) == shortest && asLong > 0)) {
      asLong -= lengthOf(each) == shortest ? 1U : 0U;
      m_pyramid.lines.push_back(each);
    } else {
      countLine(each);
    }
  }
  DensityLevel& base = m_pyramid.levels.front();
  for (std::size_t i = base.bins; i < base.cells.size(); ++i) {
    base.cells[i].cut += base.cells[i - base.bins].cut;
    base.cells[i].racing += base.cells[i - base.bins].racing;
  }
}

}  // namespace

std::size_t eventsACell(std::size_t events) {
  constexpr std::size_t kMany = 2'000'000;
  return events <= kMany ? 1 : events <= 10 * kMany ? 2 : 4;
}

void addCutLevels(DensityPyramid& pyramid) {
  while (pyramid.levels.back().bins > 1) {
    const DensityLevel& fine = pyramid.levels.back();
    const std::size_t ranks = fine.cells.size() / fine.bins;
    DensityLevel coarse;
    coarse.width = fine.width * 2;
    coarse.bins = (fine.bins + 1) / 2;
    coarse.cells.resize(ranks * coarse.bins);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      for (std::size_t b = 0; b < fine.bins; ++b) {
        const DensityCell& from = fine.cells[rank * fine.bins + b];
        DensityCell& to = coarse.cells[rank * coarse.bins + b / 2];
        to.events += from.events;
        to.races += from.races;
        to.cut += from.cut;
        to.racing += from.racing;
      }
    }
    pyramid.levels.push_back(std::move(coarse));
  }
}

DensityPyramid densityPyramid(const Execution& execution, const std::vector<Race>& races,
                              const Times& times, std::size_t eventsInCell,
                              const Times* departures) {
  if (!areTimesOf(times, execution) ||
      (departures != nullptr && !areTimesOf(*departures, execution))) {
    return {};
  }
  return Counting(execution, times, departures != nullptr ? *departures : times)
      .run(races, eventsInCell);
}

}  // namespace pf

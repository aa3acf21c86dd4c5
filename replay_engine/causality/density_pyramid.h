// SPDX-License-Identifier: MIT
// How many events each rank has, and how many message lines cross from each row of a space-time
// diagram to the next, in bins of logical time and in bins of twice, four times … that width: a
// view of any width is drawn from as many cells as it has pixels. The lines that are long stay
// lines, so that they keep their slope.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay_engine/execution/execution.h"
#include "replay_engine/races/races.h"

namespace pf {

struct DensityCell {
  std::uint32_t events = 0;
  std::uint32_t races = 0;   ///< racing receives and probes
  std::uint32_t cut = 0;     ///< lines that cross from this row to the next one, at half the way
  std::uint32_t racing = 0;  ///< those of them whose message was taken in a race
  friend bool operator==(const DensityCell&, const DensityCell&) = default;
};

struct DensityLevel {
  std::uint32_t width = 1;  ///< of a bin, in steps of logical time
  std::size_t bins = 0;
  std::vector<DensityCell> cells;  ///< [rank * bins + bin]
  [[nodiscard]] std::span<const DensityCell> row(std::size_t rank) const {
    return std::span(cells).subspan(rank * bins, bins);
  }
  friend bool operator==(const DensityLevel&, const DensityLevel&) = default;
};

/// A message that is in no cell's cut.
struct LongLine {
  Rank from = 0;
  Rank to = 0;
  std::uint32_t sent = 0;  ///< logical times
  std::uint32_t arrived = 0;
  bool racing = false;  ///< taken in a race
  friend bool operator==(const LongLine&, const LongLine&) = default;
};

struct DensityPyramid {
  std::vector<DensityLevel>
      levels;                   ///< narrow bins first, the last one has one bin; none: no pyramid
  std::vector<LongLine> lines;  ///< the longest of those longer than kLongBins narrow bins

  static constexpr std::uint32_t kLongBins = 4;
  static constexpr std::size_t kMostLines = 4096;

  /// Where a line crosses from row `gap` to the next one, in logical time.
  [[nodiscard]] static double crossing(const LongLine& line, Rank gap) {
    return line.sent +
           (double{1} * line.arrived - line.sent) * (gap + 0.5 - line.from) / (line.to - line.from);
  }
  friend bool operator==(const DensityPyramid&, const DensityPyramid&) = default;
};

/// About so many events in a cell of the narrowest bins keep the file small and views of single
/// events few.
[[nodiscard]] std::size_t eventsACell(std::size_t events);

/// Adds those of wider bins to the narrowest level, which is all that there is.
void addCutLevels(DensityPyramid& pyramid);

/// Takes some 50 ns an event. `times` as logicalTimes() gives them; without them there is no
/// pyramid. `eventsInCell` 0: eventsACell(). `departures`, for each event: when what it sends leaves,
/// if that is not its time. Needs matchMessages() first.
[[nodiscard]] DensityPyramid densityPyramid(
    const Execution& execution, const std::vector<Race>& races,
    const std::vector<std::vector<std::uint32_t>>& times, std::size_t eventsInCell = 0,
    const std::vector<std::vector<std::uint32_t>>* departures = nullptr);

}  // namespace pf

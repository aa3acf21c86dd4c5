// SPDX-License-Identifier: MIT
// The cut pyramid of a trace, as much of a level as is in view: it need not be in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "replay_engine/causality/density_pyramid.h"

namespace pf::views {

/// Some cells of a level. They lie in tiles of it that others hold as well: of a thousand ranks
/// they are too many to copy for each picture.
struct DensityWindow {
  /// Of all tiles of one row of them, the ranks are the same.
  struct Tile {
    std::shared_ptr<const std::vector<DensityCell>>
        cells;                 ///< [(rank - its first) * bins + bin - first]
    std::size_t firstBin = 0;  ///< number in the level
    std::size_t bins = 0;
  };
  std::uint32_t width = 1;   ///< of a bin, in steps of logical time
  std::size_t firstBin = 0;  ///< number of the first one in the level
  std::size_t bins = 0;
  std::size_t across = 0;     ///< so many tiles, side by side, have the bins of a rank
  std::size_t tileRanks = 1;  ///< so many ranks are in a row of tiles
  std::size_t firstRow = 0;   ///< of the tiles: that of ranks from firstRow * tileRanks on
  std::vector<Tile> tiles;    ///< [row of them * across + column]

  /// The cells of a rank that is in it, by bin. `gathered` is room for them.
  [[nodiscard]] std::span<const DensityCell> row(Rank rank,
                                                 std::vector<DensityCell>& gathered) const {
    const auto down = static_cast<std::size_t>(rank) / tileRanks;
    const std::size_t inTile = static_cast<std::size_t>(rank) % tileRanks;
    const auto from = [&](const Tile& tile) {
      const std::size_t left = std::max(firstBin, tile.firstBin);
      const std::size_t right = std::min(firstBin + bins, tile.firstBin + tile.bins);
      return std::span(*tile.cells)
          .subspan(inTile * tile.bins + (left - tile.firstBin), right - left);
    };
    const std::span<const Tile> row = std::span(tiles).subspan((down - firstRow) * across, across);
    if (across == 1) {
      return from(row.front());
    }
    gathered.clear();
    for (const Tile& tile : row) {
      const std::span<const DensityCell> cells = from(tile);
      gathered.insert(gathered.end(), cells.begin(), cells.end());
    }
    return gathered;
  }
};

class DensityLevels {
 public:
  DensityLevels() = default;
  virtual ~DensityLevels() = default;
  DensityLevels(const DensityLevels&) = delete;
  DensityLevels& operator=(const DensityLevels&) = delete;

  [[nodiscard]] virtual std::size_t count() const = 0;
  /// Of the bins of a level, in steps of logical time; those of level n + 1 are twice as wide.
  [[nodiscard]] virtual std::uint32_t width(std::size_t level) const = 0;
  /// The bins of ranks [first, last), which are in the pyramid, that times [from, to] meet. From
  /// any thread but the GUI's: it may read a file. Null: it cannot be read.
  [[nodiscard]] virtual std::shared_ptr<const DensityWindow> window(std::size_t level, Rank first,
                                                                    Rank last, double from,
                                                                    double to) const = 0;
  [[nodiscard]] virtual const std::vector<LongLine>& lines() const = 0;

  /// The level of the widest bins that are not wider than `steps`; count(): all are wider.
  [[nodiscard]] std::size_t levelFor(double steps) const {
    std::size_t found = count();
    for (std::size_t n = 0; n < count() && width(n) <= steps; ++n) {
      found = n;
    }
    return found;
  }

 protected:
  /// What of `bins` the times meet: the first, and the one after the last.
  [[nodiscard]] static std::pair<std::size_t, std::size_t> binsIn(std::size_t bins,
                                                                  std::uint32_t width, double from,
                                                                  double to) {
    const auto bin = [&](double time) {
      return std::min(static_cast<std::size_t>(std::max(time, 0.0)) / width, bins - 1);
    };
    return {bin(from), bin(to) + 1};
  }
};

using CutLevelsPtr = std::shared_ptr<const DensityLevels>;

/// A pyramid that is in memory.
class KeptCutLevels : public DensityLevels {
 public:
  explicit KeptCutLevels(DensityPyramid pyramid) : m_lines(std::move(pyramid.lines)) {
    for (DensityLevel& level : pyramid.levels) {
      m_levels.push_back(std::make_shared<const DensityLevel>(std::move(level)));
    }
  }
  [[nodiscard]] std::size_t count() const override { return m_levels.size(); }
  [[nodiscard]] std::uint32_t width(std::size_t level) const override {
    return m_levels[level]->width;
  }
  [[nodiscard]] std::shared_ptr<const DensityWindow> window(std::size_t number, Rank /*first*/,
                                                            Rank /*last*/, double from,
                                                            double to) const override {
    const std::shared_ptr<const DensityLevel>& level = m_levels[number];
    const auto [begin, end] = binsIn(level->bins, level->width, from, to);
    const std::size_t ranks = level->cells.size() / level->bins;
    return std::make_shared<const DensityWindow>(DensityWindow{
        level->width, begin, end - begin, 1, ranks, 0, {{{level, &level->cells}, 0, level->bins}}});
  }
  [[nodiscard]] const std::vector<LongLine>& lines() const override { return m_lines; }

 private:
  std::vector<std::shared_ptr<const DensityLevel>> m_levels;
  std::vector<LongLine> m_lines;
};

}  // namespace pf::views

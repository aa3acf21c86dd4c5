// SPDX-License-Identifier: GPL-3.0-or-later
// Table `summary_chunk`: what is worked out once of an execution, so that a view of it need not
// look at each event: clock checkpoints and the cut pyramid. A chunk has a checksum of its own and
// can be read without any other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "db/columns/column_codec.h"
#include "db/schema/trace_types.h"
#include "db/sqlite/database.h"
#include "replay_engine/base/result.h"
#include "replay_engine/causality/clock_checkpoints.h"
#include "replay_engine/causality/density_pyramid.h"

namespace pf::db {

/// What a chunk is of; `part` and `ordinal` count from 0.
enum class Summary : std::uint8_t {
  Outline,  ///< one chunk
  Past,     ///< clocks of rank `part`, clocksAChunk() checkpoints a chunk
  Future,
  Tiles,  ///< of level `part` of the pyramid: TileGrid
  Lines,  ///< one chunk
};

/// What is known of the whole.
struct Outline {
  std::uint32_t every = 0;     ///< of ClockCheckpoints
  std::uint32_t width = 0;     ///< of the narrowest bins of the pyramid; 0: there is none
  std::uint32_t lastStep = 0;  ///< of logical time
  std::uint64_t races = 0;
};

/// How a level of the pyramid is cut into tiles of 64 ranks and 256 bins, those of the first ranks
/// first. The cells of a tile are in the order of ranks and bins.
struct TileGrid {
  std::size_t ranks = 0;
  std::size_t bins = 0;
  static constexpr std::size_t kRanks = 64;
  static constexpr std::size_t kBins = 256;

  [[nodiscard]] std::size_t across() const { return (bins + kBins - 1) / kBins; }
  [[nodiscard]] std::size_t down() const { return (ranks + kRanks - 1) / kRanks; }
  [[nodiscard]] std::size_t ordinal(std::size_t row, std::size_t column) const {
    return row * across() + column;
  }
  /// Of a tile.
  [[nodiscard]] std::size_t ranksIn(std::size_t row) const {
    return std::min(kRanks, ranks - row * kRanks);
  }
  [[nodiscard]] std::size_t binsIn(std::size_t column) const {
    return std::min(kBins, bins - column * kBins);
  }
};

/// Checkpoints in a chunk of clocks.
[[nodiscard]] constexpr std::size_t clocksAChunk(std::size_t ranks) {
  return std::clamp<std::size_t>(4096 / std::max<std::size_t>(ranks, 1), 4, 64);
}

/// Works the summaries out and writes them, with their seal. Needs an open transaction, an
/// execution that checkExecution() has passed, and finishSeals() after it.
Status writeSummaries(Database& database, const Execution& execution,
                      const std::vector<Race>& races, const LogicalTimes& times);
/// Writes what has been worked out; the seal as well.
Status storeSummaries(Database& database, const Outline& outline, const ClockCheckpoints& clocks,
                      const DensityPyramid& pyramid);
/// An empty table has a seal, too.
Status sealSummaries(Database& database);

class SummaryReader {
 public:
  /// `events` of each rank, as the directory of the columns says. NotFound: there are none.
  [[nodiscard]] static Result<SummaryReader> start(Database& database,
                                                   std::vector<std::uint64_t> events);
  [[nodiscard]] const Outline& outline() const { return m_outline; }
  [[nodiscard]] const std::vector<std::uint64_t>& events() const { return m_events; }
  [[nodiscard]] Result<ClockCheckpoints> clocks();
  /// Chunk `ordinal` of a rank's clocks, as ClockCheckpoints has them, instead of what is in
  /// `values`. `kind`: Past or Future.
  Status clockChunk(Summary kind, Rank rank, std::size_t ordinal,
                    std::vector<std::uint32_t>& values);
  /// Number of levels of the pyramid; level n has bins of outline().width << n.
  [[nodiscard]] std::size_t levelCount() const;
  [[nodiscard]] TileGrid grid(std::size_t level) const;
  /// The cells of a tile instead of what is in `cells`.
  Status tile(std::size_t level, std::size_t row, std::size_t column,
              std::vector<DensityCell>& cells);
  [[nodiscard]] Result<DensityLevel> level(std::size_t number);
  [[nodiscard]] Result<std::vector<LongLine>> lines();
  /// Reads all there is.
  Status check();

 private:
  Status load(Summary kind, std::size_t part, std::size_t ordinal, std::size_t most);
  Status readClocks(Summary kind, Rank rank, std::vector<std::uint32_t>& values);
  [[nodiscard]] Error damaged(Summary kind, std::size_t part, std::size_t ordinal) const;

  Statement m_select;
  ColumnDecoder m_decoder;
  std::string m_path;
  std::vector<std::uint64_t> m_events;
  Outline m_outline;
};

/// What can be said of the whole.
[[nodiscard]] Result<TraceOutline> outlineOf(SummaryReader& reader);

/// Column `id` of a chunk: their order.
[[nodiscard]] std::int64_t summaryChunkId(Summary kind, std::uint64_t part, std::uint64_t ordinal);
/// Column `crc32c` of a chunk.
[[nodiscard]] std::uint32_t summaryChunkCrc(Summary kind, std::uint64_t part, std::uint64_t ordinal,
                                            Bytes data);

}  // namespace pf::db

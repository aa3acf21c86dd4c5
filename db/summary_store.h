// Table `summary_chunk`: what is worked out once of an execution, so that a view of it need not
// look at each event: clock checkpoints and the cut pyramid. A chunk has a checksum of its own and
// can be read without any other.
#pragma once

#include "column_codec.h"

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "core/clock_checkpoints.h"
#include "core/cut_pyramid.h"
#include "db/database.h"
#include "db/trace_types.h"

namespace pf::db {

/// What a chunk is of; `part` and `ordinal` count from 0.
enum class Summary : std::uint8_t {
  Outline,  ///< one chunk
  Past,     ///< clocks of rank `part`, kClocksAChunk checkpoints a chunk
  Future,
  Cells,  ///< level `part` of the pyramid, kCellsAChunk cells a chunk
  Lines,  ///< one chunk
};

/// What is known of the whole.
struct Outline {
  std::uint32_t every = 0;     ///< of ClockCheckpoints
  std::uint32_t width = 0;     ///< of the narrowest bins of the pyramid; 0: there is none
  std::uint32_t lastStep = 0;  ///< of logical time
  std::uint64_t races = 0;
};

/// Works the summaries out and writes them, with their seal. Needs an open transaction, an
/// execution that checkExecution() has passed, and finishSeals() after it.
Status writeSummaries(Database& database, const Execution& execution,
                      const std::vector<Race>& races, const LogicalTimes& times);
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
  /// Number of levels of the pyramid; level n has bins of outline().width << n.
  [[nodiscard]] std::size_t levelCount() const;
  [[nodiscard]] Result<CutLevel> level(std::size_t number);
  [[nodiscard]] Result<std::vector<CutLine>> lines();
  /// Reads all there is.
  Status check();

 private:
  Status load(Summary kind, std::size_t part, std::size_t ordinal, std::size_t most);
  Status readClocks(Summary kind, std::uint32_t every, Rank rank,
                    std::vector<std::uint32_t>& values);
  [[nodiscard]] Error damaged(Summary kind, std::size_t part, std::size_t ordinal) const;

  Statement m_select;
  ColumnDecoder m_decoder;
  std::string m_path;
  std::vector<std::uint64_t> m_events;
  Outline m_outline;
};

/// Column `crc32c` of a chunk.
[[nodiscard]] std::uint32_t summaryChunkCrc(Summary kind, std::uint64_t part, std::uint64_t ordinal,
                                            Bytes data);

inline constexpr std::size_t kClocksAChunk = 64;
inline constexpr std::size_t kCellsAChunk = std::size_t{1} << 18U;

}  // namespace pf::db

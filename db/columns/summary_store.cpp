// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/columns/summary_store.h"

#include <algorithm>
#include <array>
#include <utility>

#include "db/columns/execution_streams.h"
#include "db/schema/schema.h"
#include "db/schema/seal.h"
#include "replay_engine/base/crc32c.h"

namespace pf::db {
namespace {

template <typename C, ValueOf<Outline> V>
void fields(C& c, V& v) {
  number(c, v.every);
  number(c, v.width);
  number(c, v.lastStep);
  number(c, v.races);
}

template <typename C, ValueOf<std::uint32_t> V>
void fields(C& c, V& v) {
  difference(c, v);
}

template <typename C, ValueOf<DensityCell> V>
void fields(C& c, V& v) {
  number(c, v.events);
  number(c, v.races);
  number(c, v.cut);
  number(c, v.racing);
}

template <typename C, ValueOf<LongLine> V>
void fields(C& c, V& v) {
  number(c, v.from);
  number(c, v.to);
  difference(c, v.sent);
  difference(c, v.arrived);
  flag(c, v.racing);
}

/// Bins of a level of the pyramid.
std::size_t binsOf(const Outline& outline, std::size_t level) {
  return (outline.lastStep >> level) / outline.width + 1;
}

class SummaryWriter {
 public:
  static Result<SummaryWriter> start(Database& database) {
    Result<Statement> insert =
        database.prepare("INSERT OR FAIL INTO summary_chunk VALUES(?,?,?,?,?,?)");
    if (!insert) {
      return insert.error();
    }
    SummaryWriter writer;
    writer.m_insert = std::move(insert).value();
    return writer;
  }

  /// One chunk.
  template <typename T>
  Status write(Summary kind, std::size_t part, std::size_t ordinal, std::span<const T> values) {
    m_encoder.clear();
    for (const T& value : values) {
      m_encoder.begin();
      fields(m_encoder, value);
    }
    const Result<Bytes> packed = m_encoder.finish();
    if (!packed) {
      return packed.error();
    }
    m_insert.bindInteger(1, summaryChunkId(kind, part, ordinal));
    m_insert.bindInteger(2, static_cast<std::int64_t>(kind));
    m_insert.bindInteger(3, static_cast<std::int64_t>(part));
    m_insert.bindInteger(4, static_cast<std::int64_t>(ordinal));
    m_insert.bindInteger(5, summaryChunkCrc(kind, part, ordinal, *packed));
    m_insert.bindBlob(6, *packed);
    return m_insert.run();
  }

  /// Clocks of one rank: in a chunk component after component, so that neighbours are near.
  Status clocks(Summary kind, std::size_t rank, std::size_t ranks,
                const std::vector<std::uint32_t>& values) {
    std::vector<std::uint32_t> turned;
    const std::size_t count = values.size() / ranks;
    Status status;
    const std::size_t most = clocksAChunk(ranks);
    for (std::size_t first = 0; first < count && status.ok(); first += most) {
      const std::size_t end = std::min(first + most, count);
      turned.clear();
      for (std::size_t other = 0; other < ranks; ++other) {
        for (std::size_t n = first; n < end; ++n) {
          turned.push_back(values[n * ranks + other]);
        }
      }
      status = write(kind, rank, first / most, std::span<const std::uint32_t>(turned));
    }
    return status;
  }

  Status level(std::size_t number, const DensityLevel& level) {
    const TileGrid grid{level.bins == 0 ? 0 : level.cells.size() / level.bins, level.bins};
    std::vector<DensityCell> cells;
    Status status;
    for (std::size_t row = 0; row < grid.down(); ++row) {
      for (std::size_t column = 0; column < grid.across() && status.ok(); ++column) {
        cells.clear();
        for (std::size_t rank = 0; rank < grid.ranksIn(row); ++rank) {
          const auto from = level.row(row * TileGrid::kRanks + rank)
                                .subspan(column * TileGrid::kBins, grid.binsIn(column));
          cells.insert(cells.end(), from.begin(), from.end());
        }
        status = write(Summary::Tiles, number, grid.ordinal(row, column),
                       std::span<const DensityCell>(cells));
      }
    }
    return status;
  }

 private:
  Statement m_insert;
  ColumnEncoder m_encoder;
};

Status writeAll(SummaryWriter& writer, const Outline& outline, const ClockCheckpoints& clocks,
                const DensityPyramid& pyramid) {
  Status status = writer.write(Summary::Outline, 0, 0, std::span<const Outline>(&outline, 1));
  for (std::size_t rank = 0; rank < clocks.past.size() && status.ok(); ++rank) {
    status = writer.clocks(Summary::Past, rank, clocks.ranks, clocks.past[rank]);
  }
  for (std::size_t rank = 0; rank < clocks.future.size() && status.ok(); ++rank) {
    status = writer.clocks(Summary::Future, rank, clocks.ranks, clocks.future[rank]);
  }
  for (std::size_t level = 0; level < pyramid.levels.size() && status.ok(); ++level) {
    status = writer.level(level, pyramid.levels[level]);
  }
  if (status.ok() && !pyramid.levels.empty()) {
    status = writer.write(Summary::Lines, 0, 0, std::span<const LongLine>(pyramid.lines));
  }
  return status;
}

}  // namespace

std::int64_t summaryChunkId(Summary kind, std::uint64_t part, std::uint64_t ordinal) {
  constexpr unsigned kPartBits = 24;
  constexpr unsigned kOrdinalBits = 32;
  return static_cast<std::int64_t>(
      (((static_cast<std::uint64_t>(kind) << kPartBits) + part) << kOrdinalBits) + ordinal);
}

std::uint32_t summaryChunkCrc(Summary kind, std::uint64_t part, std::uint64_t ordinal, Bytes data) {
  const std::array<std::uint64_t, 3> key{static_cast<std::uint64_t>(kind), part, ordinal};
  return crc32c(data.data(), data.size(), crc32c(key.data(), sizeof key));
}

Status writeSummaries(Database& database, const Execution& execution,
                      const std::vector<Race>& races, const LogicalTimes& times) {
  const bool any =
      std::ranges::any_of(execution.ranks, [](const RankHistory& r) { return !r.events.empty(); });
  if (any) {
    const DensityPyramid pyramid = densityPyramid(execution, races, times);
    const ClockCheckpoints clocks = clockCheckpoints(execution);
    Outline outline{clocks.every, 0, 1, races.size()};
    for (const auto& rank : times) {
      outline.lastStep = std::max(outline.lastStep, rank.empty() ? 1U : rank.back());
    }
    outline.width = pyramid.levels.empty() ? 0 : pyramid.levels.front().width;
    return storeSummaries(database, outline, clocks, pyramid);
  }
  return sealSummaries(database);
}

Status storeSummaries(Database& database, const Outline& outline, const ClockCheckpoints& clocks,
                      const DensityPyramid& pyramid) {
  Result<SummaryWriter> writer = SummaryWriter::start(database);
  if (!writer) {
    return writer.error();
  }
  const Status status = writeAll(*writer, outline, clocks, pyramid);
  return status.ok() ? sealSummaries(database) : status;
}

Status sealSummaries(Database& database) {
  const Result<Seal> seal = computeSeal(database, table(TableId::SummaryChunk));
  return seal ? storeSeal(database, table(TableId::SummaryChunk), *seal) : Status(seal.error());
}

// ---- SummaryReader

Result<SummaryReader> SummaryReader::start(Database& database, std::vector<std::uint64_t> events) {
  const Result<Seal> seal = storedSeal(database, table(TableId::SummaryChunk));
  if (!seal) {
    return seal.error();
  }
  if (seal->rows == 0) {
    return Error{ErrorCode::NotFound, "'" + database.path() + "' has no summaries", {}};
  }
  SummaryReader reader;
  reader.m_path = database.path();
  reader.m_events = std::move(events);
  Result<Statement> select = database.prepare(
      "SELECT crc32c, data FROM summary_chunk "
      "WHERE kind = ?1 AND part = ?2 AND ordinal = ?3 AND id = ?4");
  if (!select) {
    return select.error();
  }
  reader.m_select = std::move(select).value();
  if (Status status = reader.load(Summary::Outline, 0, 0, 1); !status) {
    return status.error();
  }
  reader.m_decoder.begin();
  fields(reader.m_decoder, reader.m_outline);
  std::uint64_t total = 0;
  for (const std::uint64_t each : reader.m_events) {
    total += each;
  }
  // More cells than events would be somebody else's.
  const Outline& outline = reader.m_outline;
  constexpr std::uint32_t kLastStep = std::uint32_t{1} << 31U;
  if (!reader.m_decoder.ok() || outline.lastStep >= kLastStep ||
      (outline.width & (outline.width - 1)) != 0 ||
      (outline.width != 0 &&
       binsOf(outline, 0) > 4 * (total / std::max<std::size_t>(reader.m_events.size(), 1) + 1))) {
    return reader.damaged(Summary::Outline, 0, 0);
  }
  return reader;
}

Error SummaryReader::damaged(Summary kind, std::size_t part, std::size_t ordinal) const {
  return Error{ErrorCode::Damaged,
               "chunk " + std::to_string(ordinal) + " of summary " +
                   std::to_string(static_cast<int>(kind)) + ", part " + std::to_string(part) +
                   ", in '" + m_path + "' is damaged",
               kSeeCheck};
}

Status SummaryReader::load(Summary kind, std::size_t part, std::size_t ordinal, std::size_t most) {
  m_select.reset();
  m_select.bindInteger(1, static_cast<std::int64_t>(kind));
  m_select.bindInteger(2, static_cast<std::int64_t>(part));
  m_select.bindInteger(3, static_cast<std::int64_t>(ordinal));
  m_select.bindInteger(4, summaryChunkId(kind, part, ordinal));
  const Statement::Step step = m_select.step();
  if (step == Statement::Step::Failed) {
    return m_select.error();
  }
  if (step == Statement::Step::Done || m_select.type(1) != Statement::Type::Blob) {
    return damaged(kind, part, ordinal);
  }
  const Bytes data = m_select.blob(1);
  if (m_select.integer(0) != summaryChunkCrc(kind, part, ordinal, data) ||
      !m_decoder.start(data, most, m_events.size()).ok()) {
    return damaged(kind, part, ordinal);
  }
  m_select.reset();  // a statement that is not done keeps the file from being written
  return {};
}

Status SummaryReader::clockChunk(Summary kind, Rank rank, std::size_t ordinal,
                                 std::vector<std::uint32_t>& values) {
  const std::size_t ranks = m_events.size();
  const auto part = static_cast<std::size_t>(rank);
  const std::size_t most = clocksAChunk(m_events.size());
  const std::size_t first = ordinal * most;
  const std::size_t count = m_events[part] / m_outline.every;
  values.clear();
  if (first >= count) {
    return damaged(kind, part, ordinal);
  }
  const std::size_t here = std::min(most, count - first);
  if (Status status = load(kind, part, ordinal, most * ranks); !status) {
    return status;
  }
  bool good = m_decoder.size() == here * ranks;
  values.resize(good ? here * ranks : 0);
  for (std::size_t i = 0; good && i < here * ranks; ++i) {
    const std::size_t other = i / here;
    std::uint32_t& value = values[i % here * ranks + other];
    m_decoder.begin();
    fields(m_decoder, value);
    good = m_decoder.ok() && value <= m_events[other] &&
           (other != part || value == (first + i % here + 1) * m_outline.every);
  }
  return good ? Status() : Status(damaged(kind, part, ordinal));
}

Status SummaryReader::readClocks(Summary kind, Rank rank, std::vector<std::uint32_t>& values) {
  const std::size_t count = m_events[static_cast<std::size_t>(rank)] / m_outline.every;
  values.clear();
  std::vector<std::uint32_t> chunk;
  const std::size_t most = clocksAChunk(m_events.size());
  for (std::size_t ordinal = 0; ordinal * most < count; ++ordinal) {
    if (Status status = clockChunk(kind, rank, ordinal, chunk); !status) {
      return status;
    }
    values.insert(values.end(), chunk.begin(), chunk.end());
  }
  return {};
}

Result<ClockCheckpoints> SummaryReader::clocks() {
  ClockCheckpoints clocks;
  if (m_outline.every == 0) {
    return clocks;
  }
  clocks.every = m_outline.every;
  clocks.ranks = m_events.size();
  clocks.past.resize(clocks.ranks);
  clocks.future.resize(clocks.ranks);
  for (std::size_t rank = 0; rank < clocks.ranks; ++rank) {
    for (const auto& [kind, values] : {std::pair{Summary::Past, &clocks.past[rank]},
                                       std::pair{Summary::Future, &clocks.future[rank]}}) {
      if (Status status = readClocks(kind, static_cast<Rank>(rank), *values); !status) {
        return status.error();
      }
    }
  }
  return clocks;
}

std::size_t SummaryReader::levelCount() const {
  std::size_t count = m_outline.width == 0 ? 0 : 1;
  while (count > 0 && count < 32 && binsOf(m_outline, count - 1) > 1) {
    ++count;
  }
  return count;
}

TileGrid SummaryReader::grid(std::size_t level) const {
  return {m_events.size(), binsOf(m_outline, level)};
}

Status SummaryReader::tile(std::size_t level, std::size_t row, std::size_t column,
                           std::vector<DensityCell>& cells) {
  const TileGrid all = grid(level);
  const std::size_t ordinal = all.ordinal(row, column);
  const std::size_t count = all.ranksIn(row) * all.binsIn(column);
  if (Status status = load(Summary::Tiles, level, ordinal, count); !status) {
    return status;
  }
  cells.clear();
  if (m_decoder.size() != count) {
    return damaged(Summary::Tiles, level, ordinal);
  }
  cells.resize(count);
  for (DensityCell& cell : cells) {
    m_decoder.begin();
    fields(m_decoder, cell);
  }
  return m_decoder.ok() ? Status() : Status(damaged(Summary::Tiles, level, ordinal));
}

Result<DensityLevel> SummaryReader::level(std::size_t number) {
  const TileGrid all = grid(number);
  DensityLevel level;
  level.width = m_outline.width << number;
  level.bins = all.bins;
  std::vector<DensityCell> cells;
  for (std::size_t row = 0; row < all.down(); ++row) {
    for (std::size_t column = 0; column < all.across(); ++column) {
      if (Status status = tile(number, row, column, cells); !status) {
        return status.error();
      }
      level.cells.resize(all.ranks * all.bins);
      const std::size_t bins = all.binsIn(column);
      for (std::size_t rank = 0; rank < all.ranksIn(row); ++rank) {
        std::copy_n(cells.begin() + static_cast<std::ptrdiff_t>(rank * bins), bins,
                    level.cells.begin() +
                        static_cast<std::ptrdiff_t>((row * TileGrid::kRanks + rank) * all.bins +
                                                    column * TileGrid::kBins));
      }
    }
  }
  return level;
}

Result<std::vector<LongLine>> SummaryReader::lines() {
  std::vector<LongLine> lines;
  if (m_outline.width == 0) {
    return lines;
  }
  if (Status status = load(Summary::Lines, 0, 0, DensityPyramid::kMostLines); !status) {
    return status.error();
  }
  const auto ranks = static_cast<Rank>(m_events.size());
  bool good = true;
  for (std::size_t i = 0; i < m_decoder.size(); ++i) {
    m_decoder.begin();
    LongLine& line = lines.emplace_back();
    fields(m_decoder, line);
    good = good && line.from < ranks && line.to < ranks && line.from != line.to;
  }
  if (!good || !m_decoder.ok()) {
    return damaged(Summary::Lines, 0, 0);
  }
  return lines;
}

Status SummaryReader::check() {
  if (const Result<ClockCheckpoints> all = clocks(); !all) {
    return all.error();
  }
  for (std::size_t number = 0; number < levelCount(); ++number) {
    if (const Result<DensityLevel> one = level(number); !one) {
      return one.error();
    }
  }
  const Result<std::vector<LongLine>> all = lines();
  return all ? Status() : Status(all.error());
}

Result<TraceOutline> outlineOf(SummaryReader& reader) {
  TraceOutline outline{reader.events(),        reader.outline().lastStep, reader.outline().races,
                       reader.outline().width, reader.levelCount(),       {}};
  Result<std::vector<LongLine>> lines = reader.lines();
  if (!lines) {
    return lines.error();
  }
  outline.lines = std::move(*lines);
  return outline;
}

}  // namespace pf::db

// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/columns/column_store.h"

#include <array>
#include <bit>
#include <utility>

#include "db/schema/schema.h"
#include "db/schema/seal.h"
#include "replay_engine/base/crc32c.h"

namespace pf::db {
namespace {

/// Bytes that a chunk takes of the file at least: its key, its checksum, a frame of zstd.
constexpr std::uint64_t kSmallestChunk = 16;

std::size_t place(Rank rank, Stream stream) {
  return static_cast<std::size_t>(rank) * kStreams + static_cast<std::size_t>(stream);
}

Status writeDirectory(Database& database, const std::vector<ChunkEntry>& directory) {
  ColumnEncoder encoder;
  for (const ChunkEntry& entry : directory) {
    encoder.begin();
    fields(encoder, entry);
  }
  const Result<Bytes> packed = encoder.finish();
  if (!packed) {
    return packed.error();
  }
  const Table& table = db::table(TableId::ColumnDirectory);
  Result<RowWriter> writer = RowWriter::start(database, table);
  if (!writer) {
    return writer.error();
  }
  writer->integer(1);
  writer->blob({reinterpret_cast<const char*>(packed->data()), packed->size()});
  Status status = writer->end();
  status = status.ok() ? writer->finish() : status;
  return status.ok() ? storeSeal(database, table, writer->seal()) : status;
}

}  // namespace

std::int64_t columnChunkId(Rank rank, Stream stream, std::uint64_t ordinal) {
  return (static_cast<std::int64_t>(place(rank, stream)) << 32) +
         static_cast<std::int64_t>(ordinal);
}

std::uint32_t columnChunkCrc(Rank rank, Stream stream, std::uint64_t ordinal, Bytes data) {
  const std::array<std::uint64_t, 3> key{static_cast<std::uint64_t>(std::int64_t{rank}),
                                         static_cast<std::uint64_t>(stream), ordinal};
  return crc32c(data.data(), data.size(), crc32c(key.data(), sizeof key));
}

const char* streamName(Stream stream) {
  static constexpr std::array kNames{"event",      "receive", "probe", "message",
                                     "collective", "time",    "race",  "alternative"};
  return kNames[static_cast<std::size_t>(stream)];
}

// ---- ColumnWriter

Result<ColumnWriter> ColumnWriter::start(Database& database) {
  Result<Statement> insert =
      database.prepare("INSERT OR FAIL INTO column_chunk VALUES(?,?,?,?,?,?)");
  if (!insert) {
    return insert.error();
  }
  ColumnWriter writer;
  writer.m_database = &database;
  writer.m_insert = std::move(insert).value();
  return writer;
}

Status ColumnWriter::begin(Rank rank, Stream stream) {
  Status status = endRow();
  m_entry.rank = rank;
  m_entry.stream = stream;
  m_ordinal = 0;
  return status;
}

Status ColumnWriter::keep(const ChunkEntry& entry) {
  Status status = endRow();
  m_directory.push_back(entry);
  return status;
}

Status ColumnWriter::endChunk() {
  if (m_entry.values == 0) {
    return {};
  }
  const Result<Bytes> packed = m_encoder.finish();
  if (!packed) {
    return packed.error();
  }
  m_row.insert(m_row.end(), packed->begin(), packed->end());
  m_encoder.clear();
  ChunkEntry next;
  next.rank = m_entry.rank;
  next.stream = m_entry.stream;
  m_directory.push_back(std::exchange(m_entry, next));
  return ++m_inRow == kChunkValues / chunkValues(next.stream) ? endRow() : Status();
}

Status ColumnWriter::endRow() {
  if (Status status = endChunk(); !status || m_inRow == 0) {
    return status;
  }
  const Bytes row(m_row);
  const auto ordinal = static_cast<std::uint64_t>(m_ordinal);
  m_insert.bindInteger(1, columnChunkId(m_entry.rank, m_entry.stream, ordinal));
  m_insert.bindInteger(2, m_entry.rank);
  m_insert.bindInteger(3, static_cast<std::int64_t>(m_entry.stream));
  m_insert.bindInteger(4, m_ordinal);
  m_insert.bindInteger(5, columnChunkCrc(m_entry.rank, m_entry.stream, ordinal, row));
  m_insert.bindBlob(6, row);
  Status status = m_insert.run();
  m_row.clear();
  m_inRow = 0;
  ++m_ordinal;
  return status;
}

Status ColumnWriter::finish() {
  if (Status status = endRow(); !status) {
    return status;
  }
  if (Status status = writeDirectory(*m_database, m_directory); !status) {
    return status;
  }
  const Result<Seal> seal = computeSeal(*m_database, table(TableId::ColumnChunk));
  return seal ? storeSeal(*m_database, table(TableId::ColumnChunk), *seal) : Status(seal.error());
}

// ---- ColumnReader

Result<ColumnReader> ColumnReader::start(Database& database, std::size_t ranks) {
  ColumnReader reader;
  reader.m_path = database.path();
  const Result<Seal> chunks = storedSeal(database, table(TableId::ColumnChunk));
  if (!chunks) {
    return chunks.error();
  }
  const Result<std::int64_t> size = database.fileSize();
  if (!size) {
    return size.error();
  }
  reader.m_fileSize = static_cast<std::uint64_t>(*size);
  reader.m_ranks = ranks;
  const std::size_t most = reader.m_fileSize / kSmallestChunk;
  bool good = true;
  Status status = forEachRow(database, table(TableId::ColumnDirectory), [&](const Row& row) {
    RowReader cells(row);
    const std::int64_t id = cells.integer();
    const std::string_view data = cells.blob();
    ColumnDecoder decoder;
    good = cells.ok() && id == 1 &&
           decoder
               .start(Bytes(reinterpret_cast<const std::uint8_t*>(data.data()), data.size()), most,
                      ranks)
               .ok() &&
           decoder.size() >= chunks->rows;
    for (std::size_t i = 0; good && i < decoder.size(); ++i) {
      decoder.begin();
      ChunkEntry& entry = reader.m_directory.emplace_back();
      fields(decoder, entry);
    }
    good = good && decoder.ok();
    return good;
  });
  if (!status) {
    return status.error();
  }
  if (!reader.arrange(ranks) || reader.rows() != chunks->rows) {
    return Error{ErrorCode::Damaged,
                 "the directory of events in '" + database.path() + "' makes no sense", kSeeCheck};
  }
  Result<Statement> select = database.prepare(
      "SELECT crc32c, data FROM column_chunk "
      "WHERE id = ? AND rank = ? AND stream = ? AND ordinal = ?");
  if (!select) {
    return select.error();
  }
  reader.m_select = std::move(select).value();
  return reader;
}

/// From the chunks that others follow: in traces that formats before 10 began all have as many values.
void ColumnReader::takeShifts() {
  std::array<std::size_t, kStreams> most{};
  for (const ChunkEntry& entry : m_directory) {
    std::size_t& seen = most[static_cast<std::size_t>(entry.stream)];
    seen = std::max<std::size_t>(seen, entry.values);
  }
  for (std::size_t stream = 0; stream < kStreams; ++stream) {
    const std::size_t written = chunkValues(static_cast<Stream>(stream));
    m_shift[stream] = static_cast<unsigned>(
        std::bit_width((most[stream] > written ? kChunkValues : written) - 1));
  }
}

/// Finds the first chunk of each stream; false where the directory is not in their order.
bool ColumnReader::arrange(std::size_t ranks) {
  takeShifts();
  m_first.assign(ranks * kStreams + 1, 0);
  std::size_t former = 0;
  for (std::size_t i = 0; i < m_directory.size(); ++i) {
    const ChunkEntry& entry = m_directory[i];
    if (entry.rank < 0 || static_cast<std::size_t>(entry.rank) >= ranks || entry.values == 0 ||
        entry.values > kChunkValues) {
      return false;
    }
    const std::size_t here = place(entry.rank, entry.stream);
    const bool again = i > 0 && here == former;
    const std::size_t all = std::size_t{1} << shift(entry.stream);
    if (here < former || entry.values > all || (again && m_directory[i - 1].values != all)) {
      return false;
    }
    former = here;
    ++m_first[here + 1];
  }
  for (std::size_t i = 1; i < m_first.size(); ++i) {
    m_first[i] += m_first[i - 1];
  }
  return true;
}

/// In the file, as the directory has it.
std::size_t ColumnReader::rows() const {
  std::size_t rows = 0;
  for (std::size_t here = 0; here + 1 < m_first.size(); ++here) {
    const std::size_t a = chunksARow(static_cast<Stream>(here % kStreams));
    rows += (m_first[here + 1] - m_first[here] + a - 1) / a;
  }
  return rows;
}

std::span<const ChunkEntry> ColumnReader::chunks(Rank rank, Stream stream) const {
  const std::size_t here = place(rank, stream);
  return std::span(m_directory).subspan(m_first[here], m_first[here + 1] - m_first[here]);
}

std::uint64_t ColumnReader::count(Rank rank, Stream stream) const {
  const std::span<const ChunkEntry> all = chunks(rank, stream);
  return all.empty() ? 0 : ((all.size() - 1) << shift(stream)) + all.back().values;
}

Error ColumnReader::damaged(Rank rank, Stream stream, std::size_t ordinal) const {
  return Error{ErrorCode::Damaged,
               "chunk " + std::to_string(ordinal) + " of the " + streamName(stream) + "s of rank " +
                   std::to_string(rank) + " in '" + m_path + "' is damaged",
               kSeeCheck};
}

Status ColumnReader::load(Rank rank, Stream stream, std::size_t ordinal, std::uint32_t wanted) {
  const std::size_t row = ordinal / chunksARow(stream);
  if (m_row.empty() || m_rowPlace != place(rank, stream) || m_rowOrdinal != row) {
    if (Status status = loadRow(rank, stream, row); !status) {
      return status;
    }
  }
  const Bytes chunk = columnString(m_row, ordinal % chunksARow(stream));
  const bool good = m_decoder.start(chunk, kChunkValues, m_ranks, wanted).ok() &&
                    m_decoder.size() == chunks(rank, stream)[ordinal].values;
  return good ? Status() : Status(damaged(rank, stream, ordinal));
}

Status ColumnReader::loadRow(Rank rank, Stream stream, std::size_t ordinal) {
  m_row.clear();
  m_select.reset();
  m_select.bindInteger(1, columnChunkId(rank, stream, ordinal));
  m_select.bindInteger(2, rank);
  m_select.bindInteger(3, static_cast<std::int64_t>(stream));
  m_select.bindInteger(4, static_cast<std::int64_t>(ordinal));
  const Statement::Step step = m_select.step();
  if (step == Statement::Step::Failed) {
    return m_select.error();
  }
  if (step == Statement::Step::Done || m_select.type(1) != Statement::Type::Blob) {
    return damaged(rank, stream, ordinal * chunksARow(stream));
  }
  const Bytes data = m_select.blob(1);
  if (m_select.integer(0) != columnChunkCrc(rank, stream, ordinal, data)) {
    return damaged(rank, stream, ordinal * chunksARow(stream));
  }
  m_row.assign(data.begin(), data.end());
  m_rowPlace = place(rank, stream);
  m_rowOrdinal = ordinal;
  m_select.reset();  // a statement that is not done keeps tables from being changed
  return {};
}

}  // namespace pf::db

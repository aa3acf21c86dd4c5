// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/columns/log_chunks.h"

#include <zstd.h>

#include <array>
#include <cstring>
#include <string>

#include "db/schema/schema.h"
#include "db/schema/trace_types.h"
#include "replay_engine/base/crc32c.h"

namespace pf::db {
namespace {

std::uint32_t chunkCrc(Rank rank, std::uint64_t ordinal, Bytes data) {
  const std::array<std::uint64_t, 2> key{static_cast<std::uint64_t>(std::int64_t{rank}), ordinal};
  return crc32c(data.data(), data.size(), crc32c(key.data(), sizeof key));
}

}  // namespace

Result<LogChunkWriter> LogChunkWriter::start(Database& database, TableId id) {
  Result<Statement> insert =
      database.prepare("INSERT OR FAIL INTO " + table(id).name + " VALUES(?,?,?,?)");
  if (!insert) {
    return insert.error();
  }
  LogChunkWriter writer;
  writer.m_insert = std::move(insert).value();
  return writer;
}

Status LogChunkWriter::write(Rank rank, std::uint64_t ordinal, Bytes data) {
  m_packed.resize(ZSTD_compressBound(data.size()));
  const std::size_t size = ZSTD_compress(m_packed.data(), m_packed.size(), data.data(), data.size(),
                                         ZSTD_CLEVEL_DEFAULT);
  if (ZSTD_isError(size) != 0) {
    return Error{ErrorCode::Internal,
                 std::string("a log cannot be compressed: ") + ZSTD_getErrorName(size),
                 {}};
  }
  const Bytes packed(m_packed.data(), size);
  m_packedBytes += size;
  m_lastPacked = packed;
  m_insert.bindInteger(1, rank);
  m_insert.bindInteger(2, static_cast<std::int64_t>(ordinal));
  m_insert.bindInteger(3, chunkCrc(rank, ordinal, packed));
  m_insert.bindBlob(4, packed);
  return m_insert.run();
}

Result<LogChunkReader> LogChunkReader::start(Database& database, TableId id) {
  Result<Statement> select = database.prepare("SELECT crc32c, data FROM " + table(id).name +
                                              " WHERE rank = ? AND ordinal = ?");
  if (!select) {
    return select.error();
  }
  LogChunkReader reader;
  reader.m_select = std::move(select).value();
  reader.m_of = id == TableId::PayloadChunk ? "contents for" : "log of";
  return reader;
}

std::string LogChunkReader::lastChunk() const {
  return "chunk " + std::to_string(m_ordinal) + " of the " + m_of + " rank " +
         std::to_string(m_rank);
}

Result<Bytes> LogChunkReader::readPacked(Rank rank, std::uint64_t ordinal) {
  m_rank = rank;
  m_ordinal = ordinal;
  m_select.reset();
  m_select.bindInteger(1, rank);
  m_select.bindInteger(2, static_cast<std::int64_t>(ordinal));
  const Statement::Step step = m_select.step();
  if (step == Statement::Step::Failed) {
    return m_select.error();
  }
  if (step == Statement::Step::Done) {
    return Error{ErrorCode::NotFound, "there is no " + lastChunk(), {}};
  }
  const Bytes data = m_select.blob(1);
  if (m_select.type(1) != Statement::Type::Blob ||
      m_select.integer(0) != chunkCrc(rank, ordinal, data)) {
    return Error{ErrorCode::Damaged, lastChunk() + " does not match its checksum", kSeeCheck};
  }
  return data;
}

Result<Bytes> LogChunkReader::unpack(Bytes packed) {
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  m_unpacked.resize(size <= kLongestLogChunk ? size : 0);
  if (size > kLongestLogChunk ||
      ZSTD_decompress(m_unpacked.data(), m_unpacked.size(), packed.data(), packed.size()) != size) {
    return Error{ErrorCode::Damaged, lastChunk() + " cannot be decompressed", kSeeCheck};
  }
  return Bytes(m_unpacked);
}

Result<Bytes> LogChunkReader::read(Rank rank, std::uint64_t ordinal) {
  const Result<Bytes> packed = readPacked(rank, ordinal);
  return packed ? unpack(*packed) : packed;
}

}  // namespace pf::db

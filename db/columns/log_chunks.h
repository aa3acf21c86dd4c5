// SPDX-License-Identifier: GPL-3.0-or-later
// Tables `log_chunk`, `survey_chunk` and `payload_chunk`: each chunk is a Zstandard frame with a checksum of its
// own, so that one damaged chunk costs only itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/schema/schema.h"
#include "db/sqlite/database.h"
#include "replay_engine/base/result.h"
#include "replay_engine/execution/execution.h"

namespace pf::db {

class LogChunkWriter {
 public:
  [[nodiscard]] static Result<LogChunkWriter> start(Database& database,
                                                    TableId id = TableId::LogChunk);
  /// `data`: at most kLongestLogChunk bytes; compressed on the way.
  Status write(Rank rank, std::uint64_t ordinal, Bytes data);
  /// The chunk that was written last, as it is stored: good until the next one.
  [[nodiscard]] Bytes packed() const { return m_lastPacked; }
  /// Bytes of all chunks that were written, compressed.
  [[nodiscard]] std::uint64_t packedBytes() const { return m_packedBytes; }

 private:
  Statement m_insert;
  std::uint64_t m_packedBytes = 0;
  std::vector<std::uint8_t> m_packed;
  Bytes m_lastPacked;
};

/// Reads single chunks and verifies each.
class LogChunkReader {
 public:
  [[nodiscard]] static Result<LogChunkReader> start(Database& database,
                                                    TableId id = TableId::LogChunk);
  /// The chunk, good until the next read; Damaged if it does not verify; NotFound if it is not
  /// there.
  [[nodiscard]] Result<Bytes> read(Rank rank, std::uint64_t ordinal);
  /// The same as it is stored.
  [[nodiscard]] Result<Bytes> readPacked(Rank rank, std::uint64_t ordinal);
  /// What readPacked() gave, unpacked. Damaged: it cannot be.
  [[nodiscard]] Result<Bytes> unpack(Bytes packed);

 private:
  [[nodiscard]] std::string lastChunk() const;

  Statement m_select;
  const char* m_of = "";  ///< what its chunks are of
  Rank m_rank = kUnknownRank;
  std::uint64_t m_ordinal = 0;
  std::vector<std::uint8_t> m_unpacked;
};

}  // namespace pf::db

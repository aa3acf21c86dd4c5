// Tables `log_chunk` and `survey_chunk`: each chunk has its own checksum, so that one damaged chunk
// costs only itself.
#pragma once

#include "schema.h"

#include <cstdint>
#include <functional>
#include <optional>

#include "base/result.h"
#include "core/execution.h"
#include "db/database.h"

namespace pf::db {

class LogChunkWriter {
 public:
  [[nodiscard]] static Result<LogChunkWriter> start(Database& database,
                                                    TableId id = TableId::LogChunk);
  Status write(Rank rank, std::uint64_t ordinal, Bytes data);

 private:
  Statement m_insert;
};

/// Reads single chunks and verifies each.
class LogChunkReader {
 public:
  [[nodiscard]] static Result<LogChunkReader> start(Database& database,
                                                    TableId id = TableId::LogChunk);
  /// The chunk, good until the next read; Damaged if it does not verify; NotFound if it is not
  /// there.
  [[nodiscard]] Result<Bytes> read(Rank rank, std::uint64_t ordinal);

 private:
  Statement m_select;
};

}  // namespace pf::db

// SPDX-License-Identifier: GPL-3.0-or-later
// Tables `column_chunk` and `column_directory`: streams of values in chunks, and what is in which
// chunk. A chunk can be read without any other. A row has kChunkValues values, in one or more
// chunks, and a checksum of its own; the directory, of chunks, is one blob, read as a whole.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "db/columns/execution_streams.h"
#include "db/schema/schema.h"
#include "db/sqlite/database.h"
#include "replay_engine/base/result.h"

namespace pf::db {

/// What the directory says of a chunk. Serials (of alternatives: numbers of races), steps and
/// completions of its values from first to last, both included.
struct ChunkEntry {
  Rank rank = 0;
  Stream stream = Stream::Event;
  std::uint32_t values = 0;
  Serial firstSerial = 0;
  Serial lastSerial = 0;
  std::uint32_t firstStep = 0;
  std::uint32_t lastStep = 0;  ///< of sends: of their arrivals, too
  /// Of receives, of messages sent as their sender saw it, of collectives. 0: none completed.
  Serial firstCompletion = 0;
  Serial lastCompletion = 0;
  friend bool operator==(const ChunkEntry&, const ChunkEntry&) = default;
};

template <typename C, ValueOf<ChunkEntry> V>
void fields(C& c, V& v) {
  difference(c, v.rank);
  enumerator(c, v.stream, Stream::Alternative);
  number(c, v.values);
  difference(c, v.firstSerial);
  serialNear(c, v.lastSerial, v.firstSerial);
  difference(c, v.firstStep);
  difference(c, v.lastStep);
  serialNear(c, v.firstCompletion, v.firstSerial);
  serialNear(c, v.lastCompletion, v.lastSerial);
}

/// Writes the streams, rank after rank, and of a rank stream after stream. Needs an open
/// transaction, finishSeals() after it.
class ColumnWriter {
 public:
  [[nodiscard]] static Result<ColumnWriter> start(Database& database);

  /// Where a value is: of its stream's order.
  struct Place {
    Serial serial = 0;
    std::uint32_t firstStep = 0;
    std::uint32_t lastStep = 0;
    Serial completion = 0;  ///< 0: none
    Serial until = 0;       ///< its last serial; 0: it has one
  };
  template <typename T>
  Status write(Rank rank, const T& value, const Place& place) {
    if (rank != m_entry.rank || StreamOf<T>::kStream != m_entry.stream) {
      if (Status status = begin(rank, StreamOf<T>::kStream); !status) {
        return status;
      }
    }
    m_encoder.begin();
    fields(m_encoder, value);
    widen(place);
    return m_entry.values == chunkValues(StreamOf<T>::kStream) ? endChunk() : Status();
  }
  /// A chunk that is in the file already, in its place in the order; with all others of its row.
  Status keep(const ChunkEntry& entry);
  /// Writes what is left, the directory, and the seals of both tables.
  Status finish();

 private:
  Status begin(Rank rank, Stream stream);
  void widen(const Place& place) {
    const bool first = m_entry.values++ == 0;
    m_entry.firstSerial = first ? place.serial : std::min(m_entry.firstSerial, place.serial);
    m_entry.lastSerial =
        std::max(first ? 0 : m_entry.lastSerial, std::max(place.serial, place.until));
    m_entry.firstStep = first ? place.firstStep : std::min(m_entry.firstStep, place.firstStep);
    m_entry.lastStep = first ? place.lastStep : std::max(m_entry.lastStep, place.lastStep);
    if (place.completion != 0) {
      m_entry.firstCompletion = m_entry.firstCompletion == 0
                                    ? place.completion
                                    : std::min(m_entry.firstCompletion, place.completion);
      m_entry.lastCompletion = std::max(m_entry.lastCompletion, place.completion);
    }
  }
  Status endChunk();
  Status endRow();

  Database* m_database = nullptr;
  Statement m_insert;
  ColumnEncoder m_encoder;
  ChunkEntry m_entry;
  std::vector<std::uint8_t> m_row;  ///< chunks of the row that is being made
  std::size_t m_inRow = 0;          ///< how many
  std::int64_t m_ordinal = 0;       ///< of the row in its stream
  std::vector<ChunkEntry> m_directory;
};

class ColumnReader {
 public:
  /// Reads and verifies the directory.
  [[nodiscard]] static Result<ColumnReader> start(Database& database, std::size_t ranks);

  [[nodiscard]] std::span<const ChunkEntry> chunks(Rank rank, Stream stream) const;
  [[nodiscard]] std::uint64_t count(Rank rank, Stream stream) const;
  /// All chunks of a stream but the last have 1 << shift() values.
  [[nodiscard]] unsigned shift(Stream stream) const {
    return m_shift[static_cast<std::size_t>(stream)];
  }
  /// The same, but no more than the file can well hold: for vector::reserve().
  [[nodiscard]] std::size_t reservable(Rank rank, Stream stream) const {
    return std::min<std::uint64_t>(count(rank, stream), m_fileSize);
  }

  /// No honest file comes near: what can be unpacked from it at all.
  [[nodiscard]] std::uint64_t mostAlternatives() const { return m_fileSize * 1024; }

  /// Appends the values of a chunk to `values`. Damaged if it does not verify.
  template <typename T>
  Status read(Rank rank, std::size_t ordinal, std::vector<T>& values) {
    if (Status status = load(rank, StreamOf<T>::kStream, ordinal, kWantedColumns<T>); !status) {
      return status;
    }
    const std::size_t before = values.size();
    values.resize(before + m_decoder.size());
    m_decoder.readAll(std::span(values).subspan(before));
    return m_decoder.ok() ? Status() : Status(damaged(rank, StreamOf<T>::kStream, ordinal));
  }
  /// The error for a chunk that does not verify.
  [[nodiscard]] Error damaged(Rank rank, Stream stream, std::size_t ordinal) const;

 private:
  Status load(Rank rank, Stream stream, std::size_t ordinal, std::uint32_t wanted);
  [[nodiscard]] bool arrange(std::size_t ranks);
  void takeShifts();
  [[nodiscard]] std::size_t rows() const;
  /// Chunks of a whole row.
  [[nodiscard]] std::size_t chunksARow(Stream stream) const {
    return kChunkValues >> shift(stream);
  }
  Status loadRow(Rank rank, Stream stream, std::size_t ordinal);

  Statement m_select;
  std::vector<std::uint8_t> m_row;  ///< the one that was read last
  std::size_t m_rowPlace = 0;
  std::size_t m_rowOrdinal = 0;
  ColumnDecoder m_decoder;
  std::string m_path;
  std::uint64_t m_fileSize = 0;
  std::size_t m_ranks = 0;
  std::vector<ChunkEntry> m_directory;
  std::array<unsigned, kStreams> m_shift{};
  std::vector<std::size_t>
      m_first;  ///< entry of the first chunk, by rank and stream; one more at the end
};

/// Column `id` of a row: their order. A key of three columns would be compared with whole rows.
[[nodiscard]] std::int64_t columnChunkId(Rank rank, Stream stream, std::uint64_t ordinal);
/// Column `crc32c` of a row.
[[nodiscard]] std::uint32_t columnChunkCrc(Rank rank, Stream stream, std::uint64_t ordinal,
                                           Bytes data);
/// "event", "receive" … for messages.
[[nodiscard]] const char* streamName(Stream stream);

}  // namespace pf::db

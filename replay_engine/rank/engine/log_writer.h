// SPDX-License-Identifier: MIT
// Appends records to the log of this rank (replay_engine/log_format/log_format.h), mapped a window at a time. Nothing
// is lost by any death of the process: published bytes are in the page cache.
#pragma once

#if defined(__SSE4_2__)
#include <nmmintrin.h>
#endif

#include <cstdint>

#include "replay_engine/log_format/log_format.h"
#include "replay_engine/log_format/record_writer.h"

namespace pf {

class LogWriter {
 public:
  /// Makes the file at `path` (0600; must not exist) and maps its header. False with errno on
  /// failure.
  bool open(const char* path, std::uint64_t salt);

  [[nodiscard]] bool isOpen() const { return m_header != nullptr; }
  [[nodiscard]] LogHeader& header() { return *m_header; }

  /// Room for one record of at most kMaxRecord bytes. Never null while open: when the disk is full
  /// the bytes go to a dummy and are dropped, and header().failed tells.
  unsigned char* reserve() {
    if (m_used + kMaxRecord > kLogBlockData) [[unlikely]] {
      nextBlock();
    }
    return m_block + m_used;
  }
  /// Reserves, fills and commits a record of one byte.
  void add(unsigned char record) {
    unsigned char* p = reserve();
    *p = record;
#if defined(__SSE4_2__)
    m_crc = _mm_crc32_u8(m_crc, record);  // in a rank's path: not worth a call
    ++m_used;
#else
    commit(p + 1);
#endif
  }
  /// The same of `size` bytes, at most 8, the lowest first: what was just written byte by byte is slow to read back.
  void addWord(std::uint64_t record, unsigned size) {
    unsigned char* p = reserve();
    __builtin_memcpy(p, &record, 8);  // those behind the record are written over
#if defined(__SSE4_2__)
    if (size == 8) {
      m_crc = static_cast<std::uint32_t>(_mm_crc32_u64(m_crc, record));
    }
    if ((size & 4U) != 0) {
      m_crc = _mm_crc32_u32(m_crc, static_cast<std::uint32_t>(record));
      record >>= 32;
    }
    if ((size & 2U) != 0) {
      m_crc = _mm_crc32_u16(m_crc, static_cast<std::uint16_t>(record));
      record >>= 16;
    }
    if ((size & 1U) != 0) {
      m_crc = _mm_crc32_u8(m_crc, static_cast<unsigned char>(record));
    }
    m_used += size;
#else
    commit(p + size);
#endif
  }
  /// Reserves, fills and commits a record that has no rest.
  template <RecordKind kind>
  void put(const FieldsOf<kind>& fields) {
    commit(putRecord<kind>(reserve(), fields));
  }
  /// `kind`: one with these fields.
  template <typename Fields>
  void put(RecordKind kind, const Fields& fields) {
    commit(putRecord(reserve(), kind, fields));
  }
  /// The record that ends at `end` is complete; it counts once publish() is called.
  void commit(const unsigned char* end);
  /// Publishes all committed records.
  void publish();

  /// Publishes. `clean`: MPI_Finalize was reached. What the program asks the system after it is
  /// still appended, so the file keeps its window.
  void close(bool clean);
  /// In a child after fork: forgets the log without touching it.
  void abandon();

 private:
  void nextBlock();
  bool mapWindow(std::uint64_t block);
  void fail(int error);

  LogHeader* m_header = nullptr;
  unsigned char* m_window = nullptr;
  unsigned char* m_block = nullptr;
  std::uint64_t m_blockNumber = 0;
  std::uint32_t m_used = 0;
  std::uint32_t m_crc = 0;
  std::uint64_t m_salt = 0;
  char m_path[2048] = {};
};

}  // namespace pf

// SPDX-License-Identifier: MIT
// Appends what this rank receives from outside of its group to rank-N.payload (replay_engine/log_format/payload_format.h),
// mapped a window at a time. What was ended before any death of the process is kept: it is in the page cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include "replay_engine/log_format/payload_format.h"

namespace pf {

/// One thread at a time.
class PayloadWriter {
 public:
  /// Makes the file at `path` (0600; must not exist). False with errno on failure.
  bool open(const char* path, std::uint64_t salt, std::int32_t rank, std::int32_t size);

  [[nodiscard]] bool isOpen() const { return m_header != nullptr; }
  /// False: all that follows is dropped.
  [[nodiscard]] bool keeps() const {
    return m_keeps && m_header->failed.load(std::memory_order_relaxed) == 0;
  }

  /// Begins an entry. One that was begun and not ended is forgotten.
  void begin(PayloadKind kind, std::int32_t a, std::int32_t b, std::uint64_t serial,
             std::uint16_t type = 0);
  /// More of its content: any number of times, of any size.
  void add(const void* bytes, std::size_t n);
  /// The entry is whole, and counts.
  void end();

  /// Something cannot be kept (errno): that is marked in place of the open entry, or of the next one, and said on standard
  /// error. All that follows is dropped.
  void fail(int error);
  /// The same of any thread, while the writer's may be at it: what it has begun may still count.
  void stop(int error);
  /// `clean`: MPI_Finalize was reached.
  void close(bool clean);
  /// In a child after fork: forgets the file without touching it.
  void abandon();

 private:
  bool mapWindow(std::uint64_t offset);
  void unmapWindow();
  void unmapHead();
  void keepHead();
  bool goOn();
  void forgetEntry();
  void commit(unsigned char* head);
  void sayStopped(int error) const;

  PayloadHeader* m_header = nullptr;
  bool m_keeps = false;
  std::uint64_t m_used = 0;  ///< bytes that count
  unsigned char* m_window = nullptr;
  std::size_t m_windowSize = 0;
  std::uint64_t m_windowAt = 0;          ///< in the file
  unsigned char* m_at = nullptr;         ///< the next byte
  unsigned char* m_limit = nullptr;      ///< room for a Mark is left behind it
  unsigned char* m_head = nullptr;       ///< of the open entry
  unsigned char* m_headPages = nullptr;  ///< of a former window, where its head lies
  std::size_t m_headSize = 0;
  PayloadEntry m_entry{};
  char m_path[2048] = {};
};

}  // namespace pf

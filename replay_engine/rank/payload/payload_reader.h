// SPDX-License-Identifier: MIT
// Reads rank-N.payload (replay_engine/log_format/payload_format.h), one entry after another, for a rank that is replayed
// with its group alone. Nothing in the file is believed that its checksums do not say.
#pragma once

#include <cstddef>
#include <cstdint>

#include "replay_engine/log_format/payload_format.h"

namespace pf {

class PayloadReader {
 public:
  PayloadReader() = default;
  ~PayloadReader() { close(); }
  PayloadReader(const PayloadReader&) = delete;
  PayloadReader& operator=(const PayloadReader&) = delete;

  /// Maps the file of this rank. False: `*why` says what is wrong with it.
  bool open(const char* path, std::int32_t rank, std::int32_t size, const char** why);
  void close();
  [[nodiscard]] bool isOpen() const { return m_base != nullptr; }

  /// The next entry that is no Datatype, and its content (entry->size bytes, at a multiple of 8); both good until the next one. Null: there is
  /// none, and end() says why.
  const PayloadEntry* next(const unsigned char** content);
  /// The entry that next() gives, good until then; null: there is none.
  [[nodiscard]] const PayloadEntry* peek() { return verified() ? &m_entry : nullptr; }
  /// Its kind; None: there is none.
  [[nodiscard]] PayloadKind peekKind();

  enum class End {
    No,       ///< there may be more
    Ended,    ///< all that was kept has been read
    Cut,      ///< what followed could not be kept: cutBy()
    Damaged,  ///< what follows does not verify
  };
  [[nodiscard]] End end() const { return m_end; }
  /// In words.
  [[nodiscard]] const char* why() const;
  /// errno of the recording.
  [[nodiscard]] std::int32_t cutBy() const { return m_cutBy; }
  /// Bytes behind the header page up to the next entry.
  [[nodiscard]] std::uint64_t offset() const { return m_offset; }

 private:
  bool verified();
  bool verifiedNext();
  void giveBack();

  const unsigned char* m_base = nullptr;
  std::size_t m_mapped = 0;
  std::uint64_t m_committed = 0;
  std::uint64_t m_there = 0;  ///< of them are in the file
  std::uint64_t m_offset = 0;
  std::uint64_t m_givenBack = 0;  ///< in the file
  std::uint64_t m_salt = 0;
  std::int32_t m_rank = 0;
  bool m_peeked = false;   ///< m_entry is that at m_offset
  PayloadEntry m_entry{};  ///< as it was verified: the file may be changed
  End m_end = End::No;
  std::int32_t m_cutBy = 0;
};

}  // namespace pf

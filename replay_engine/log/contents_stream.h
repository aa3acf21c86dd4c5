// SPDX-License-Identifier: GPL-3.0-or-later
// Sizes and digests as a schedule has them (ScheduleHeader::sent, ::given), from the records of a log.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "replay_engine/log/varint.h"
#include "replay_engine/log_format/log_format.h"

namespace pf {

/// `check`: as the schedule has it.
inline void putContents(std::vector<unsigned char>& out, bool known, std::uint64_t bytes,
                        std::uint32_t check, std::optional<std::uint64_t> digest) {
  putVarint(out, contentsHead(known, bytes, digest.has_value()));
  putVarint(out, check);
  if (digest) {
    out.resize(out.size() + sizeof *digest);
    std::memcpy(out.data() + out.size() - sizeof *digest, &*digest, sizeof *digest);
  }
}

class ContentsStream {
 public:
  /// The next message or collective. `check`: as the schedule has it.
  void next(bool known, std::uint64_t bytes, std::uint32_t check) {
    flush();
    m_open = true;
    m_known = known;
    m_bytes = bytes;
    m_check = check;
  }
  /// Of the last one.
  void say(std::uint64_t bytes, std::uint32_t check) {
    m_known = true;
    m_bytes = bytes;
    m_check = check;
  }
  void digest(std::uint64_t digest) {
    m_digest = digest;
    m_digested = m_known;
  }
  std::vector<unsigned char> finish() {
    flush();
    return std::move(m_out);
  }

 private:
  void flush() {
    if (m_open) {
      putContents(m_out, m_known, m_bytes, m_check,
                  m_digested ? std::optional(m_digest) : std::nullopt);
    }
    m_open = m_digested = false;
  }

  std::vector<unsigned char> m_out;
  bool m_open = false;
  bool m_known = false;
  bool m_digested = false;
  std::uint32_t m_check = 0;
  std::uint64_t m_bytes = 0;
  std::uint64_t m_digest = 0;
};

}  // namespace pf

// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/payload/payload_scan.h"

#include <algorithm>
#include <cstring>

namespace pf::db {

bool PayloadScan::feed(Bytes piece) {
  while (!piece.empty() && !m_damaged) {
    std::size_t taken = 0;
    if (m_inHead < sizeof m_entry) {
      taken = std::min(piece.size(), sizeof m_entry - m_inHead);
      std::memcpy(reinterpret_cast<unsigned char*>(&m_entry) + m_inHead, piece.data(), taken);
      m_inHead += taken;
      m_damaged = m_inHead == sizeof m_entry && !headDone();
    } else if (m_content > 0) {
      taken = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), m_content));
      m_crc = crc32c(piece.data(), taken, m_crc);
      if (m_wanted && m_seen.size() < *m_wanted) {
        const Bytes seen = piece.first(std::min(taken, *m_wanted - m_seen.size()));
        m_seen.insert(m_seen.end(), seen.begin(), seen.end());
      }
      m_content -= taken;
    } else {
      taken = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), m_padding));
      m_padding -= taken;
      m_damaged = std::any_of(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(taken),
                              [](std::uint8_t byte) { return byte != 0; });
    }
    piece = piece.subspan(taken);
    if (!m_damaged && m_inHead == sizeof m_entry && m_content == 0 && m_padding == 0) {
      m_damaged = !entryDone();
    }
  }
  return !m_damaged;
}

bool PayloadScan::headDone() {
  if (m_mark || !mayBePayload(m_entry, m_total - m_good)) {
    return false;
  }
  m_content = m_entry.size;
  m_padding = payloadPadded(m_entry.size) - m_entry.size;
  m_crc = payloadSeed(m_salt, m_rank, m_good);
  m_wanted = m_wants ? m_wants(m_entry) : std::nullopt;
  m_seen.clear();
  return true;
}

bool PayloadScan::entryDone() {
  if (payloadCrc(m_entry, m_crc) != m_entry.crc) {
    return false;
  }
  if (m_wanted) {
    m_shows(m_entry, m_seen);
  }
  m_good += sizeof m_entry + payloadPadded(m_entry.size);
  m_inHead = 0;
  if (static_cast<PayloadKind>(m_entry.kind) == PayloadKind::Mark) {
    m_mark = m_entry.a;
  } else if (static_cast<PayloadKind>(m_entry.kind) != PayloadKind::Datatype) {
    ++m_entries;
  }
  return true;
}

}  // namespace pf::db

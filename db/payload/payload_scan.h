// SPDX-License-Identifier: GPL-3.0-or-later
// Verifies entries of a payload (replay_engine/log_format/payload_format.h) that come in pieces of any size: an entry may
// be larger than what is in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "db/sqlite/database.h"
#include "replay_engine/execution/execution.h"
#include "replay_engine/log_format/payload_format.h"

namespace pf::db {

class PayloadScan {
 public:
  /// `total`: bytes of all that comes.
  PayloadScan(std::uint64_t salt, Rank rank, std::uint64_t total)
      : m_salt(salt), m_rank(rank), m_total(total) {}

  /// Of each entry: how many of its first bytes somebody wants to see. Nothing: not this entry.
  using Wants = std::function<std::optional<std::size_t>(const PayloadEntry&)>;
  /// These, once the entry has verified.
  using Shows = std::function<void(const PayloadEntry&, Bytes)>;
  void look(Wants wants, Shows shows) {
    m_wants = std::move(wants);
    m_shows = std::move(shows);
  }

  /// The next bytes. False: nothing behind good() verifies.
  bool feed(Bytes piece);
  /// Bytes of whole entries that verify.
  [[nodiscard]] std::uint64_t good() const { return m_good; }
  /// Whether these are all that came, and as many as were to come.
  [[nodiscard]] bool whole() const { return m_good == m_total && !m_damaged; }
  /// How many they are, without datatypes and a Mark.
  [[nodiscard]] std::uint64_t entries() const { return m_entries; }
  /// errno of the Mark, if they end in one.
  [[nodiscard]] std::optional<std::int32_t> mark() const { return m_mark; }

 private:
  bool headDone();
  bool entryDone();

  std::uint64_t m_salt;
  Rank m_rank;
  std::uint64_t m_total;
  std::uint64_t m_good = 0;
  std::uint64_t m_entries = 0;
  std::optional<std::int32_t> m_mark;
  PayloadEntry m_entry{};
  std::size_t m_inHead = 0;     ///< bytes of m_entry that have come
  std::uint64_t m_content = 0;  ///< bytes to come of its content
  std::uint64_t m_padding = 0;
  std::uint32_t m_crc = 0;
  bool m_damaged = false;
  Wants m_wants;
  Shows m_shows;
  std::optional<std::size_t> m_wanted;
  std::vector<std::uint8_t> m_seen;
};

}  // namespace pf::db

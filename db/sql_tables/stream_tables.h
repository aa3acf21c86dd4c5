// SPDX-License-Identifier: GPL-3.0-or-later
// Tables for SQL over the column store: `event`, `receive`, `probe`, `message`, `collective`,
// `race`, `race_alternative`. They are there on a connection that they were attached to, not in the
// file. A query that names a rank, and serials or other numbers within it, reads the chunks of
// these only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "db/columns/column_store.h"
#include "db/columns/race_columns.h"
#include "db/sqlite/database.h"
#include "replay_engine/base/result.h"

struct sqlite3;

namespace pf::db {

class StreamTables {
 public:
  [[nodiscard]] static Result<std::unique_ptr<StreamTables>> open(Database& database,
                                                                  std::size_t ranks);
  /// Makes them known to a connection, which must not outlive this. False: SQLite refused.
  [[nodiscard]] bool attach(sqlite3* connection);

  [[nodiscard]] ColumnReader& reader() { return m_reader; }
  [[nodiscard]] std::size_t ranks() const { return m_ranks; }
  /// `message.id` of the first message of a rank; of `ranks()`: how many there are.
  [[nodiscard]] std::int64_t firstMessage(std::size_t rank) const { return m_firstMessage[rank]; }
  /// The same of `race.id`.
  [[nodiscard]] std::int64_t firstRace(std::size_t rank) const { return m_firstRace[rank]; }
  /// Null, and problem(), where it is not there.
  [[nodiscard]] const std::string* raceClass(std::uint32_t id);
  [[nodiscard]] const MessageOwners& owners() const { return m_owners; }
  /// What went wrong while reading, once: SQLite has only a number for it.
  [[nodiscard]] Error& problem() { return m_problem; }

 private:
  StreamTables(ColumnReader reader, std::size_t ranks);

  ColumnReader m_reader;
  std::size_t m_ranks;
  MessageOwners m_owners;
  std::vector<std::int64_t> m_firstMessage;
  std::vector<std::int64_t> m_firstRace;
  Result<std::vector<std::string>> m_classes = std::vector<std::string>();
  Error m_problem;
};

}  // namespace pf::db

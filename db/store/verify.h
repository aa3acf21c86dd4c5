// SPDX-License-Identifier: GPL-3.0-or-later
// Finding damage, in a file that opens and in one that does not.
#pragma once

#include <string>
#include <vector>

#include "db/schema/schema.h"
#include "db/schema/trace_types.h"
#include "db/sqlite/database.h"
#include "replay_engine/base/result.h"

namespace pf::db {

/// Everything that does not verify. Needs an open transaction. `ranks` as in table `rank`, empty if
/// unknown.
[[nodiscard]] Result<std::vector<Finding>> findDamage(Database& database,
                                                      const std::vector<RankInfo>& ranks);

/// What a user cannot have without a table.
[[nodiscard]] std::string lostWith(TableId id);

/// A copy of a damaged file on which SQLite will work: header and list of tables are made new, so
/// that only the tables whose own pages are damaged do not verify; one of a former format is brought
/// up to date. Removed when destroyed.
class RepairedCopy {
 public:
  /// `directory` has room for the copy. Damaged if there is nothing to work on.
  [[nodiscard]] static Result<RepairedCopy> make(const std::string& path,
                                                 const std::string& directory);
  ~RepairedCopy();
  RepairedCopy(RepairedCopy&& other) noexcept;
  RepairedCopy& operator=(RepairedCopy&&) = delete;
  RepairedCopy(const RepairedCopy&) = delete;
  RepairedCopy& operator=(const RepairedCopy&) = delete;

  /// Hardened, read only, its tables as they should be, its seals not checked.
  [[nodiscard]] Database& database() { return m_database; }
  /// `text` with the name of the file for that of the copy.
  [[nodiscard]] std::string ofOriginal(std::string text) const;

 private:
  RepairedCopy() = default;
  Status repair();
  Status tryOpen();
  [[nodiscard]] bool tryFormer(int file);
  Status openAsItIs();

  std::string m_path;  ///< empty: nothing to remove
  std::string m_original;
  Database m_database;
};

}  // namespace pf::db

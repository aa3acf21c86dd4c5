// SPDX-License-Identifier: GPL-3.0-or-later
// A trace file in the making: invisible under its name until it is whole.
#pragma once

#include <string>

#include "db/sqlite/database.h"
#include "db/store/former_file.h"
#include "replay_engine/base/result.h"

namespace pf::db {

class NewFile {
 public:
  /// Makes `path`.tmp-PID (0600, never through a link, never over another file) with all tables,
  /// and opens a transaction on it. `existing`: what becomes of a file of that name at the end.
  [[nodiscard]] static Result<NewFile> create(const std::string& path, Existing existing);
  /// Removes the file unless it was published.
  ~NewFile();
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  [[nodiscard]] Database& database() { return m_database; }
  [[nodiscard]] const std::string& path() const { return m_path; }
  /// Commits, forces everything to disk, and gives the file its name. Killed at any moment, it
  /// leaves the file that had this name, the new one, or both.
  Status publish();
  /// Where a file that had this name is now; empty: there was none, or it was replaced.
  [[nodiscard]] const std::string& kept() const { return m_kept; }

 private:
  NewFile() = default;
  Status prepare();
  Status takeName();
  Status keepFormer();

  Existing m_existing = Existing::Refuse;
  std::string m_path;
  std::string m_kept;
  std::string m_temporary;  ///< empty: there is none to remove
  Database m_database;
};

}  // namespace pf::db

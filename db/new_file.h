// A trace file in the making: invisible under its name until it is whole.
#pragma once

#include <string>

#include "base/result.h"
#include "db/database.h"

namespace pf::db {

class NewFile {
 public:
  /// Makes `path`.tmp-PID (0600, never through a link, never over another file) with all tables,
  /// and opens a transaction on it.
  [[nodiscard]] static Result<NewFile> create(const std::string& path);
  /// Removes the file unless it was published.
  ~NewFile();
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  [[nodiscard]] Database& database() { return m_database; }
  [[nodiscard]] const std::string& path() const { return m_path; }
  /// Commits, forces everything to disk, and gives the file its name, over any other file of that
  /// name.
  Status publish();

 private:
  NewFile() = default;
  Status prepare();

  std::string m_path;
  std::string m_temporary;  ///< empty: there is none to remove
  Database m_database;
};

}  // namespace pf::db

// SPDX-License-Identifier: GPL-3.0-or-later
// Copies of a trace to work on.
#pragma once

#include <string>
#include <utility>

#include "replay_engine/base/result.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::db {

/// $TMPDIR, or /tmp: its real path.
[[nodiscard]] std::string temporaryDirectory();

/// A name for a file of our own in `directory`, and the empty file.
[[nodiscard]] Result<std::pair<std::string, UniqueFd>> makeTemporaryFile(
    const std::string& directory);

/// To an empty file; what is a hole stays one.
Status copyContent(const std::string& path, int to);

/// To a new file, for ourselves only.
Status copyFile(const std::string& path, const std::string& name);

/// A copy in a directory that nobody else can look into, under $TMPDIR or /tmp; both are removed
/// when it is destroyed, as is "-journal".
class PrivateCopy {
 public:
  [[nodiscard]] static Result<PrivateCopy> make(const std::string& path);
  ~PrivateCopy();
  PrivateCopy(PrivateCopy&& other) noexcept;
  PrivateCopy& operator=(PrivateCopy&&) = delete;
  PrivateCopy(const PrivateCopy&) = delete;
  PrivateCopy& operator=(const PrivateCopy&) = delete;

  [[nodiscard]] const std::string& path() const { return m_path; }

 private:
  PrivateCopy() = default;

  std::string m_directory;  ///< empty: nothing to remove
  std::string m_path;
};

}  // namespace pf::db

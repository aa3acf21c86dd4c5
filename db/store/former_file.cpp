// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/store/former_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "db/schema/schema.h"
#include "db/store/journal.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::db {
namespace {

constexpr std::string_view kEnding = ".pft";

bool isThere(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 || errno != ENOENT;
}

bool sameFile(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return ::lstat(a.c_str(), &first) == 0 && ::lstat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

bool isFree(const std::string& name) {
  return !isThere(name) && !isThere(journalOf(name)) && !isThere(name + ".d");
}

/// Another name for `path`; the only one where the file system knows no links. EEXIST: it is taken.
int giveName(const std::string& path, const std::string& name) {
  if (::link(path.c_str(), name.c_str()) == 0) {
    return 0;
  }
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK) {
    return errno;
  }
  if (::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, name.c_str(), RENAME_NOREPLACE) == 0) {
    return 0;
  }
  if (errno != EINVAL && errno != ENOSYS) {
    return errno;
  }
  return isThere(name) ? EEXIST : ::rename(path.c_str(), name.c_str()) == 0 ? 0 : errno;
}

}  // namespace

bool looksLikeTrace(const std::string& path) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  constexpr std::size_t kIdentity = 68;
  std::array<char, kIdentity + 4> start{};
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (!file.valid() || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      ::pread(file.get(), start.data(), start.size(), 0) != static_cast<ssize_t>(start.size())) {
    return false;
  }
  std::uint32_t identity = 0;
  for (std::size_t i = kIdentity; i < start.size(); ++i) {
    identity = (identity << 8) | static_cast<unsigned char>(start[i]);
  }
  return std::string_view(start.data(), kMagic.size()) == kMagic && identity == kApplicationId;
}

std::string numberedName(const std::string& path, int number) {
  const bool ends = path.size() > kEnding.size() && path.ends_with(kEnding);
  const std::string stem = ends ? path.substr(0, path.size() - kEnding.size()) : path;
  return stem + "." + std::to_string(number) + (ends ? std::string(kEnding) : std::string());
}

std::string freeNumberedName(const std::string& path) {
  for (int number = 1;; ++number) {
    std::string name = numberedName(path, number);
    if (isFree(name)) {
      return name;
    }
  }
}

Result<std::string> keepUnderNumber(const std::string& path) {
  int problem = EEXIST;
  std::string name;
  for (int number = 1; problem == EEXIST; ++number) {
    name = numberedName(path, number);
    if (sameFile(path, name)) {
      problem = 0;
    } else if (isFree(name)) {
      problem = giveName(path, name);
    }
  }
  if (problem == 0 && isThere(journalOf(path)) && !sameFile(journalOf(path), journalOf(name))) {
    problem = giveName(journalOf(path), journalOf(name));
  }
  if (problem != 0) {
    Error error = systemError("cannot keep '" + path + "' as '" + name + "'", problem);
    error.advice = "Move it away, or give another name.";
    return error;
  }
  return name;
}

}  // namespace pf::db

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collation/log_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <memory>

#include "app/collation/printed_text.h"
#include "app/unrecorded_jobs/core_file.h"
#include "replay_engine/log_format/log_format.h"

namespace pf::app {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kRankFile = "rank-";

/// The number in "rank-12SUFFIX", as Photofinish writes it.
std::optional<Rank> rankIn(std::string_view name, std::string_view suffix) {
  if (!name.starts_with(kRankFile) || !name.ends_with(suffix) ||
      name.size() <= kRankFile.size() + suffix.size()) {
    return std::nullopt;
  }
  name.remove_prefix(kRankFile.size());
  name.remove_suffix(suffix.size());
  Rank rank = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), rank);
  const bool whole = error == std::errc() && rank >= 0 && rank < kMostRanks;
  return whole && std::to_string(rank) == name ? std::optional(rank) : std::nullopt;
}

Error notARecorders(const std::string& path, const std::string& why) {
  return Error{ErrorCode::Damaged, "cannot read " + path + ": " + why,
               "No recorder makes such a one: these logs come from elsewhere, or were changed. "
               "Take another copy of them, or move them away."};
}

bool isLink(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

constexpr const char* kLinkedDirectory = "the directory is a symbolic link";

using Buffer = std::array<char, std::size_t{64} << 10>;

/// What read() gave; not EINTR.
ssize_t readSome(int file, Buffer& buffer) {
  for (;;) {
    const ssize_t n = ::read(file, buffer.data(), buffer.size());
    if (n >= 0 || errno != EINTR) {
      return n;
    }
  }
}

std::size_t zerosAtEnd(const std::vector<unsigned char>& bytes) {
  const auto used =
      std::find_if(bytes.rbegin(), bytes.rend(), [](unsigned char byte) { return byte != 0; });
  return static_cast<std::size_t>(used - bytes.rbegin());
}

/// A record ends in at most kMaxRecord zeros.
void dropUnused(std::vector<unsigned char>& bytes) {
  const std::size_t used = bytes.size() - zerosAtEnd(bytes) + kMaxRecord;
  bytes.resize(std::min(bytes.size(), std::max(used, kLogHeaderSize)));
  if (bytes.capacity() / 2 > bytes.size()) {
    bytes.shrink_to_fit();
  }
}

using OpenDirectory = std::unique_ptr<DIR, int (*)(DIR*)>;

bool isDots(std::string_view name) {
  return name == "." || name == "..";
}

}  // namespace

std::optional<Rank> rankOfLog(std::string_view name) {
  return rankIn(name, ".log");
}

std::optional<Rank> rankOfPayload(std::string_view name) {
  return rankIn(name, ".payload");
}

bool isNameInLogs(std::string_view name) {
  return name == "run.json" || name == "run.json.tmp" || name == "input" ||
         name == "input.left-out" || name == kPrintedFile || rankOfLog(name) ||
         rankOfPayload(name) || rankIn(name, ".world") || rankIn(name, ".group");
}

bool mayBeRanks(std::int32_t ranks, std::size_t logs) {
  constexpr std::size_t kAny = 4096;
  constexpr std::size_t kForEachLog = 64;  // MPI_Init waits for all ranks: few lack theirs
  const std::size_t most =
      kAny + kForEachLog * std::min(logs, static_cast<std::size_t>(kMostRanks));
  return ranks <= kMostRanks && (ranks <= 0 || static_cast<std::size_t>(ranks) <= most);
}

bool holdsLogs(const std::string& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    return false;
  }
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name == "run.json" || rankOfLog(name)) {
      return true;
    }
  }
  return static_cast<bool>(error);
}

Status isNoLink(const std::string& directory) {
  return isLink(directory) ? Status(notARecorders(directory, kLinkedDirectory)) : Status();
}

Result<UniqueFd> openInLogs(const std::string& directory, const std::string& name) {
  const std::string path = directory + "/" + name;
  const UniqueFd in(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!in.valid()) {
    const int why = errno;
    return isLink(directory) ? notARecorders(path, kLinkedDirectory)
                             : systemError("cannot read " + path, why);
  }
  UniqueFd file(
      ::openat(in.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.valid() && (errno == ELOOP || errno == ENXIO)) {
    return notARecorders(path, errno == ELOOP ? "it is a symbolic link" : "it is no regular file");
  }
  struct stat info {};
  if (!file.valid() || ::fstat(file.get(), &info) != 0) {
    return systemError("cannot read " + path, errno);
  }
  return S_ISREG(info.st_mode) ? Result<UniqueFd>(std::move(file))
                               : notARecorders(path, "it is no regular file");
}

Result<std::string> readInLogs(const std::string& directory, const std::string& name,
                               std::size_t most) {
  const Result<UniqueFd> file = openInLogs(directory, name);
  if (!file) {
    return file.error();
  }
  std::string text;
  for (Buffer buffer{};;) {
    const ssize_t n = readSome(file->get(), buffer);
    if (n <= 0) {
      return n == 0 ? Result<std::string>(std::move(text))
                    : systemError("cannot read " + directory + "/" + name, errno);
    }
    text.append(buffer.begin(), buffer.begin() + n);
    if (text.size() > most) {
      return notARecorders(directory + "/" + name,
                           "it is longer than " + std::to_string(most) + " bytes");
    }
  }
}

Result<std::optional<std::string>> readIfInLogs(const std::string& directory,
                                                const std::string& name, std::size_t most) {
  struct stat info {};
  if (::lstat((directory + "/" + name).c_str(), &info) != 0 && errno == ENOENT) {
    return std::optional<std::string>();
  }
  Result<std::string> text = readInLogs(directory, name, most);
  return text ? Result<std::optional<std::string>>(std::optional(std::move(*text)))
              : Result<std::optional<std::string>>(text.error());
}

/// All of it, or the error: a log that is read in part would be taken for one that ends there.
/// But what is behind a whole block of zeros is no part of a log (checkLog()), and a file with
/// holes may be of any size.
Result<std::vector<unsigned char>> readRankLog(const std::string& directory,
                                               const std::string& name) {
  const Result<UniqueFd> file = openInLogs(directory, name);
  struct stat info {};
  if (!file || ::fstat(file->get(), &info) != 0) {
    return file ? systemError("cannot read " + directory + "/" + name, errno) : file.error();
  }
  constexpr std::size_t kOnDisk = 512;  // of st_blocks
  std::vector<unsigned char> bytes;
  bytes.reserve(std::min(static_cast<std::size_t>(info.st_size),
                         kOnDisk * static_cast<std::size_t>(info.st_blocks)));
  for (Buffer buffer{};;) {
    const ssize_t n = readSome(file->get(), buffer);
    if (n < 0) {
      return systemError("cannot read " + directory + "/" + name, errno);
    }
    bytes.insert(bytes.end(), buffer.begin(), buffer.begin() + n);
    if (n == 0 || zerosAtEnd(bytes) >= 2 * kLogBlockSize) {
      dropUnused(bytes);
      return bytes;
    }
  }
}

std::string removeLogFiles(const std::string& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  OpenDirectory entries(fd < 0 ? nullptr : ::fdopendir(fd), ::closedir);
  if (entries == nullptr) {
    return {};
  }
  std::string left;
  constexpr int kPasses = 3;  // what is removed may hide others from a pass
  for (int pass = 0; pass < kPasses; ++pass) {
    left.clear();
    ::rewinddir(entries.get());
    while (const dirent* entry = ::readdir(entries.get())) {
      const std::string name = static_cast<const char*>(entry->d_name);
      if (isNameInLogs(name)) {
        ::unlinkat(fd, name.c_str(), 0);
      } else if (!isDots(name)) {
        left = name;
      }
    }
  }
  ::rmdir(directory.c_str());
  return left;
}

}  // namespace pf::app

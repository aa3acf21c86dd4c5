// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/reports/baseline_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "replay_engine/base/unique_fd.h"

namespace pf::app {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostBaseline =
    (std::size_t{16} << 20U) + 1;  ///< what is larger is refused by its reader

Error noBaseline(const std::string& path) {
  return Error{ErrorCode::NotFound, "there is no file of known races " + path,
               "'photofinish ci --update-baseline --baseline " + path +
                   " …' or 'photofinish races FILE --write-baseline " + path + "' makes it."};
}

/// What a link leads to; the path itself if it is none.
fs::path behindLinks(const std::string& path) {
  std::error_code unknown;
  const fs::path real = fs::weakly_canonical(path, unknown);
  return unknown ? fs::path(path) : real;
}

Status writeBaselineText(int file, const std::string& text, const std::string& path) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(file, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) {
      return systemError("cannot write " + path, errno);
    }
    done += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  return ::fsync(file) == 0 ? Status() : Status(systemError("cannot write " + path, errno));
}

}  // namespace

Result<RaceBaseline> readBaseline(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!file.valid() && errno == ENOENT) {
    return noBaseline(path);
  }
  if (!file.valid() || ::fstat(file.get(), &info) != 0) {
    return systemError("cannot read " + path, errno);
  }
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::Usage, path + " is no ordinary file",
                 "Name the file of known races that is kept with the source."};
  }
  std::string text;
  std::array<char, 65536> piece{};
  while (text.size() < kMostBaseline) {
    const ssize_t n = ::read(file.get(), piece.data(), piece.size());
    if (n < 0 && errno != EINTR) {
      return systemError("cannot read " + path, errno);
    }
    if (n == 0) {
      break;
    }
    text.append(piece.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  }
  return RaceBaseline::parse(text, path);
}

Result<RaceBaseline> readBaselineIfThere(const std::string& path) {
  Result<RaceBaseline> read = readBaseline(path);
  return !read && read.error().code == ErrorCode::NotFound ? RaceBaseline() : std::move(read);
}

Status writeBaseline(const std::string& path, const RaceBaseline& baseline) {
  const fs::path real = behindLinks(path);
  const std::string text = baseline.text();
  if (const Result<RaceBaseline> again = RaceBaseline::parse(text, path); !again) {
    return Error{ErrorCode::Damaged,
                 "a trace names its races so that " + path + " could not be read again (" +
                     again.error().message + ")",
                 "The trace was not written by Photofinish as it is: record the program again."};
  }
  struct stat before {};
  const bool there = ::stat(real.c_str(), &before) == 0;
  std::string beside = real.string() + ".XXXXXX";
  UniqueFd file(::mkostemp(beside.data(), O_CLOEXEC));
  if (!file.valid()) {
    return systemError("cannot write " + path, errno);
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  constexpr mode_t kUsual = 0666;
  constexpr mode_t kRights = 07777;
  Status status = writeBaselineText(file.get(), text, path);
  if (status.ok() && ::fchmod(file.get(), there ? before.st_mode & kRights : kUsual & ~mask) != 0) {
    status = systemError("cannot write " + path, errno);
  }
  if (status.ok() && ::rename(beside.c_str(), real.c_str()) != 0) {
    status = systemError("cannot write " + path, errno);
  }
  if (!status) {
    ::unlink(beside.c_str());
  }
  return status;
}

}  // namespace pf::app

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/files/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "replay_engine/base/unique_fd.h"

namespace pf::app {
namespace {

constexpr int kMostLinks = 16;

/// Where the file lies in the end.
Result<std::string> withoutLinks(std::string path, const std::string& advice) {
  for (int i = 0; i < kMostLinks; ++i) {
    struct stat there {};
    if (::lstat(path.c_str(), &there) != 0 || !S_ISLNK(there.st_mode)) {
      return path;
    }
    if (there.st_uid != ::geteuid() && there.st_uid != 0) {
      return Error{ErrorCode::System,
                   path + " is a symbolic link, and neither you nor root has laid it", advice};
    }
    std::error_code error;
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) {
      return Error{ErrorCode::System, "cannot read the link " + path, advice};
    }
    path = (std::filesystem::path(path).parent_path() / target).string();
  }
  return Error{ErrorCode::System, "the link " + path + " leads to no end", advice};
}

/// 0, or errno.
int writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0 || errno != EINTR) {
      return written == 0 ? EIO : errno;
    }
  }
  return 0;
}

/// 0, or errno.
int writeSafely(int file, std::string_view bytes) {
  const int error = writeAll(file, bytes);
  return error != 0 || ::fsync(file) == 0 ? error : errno;
}

}  // namespace

Status writeNewFile(const std::string& path, std::span<const unsigned char> bytes,
                    const std::string& what) {
  const UniqueFd file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  const int error =
      file.valid()
          ? writeAll(file.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()})
          : errno;
  return error == 0 ? Status() : Status(systemError("cannot write " + what + " " + path, error));
}

Status mayFollowLink(const std::string& path, const std::string& advice) {
  const Result<std::string> target = withoutLinks(path, advice);
  return target ? Status() : Status(target.error());
}

Status writePrivateFile(const std::string& path, std::string_view bytes,
                        const std::string& advice) {
  const auto failed = [&](int error) {
    Error failure = systemError("cannot write " + path, error);
    failure.advice = advice;
    return failure;
  };
  const Result<std::string> target = withoutLinks(path, advice);
  if (!target) {
    return target.error();
  }
  // Beside it, as mkostemp() makes it: at most 0600 from its first moment. rename() follows no link
  // that is laid meanwhile.
  std::string made = *target + ".XXXXXX";
  UniqueFd file(::mkostemp(made.data(), O_CLOEXEC));
  if (!file.valid()) {
    return failed(errno);
  }
  int error = ::fchmod(file.get(), 0600) == 0 ? writeSafely(file.get(), bytes) : errno;
  if (const int closed = ::close(file.release()); closed != 0 && error == 0) {
    error = errno;
  }
  if (error == 0 && ::rename(made.c_str(), target->c_str()) != 0) {
    error = errno;
  }
  if (error != 0) {
    ::unlink(made.c_str());
    return failed(error);
  }
  return {};
}

}  // namespace pf::app

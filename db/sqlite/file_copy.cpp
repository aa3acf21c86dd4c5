// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/sqlite/file_copy.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

namespace pf::db {

std::string temporaryDirectory() {
  const char* wanted = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
  const std::unique_ptr<char, decltype(&std::free)> real(
      ::realpath(wanted != nullptr && *wanted != '\0' ? wanted : "/tmp", nullptr), &std::free);
  return real != nullptr ? real.get() : "/tmp";
}

Result<std::pair<std::string, UniqueFd>> makeTemporaryFile(const std::string& directory) {
  std::string name = directory + "/photofinish-XXXXXX";
  UniqueFd file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file.valid()) {
    return systemError("cannot make a copy in '" + directory + "'", errno);
  }
  return std::pair(std::move(name), std::move(file));
}

namespace {

/// From where `from` stands.
Status copyBytes(int from, int to, std::int64_t count, const std::string& path) {
  while (count > 0) {
    const ssize_t copied = ::sendfile(to, from, nullptr, static_cast<std::size_t>(count));
    if (copied <= 0) {
      return systemError("cannot copy '" + path + "'", copied == 0 ? EIO : errno);
    }
    count -= copied;
  }
  return {};
}

}  // namespace

Status copyContent(const std::string& path, int to) {
  const UniqueFd from(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (!from.valid() || ::fstat(from.get(), &info) != 0) {
    return systemError("cannot read '" + path + "'", errno);
  }
  for (off_t at = 0; (at = ::lseek(from.get(), at, SEEK_DATA)) >= 0 && at < info.st_size;) {
    const off_t hole = ::lseek(from.get(), at, SEEK_HOLE);
    const off_t end = hole < 0 ? info.st_size : std::min(hole, info.st_size);
    if (::lseek(from.get(), at, SEEK_SET) != at || ::lseek(to, at, SEEK_SET) != at) {
      return systemError("cannot copy '" + path + "'", errno);
    }
    if (Status status = copyBytes(from.get(), to, end - at, path); !status) {
      return status;
    }
    at = end;
  }
  return ::ftruncate(to, info.st_size) == 0 ? Status()
                                            : systemError("cannot copy '" + path + "'", errno);
}

Status copyFile(const std::string& path, const std::string& name) {
  const UniqueFd file(
      ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  return file.valid() ? copyContent(path, file.get())
                      : systemError("cannot make a copy as '" + name + "'", errno);
}

Result<PrivateCopy> PrivateCopy::make(const std::string& path) {
  std::string name = temporaryDirectory() + "/photofinish-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    return systemError("cannot make a copy in '" + name + "'", errno);
  }
  PrivateCopy copy;
  copy.m_directory = name;
  copy.m_path = name + "/copy.pft";
  const Status status = copyFile(path, copy.m_path);
  return status.ok() ? Result<PrivateCopy>(std::move(copy)) : Result<PrivateCopy>(status.error());
}

PrivateCopy::PrivateCopy(PrivateCopy&& other) noexcept
    : m_directory(std::exchange(other.m_directory, {})), m_path(std::exchange(other.m_path, {})) {}

PrivateCopy::~PrivateCopy() {
  if (!m_directory.empty()) {
    ::unlink(m_path.c_str());
    ::unlink((m_path + "-journal").c_str());
    ::rmdir(m_directory.c_str());
  }
}

}  // namespace pf::db

#include "file_copy.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

namespace pf::db {

Result<std::pair<std::string, UniqueFd>> makeTemporaryFile(const std::string& directory) {
  std::string name = directory + "/photofinish-XXXXXX";
  UniqueFd file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file.valid()) {
    return systemError("cannot make a copy in '" + directory + "'", errno);
  }
  return std::pair(std::move(name), std::move(file));
}

Status copyContent(const std::string& path, int to) {
  const UniqueFd from(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat info {};
  if (!from.valid() || ::fstat(from.get(), &info) != 0) {
    return systemError("cannot read '" + path + "'", errno);
  }
  for (std::int64_t left = info.st_size; left > 0;) {
    const ssize_t copied = ::sendfile(to, from.get(), nullptr, static_cast<std::size_t>(left));
    if (copied <= 0) {
      return systemError("cannot copy '" + path + "'", copied == 0 ? EIO : errno);
    }
    left -= copied;
  }
  return {};
}

Result<PrivateCopy> PrivateCopy::make(const std::string& path) {
  const char* wanted = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
  const std::unique_ptr<char, decltype(&std::free)> parent(
      ::realpath(wanted != nullptr && *wanted != '\0' ? wanted : "/tmp", nullptr), &std::free);
  std::string name = std::string(parent != nullptr ? parent.get() : "/tmp") + "/photofinish-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    return systemError("cannot make a copy in '" + name + "'", errno);
  }
  PrivateCopy copy;
  copy.m_directory = name;
  copy.m_path = name + "/copy.pft";
  const UniqueFd file(
      ::open(copy.m_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) {
    return systemError("cannot make a copy in '" + name + "'", errno);
  }
  Status status = copyContent(path, file.get());
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

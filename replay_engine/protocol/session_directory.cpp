// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/protocol/session_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <vector>

#include "replay_engine/protocol/messages.h"

namespace pf::protocol {
namespace {

constexpr const char* kLock = "lock";
constexpr std::string_view kPrefix = "photofinish-";
constexpr std::size_t kMaxSocketPath = sizeof(sockaddr_un::sun_path) - 1;
constexpr std::size_t kMaxConfig = std::size_t{1} << 20U;
constexpr std::time_t kHalfMadeIsOld = 3600;
/// In a rank page, paths have a fixed place.
constexpr std::size_t kMaxLogDirectory = 2000;

using Directory = std::unique_ptr<DIR, int (*)(DIR*)>;

bool oursAlone(const struct stat& info) {
  return info.st_uid == ::geteuid() && (info.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

/// Opens `path` as a directory that is ours alone.
Result<UniqueFd> openPrivate(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) {
    Error error = systemError("cannot open the session directory " + path, errno);
    error.advice = "the session has ended, or it is on another host";
    return error;
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !oursAlone(info)) {
    return Error{ErrorCode::System,
                 "the session directory " + path + " can be reached by other users",
                 "remove it and start the session again"};
  }
  return fd;
}

Result<std::string> readPrivate(int directory, const char* name, std::size_t most) {
  UniqueFd fd(::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0) {
    return systemError(std::string("cannot open the session's ") + name, errno);
  }
  if (!S_ISREG(info.st_mode) || !oursAlone(info) || static_cast<std::size_t>(info.st_size) > most) {
    return Error{
        ErrorCode::System, std::string("the session's ") + name + " is not as we made it", {}};
  }
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t got = 0;
  while (got < text.size()) {
    const ssize_t n = ::read(fd.get(), text.data() + got, text.size() - got);
    if (n <= 0) {
      return systemError(std::string("cannot read the session's ") + name, errno);
    }
    got += static_cast<std::size_t>(n);
  }
  return text;
}

Status writePrivate(int directory, const char* name, std::string_view text) {
  UniqueFd fd(::openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                       S_IRUSR | S_IWUSR));
  if (!fd.valid() || ::fchmod(fd.get(), S_IRUSR | S_IWUSR) != 0) {
    return systemError(std::string("cannot make the session's ") + name, errno);
  }
  while (!text.empty()) {
    const ssize_t n = ::write(fd.get(), text.data(), text.size());
    if (n < 0) {
      return systemError(std::string("cannot write the session's ") + name, errno);
    }
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

/// Held before it has the name by which others look for it: a session that begins is never free.
Result<UniqueFd> makeLock(int directory) {
  constexpr const char* kUnheld = "lock.new";
  UniqueFd lock(::openat(directory, kUnheld, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_CREAT | O_EXCL,
                         S_IRUSR | S_IWUSR));
  if (!lock.valid() || ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 ||
      ::renameat(directory, kUnheld, directory, kLock) != 0) {
    return systemError("cannot make the session's lock", errno);
  }
  return lock;
}

Result<UniqueFd> openLock(int directory) {
  UniqueFd lock(::openat(directory, kLock, O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!lock.valid() || ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0) {
    return Error{ErrorCode::System, "the session has ended", {}};
  }
  return lock;
}

/// Removes a flat directory and what is in it. The lock goes last: if we are killed on the way, the
/// next session finds it and goes on.
void removeDirectory(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    return;
  }
  Directory directory(::fdopendir(fd), ::closedir);
  if (directory == nullptr) {  // memory is short; the next session removes it
    ::close(fd);
    return;
  }
  constexpr int kMostPasses = 3;  // somebody may make a file meanwhile
  for (int pass = 0; pass < kMostPasses; ++pass) {
    ::rewinddir(directory.get());
    while (const dirent* entry = ::readdir(directory.get())) {
      const std::string_view name = static_cast<const char*>(entry->d_name);
      if (name != kLock) {
        static_cast<void>(::unlinkat(fd, name.data(), 0));
      }
    }
  }
  static_cast<void>(::unlinkat(fd, kLock, 0));
  static_cast<void>(::rmdir(path.c_str()));
}

/// True if nobody holds the session in `path`, or it was never finished and is old.
bool isLeftOver(const std::string& path) {
  Result<UniqueFd> directory = openPrivate(path);
  if (!directory) {
    return false;
  }
  // It has its name only once it is held (makeLock).
  const UniqueFd lock(::openat(directory->get(), kLock, O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (lock.valid()) {
    return ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0;
  }
  struct stat info {};
  return ::fstat(directory->get(), &info) == 0 &&
         std::time(nullptr) - info.st_mtim.tv_sec > kHalfMadeIsOld;
}

void removeLeftOvers(const std::string& base) {
  std::vector<std::string> found;
  if (Directory directory(::opendir(base.c_str()), ::closedir); directory) {
    while (const dirent* entry = ::readdir(directory.get())) {
      const std::string name = static_cast<const char*>(entry->d_name);
      if (name.size() == kPrefix.size() + 6 && name.compare(0, kPrefix.size(), kPrefix) == 0) {
        found.push_back(base);
        found.back().append("/").append(name);
      }
    }
  }
  for (const std::string& path : found) {
    if (isLeftOver(path)) {
      removeDirectory(path);
    }
  }
}

bool usable(const std::string& base) {
  struct stat info {};
  return !base.empty() && base.front() == '/' && ::stat(base.c_str(), &info) == 0 &&
         S_ISDIR(info.st_mode) && ::access(base.c_str(), W_OK | X_OK) == 0;
}

/// Runtime directories must be ours alone; the others may be shared.
std::vector<std::string> places(const std::string& base) {
  if (!base.empty()) {
    return {base};
  }
  std::vector<std::string> out;
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR")) {
    struct stat info {};
    if (usable(runtime) && ::stat(runtime, &info) == 0 && oursAlone(info)) {
      out.emplace_back(runtime);
    }
  }
  if (const char* temporary = std::getenv("TMPDIR"); temporary != nullptr && usable(temporary)) {
    out.emplace_back(temporary);
  }
  out.emplace_back("/tmp");
  return out;
}

Result<std::string> makeDirectory(const std::string& base) {
  std::optional<Error> error;
  for (const std::string& place : places(base)) {
    std::string path = place + "/" + std::string(kPrefix) + "XXXXXX";
    const std::size_t socketPath = path.size() + std::strlen("/control.sock");
    if (socketPath > kMaxSocketPath) {
      error = Error{ErrorCode::Usage,
                    "a session in " + place + " would need a socket path of " +
                        std::to_string(socketPath) + " bytes, more than the system's " +
                        std::to_string(kMaxSocketPath),
                    "set TMPDIR to a shorter directory"};
      continue;
    }
    removeLeftOvers(place);
    if (::mkdtemp(path.data()) != nullptr) {
      return path;
    }
    error = systemError("cannot make a session directory in " + place, errno);
    error->advice = "free some space, or set TMPDIR to a directory that you can write to";
  }
  return *error;
}

Result<std::string> randomKey() {
  std::string key(kKeySize, '\0');
  if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size())) {
    return systemError("cannot get random bytes for the session key", errno);
  }
  return key;
}

}  // namespace

Result<SessionDirectory> SessionDirectory::create(const SessionConfig& config,
                                                  const std::string& base) {
  if (config.logDirectory.empty() || config.logDirectory.front() != '/' ||
      config.logDirectory.size() > kMaxLogDirectory) {
    return Error{ErrorCode::Usage,
                 "the log directory '" + config.logDirectory.substr(0, 200) +
                     "' is not an absolute path of at most " + std::to_string(kMaxLogDirectory) +
                     " bytes",
                 {}};
  }
  Result<std::string> key = randomKey();
  if (!key) {
    return key.error();
  }
  Result<std::string> path = makeDirectory(base);
  if (!path) {
    return path.error();
  }
  Result<UniqueFd> directory = openPrivate(*path);
  Result<UniqueFd> lock = directory ? makeLock(directory->get()) : directory.error();
  Status written = lock ? writePrivate(directory->get(), "key", *key) : Status(lock.error());
  if (written) {
    written = writePrivate(directory->get(), "session.json", toJson(config));
  }
  if (!written) {
    removeDirectory(*path);
    return written.error();
  }
  SessionDirectory out;
  out.m_path = *path;
  out.m_key = *key;
  out.m_config = config;
  out.m_lock = std::move(*lock);
  out.m_owner = ::getpid();
  return out;
}

Result<SessionDirectory> SessionDirectory::open(const std::string& path) {
  Result<UniqueFd> directory = openPrivate(path);
  if (!directory) {
    return directory.error();
  }
  Result<UniqueFd> lock = openLock(directory->get());
  if (!lock) {
    return lock.error();
  }
  Result<std::string> key = readPrivate(directory->get(), "key", kKeySize);
  Result<std::string> text = readPrivate(directory->get(), "session.json", kMaxConfig);
  if (!key || !text) {
    return key ? text.error() : key.error();
  }
  if (key->size() != kKeySize) {
    return Error{ErrorCode::Damaged, "the session's key is damaged", "start the session again"};
  }
  Result<SessionConfig> config = configFromJson(*text);
  if (!config) {
    return config.error();
  }
  SessionDirectory out;
  out.m_path = path;
  out.m_key = *key;
  out.m_config = *config;
  out.m_lock = std::move(*lock);
  out.m_owner = ::getpid();
  return out;
}

SessionDirectory::SessionDirectory(SessionDirectory&& other) noexcept
    : m_path(std::move(other.m_path)),
      m_key(std::move(other.m_key)),
      m_config(std::move(other.m_config)),
      m_lock(std::move(other.m_lock)),
      m_owner(std::exchange(other.m_owner, 0)) {}

SessionDirectory& SessionDirectory::operator=(SessionDirectory&& other) noexcept {
  if (this != &other) {
    release();
    m_path = std::move(other.m_path);
    m_key = std::move(other.m_key);
    m_config = std::move(other.m_config);
    m_lock = std::move(other.m_lock);
    m_owner = std::exchange(other.m_owner, 0);
  }
  return *this;
}

SessionDirectory::~SessionDirectory() {
  release();
  forgetKey();
}

std::string SessionDirectory::pagePath(pid_t agent) const {
  return m_path + "/page-" + std::to_string(agent);
}

std::string SessionDirectory::claimPath(std::int32_t rank) const {
  return m_path + "/rank-" + std::to_string(rank) + ".claim";
}

std::string SessionDirectory::boardPath() const {
  return m_path + "/clocks";
}

void SessionDirectory::forgetKey() {
  ::explicit_bzero(m_key.data(), m_key.size());
  m_key.clear();
}

void SessionDirectory::release() {
  if (m_lock.valid() && m_owner == ::getpid() && ::flock(m_lock.get(), LOCK_EX | LOCK_NB) == 0) {
    removeDirectory(m_path);
  }
  m_lock.reset();
  m_owner = 0;
}

}  // namespace pf::protocol

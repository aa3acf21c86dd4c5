// SPDX-License-Identifier: MIT
// Files and directories that the program reads are not in the trace. What they were like is, and
// which were not there: a replay says what has changed since.
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "replay_engine/log_format/listing.h"
#include "replay_engine/rank/engine/mpi_header.h"
#include "replay_engine/rank/engine/rank_link.h"
#include "replay_engine/rank/inputs/system_values.h"

namespace pf {
namespace {

constexpr std::size_t kSeen = 256;
InputFile g_seen[kSeen];  ///< files opened again and again are kept once
constexpr int kMostTold = 8;
int g_told = 0;
constexpr int kMostKept = 20000;
int g_kept = 0;
constexpr std::size_t kLongestName = 1024;
constexpr std::int64_t kNanoPerSecond = 1'000'000'000;
constexpr int kMostDirectories = 1000;  ///< of a walk
constexpr int kDeepest = 32;

/// As in the log.
struct Input {
  InputFile file;
  InputState state;
  char name[kLongestName];
};
constexpr std::size_t kBeforeName = offsetof(Input, name);
static_assert(kBeforeName == sizeof(InputFile) + 1);

/// What we do does not count, and errno stays.
class Unnoticed {
 public:
  Unnoticed() = default;
  ~Unnoticed() { errno = m_errno; }
  Unnoticed(const Unnoticed&) = delete;
  Unnoticed& operator=(const Unnoticed&) = delete;

 private:
  const int m_errno = errno;
  const InsideLibc m_inside;
};

bool same(const InputFile& a, const InputFile& b) {
  return a.path == b.path && a.size == b.size && a.modified == b.modified;
}

/// Whether this was seen just so already.
bool seenBefore(const InputFile& file) {
  InputFile& seen = g_seen[file.path % kSeen];
  if (same(seen, file)) {
    return true;
  }
  seen = file;
  return false;
}

/// The recorded one of the same name, if it comes yet.
bool recallInput(std::uint64_t path, Input* recorded) {
  ValueStream& stream = g_systemValues.streams[static_cast<std::size_t>(ValueKind::Input)];
  const unsigned char* const before = stream.at;
  for (;;) {
    const std::ptrdiff_t size = recallBytes(ValueKind::Input, recorded, sizeof *recorded);
    if (size < static_cast<std::ptrdiff_t>(sizeof recorded->file)) {
      stream.at = before;
      return false;
    }
    if (size == static_cast<std::ptrdiff_t>(sizeof recorded->file)) {
      recorded->state = InputState::File;  // of a former version
    }
    if (recorded->file.path == path && recorded->state != InputState::Variable) {
      return true;
    }
  }
}

bool linkOf(int fd, char* to, std::size_t size) {
  char link[32];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, to, size - 1);
  to[n > 0 ? n : 0] = '\0';
  return n > 0 && to[0] == '/';
}

/// The absolute name of `path`; empty: too long, which is noted, or not known.
void nameOf(int from, const char* path, char* name) {
  name[0] = '\0';
  const std::size_t length = std::strlen(path);
  std::size_t base = 0;
  if (path[0] != '/') {
    const bool known =
        from == AT_FDCWD ? getcwd(name, kLongestName) != nullptr : linkOf(from, name, kLongestName);
    base = known ? std::strlen(name) : kLongestName;
  }
  if (base + length + 2 > kLongestName) {
    name[0] = '\0';
    noteUncovered(NotGuaranteedKind::InputsLeftOut, nullptr);
    return;
  }
  if (path[0] != '/') {
    name[base++] = '/';
  }
  std::memcpy(name + base, path, length + 1);
}

void keep(Input& input) {
  const std::size_t length = std::strlen(input.name);
  if (g_kept >= kMostKept) {
    noteUncovered(NotGuaranteedKind::InputsLeftOut, nullptr);
  } else if (length > 0) {
    ++g_kept;
    keepBytes(ValueKind::Input, &input, kBeforeName + length, ~std::size_t{0});
  }
}

/// The name of an input; what it is known by within the rank: one name from two directories is two files.
void nameIt(int from, const char* path, Input* input) {
  nameOf(from, path, input->name);
  input->file.path = pathHash(input->name[0] != '\0' ? input->name : path);
}

void tell(const char* path, const char* what) {
  if (g_told++ < kMostTold) {
    char text[400];
    std::snprintf(text, sizeof text, "%.300s %s the recording: the replay may differ", path, what);
    sayOfRank(text);
  }
}

/// In a replay: what the record has of this name is not what there is now.
void compare(const char* path, const InputFile& now, InputState state) {
  Input recorded;
  if (!g_systemValues.replay || !recallInput(now.path, &recorded)) {
    return;
  }
  const bool was = recorded.state != InputState::Absent;
  const bool is = state != InputState::Absent;
  if (was != is) {
    tell(path, is ? "was not there in" : "is gone since");
  } else if (state == recorded.state && !same(recorded.file, now)) {
    tell(path, "has changed since");
  }
}

bool counts() {
  return g_systemValues.record || g_systemValues.replay;
}

void sawFile(int from, const char* path, const LookedAt& looked) {
  Input input{looked.file, InputState::File, {}};
  nameIt(from, path, &input);
  if (seenBefore(input.file)) {
    return;
  }
  compare(path, input.file, InputState::File);
  if (!looked.older) {
    input.file = {input.file.path + 3, 0, 0};  // however it grows
    input.state = InputState::Young;
  }
  if (looked.older || !seenBefore(input.file)) {
    keep(input);
  }
}

/// `seen.path`: added to what the name is known by, for another thing to have seen of it.
void saw(int from, const char* path, const InputFile& seen, InputState state) {
  Input input{seen, state, {}};
  nameIt(from, path, &input);
  input.file.path += seen.path;
  if (!seenBefore(input.file)) {
    compare(path, input.file, state);
    keep(input);
  }
}

void sawState(int from, const char* path, InputState state) {
  saw(from, path, {0, 0, -1 - static_cast<std::int64_t>(state)}, state);
}

void listed(const char* path) {
  Listing listing;
  if (!listingOf(path, &listing)) {
    return;
  }
  saw(AT_FDCWD, path, {0, listing.names, static_cast<std::int64_t>(listing.checksum)},
      InputState::Directory);
}

/// `name` has room for kLongestName; `left`: how many directories more.
void walk(char* name, int deeper, int* left) {
  if (deeper == 0 || (*left)-- <= 0) {
    return;
  }
  listed(name);
  DIR* directory = opendir(name);
  const std::size_t length = std::strlen(name);
  for (const dirent* entry = nullptr;
       directory != nullptr && (entry = readdir(directory)) != nullptr;) {
    const std::size_t more = std::strlen(entry->d_name);
    const bool goesDown = entry->d_type == DT_DIR && std::strcmp(entry->d_name, ".") != 0 &&
                          std::strcmp(entry->d_name, "..") != 0;
    if (goesDown && length + more + 2 < kLongestName) {
      name[length] = '/';
      std::memcpy(name + length + 1, entry->d_name, more + 1);
      walk(name, deeper - 1, left);
      name[length] = '\0';
    }
  }
  if (directory != nullptr) {
    closedir(directory);
  }
}

void sawLink(const char* name) {
  char target[kLongestLink];
  const ssize_t length = readlink(name, target, sizeof target - 1);
  if (length <= 0) {
    return;
  }
  target[length] = '\0';
  // Beside the file of this name.
  saw(AT_FDCWD, name, {1, 0, static_cast<std::int64_t>(pathHash(target))}, InputState::Link);
}

}  // namespace

LookedAt lookedAt(const struct stat& info) {
  const auto since = [](const timespec& time) {
    return time.tv_sec * kNanoPerSecond + time.tv_nsec;
  };
  // Who copies a file may give it any time; when its inode changed is the kernel's word.
  const std::int64_t modified = since(info.st_mtim);
  return {{0, static_cast<std::uint64_t>(info.st_size), modified},
          modified < g_systemValues.started || since(info.st_ctim) < g_systemValues.started};
}

bool lookAtFile(int fd, LookedAt* looked) {
  struct stat info {};
  struct statfs system {};
  // What the kernel says of the moment (libnuma reads it in its constructor) is no file.
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
      (fstatfs(fd, &system) == 0 &&
       (system.f_type == PROC_SUPER_MAGIC || system.f_type == SYSFS_MAGIC))) {
    return false;
  }
  *looked = lookedAt(info);
  return true;
}

void sawInput(int from, const char* path, int fd, void* caller) {
  if (!counts()) {
    return;
  }
  const Unnoticed unnoticed;
  LookedAt now{};
  struct stat info {};
  if (lookAtFile(fd, &now)) {
    sawFile(from, path, now);
  } else if (fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode)) {
    noteUncovered(NotGuaranteedKind::Child, caller);
  } else if (S_ISREG(info.st_mode) && g_systemValues.joined) {  // libraries look before MPI_Init
    noteUncovered(NotGuaranteedKind::KernelFile, caller);
  }
}

void sawAbsent(int from, const char* path) {
  if (counts()) {
    const Unnoticed unnoticed;
    sawState(from, path, InputState::Absent);
  }
}

void sawExisting(int from, const char* path) {
  if (counts()) {
    const Unnoticed unnoticed;
    sawState(from, path, InputState::Exists);
  }
}

void sawRegular(int from, const char* path, LookedAt looked) {
  if (counts()) {
    const Unnoticed unnoticed;
    sawFile(from, path, looked);
  }
}

void sawListing(const char* path) {
  if (!counts()) {
    return;
  }
  const Unnoticed unnoticed;
  listed(path);
}

void sawListingAt(int from, const char* path) {
  if (!counts()) {
    return;
  }
  const Unnoticed unnoticed;
  char name[kLongestName];
  nameOf(from, path, name);
  if (name[0] != '\0') {
    listed(name);
  }
}

void sawTree(const char* path) {
  if (!counts()) {
    return;
  }
  const Unnoticed unnoticed;
  char name[kLongestName];
  const std::size_t length = std::strlen(path);
  if (length < sizeof name) {
    std::memcpy(name, path, length + 1);
    int left = kMostDirectories;
    walk(name, kDeepest, &left);
  }
}

void sawLinks(int from, const char* path) {
  char name[kLongestName];
  if (!counts() || path == nullptr) {
    return;
  }
  const Unnoticed unnoticed;
  nameOf(from, path, name);
  // The kernel's own lead to what there is at the moment.
  for (const char* kernels : {"/proc/", "/sys/", "/dev/"}) {
    if (std::strncmp(name, kernels, std::strlen(kernels)) == 0) {
      return;
    }
  }
  for (char* end = name; *end != '\0';) {
    end += std::strspn(end, "/");
    end += std::strcspn(end, "/");
    const char after = *end;
    *end = '\0';
    sawLink(name);
    *end = after;
  }
}

void sawReading(int fd, const LookedAt& opened) {
  if (!counts()) {
    return;
  }
  const Unnoticed unnoticed;
  char name[kLongestName];
  if (!linkOf(fd, name, sizeof name)) {
    return;
  }
  if (opened.older) {
    sawFile(AT_FDCWD, name, opened);
  } else if (struct stat info{}; fstat(fd, &info) == 0 && info.st_size == 0) {
    sawState(AT_FDCWD, name, InputState::Absent);
  }
}

void wroteFile(int from, const char* path) {
  if (!g_systemValues.record || path == nullptr) {
    return;
  }
  const Unnoticed unnoticed;
  Input input{{}, InputState::Written, {}};
  nameIt(from, path, &input);
  input.file.path += 2;
  if (!seenBefore(input.file)) {
    keep(input);
  }
}

namespace {

/// "ufs:file" names a file and its kind.
const char* withoutKind(const char* name) {
  const char* colon = std::strchr(name, ':');
  const bool typed = colon != nullptr && colon - name >= 2 && colon - name <= 8 &&
                     std::memchr(name, '/', static_cast<std::size_t>(colon - name)) == nullptr;
  return typed ? colon + 1 : name;
}

}  // namespace

void sawMpiDelete(const char* name) {
  if (counts() && name != nullptr && t_depth == 1 && &t_depth == g_rankOnly.owner) {
    const Unnoticed unnoticed;
    const char* path = withoutKind(name);
    sawState(AT_FDCWD, path, ::access(path, F_OK) == 0 ? InputState::Exists : InputState::Absent);
  }
}

void sawMpiFile(const char* name, int mode) {
  if (!counts() || name == nullptr || t_depth != 1 || &t_depth != g_rankOnly.owner) {
    return;
  }
  const Unnoticed unnoticed;
  const char* path = withoutKind(name);
  if ((mode & MPI_MODE_RDONLY) == 0) {
    wroteFile(AT_FDCWD, path);
  }
  if ((mode & MPI_MODE_EXCL) != 0) {
    sawState(AT_FDCWD, path, ::access(path, F_OK) == 0 ? InputState::Exists : InputState::Absent);
    return;
  }
  if ((mode & MPI_MODE_WRONLY) != 0 && (mode & MPI_MODE_APPEND) == 0) {
    return;
  }
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd >= 0) {
    LookedAt now{};
    if (lookAtFile(fd, &now)) {
      sawFile(AT_FDCWD, path, now);
    }
    ::close(fd);
  } else if (errno == ENOENT && (mode & MPI_MODE_CREATE) == 0) {
    sawState(AT_FDCWD, path, InputState::Absent);
  }
}

void keepVariable(const char* name) {
  Input input{{pathHash(name), 0, 0}, InputState::Variable, {}};
  const std::size_t length = std::strlen(name);
  if (length < kLongestName) {
    std::memcpy(input.name, name, length + 1);
    keep(input);
  }
}

}  // namespace pf

// SPDX-License-Identifier: MIT
// Variables, directories and names of files that the program asks for; mappings of files.
//
// getenv: the variables themselves are the agent's business (replay_engine/protocol/recorded_environment.h). Kept
// is which names were asked for, each once, so that a replay tells of those that matter. A name
// that is known costs a look at one table.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "replay_engine/rank/inputs/opened_files.h"
#include "replay_engine/rank/inputs/system_values.h"

namespace pf {
namespace {

constexpr std::size_t kKnown = 256;
std::atomic<std::uint64_t> g_known[kKnown];  ///< of names that were asked for, by their hashes

/// All of them, one behind the other with their final zeros.
struct Asked {
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
  std::size_t used;
  std::size_t kept;
  char names[std::size_t{16} << 10];
};
Asked g_asked;

/// Fast rather than good: 7 bits of each letter.
std::uint64_t quickHash(const char* name) {
  std::uint64_t hash = 1;
  for (; *name != '\0'; ++name) {
    hash = (hash << 7U | hash >> 57U) ^ static_cast<unsigned char>(*name);
  }
  return hash;
}

std::atomic<std::uint64_t>& slotOf(std::uint64_t hash) {
  return g_known[(hash ^ hash >> 19U ^ hash >> 41U) % kKnown];
}

bool isListed(const char* name) {
  for (std::size_t at = 0; at < g_asked.used; at += std::strlen(g_asked.names + at) + 1) {
    if (std::strcmp(g_asked.names + at, name) == 0) {
      return true;
    }
  }
  return false;
}

void learnName(const char* name, std::uint64_t hash) {
  const InsideLibc inside;
  if (g_asked.busy.test_and_set(std::memory_order_acquire)) {
    return;  // another thread, or a signal handler: next time
  }
  const std::size_t size = std::strlen(name) + 1;
  if (!isListed(name) && size < sizeof g_asked.names - g_asked.used) {
    std::memcpy(g_asked.names + g_asked.used, name, size);
    g_asked.used += size;
  }
  g_asked.busy.clear(std::memory_order_release);
  slotOf(hash).store(hash, std::memory_order_relaxed);
  if (&t_depth == g_rankOnly.owner && g_systemValues.joined) {
    keepAskedVariables();
  }
}

inline void asksFor(const char* name, void* caller, const void* frame) {
  if (name == nullptr) {
    return;
  }
  const std::uint64_t hash = quickHash(name);
  if (slotOf(hash).load(std::memory_order_relaxed) != hash && t_depth == 0 &&
      learnCaller(caller, frame)) [[unlikely]] {
    const int before = errno;
    learnName(name, hash);
    errno = before;
  }
}

/// Python looks for its modules in many places, and would find them again.
bool isPython() {
  static const bool python = dlsym(RTLD_DEFAULT, "Py_Initialize") != nullptr;
  return python;
}

/// The program has asked whether `path` is there; `result`: of the call.
int asked(int from, const char* path, int result) {
  const int before = errno;
  if (path != nullptr && path[0] != '\0' &&
      (result == 0 || before == ENOENT || before == ENOTDIR) && !isPython()) {
    result == 0 ? sawExisting(from, path) : sawAbsent(from, path);
  }
  errno = before;
  return result;
}

template <typename Stat>
int askedFor(int from, const char* path, const Stat& info, int result) {
  if (result != 0 || !S_ISREG(info.st_mode)) {
    return asked(from, path, result);
  }
  if (!isPython()) {
    struct stat looked {};
    looked.st_size = info.st_size;
    looked.st_mtim = info.st_mtim;
    looked.st_ctim = info.st_ctim;
    sawRegular(from, path, lookedAt(looked));
  }
  return result;
}

}  // namespace

void keepAskedVariables() {
  const InsideLibc inside;
  while (g_systemValues.record && g_asked.kept < g_asked.used) {
    const char* name = g_asked.names + g_asked.kept;
    g_asked.kept += std::strlen(name) + 1;
    keepVariable(name);
  }
}

}  // namespace pf

using namespace pf;

// clang-format off
#define PF_GETENV(name)                                                        \
  PF_LIBC(char*, name, const char* variable) {                                 \
    asksFor(variable, __builtin_return_address(0), __builtin_frame_address(0)); \
    return PF_NEXT(name)(variable);                                            \
  }
#define PF_STAT(name, type)                                                    \
  PF_LIBC(int, name, const char* path, struct type* out) {                     \
    const int result = PF_NEXT(name)(path, out);                               \
    return PF_PROGRAMS_CALL() ? askedFor(AT_FDCWD, path, *out, result) : result; \
  }
// clang-format on

PF_GETENV(getenv)
PF_GETENV(secure_getenv)
PF_STAT(stat, stat)
PF_STAT(stat64, stat64)
PF_STAT(lstat, stat)
PF_STAT(lstat64, stat64)

PF_LIBC(int, access, const char* path, int mode) {
  const int result = PF_NEXT(access)(path, mode);
  return PF_PROGRAMS_CALL() ? asked(AT_FDCWD, path, result) : result;
}

PF_LIBC(int, euidaccess, const char* path, int mode) {
  const int result = PF_NEXT(euidaccess)(path, mode);
  return PF_PROGRAMS_CALL() ? asked(AT_FDCWD, path, result) : result;
}

PF_LIBC(int, eaccess, const char* path, int mode) {
  const int result = PF_NEXT(eaccess)(path, mode);
  return PF_PROGRAMS_CALL() ? asked(AT_FDCWD, path, result) : result;
}

PF_LIBC(int, faccessat, int from, const char* path, int mode, int flags) {
  const int result = PF_NEXT(faccessat)(from, path, mode, flags);
  return PF_PROGRAMS_CALL() ? asked(from, path, result) : result;
}

PF_LIBC(int, fstatat, int from, const char* path, struct stat* out, int flags) {
  const int result = PF_NEXT(fstatat)(from, path, out, flags);
  return PF_PROGRAMS_CALL() ? askedFor(from, path, *out, result) : result;
}

PF_LIBC(int, fstatat64, int from, const char* path, struct stat64* out, int flags) {
  const int result = PF_NEXT(fstatat64)(from, path, out, flags);
  return PF_PROGRAMS_CALL() ? askedFor(from, path, *out, result) : result;
}

PF_LIBC(int, statx, int from, const char* path, int flags, unsigned mask, struct statx* out) {
  const int result = PF_NEXT(statx)(from, path, flags, mask, out);
  if (from >= 0 && (flags & AT_EMPTY_PATH) != 0 && path != nullptr && path[0] == '\0' &&
      isMarked(from) && PF_PROGRAMS_CALL()) {
    reads(from);
  }
  if (!PF_PROGRAMS_CALL() || path == nullptr || path[0] == '\0' || out == nullptr) {
    return result;
  }
  struct stat info {};
  if (result == 0) {
    info.st_mode = (out->stx_mask & STATX_TYPE) != 0 ? out->stx_mode : mode_t{0};
    info.st_size = static_cast<off_t>(out->stx_size);
    info.st_mtim = {out->stx_mtime.tv_sec, out->stx_mtime.tv_nsec};
    info.st_ctim = {out->stx_ctime.tv_sec, out->stx_ctime.tv_nsec};
    const unsigned all = STATX_TYPE | STATX_SIZE | STATX_MTIME | STATX_CTIME;
    info.st_mode = (out->stx_mask & all) == all ? info.st_mode : mode_t{0};
  }
  return askedFor(from, path, info, result);
}

PF_LIBC(DIR*, opendir, const char* path) {
  if (path != nullptr && PF_PROGRAMS_CALL()) {
    sawListing(path);
  }
  return PF_NEXT(opendir)(path);
}

PF_LIBC(DIR*, fdopendir, int fd) {
  if (fd >= 0 && PF_PROGRAMS_CALL()) {
    sawListingAt(fd, ".");
  }
  return PF_NEXT(fdopendir)(fd);
}

using Select = int (*)(const dirent*);
using Compare = int (*)(const dirent**, const dirent**);
PF_LIBC(int, scandir, const char* path, dirent*** names, Select select, Compare compare) {
  if (path != nullptr && PF_PROGRAMS_CALL()) {
    sawListing(path);
  }
  return PF_NEXT(scandir)(path, names, select, compare);
}
using Select64 = int (*)(const dirent64*);
using Compare64 = int (*)(const dirent64**, const dirent64**);
PF_LIBC(int, scandir64, const char* path, dirent64*** names, Select64 select, Compare64 compare) {
  if (path != nullptr && PF_PROGRAMS_CALL()) {
    sawListing(path);
  }
  return PF_NEXT(scandir64)(path, names, select, compare);
}

PF_LIBC(int, scandirat, int from, const char* path, dirent*** names, Select select,
        Compare compare) {
  if (path != nullptr && PF_PROGRAMS_CALL()) {
    sawListingAt(from, path);
  }
  return PF_NEXT(scandirat)(from, path, names, select, compare);
}
PF_LIBC(int, scandirat64, int from, const char* path, dirent64*** names, Select64 select,
        Compare64 compare) {
  if (path != nullptr && PF_PROGRAMS_CALL()) {
    sawListingAt(from, path);
  }
  return PF_NEXT(scandirat64)(from, path, names, select, compare);
}
PF_LIBC(ssize_t, getdents64, int fd, void* to, std::size_t size) {
  if (fd >= 0 && PF_PROGRAMS_CALL()) {
    sawListingAt(fd, ".");
  }
  return PF_NEXT(getdents64)(fd, to, size);
}

namespace pf {
namespace {

void sawPattern(const char* pattern) {
  if (pattern != nullptr && std::strlen(pattern) < 1024) {
    char path[1024];
    std::strcpy(path, pattern);
    char* slash = std::strrchr(path, '/');
    slash == nullptr ? std::strcpy(path, ".") : std::strcpy(slash + 1, "");
    sawListing(path);
  }
}

}  // namespace
}  // namespace pf

using GlobFailed = int (*)(const char*, int);
PF_LIBC(int, glob, const char* pattern, int flags, GlobFailed failed, glob_t* names) {
  if (PF_PROGRAMS_CALL()) {
    sawPattern(pattern);
  }
  return PF_NEXT(glob)(pattern, flags, failed, names);
}
PF_LIBC(int, glob64, const char* pattern, int flags, GlobFailed failed, glob64_t* names) {
  if (PF_PROGRAMS_CALL()) {
    sawPattern(pattern);
  }
  return PF_NEXT(glob64)(pattern, flags, failed, names);
}

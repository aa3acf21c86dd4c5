// SPDX-License-Identifier: MIT
// Calls that make, take away or change names of files, and locks on files: whether they succeed is a choice among the
// ranks, or of what was there before the run.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "replay_engine/rank/inputs/opened_files.h"
#include "replay_engine/rank/inputs/system_values.h"

namespace pf {
namespace {

/// `result`, of a call that makes `path`.
int makes(int from, const char* path, int result) {
  const int error = errno;
  if (path != nullptr && result == 0) {
    sawAbsent(from, path);
    wroteFile(from, path);
  } else if (path != nullptr && error == EEXIST) {
    sawExisting(from, path);
  }
  errno = error;
  return result;
}

/// Of one for which `path` has to be there.
int needs(int from, const char* path, int result) {
  const int error = errno;
  if (path != nullptr && result == 0) {
    sawExisting(from, path);
  } else if (path != nullptr && (error == ENOENT || error == ENOTDIR)) {
    sawAbsent(from, path);
  }
  errno = error;
  return result;
}

/// Of one that gives what is at `path` the name `to`.
int renames(int from, const char* path, int where, const char* to, int result) {
  if (result == 0 && to != nullptr) {
    const int error = errno;
    wroteFile(where, to);
    errno = error;
  }
  return needs(from, path, result);
}

bool isLock(int command) {
  switch (command) {
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
#ifdef F_OFD_SETLK
    case F_OFD_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
#endif
      return true;
    default:
      return false;
  }
}

/// The lock is the open file's: of every process that has it.
void lockedOpenFile(bool isOfFile) {
  if (isOfFile && g_engine.atFileLock != nullptr) {
    const int error = errno;
    g_engine.atFileLock();
    errno = error;
  }
}

}  // namespace
}  // namespace pf

using namespace pf;

// clang-format off
/// A routine after which `follow`, of its parameters and `result`, says what it saw.
#define PF_NAMES(name, parameters, arguments, follow)                          \
  PF_LIBC(int, name, parameters) {                                             \
    const int result = PF_NEXT(name)(arguments);                               \
    return PF_PROGRAMS_CALL() ? follow : result;                               \
  }
#define PF_LOCKS(name, parameters, arguments)                                  \
  PF_LIBC(int, name, parameters) {                                             \
    if (PF_PROGRAMS_CALL()) {                                                  \
      noteUncovered(NotGuaranteedKind::FileLock, __builtin_return_address(0));          \
    }                                                                          \
    return PF_NEXT(name)(arguments);                                           \
  }
#define PF_FCNTL(name)                                                         \
  PF_LIBC(int, name, int fd, int command, ...) {                               \
    va_list arguments;                                                         \
    va_start(arguments, command);                                              \
    void* const argument = va_arg(arguments, void*);                           \
    va_end(arguments);                                                         \
    const int result = PF_NEXT(name)(fd, command, argument);                   \
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {                    \
      alsoMarked(fd, result);                                                  \
    } else if (isLock(command) && PF_PROGRAMS_CALL()) {                        \
      noteUncovered(NotGuaranteedKind::FileLock, __builtin_return_address(0));          \
      lockedOpenFile(command == F_OFD_SETLK || command == F_OFD_SETLKW);       \
    }                                                                          \
    return result;                                                             \
  }
// clang-format on

PF_NAMES(mkdir, PF_TOGETHER(const char* path, mode_t mode), PF_TOGETHER(path, mode),
         makes(AT_FDCWD, path, result))
PF_NAMES(mkdirat, PF_TOGETHER(int from, const char* path, mode_t mode),
         PF_TOGETHER(from, path, mode), makes(from, path, result))
PF_NAMES(symlink, PF_TOGETHER(const char* target, const char* path), PF_TOGETHER(target, path),
         makes(AT_FDCWD, path, result))
PF_NAMES(symlinkat, PF_TOGETHER(const char* target, int from, const char* path),
         PF_TOGETHER(target, from, path), makes(from, path, result))
PF_NAMES(link, PF_TOGETHER(const char* path, const char* to), PF_TOGETHER(path, to),
         makes(AT_FDCWD, to, result))
PF_NAMES(linkat, PF_TOGETHER(int from, const char* path, int where, const char* to, int flags),
         PF_TOGETHER(from, path, where, to, flags), makes(where, to, result))
PF_NAMES(mkfifo, PF_TOGETHER(const char* path, mode_t mode), PF_TOGETHER(path, mode),
         makes(AT_FDCWD, path, result))

PF_NAMES(rename, PF_TOGETHER(const char* path, const char* to), PF_TOGETHER(path, to),
         renames(AT_FDCWD, path, AT_FDCWD, to, result))
PF_NAMES(renameat, PF_TOGETHER(int from, const char* path, int where, const char* to),
         PF_TOGETHER(from, path, where, to), renames(from, path, where, to, result))
PF_NAMES(unlink, PF_TOGETHER(const char* path), PF_TOGETHER(path), needs(AT_FDCWD, path, result))
PF_NAMES(unlinkat, PF_TOGETHER(int from, const char* path, int flags),
         PF_TOGETHER(from, path, flags), needs(from, path, result))
PF_NAMES(rmdir, PF_TOGETHER(const char* path), PF_TOGETHER(path), needs(AT_FDCWD, path, result))
PF_NAMES(remove, PF_TOGETHER(const char* path), PF_TOGETHER(path), needs(AT_FDCWD, path, result))
PF_NAMES(truncate, PF_TOGETHER(const char* path, off_t size), PF_TOGETHER(path, size),
         needs(AT_FDCWD, path, result))
PF_NAMES(truncate64, PF_TOGETHER(const char* path, off64_t size), PF_TOGETHER(path, size),
         needs(AT_FDCWD, path, result))
PF_NAMES(chmod, PF_TOGETHER(const char* path, mode_t mode), PF_TOGETHER(path, mode),
         needs(AT_FDCWD, path, result))

/// Afterwards relative names mean something else.
PF_LIBC(int, chdir, const char* path) {
  const bool programs = PF_PROGRAMS_CALL();
  if (programs && path != nullptr) {
    const int error = errno;
    struct stat info {};
    ::stat(path, &info) == 0 ? sawExisting(AT_FDCWD, path) : sawAbsent(AT_FDCWD, path);
    errno = error;
  }
  return PF_NEXT(chdir)(path);
}

// -- locks

PF_FCNTL(fcntl)
PF_FCNTL(fcntl64)

PF_LIBC(int, flock, int fd, int operation) {
  if (PF_PROGRAMS_CALL()) {
    noteUncovered(NotGuaranteedKind::FileLock, __builtin_return_address(0));
    lockedOpenFile(true);
  }
  return PF_NEXT(flock)(fd, operation);
}
PF_LOCKS(lockf, PF_TOGETHER(int fd, int command, off_t size), PF_TOGETHER(fd, command, size))
PF_LOCKS(lockf64, PF_TOGETHER(int fd, int command, off64_t size), PF_TOGETHER(fd, command, size))

// SPDX-License-Identifier: MIT
// The other ways to a file's content, size and name: vectors, other descriptors, streams on
// descriptors, copies by the kernel; how far it reaches; where a link leads; walks over directories.
#include <aio.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "replay_engine/rank/inputs/opened_files.h"
#include "replay_engine/rank/inputs/system_values.h"

namespace pf {
namespace {

/// How far the file of `fd` reaches is asked, or something that is not counted byte by byte.
void asksOf(int fd) {
  if (isMarked(fd)) {
    reads(fd);
  }
}

/// The first part only: who reads must be ready for less.
template <typename Next>
ssize_t readParts(int fd, const iovec* parts, int count, Next next) {
  if (isMarked(fd) && count > 0 && parts != nullptr && parts->iov_len > 0 && isRandomDevice(fd)) {
    return readRandom(fd, parts->iov_base, parts->iov_len,
                      [](int from, void* to, std::size_t size) { return ::read(from, to, size); });
  }
  return next();
}

std::FILE* streamOn(int fd, const char* mode, std::FILE* (*next)(int, const char*)) {
  if (isMarked(fd) && mode != nullptr && (mode[0] == 'r' || std::strchr(mode, '+') != nullptr) &&
      isRandomDevice(fd)) {
    if (std::FILE* file = randomStream(fd); file != nullptr) {
      return file;
    }
  }
  return next(fd, mode);
}

void reopened(const char* path, const char* mode, std::FILE* file, void* caller) {
  if (path != nullptr && mode != nullptr) {
    opened(AT_FDCWD, path, flagsOf(mode), file != nullptr ? ::fileno(file) : -1, caller);
  }
}

void sawTrees(char* const* paths) {
  for (; paths != nullptr && *paths != nullptr; ++paths) {
    sawTree(*paths);
  }
}

}  // namespace
}  // namespace pf

using namespace pf;

// clang-format off
#define PF_VECTOR(name, type)                                                  \
  PF_LIBC(ssize_t, name, int fd, const iovec* parts, int count, type at) {     \
    const auto next = [fd, parts, count, at] { return PF_NEXT(name)(fd, parts, count, at); }; \
    return PF_PROGRAMS_CALL() ? readParts(fd, parts, count, next) : next();    \
  }
#define PF_VECTOR_2(name, type)                                                \
  PF_LIBC(ssize_t, name, int fd, const iovec* parts, int count, type at, int flags) { \
    const auto next = [fd, parts, count, at, flags] { return PF_NEXT(name)(fd, parts, count, at, flags); }; \
    return PF_PROGRAMS_CALL() ? readParts(fd, parts, count, next) : next();    \
  }
/// A routine of which `fd`, a parameter, is asked for something.
#define PF_ASKS(returns, name, parameters, arguments)                          \
  PF_LIBC(returns, name, parameters) {                                         \
    if (isMarked(fd) && PF_PROGRAMS_CALL()) {                                  \
      asksOf(fd);                                                              \
    }                                                                          \
    return PF_NEXT(name)(arguments);                                           \
  }
// clang-format on

PF_LIBC(ssize_t, readv, int fd, const iovec* parts, int count) {
  const auto next = [fd, parts, count] { return PF_NEXT(readv)(fd, parts, count); };
  return PF_PROGRAMS_CALL() ? readParts(fd, parts, count, next) : next();
}
PF_VECTOR(preadv, off_t)
PF_VECTOR(preadv64, off64_t)
PF_VECTOR_2(preadv2, off_t)
PF_VECTOR_2(preadv64v2, off64_t)

// -- other descriptors and streams

PF_LIBC(int, dup, int fd) {
  const int made = PF_NEXT(dup)(fd);
  alsoMarked(fd, made);
  return made;
}

PF_LIBC(int, dup2, int fd, int to) {
  const int made = PF_NEXT(dup2)(fd, to);
  alsoMarked(fd, made);
  return made;
}

PF_LIBC(int, dup3, int fd, int to, int flags) {
  const int made = PF_NEXT(dup3)(fd, to, flags);
  alsoMarked(fd, made);
  return made;
}

PF_LIBC(std::FILE*, fdopen, int fd, const char* mode) {
  if (!isMarked(fd) || !PF_PROGRAMS_CALL()) {
    return PF_NEXT(fdopen)(fd, mode);
  }
  return streamOn(fd, mode, PF_NEXT(fdopen));  // a stream reads behind our back
}

// clang-format off
#define PF_FREOPEN(name)                                                       \
  PF_LIBC(std::FILE*, name, const char* path, const char* mode, std::FILE* old) { \
    std::FILE* file = PF_NEXT(name)(path, mode, old);                          \
    if (PF_PROGRAMS_CALL()) {                                                  \
      reopened(path, mode, file, __builtin_return_address(0));                 \
    }                                                                          \
    return file;                                                               \
  }
// clang-format on
PF_FREOPEN(freopen)
PF_FREOPEN(freopen64)

// -- what the kernel copies, and how far a file reaches

PF_ASKS(ssize_t, sendfile, PF_TOGETHER(int to, int fd, off_t* at, std::size_t size),
        PF_TOGETHER(to, fd, at, size))
PF_ASKS(ssize_t, sendfile64, PF_TOGETHER(int to, int fd, off64_t* at, std::size_t size),
        PF_TOGETHER(to, fd, at, size))
PF_ASKS(ssize_t, copy_file_range,
        PF_TOGETHER(int fd, off64_t* at, int to, off64_t* where, std::size_t size, unsigned flags),
        PF_TOGETHER(fd, at, to, where, size, flags))
PF_ASKS(ssize_t, splice,
        PF_TOGETHER(int fd, off64_t* at, int to, off64_t* where, std::size_t size, unsigned flags),
        PF_TOGETHER(fd, at, to, where, size, flags))

PF_LIBC(int, aio_read, aiocb* request) {
  if (request != nullptr && isMarked(request->aio_fildes) && PF_PROGRAMS_CALL()) {
    asksOf(request->aio_fildes);
  }
  return PF_NEXT(aio_read)(request);
}

PF_LIBC(int, aio_read64, aiocb64* request) {
  if (request != nullptr && isMarked(request->aio_fildes) && PF_PROGRAMS_CALL()) {
    asksOf(request->aio_fildes);
  }
  return PF_NEXT(aio_read64)(request);
}

// clang-format off
#define PF_LIO(name, type)                                                     \
  PF_LIBC(int, name, int mode, type* const* requests, int count, sigevent* event) { \
    for (int i = 0; requests != nullptr && i < count; ++i) {                   \
      if (requests[i] != nullptr && isMarked(requests[i]->aio_fildes) && PF_PROGRAMS_CALL()) { \
        asksOf(requests[i]->aio_fildes);                                       \
      }                                                                        \
    }                                                                          \
    return PF_NEXT(name)(mode, requests, count, event);                        \
  }
// clang-format on
PF_LIO(lio_listio, aiocb)
PF_LIO(lio_listio64, aiocb64)

PF_ASKS(int, fstat, PF_TOGETHER(int fd, struct stat* out), PF_TOGETHER(fd, out))
PF_ASKS(int, fstat64, PF_TOGETHER(int fd, struct stat64* out), PF_TOGETHER(fd, out))
PF_ASKS(off_t, lseek, PF_TOGETHER(int fd, off_t by, int from), PF_TOGETHER(fd, by, from))
PF_ASKS(off64_t, lseek64, PF_TOGETHER(int fd, off64_t by, int from), PF_TOGETHER(fd, by, from))

// clang-format off
#define PF_TELL(returns, name)                                                 \
  PF_LIBC(returns, name, std::FILE* file) {                                    \
    if (file != nullptr && PF_PROGRAMS_CALL()) {                               \
      asksOf(::fileno(file));                                                  \
    }                                                                          \
    return PF_NEXT(name)(file);                                                \
  }
// clang-format on
PF_TELL(long, ftell)
PF_TELL(off_t, ftello)
PF_TELL(off64_t, ftello64)

// clang-format off
#define PF_GETPOS(name, type)                                                  \
  PF_LIBC(int, name, std::FILE* file, type* at) {                              \
    if (file != nullptr && PF_PROGRAMS_CALL()) {                               \
      asksOf(::fileno(file));                                                  \
    }                                                                          \
    return PF_NEXT(name)(file, at);                                            \
  }
// clang-format on
PF_GETPOS(fgetpos, fpos_t)
PF_GETPOS(fgetpos64, fpos64_t)

// -- where links lead

PF_LIBC(ssize_t, readlink, const char* path, char* to, std::size_t size) {
  if (path != nullptr && PF_PROGRAMS_CALL()) {
    sawLinks(AT_FDCWD, path);
  }
  return PF_NEXT(readlink)(path, to, size);
}

PF_LIBC(ssize_t, readlinkat, int from, const char* path, char* to, std::size_t size) {
  if (path != nullptr && PF_PROGRAMS_CALL()) {
    sawLinks(from, path);
  }
  return PF_NEXT(readlinkat)(from, path, to, size);
}

PF_LIBC(char*, realpath, const char* path, char* to) {
  if (path != nullptr && PF_PROGRAMS_CALL()) {
    sawLinks(AT_FDCWD, path);
  }
  return PF_NEXT(realpath)(path, to);
}

PF_LIBC(char*, __realpath_chk, const char* path, char* to, std::size_t size) {
  if (path != nullptr && PF_PROGRAMS_CALL()) {
    sawLinks(AT_FDCWD, path);
  }
  return PF_NEXT(__realpath_chk)(path, to, size);
}

// -- walks

PF_LIBC(int, nftw, const char* path, __nftw_func_t visit, int most, int flags) {
  if (path != nullptr && PF_PROGRAMS_CALL()) {
    sawTree(path);
  }
  return PF_NEXT(nftw)(path, visit, most, flags);
}

PF_LIBC(int, nftw64, const char* path, __nftw64_func_t visit, int most, int flags) {
  if (path != nullptr && PF_PROGRAMS_CALL()) {
    sawTree(path);
  }
  return PF_NEXT(nftw64)(path, visit, most, flags);
}

PF_LIBC(int, ftw, const char* path, __ftw_func_t visit, int most) {
  if (path != nullptr && PF_PROGRAMS_CALL()) {
    sawTree(path);
  }
  return PF_NEXT(ftw)(path, visit, most);
}

PF_LIBC(int, ftw64, const char* path, __ftw64_func_t visit, int most) {
  if (path != nullptr && PF_PROGRAMS_CALL()) {
    sawTree(path);
  }
  return PF_NEXT(ftw64)(path, visit, most);
}

using CompareEntries = int (*)(const FTSENT**, const FTSENT**);
PF_LIBC(FTS*, fts_open, char* const* paths, int options, CompareEntries compare) {
  if (PF_PROGRAMS_CALL()) {
    sawTrees(paths);
  }
  return PF_NEXT(fts_open)(paths, options, compare);
}
using CompareEntries64 = int (*)(const FTSENT64**, const FTSENT64**);
PF_LIBC(FTS64*, fts64_open, char* const* paths, int options, CompareEntries64 compare) {
  if (PF_PROGRAMS_CALL()) {
    sawTrees(paths);
  }
  return PF_NEXT(fts64_open)(paths, options, compare);
}

// SPDX-License-Identifier: MIT
// Files that the program opens. /dev/urandom and /dev/random: what the program reads from them is
// recorded, and given back. Of others it is kept what they were like (input_files.cpp): when they are
// opened for reading, or, if for both, when they are read first.
//
// A descriptor of such a file is marked when it is opened, and looked at when it is read: the mark
// may be an older file's. A stream (fopen) is one of ours that reads so; fileno() gives its
// descriptor, from which libstdc++ reads behind the stream's back.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "replay_engine/rank/inputs/opened_files.h"
#include "replay_engine/rank/inputs/system_values.h"

#ifndef O_TMPFILE
#define O_TMPFILE 0
#endif

namespace pf {
namespace {

constexpr int kMarks = 65536;
bool g_marked[kMarks];      ///< by descriptor: was a random device, or is in g_unread
LookedAt g_unread[kMarks];  ///< by descriptor, opened not only for reading; no path: is not

struct RandomStream {
  std::FILE* file;
  int fd;
};
constexpr std::size_t kStreams = 32;
RandomStream g_streams[kStreams];
std::atomic<int> g_openStreams{0};
constexpr std::size_t kStreamPiece =
    64;  ///< a stream asks for its whole buffer: it gets so much of it

const RandomStream* streamOfDescriptor(int fd) {
  for (const RandomStream& stream : g_streams) {
    if (stream.file != nullptr && stream.fd == fd) {
      return &stream;
    }
  }
  return nullptr;
}

bool isRandomName(const char* path) {
  return path != nullptr && std::strncmp(path, "/dev/", 5) == 0 &&
         (std::strcmp(path + 5, "urandom") == 0 || std::strcmp(path + 5, "random") == 0);
}

int marked(int fd) {
  if (fd >= 0 && fd < kMarks) {
    g_marked[fd] = true;
  }
  return fd;
}

/// What is not read does not matter.
void willRead(int fd) {
  LookedAt looked{};
  const int before = errno;
  if (fd < kMarks && lookAtFile(fd, &looked)) {
    looked.file.path = 1;
    g_unread[fd] = looked;
    g_marked[fd] = true;
  }
  errno = before;
}

bool isRandom(const struct stat& info) {
  return S_ISCHR(info.st_mode) && major(info.st_rdev) == 1 &&
         (minor(info.st_rdev) == 8 || minor(info.st_rdev) == 9);
}

/// By its name, or by a link to it.
bool leadsToRandom(const char* path) {
  const InsideLibc inside;
  const int before = errno;
  struct stat info {};
  const bool found = isRandomName(path) || (::stat(path, &info) == 0 && isRandom(info));
  errno = before;
  return found;
}

}  // namespace

void reads(int fd) {
  if (g_unread[fd].file.path != 0) {
    sawReading(fd, g_unread[fd]);
    g_unread[fd].file.path = 0;
    g_marked[fd] = false;
  }
}

bool isRandomDevice(int fd) {
  reads(fd);
  const InsideLibc inside;
  const int before = errno;
  struct stat info {};
  const bool found = ::fstat(fd, &info) == 0 && isRandom(info);
  errno = before;
  g_marked[fd] = found;
  return found;
}

bool isMarked(int fd) {
  return fd >= 0 && fd < kMarks && g_marked[fd];
}

void alsoMarked(int fd, int to) {
  if (isMarked(fd) && to >= 0 && to < kMarks) {
    g_marked[to] = true;
    g_unread[to] = g_unread[fd];
  }
}

ssize_t readRandom(int fd, void* to, std::size_t size, RealRead real) {
  const InsideLibc inside;
  ssize_t got = recallBytes(ValueKind::Urandom, to, size);
  if (got < 0) {
    got = real(fd, to, size);
  }
  if (got > 0) {
    keepBytes(ValueKind::Urandom, to, static_cast<std::size_t>(got), size);
  }
  return got;
}

int opened(int from, const char* path, int flags, int fd, void* caller) {
  const bool makes = (flags & O_CREAT) != 0;
  if (fd < 0) {
    if (path != nullptr && makes && errno == EEXIST) {
      sawExisting(from, path);
    } else if (path != nullptr && !makes && (errno == ENOENT || errno == ENOTDIR)) {
      sawAbsent(from, path);
    }
    return fd;
  }
  if (fd >= kMarks) {
    noteUncovered(NotGuaranteedKind::InputsLeftOut, caller);
  }
  if (isRandomName(path)) {
    return marked(fd);
  }
  if ((flags & O_ACCMODE) != O_RDONLY || makes || (flags & O_TRUNC) != 0) {
    wroteFile(from, path);
  }
  if (fd < kMarks) {
    g_unread[fd].file.path = 0;
    g_marked[fd] = false;
  }
  if ((flags & O_TRUNC) != 0 || (O_TMPFILE != 0 && (flags & O_TMPFILE) == O_TMPFILE)) {
    return fd;  // nothing of before is seen
  }
  if (makes && (flags & O_EXCL) != 0) {
    sawAbsent(from, path);
  } else if ((flags & O_ACCMODE) == O_RDONLY && !makes) {
    if (fd < kMarks && isRandomDevice(fd)) {  // by a link to it
      return fd;
    }
    sawInput(from, path, fd, caller);
  } else {
    willRead(fd);  // also where it cannot: its size may be asked for
    if ((flags & O_ACCMODE) == O_RDONLY && isMarked(fd)) {
      reads(fd);  // a stream that appends reads as well, and what was not there it has made
    }
  }
  return fd;
}

int flagsOf(const char* mode) {
  const bool both = std::strchr(mode, '+') != nullptr;
  const int truncates = mode[0] == 'w' ? O_TRUNC : 0;
  const int makes = mode[0] == 'r' ? 0 : O_CREAT;
  const int excludes = std::strchr(mode, 'x') != nullptr ? O_EXCL : 0;
  // A stream reads behind our back.
  const int reads = mode[0] == 'r' || (both && mode[0] == 'a') ? O_RDONLY : O_WRONLY;
  return reads | truncates | makes | excludes;
}

namespace {

mode_t modeOf(int flags, va_list arguments) {
  const bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return makes ? va_arg(arguments, mode_t) : 0;
}

}  // namespace
}  // namespace pf

using namespace pf;

PF_LIBC(ssize_t, read, int fd, void* to, std::size_t size) {
  if (!isMarked(fd) || !PF_PROGRAMS_CALL() || size == 0 || !isRandomDevice(fd)) {
    return PF_NEXT(read)(fd, to, size);
  }
  const std::size_t wanted =
      streamOfDescriptor(fd) != nullptr && size > kStreamPiece ? kStreamPiece : size;
  return readRandom(fd, to, wanted, PF_NEXT(read));
}

PF_LIBC(ssize_t, __read_chk, int fd, void* to, std::size_t size, std::size_t room) {
  if (!isMarked(fd) || !PF_PROGRAMS_CALL() || size == 0 || size > room || !isRandomDevice(fd)) {
    return PF_NEXT(__read_chk)(fd, to, size, room);
  }
  return readRandom(fd, to, size, PF_NEXT(read));
}

// clang-format off
#define PF_OPEN(name)                                                          \
  PF_LIBC(int, name, const char* path, int flags, ...) {                       \
    va_list arguments;                                                         \
    va_start(arguments, flags);                                                \
    const mode_t mode = modeOf(flags, arguments);                              \
    va_end(arguments);                                                         \
    const int fd = PF_NEXT(name)(path, flags, mode);                           \
    return PF_PROGRAMS_CALL()                                                  \
               ? opened(AT_FDCWD, path, flags, fd, __builtin_return_address(0)) \
               : fd;                                                           \
  }
#define PF_OPENAT(name)                                                        \
  PF_LIBC(int, name, int directory, const char* path, int flags, ...) {        \
    va_list arguments;                                                         \
    va_start(arguments, flags);                                                \
    const mode_t mode = modeOf(flags, arguments);                              \
    va_end(arguments);                                                         \
    const int fd = PF_NEXT(name)(directory, path, flags, mode);                \
    return PF_PROGRAMS_CALL()                                                  \
               ? opened(directory, path, flags, fd, __builtin_return_address(0)) \
               : fd;                                                           \
  }
#define PF_OPEN_2(name)                                                        \
  PF_LIBC(int, name, const char* path, int flags) {                            \
    const int fd = PF_NEXT(name)(path, flags);                                 \
    return PF_PROGRAMS_CALL()                                                  \
               ? opened(AT_FDCWD, path, flags, fd, __builtin_return_address(0)) \
               : fd;                                                           \
  }
// clang-format on

// clang-format off
#define PF_PREAD(name, type)                                                   \
  PF_LIBC(ssize_t, name, int fd, void* to, std::size_t size, type at) {        \
    if (isMarked(fd) && PF_PROGRAMS_CALL() && size > 0 && isRandomDevice(fd)) { \
      return readRandom(fd, to, size, PF_NEXT(read));                          \
    }                                                                          \
    return PF_NEXT(name)(fd, to, size, at);                                    \
  }
// A jump: who asked for memory is the caller of the next one, too (heap_side.cpp).
#define PF_MMAP(name, type)                                                    \
  PF_LIBC(void*, name, void* wish, std::size_t size, int protection, int flags, int fd, \
          type offset) {                                                       \
    if (fd >= 0 && PF_PROGRAMS_CALL()) {                                       \
      maps(protection, flags, fd, __builtin_return_address(0));                \
    }                                                                          \
    return PF_NEXT(name)(wish, size, protection, flags, fd, offset);           \
  }
// clang-format on

PF_PREAD(pread, off_t)
PF_PREAD(pread64, off64_t)

namespace pf {
namespace {

void maps(int protection, int flags, int fd, void* caller) {
  if (isMarked(fd)) {
    reads(fd);
  }
  if ((flags & MAP_SHARED) != 0 && (protection & PROT_WRITE) != 0) {
    noteUncovered(NotGuaranteedKind::SharedMemory, caller);
  }
}

}  // namespace
}  // namespace pf

PF_MMAP(mmap, off_t)
PF_MMAP(mmap64, off64_t)

PF_OPEN(open)
PF_OPEN(open64)
PF_OPENAT(openat)
PF_OPENAT(openat64)
PF_OPEN_2(__open_2)
PF_OPEN_2(__open64_2)

namespace pf {
namespace {

ssize_t readStream(void* cookie, char* to, std::size_t size) {
  const auto& stream = *static_cast<const RandomStream*>(cookie);
  const std::size_t wanted = size < kStreamPiece ? size : kStreamPiece;
  return readRandom(stream.fd, to, wanted, PF_NEXT(read));
}

int closeStream(void* cookie) {
  auto& stream = *static_cast<RandomStream*>(cookie);
  const int result = ::close(stream.fd);
  stream.file = nullptr;
  g_openStreams.fetch_sub(1);
  return result;
}

/// Null: it stays an ordinary stream.
std::FILE* openStream(const char* path) {
  const InsideLibc inside;
  const int fd = ::open(path, O_RDONLY);
  std::FILE* file = fd < 0 ? nullptr : randomStream(fd);
  if (file == nullptr && fd >= 0) {
    ::close(fd);
  }
  return file;
}

}  // namespace

std::FILE* randomStream(int fd) {
  const InsideLibc inside;
  for (RandomStream& stream : g_streams) {
    if (stream.file == nullptr) {
      stream.fd = marked(fd);
      stream.file = fopencookie(&stream, "r", {readStream, nullptr, nullptr, closeStream});
      if (stream.file != nullptr) {
        g_openStreams.fetch_add(1);
      }
      return stream.file;
    }
  }
  return nullptr;
}

}  // namespace pf

// clang-format off
#define PF_FOPEN(name)                                                         \
  PF_LIBC(std::FILE*, name, const char* path, const char* mode) {              \
    if (path != nullptr && mode != nullptr && mode[0] == 'r' &&                \
        std::strchr(mode, '+') == nullptr && PF_PROGRAMS_CALL() && leadsToRandom(path)) { \
      if (std::FILE* file = openStream(path); file != nullptr) {               \
        return file;                                                           \
      }                                                                        \
    }                                                                          \
    std::FILE* file = PF_NEXT(name)(path, mode);                               \
    if (path != nullptr && mode != nullptr && PF_PROGRAMS_CALL()) {            \
      opened(AT_FDCWD, path, flagsOf(mode),                                    \
             file != nullptr ? pf_fileno(file) : -1, __builtin_return_address(0)); \
    }                                                                          \
    return file;                                                               \
  }
#define PF_FILENO(name)                                                        \
  PF_LIBC(int, name, std::FILE* file) {                                        \
    for (std::size_t i = 0; g_openStreams.load() != 0 && i < kStreams; ++i) {  \
      if (g_streams[i].file == file) {                                         \
        return g_streams[i].fd;                                                \
      }                                                                        \
    }                                                                          \
    return PF_NEXT(name)(file);                                                \
  }
// clang-format on

PF_FILENO(fileno)
PF_FILENO(fileno_unlocked)
PF_FOPEN(fopen)
PF_FOPEN(fopen64)

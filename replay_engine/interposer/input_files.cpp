// Files that the program reads are not in the trace. What they were like is: a replay says which
// have changed since.
#include "environment.h"
#include "rank_link.h"
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace pf {
namespace {

constexpr std::size_t kSeen = 256;
InputFile g_seen[kSeen];  ///< files opened again and again are kept once
constexpr int kMostTold = 8;
int g_told = 0;

bool same(const InputFile& a, const InputFile& b) {
  return a.path == b.path && a.size == b.size && a.modified == b.modified;
}

/// The recorded one of the same name, if it comes yet.
bool recallInput(std::uint64_t path, InputFile* recorded) {
  ValueStream& stream = g_environment.streams[static_cast<std::size_t>(ValueKind::Input)];
  const unsigned char* const before = stream.at;
  while (recallBytes(ValueKind::Input, recorded, sizeof *recorded) ==
         static_cast<std::ptrdiff_t>(sizeof *recorded)) {
    if (recorded->path == path) {
      return true;
    }
  }
  stream.at = before;
  return false;
}

/// What the kernel says of the moment (libnuma reads it in its constructor) is no file.
bool isKernels(int fd) {
  struct statfs system {};
  return fstatfs(fd, &system) == 0 &&
         (system.f_type == PROC_SUPER_MAGIC || system.f_type == SYSFS_MAGIC);
}

void tell(const char* path) {
  if (g_told++ < kMostTold) {
    char text[400];
    std::snprintf(text, sizeof text,
                  "%.300s has changed since the recording: the replay may differ", path);
    sayOfRank(text);
  }
}

}  // namespace

void sawInput(const char* path, int fd) {
  if (!g_environment.record && !g_environment.replay) {
    return;
  }
  const int before = errno;
  const InsideLibc inside;
  struct stat info {};
  if (path != nullptr && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && !isKernels(fd)) {
    const InputFile now{pathHash(path), static_cast<std::uint64_t>(info.st_size),
                        info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec};
    InputFile& seen = g_seen[now.path % kSeen];
    if (!same(seen, now)) {
      seen = now;
      InputFile recorded{};
      if (recallInput(now.path, &recorded) && !same(recorded, now)) {
        tell(path);
      }
      if (now.modified < g_environment.started) {
        keepBytes(ValueKind::Input, &now, sizeof now, sizeof now);
      }
    }
  }
  errno = before;
}

}  // namespace pf

// SPDX-License-Identifier: MIT
#include "replay_engine/rank/snapshots/obstacles.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/inputs/system_values.h"
#include "replay_engine/rank/snapshots/file_offsets.h"
#include "replay_engine/rank/snapshots/proc_files.h"
#include "replay_engine/rank/snapshots/snapshots.h"

namespace pf {
namespace {

constexpr unsigned kMemoryDevices = 1;  ///< major number: /dev/null, /dev/zero, /dev/urandom …

/// Up to N values. What did not fit was not noted: it is taken for the program's.
template <class T, std::size_t N>
class Few {
 public:
  void add(const T& value) {
    if (m_count < N) {
      m_values[m_count++] = value;
    }
  }
  template <class Is>
  [[nodiscard]] bool any(Is is) const {
    for (std::size_t i = 0; i < m_count; ++i) {
      if (is(m_values[i])) {
        return true;
      }
    }
    return false;
  }

 private:
  std::array<T, N> m_values{};
  std::size_t m_count = 0;
};

struct Descriptor {
  int fd;
  dev_t device;
  ino_t node;
};
bool isSameFile(const Descriptor& a, const Descriptor& b) {
  return a.device == b.device && a.node == b.node;
}
using Descriptors = Few<Descriptor, 256>;

struct Mapping {
  std::uint64_t from;
  std::uint64_t to;
  std::uint64_t device;
  std::uint64_t node;
};
using Mappings = Few<Mapping, 64>;
using Children = Few<pid_t, 16>;

/// Of the process at one moment.
struct Noted {
  int threads = 0;
  Descriptors descriptors;
  Mappings mappings;
  Children children;
};

bool g_wanted = false;
Descriptors g_inherited;  ///< by what started the program
Noted g_beforeMpi;
Noted g_ofMpi;  ///< `threads`: of the program, too

/// Without those that MPI's libraries have made where we saw it: UCX makes one while it is loaded. One that has ended is among
/// the kernel's for a moment more, so that there are seldom more than `known`, and then not at once.
int threadsNow(int known) {
  static int endedBefore = 0;
  int found = 0;
  int ended = 0;
  for (int looks = 0; looks < 20; ++looks) {
    const InternalThreads internal = internalThreads();
    ended = internal.ended;
    found = ofProcessStatus("\nThreads:") - internal.now;
    if (found <= known || ended == endedBefore) {
      break;
    }
    const timespec pause{0, 500'000};
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, nullptr);
  }
  endedBefore = ended;
  return found;
}

template <class Visit>
bool eachDescriptor(Visit visit) {
  return eachNumberIn("/proc/self/fd", [&visit](int fd) {
    struct stat info {};
    if (fstat(fd, &info) == 0) {
      visit(Descriptor{fd, info.st_dev, info.st_ino}, info);
    }
  });
}

/// "7f0000000000-7f0000001000 rw-s 00000000 00:01 1026   /dev/zero (deleted)": false where nobody writes, or it is not shared.
bool isWrittenAndShared(const char* line, Mapping& found) {
  char* at = nullptr;
  found.from = std::strtoull(line, &at, 16);
  found.to = *at == '-' ? std::strtoull(at + 1, &at, 16) : 0;
  if (std::strlen(at) < 6 || at[2] != 'w' || at[4] != 's') {
    return false;
  }
  std::strtoull(at + 5, &at, 16);
  const std::uint64_t major = std::strtoull(at, &at, 16);
  found.device = major << 32 | (*at == ':' ? std::strtoull(at + 1, &at, 16) : 0);
  found.node = std::strtoull(at, &at, 10);
  return true;
}

template <class Visit>
bool eachSharedMapping(Visit visit) {
  return eachLineOf("/proc/self/maps", [&visit](const char* line, bool) {
    if (Mapping found{}; isWrittenAndShared(line, found)) {
      visit(found);
    }
  });
}
bool contains(const Mapping& outer, const Mapping& inner) {
  return outer.device == inner.device && outer.node == inner.node && outer.from <= inner.from &&
         inner.to <= outer.to;
}

/// Whether any are running, or have ended and not been waited for.
bool hasChildren() {
  siginfo_t none{};
  return syscall(SYS_waitid, P_ALL, 0, &none, WEXITED | WNOHANG | WNOWAIT | __WALL, nullptr) == 0 ||
         errno != ECHILD;
}
template <class Visit>
bool eachChild(Visit visit) {
  bool all = true;
  const bool read = eachNumberIn("/proc/self/task", [&](int thread) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%d/children", thread);
    const bool told = eachLineOf(path, [&](const char* line, bool cut) {
      all = all && !cut;
      char* at = nullptr;
      for (long pid = std::strtol(line, &at, 10); pid > 0; pid = std::strtol(at, &at, 10)) {
        visit(static_cast<pid_t>(pid));
      }
    });
    all = all && told;
  });
  return read && all;
}

/// What is there now, and was not `before`.
void note(Noted& now, const Noted& before) {
  now.threads = threadsNow(1);
  eachDescriptor([&](const Descriptor& descriptor, const struct stat&) {
    if (!before.descriptors.any([&](const Descriptor& known) {
          return known.fd == descriptor.fd && isSameFile(known, descriptor);
        })) {
      now.descriptors.add(descriptor);
    }
  });
  eachSharedMapping([&](const Mapping& mapping) {
    if (!before.mappings.any([&](const Mapping& known) { return contains(known, mapping); })) {
      now.mappings.add(mapping);
    }
  });
  if (hasChildren()) {
    eachChild([&](pid_t child) {
      if (!before.children.any([&](pid_t known) { return known == child; })) {
        now.children.add(child);
      }
    });
  }
}

bool isOfProgram(const Descriptor& descriptor) {
  return !g_inherited.any([&](const Descriptor& known) { return isSameFile(known, descriptor); }) &&
         !g_ofMpi.descriptors.any([&](const Descriptor& known) {
           return known.fd == descriptor.fd && isSameFile(known, descriptor);
         });
}

bool isLocked(int fd) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  bool locked = false;
  const bool told = eachLineOf(path, [&locked](const char* line, bool) {
    locked = locked || std::strncmp(line, "lock:", 5) == 0;
  });
  return locked || !told;
}

/// Regular files, by how they are open.
class OpenFiles {
 public:
  SnapshotObstacle add(const Descriptor& file) {
    const int flags = ::fcntl(file.fd, F_GETFL);
    const int access = flags & O_ACCMODE;
    const auto same = [&file](const Descriptor& other) { return isSameFile(other, file); };
    const bool reads = access != O_WRONLY;
    const bool writes = access != O_RDONLY;
    if (flags < 0 || (reads && writes) || (flags & O_APPEND) != 0 ||
        (reads && m_written.any(same)) || (writes && m_read.any(same))) {
      return kFilesReadAndWritten;
    }
    (reads ? m_read : m_written).add(file);
    return isLocked(file.fd) ? kLockedFiles : kNoObstacle;
  }

 private:
  Few<Descriptor, FileOffsets::kMost> m_read;
  Few<Descriptor, FileOffsets::kMost> m_written;
};

SnapshotObstacle inDescriptors() {
  SnapshotObstacle found = kNoObstacle;
  OpenFiles files;
  const bool read = eachDescriptor([&](const Descriptor& descriptor, const struct stat& info) {
    if (found != kNoObstacle || !isOfProgram(descriptor)) {
      return;
    }
    if (S_ISREG(info.st_mode)) {
      found = files.add(descriptor);
    } else if (!S_ISCHR(info.st_mode) ||
               (major(info.st_rdev) != kMemoryDevices && isatty(descriptor.fd) == 0)) {
      found = kDescriptorsOfProgram;
    }
  });
  return read ? found : kProcessNotSeen;
}

SnapshotObstacle inMappings() {
  bool own = false;
  const bool read = eachSharedMapping([&own](const Mapping& mapping) {
    own = own || !g_ofMpi.mappings.any([&](const Mapping& of) { return contains(of, mapping); });
  });
  return !read ? kProcessNotSeen : own ? kSharedMemoryOfProgram : kNoObstacle;
}

SnapshotObstacle inChildren() {
  if (!hasChildren()) {
    return kNoObstacle;
  }
  bool own = false;
  const bool read = eachChild([&own](pid_t child) {
    own = own || !g_ofMpi.children.any([child](pid_t of) { return of == child; });
  });
  return own || !read ? kChildrenOfProgram : kNoObstacle;
}

/// alarm() is the first of these.
SnapshotObstacle inTimers() {
  for (const int which : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
    itimerval now{};
    if (syscall(SYS_getitimer, which, &now) != 0 || now.it_value.tv_sec != 0 ||
        now.it_value.tv_usec != 0) {
      return kTimersOfProgram;
    }
  }
  bool any = false;
  const bool read = eachLineOf("/proc/self/timers", [&any](const char*, bool) { any = true; });
  return !read ? kProcessNotSeen : any ? kTimersOfProgram : kNoObstacle;
}

/// Before main(): what is open now was so when the program was started.
__attribute__((constructor)) void noteInherited() {
  const RankPage* page = mapLaunchPage();
  if (page == nullptr) {
    return;
  }
  g_wanted = (page->launchMode & kSnapshots) != 0;
  unmapLaunchPage(page);
  if (g_wanted) {
    const InsideLibc inside;
    eachDescriptor(
        [](const Descriptor& descriptor, const struct stat&) { g_inherited.add(descriptor); });
  }
}

}  // namespace

void noteProcessBeforeMpi() {
  if (g_wanted) {
    note(g_beforeMpi, Noted());
  }
}

void noteProcessBehindMpi() {
  note(g_ofMpi, g_beforeMpi);
}

SnapshotObstacle obstacleInProcess() {
  if (g_beforeMpi.threads > 1 || threadsNow(g_ofMpi.threads) > g_ofMpi.threads) {
    return kThreadsOfProgram;
  }
  for (const auto look : {inDescriptors, inMappings, inChildren, inTimers}) {
    if (const SnapshotObstacle found = look(); found != kNoObstacle) {
      return found;
    }
  }
  return kNoObstacle;
}

std::uint32_t regularFilesOfProgram() {
  std::uint32_t count = 0;
  const bool read = eachDescriptor([&count](const Descriptor& descriptor, const struct stat& info) {
    count += S_ISREG(info.st_mode) && isOfProgram(descriptor) ? 1U : 0U;
  });
  return read ? count : 1;
}

}  // namespace pf

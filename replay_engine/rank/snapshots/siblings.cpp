// SPDX-License-Identifier: MIT
#include "replay_engine/rank/snapshots/siblings.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "replay_engine/rank/snapshots/proc_files.h"

namespace pf {
namespace {

struct OfStat {
  char state = 0;  ///< 0: there is no such process
  pid_t parent = 0;
};

OfStat statOf(pid_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  OfStat found;
  eachLineOf(path, [&found](const char* line, bool) {
    // "12 (any name) S 11 …"
    if (const char* end = std::strrchr(line, ')'); end != nullptr && end[1] == ' ') {
      found.state = end[2];
      found.parent = end[2] == '\0' ? 0 : std::atoi(end + 3);
    }
  });
  return found;
}

bool runsSameProgram(pid_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/exe", pid);
  struct stat its {};
  struct stat ours {};
  return ::stat(path, &its) == 0 && ::stat("/proc/self/exe", &ours) == 0 &&
         its.st_dev == ours.st_dev && its.st_ino == ours.st_ino;
}

}  // namespace

bool isSibling(pid_t pid) {
  return pid > 1 && pid != static_cast<pid_t>(syscall(SYS_getpid)) &&
         statOf(pid).parent == getppid() && runsSameProgram(pid);
}

bool hasEnded(pid_t pid) {
  const char state = pid > 0 ? statOf(pid).state : 'R';
  return state == 0 || state == 'Z' || state == 'X';
}

}  // namespace pf

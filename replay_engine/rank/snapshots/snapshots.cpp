// SPDX-License-Identifier: MIT
#include "replay_engine/rank/snapshots/snapshots.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "replay_engine/protocol/rank_page.h"
#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/engine/rank_link.h"
#include "replay_engine/rank/inputs/system_values.h"

namespace pf {
namespace {

constexpr std::uint64_t kFirstDistance = 16;  ///< events
constexpr int kReparentedWithin = 20'000;     ///< looks, of 50 us each
constexpr timespec kLook{0, 50'000};

int g_threadsBeforeMpi = 0;
int g_threadsOfMpi = 0;  ///< when event 1 begins: with the first one
bool g_wasSnapshot = false;

/// Not through what stands in for libc: it is not the program that asks.
pid_t forkOfLibc() {
  return reinterpret_cast<pid_t (*)()>(nextSymbol("fork"))();
}
/// Of this thread. rdtsc may have to trap (inputs/tsc.cpp), which a blocked SIGSEGV makes fatal.
void blockSignals(sigset_t& before) {
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV);
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, _NSIG / 8);
}
void restoreSignals(const sigset_t& before) {
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, _NSIG / 8);
}

int threadsNow() {
  return ofProcessStatus("\nThreads:");
}

/// Where the program reads and writes its files: shared with every copy, so the rank that goes on moves it.
class FileOffsets {
 public:
  void take() {
    m_count = 0;
    const int folder = ::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    alignas(std::uint64_t) char names[2048];
    long n = 0;
    while (folder >= 0 && (n = syscall(SYS_getdents64, folder, names, sizeof names)) > 0) {
      for (long at = 0; at < n;) {
        std::uint16_t size = 0;
        std::memcpy(&size, names + at + 16, sizeof size);
        const char* const name = names + at + 19;
        if (*name >= '0' && *name <= '9') {
          add(std::atoi(name));
        }
        at += size;
      }
    }
    if (folder >= 0) {
      ::close(folder);
    }
  }
  void giveBack() const {
    for (std::size_t i = 0; i < m_count; ++i) {
      ::lseek(m_files[i].fd, m_files[i].offset, SEEK_SET);
    }
  }

 private:
  struct File {
    int fd;
    off_t offset;
  };
  void add(int fd) {
    struct stat info {};
    if (m_count < m_files.size() && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
      m_files[m_count++] = {fd, ::lseek(fd, 0, SEEK_CUR)};
    }
  }

  std::array<File, 64> m_files{};
  std::size_t m_count = 0;
};

/// What the rank says of itself on its page, as it was when the copy was made.
struct Said {
  std::uint32_t pastEnd;
  std::uint32_t claimed;
  std::uint64_t contentsAt;
  PageEvent past[kPageEvents];

  void take(const RankPage& page) {
    pastEnd = page.pastEnd.load();
    claimed = page.claimed.load();
    contentsAt = page.contentsAt.load();
    std::memcpy(past, page.past, sizeof past);
  }
  void giveBack(RankPage& page) const {
    page.phase.store(static_cast<std::uint32_t>(RankPhase::Running));
    page.inCall.store(0);
    page.serial.store(g_engine.serial);
    page.waitPeer.store(-2);
    page.waitTag.store(-1);
    page.pastEnd.store(pastEnd);
    page.claimed.store(claimed);
    page.contentsAt.store(contentsAt);
    page.divergedAt = 0;
    std::memcpy(page.past, past, sizeof past);
  }
};

/// What no child of the program gets, and a snapshot does.
void shareWithChild(bool share) {
  g_engine.copying = share;
  madvise(g_engine.page, kRankPageSize, share ? MADV_DOFORK : MADV_DONTFORK);
  g_engine.choices.shareWithChild(share);
  if (share) {
    madvise(&g_rankOnly, sizeof g_rankOnly, MADV_KEEPONFORK);
  } else {
    keepFromChildren();
  }
}

[[noreturn]] void endProcess(int status) {
  while (true) {
    syscall(SYS_exit_group, status);
  }
}

/// The copy's parent is the agent: it lives when the rank is gone, and dies with the agent.
void becomeChildOfAgent(const RankPage& page) {
  for (int i = 0; i < kReparentedWithin && getppid() != page.agentPid; ++i) {
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &kLook, nullptr);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != page.agentPid) {
    endProcess(1);
  }
}

void sleepUntilWoken(PageSnapshot& place) {
  place.state.store(kSnapshotAsleep, std::memory_order_release);
  tellAgent();
  while (place.state.load(std::memory_order_acquire) == kSnapshotAsleep) {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&place.state), FUTEX_WAIT, kSnapshotAsleep,
            nullptr, nullptr, 0);
  }
}

/// A process whose parent is the agent: as a child of the rank it would be found by the program's own wait(), tell it of its
/// end by a signal, and die with it. libc knows nothing of it and would take itself for the rank's first thread, so this one
/// forks the copy and ends. Where a thread of MPI's has a lock of libc's just now, it waits for that for ever, and there is no
/// copy. 0: in it.
long forkBesideRank() {
  return syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
}

/// Signals are blocked. True: in the copy, which has been woken and is the rank now; another one sleeps in its place.
bool leaveCopy(PageSnapshot& place) {
  RankPage& page = *g_engine.page;
  place.pid.store(0);
  place.state.store(kSnapshotMaking);
  shareWithChild(true);
  const long between = forkBesideRank();
  if (between == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (const pid_t copy = forkOfLibc(); copy != 0) {
      endProcess(0);
    }
  }
  shareWithChild(false);
  if (between == 0) {
    becomeChildOfAgent(page);
    place.pid.store(getpid());
    sleepUntilWoken(place);
    leaveCopy(place);  // true in that one, too: it goes on here when it is woken
    return true;
  }
  if (between < 0) {
    place.state.store(kNoSnapshot);
    page.noSnapshots.store(kNoMemoryForSnapshots);
  }
  return false;
}

/// Gives up every second one, but never the first.
void thinOut(RankPage& page) {
  std::array<PageSnapshot*, kPageSnapshots> all{};
  std::size_t count = 0;
  for (PageSnapshot& place : page.snapshots) {
    std::size_t at = count++;
    for (; at > 0 && all[at - 1]->serial.load() > place.serial.load(); --at) {
      all[at] = all[at - 1];
    }
    all[at] = &place;
  }
  for (std::size_t i = 1; i < count; i += 2) {
    const std::int32_t pid = all[i]->pid.load();
    if (pid > 1 && all[i]->state.load() == kSnapshotAsleep) {
      syscall(SYS_kill, pid, SIGKILL);
    }
    all[i]->state.store(kNoSnapshot);
    all[i]->serial.store(0);
  }
}

PageSnapshot* freePlace(RankPage& page) {
  for (PageSnapshot& place : page.snapshots) {
    if (place.state.load(std::memory_order_acquire) == kNoSnapshot) {
      return &place;
    }
  }
  return nullptr;
}

std::uint64_t lastSnapshot(const RankPage& page) {
  std::uint64_t last = 0;
  for (const PageSnapshot& place : page.snapshots) {
    const std::uint64_t serial = place.serial.load();
    last = place.state.load() != kNoSnapshot && serial > last ? serial : last;
  }
  return last;
}

/// The page is shared with the program, which may have written over it.
std::uint64_t distance(const RankPage& page) {
  const std::uint64_t now = page.snapshotDistance.load();
  return now < kFirstDistance ? kFirstDistance : now;
}

SnapshotObstacle obstacle(const RankPage& page) {
  if (getppid() != page.agentPid) {
    return kRankOfAnotherProcess;
  }
  if (g_threadsBeforeMpi > 1 || threadsNow() > g_threadsOfMpi) {
    return kThreadsOfProgram;
  }
  return kNoObstacle;
}

void becomeRank(RankPage& page, const Said& said, const FileOffsets& files) {
  g_wasSnapshot = true;
  said.giveBack(page);
  files.giveBack();
  page.pid = getpid();
  prctl(PR_SET_PTRACER, page.agentPid, 0, 0, 0);
  page.awake.store(getpid(), std::memory_order_release);
  tellAgent();
}

/// Event g_engine.serial + 1 is about to begin.
void makeSnapshot() {
  RankPage& page = *g_engine.page;
  const std::uint64_t serial = g_engine.serial + 1;
  if (g_threadsOfMpi == 0) {
    g_threadsOfMpi = threadsNow();
  }
  const SnapshotObstacle why = obstacle(page);
  if (page.noSnapshots.exchange(why) != why) {
    tellAgent();
  }
  g_engine.snapshotAt = serial + distance(page);  // where none can be made now
  if (why != kNoObstacle) {
    return;
  }
  PageSnapshot* place = freePlace(page);
  if (place == nullptr) {
    page.snapshotDistance.store(2 * distance(page));
    thinOut(page);
    place = freePlace(page);
  }
  if (place == nullptr) {
    return;
  }
  Said said{};
  said.take(page);
  FileOffsets files;
  files.take();
  sigset_t before;
  blockSignals(before);
  place->serial.store(serial);
  if (leaveCopy(*place)) {
    becomeRank(page, said, files);
  }
  restoreSignals(before);
  // Those of what is still to come are there when the rank has gone back.
  g_engine.snapshotAt = lastSnapshot(page) + distance(page);
}

}  // namespace

void noteThreadsBeforeMpi() {
  if (std::getenv(kRankPageVariable) != nullptr) {
    g_threadsBeforeMpi = threadsNow();
  }
}

void startSnapshots(const RankPage& page) {
  if ((page.mode & kSnapshots) != 0 && g_engine.replay && !g_engine.record && !g_engine.jitter) {
    g_engine.atSnapshot = makeSnapshot;
    g_engine.snapshotAt = 1;
  }
}

bool wasSnapshot() {
  return g_wasSnapshot;
}

}  // namespace pf

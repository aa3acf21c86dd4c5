// SPDX-License-Identifier: MIT
#include "replay_engine/rank/snapshots/snapshots.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "replay_engine/protocol/rank_page.h"
#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/engine/rank_link.h"
#include "replay_engine/rank/inputs/system_values.h"
#include "replay_engine/rank/snapshots/file_offsets.h"
#include "replay_engine/rank/snapshots/obstacles.h"
#include "replay_engine/rank/snapshots/siblings.h"

namespace pf {
namespace {

constexpr std::uint64_t kFirstDistance = 16;  ///< events
constexpr int kReparentedWithin = 20'000;     ///< looks, of 50 us each
constexpr timespec kLook{0, 50'000};

/// mallinfo2() of glibc 2.33.
struct HeapNumbers {
  std::size_t numbers[10];
};

/// Of libc, not what stands in for it: it is not the program that asks. Null: this libc has none.
struct LibcRoutines {
  pid_t (*fork)();  ///< runs none of the program's handlers (_Fork), if there is such a one
  HeapNumbers (*lookAtHeap)();
};
LibcRoutines g_libc{};
bool g_wasSnapshot = false;

void findLibcRoutines() {
  const InsideLibc inside;
  void* found = dlsym(RTLD_NEXT, "_Fork");  // glibc 2.34
  g_libc.fork = reinterpret_cast<pid_t (*)()>(found != nullptr ? found : nextSymbol("fork"));
  g_libc.lookAtHeap = reinterpret_cast<HeapNumbers (*)()>(dlsym(RTLD_NEXT, "mallinfo2"));
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
  std::uint32_t expected = kSnapshotMaking;
  if (!place.state.compare_exchange_strong(expected, kSnapshotAsleep)) {
    endProcess(1);  // the page has been written over
  }
  tellAgent();
  while (place.state.load(std::memory_order_acquire) == kSnapshotAsleep) {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&place.state), FUTEX_WAIT, kSnapshotAsleep,
            nullptr, nullptr, 0);
  }
}

/// A process whose parent is the agent: as a child of the rank it would be found by the program's own wait(), tell it of its
/// end by a signal, and die with it. libc knows nothing of it and would take itself for the rank's first thread, so this one
/// forks the copy and ends. 0: in it.
long forkBesideRank() {
  return syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
}

/// In the process beside the rank: returns in the copy only. Where a thread of MPI's has a lock of the heap just now, which
/// nobody gives back here, this waits until it is killed, and there is no copy.
void forkCopy(PageSnapshot& place) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  place.pid.store(static_cast<std::int32_t>(syscall(SYS_getpid)));
  if (g_libc.lookAtHeap != nullptr) {
    static_cast<void>(g_libc.lookAtHeap());  // takes each of its locks, and changes nothing
  }
  const pid_t copy = g_libc.fork();
  if (copy == 0) {
    return;
  }
  if (copy > 0) {
    place.pid.store(copy);  // it waits for the end of this one
  } else {
    g_engine.page->noSnapshots.store(kNoMemoryForSnapshots);
    place.state.store(kNoSnapshot);
  }
  endProcess(0);
}

/// Signals are blocked. True: in the copy, which has been woken and is the rank now; another one sleeps in its place.
bool leaveCopy(PageSnapshot& place) {
  RankPage& page = *g_engine.page;
  place.pid.store(0);
  place.state.store(kSnapshotMaking);
  shareWithChild(true);
  const long between = forkBesideRank();
  if (between == 0) {
    forkCopy(place);
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

/// One that is being made has its place until its process has ended: it would come to a place that is another one's by then.
void giveUp(PageSnapshot& place) {
  const pid_t pid = place.pid.load();
  std::uint32_t state = kSnapshotAsleep;
  const bool slept = place.state.compare_exchange_strong(state, kNoSnapshot);
  if ((slept || state == kSnapshotMaking) && isSibling(pid)) {
    syscall(SYS_kill, pid, SIGKILL);
  }
  if (slept) {
    place.serial.store(0);
  }
}

/// Of one that has ended before it was there.
void freeIfEnded(PageSnapshot& place) {
  std::uint32_t state = kSnapshotMaking;
  if (place.state.load() == state && place.pid.load() > 0 && hasEnded(place.pid.load()) &&
      place.state.compare_exchange_strong(state, kNoSnapshot)) {
    place.serial.store(0);
  }
}

/// Gives up every second one, but never the first.
void thinOut(RankPage& page) {
  std::array<PageSnapshot*, kPageSnapshots> all{};
  std::size_t count = 0;
  for (PageSnapshot& place : page.snapshots) {
    freeIfEnded(place);
    std::size_t at = count++;
    for (; at > 0 && all[at - 1]->serial.load() > place.serial.load(); --at) {
      all[at] = all[at - 1];
    }
    all[at] = &place;
  }
  for (std::size_t i = 1; i < count; i += 2) {
    giveUp(*all[i]);
  }
}

/// A file that is locked stays so while any process has it open that it was opened for: no copy may.
void giveUpThoseWithFiles() {
  for (PageSnapshot& place : g_engine.page->snapshots) {
    for (int i = 0; i < kReparentedWithin && place.state.load() == kSnapshotMaking &&
                    place.files.load() != 0 && !hasEnded(place.pid.load());
         ++i) {
      syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &kLook, nullptr);
    }
    if (place.files.load() != 0) {
      giveUp(place);
    }
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

void becomeRank(RankPage& page, const Said& said, const FileOffsets& files) {
  g_wasSnapshot = true;
  said.giveBack(page);
  files.giveBack();
  page.pid = getpid();
  prctl(PR_SET_PTRACER, page.agentPid, 0, 0, 0);
  page.awake.store(getpid(), std::memory_order_release);
  tellAgent();
}

void makeSnapshot() {
  RankPage& page = *g_engine.page;
  const std::uint64_t serial = g_engine.serial + 1;
  if (serial == 1) {
    noteProcessBehindMpi();
  }
  FileOffsets files;
  files.take();
  SnapshotObstacle why = getppid() != page.agentPid ? kRankOfAnotherProcess : obstacleInProcess();
  if (why == kNoObstacle && !files.all()) {
    why = kManyFilesOfProgram;
  }
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
  sigset_t before;
  blockSignals(before);
  place->serial.store(serial);
  place->files.store(regularFilesOfProgram());
  if (leaveCopy(*place)) {
    becomeRank(page, said, files);
  }
  restoreSignals(before);
  // Those of what is still to come are there when the rank has gone back.
  g_engine.snapshotAt = lastSnapshot(page) + distance(page);
}

/// Event g_engine.serial + 1 is about to begin.
void beforeEvent() {
  const int error = errno;
  makeSnapshot();
  errno = error;
}

}  // namespace

void startSnapshots(const RankPage& page) {
  if ((page.mode & kSnapshots) != 0 && g_engine.replay && !g_engine.record && !g_engine.jitter) {
    findLibcRoutines();
    g_engine.atSnapshot = beforeEvent;
    g_engine.atFileLock = giveUpThoseWithFiles;
    g_engine.snapshotAt = 1;
  }
}

bool wasSnapshot() {
  return g_wasSnapshot;
}

}  // namespace pf

// SPDX-License-Identifier: MIT
// The order of the threads: the engine's lock, and whose turn it is.
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>

#include "replay_engine/rank/engine/lanes.h"
#include "replay_engine/rank/engine/rank_link.h"
#include "replay_engine/rank/engine/records.h"
#include "replay_engine/rank/engine/wrapper_support.h"

namespace pf {
namespace {

__thread unsigned t_locks __attribute__((tls_model("initial-exec"))) = 0;
__thread bool t_hasTurn __attribute__((tls_model("initial-exec"))) = false;
__thread bool t_lastTurn __attribute__((tls_model("initial-exec"))) = false;

/// 0 free, 1 held, 2 held and waited for.
std::atomic<std::uint32_t> g_lock = 0;

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* limit) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, limit,
                 nullptr, 0);
}

void acquire() {
  std::uint32_t free = 0;
  for (int tries = 0; tries < 100; ++tries) {
    if (g_lock.compare_exchange_weak(free, 1, std::memory_order_acquire)) {
      return;
    }
    free = 0;
  }
  while (g_lock.exchange(2, std::memory_order_acquire) != 0) {
    futex(g_lock, FUTEX_WAIT_PRIVATE, 2, nullptr);
  }
}

void release() {
  if (g_lock.exchange(0, std::memory_order_release) == 2) {
    futex(g_lock, FUTEX_WAKE_PRIVATE, 1, nullptr);
  }
}

// -- recording

struct Run {
  std::uint32_t code = 0xFFFFFFFFU;
  std::uint32_t turns = 0;
  std::uint64_t number = 0;
};
Run g_run;

void logTurn(std::uint32_t code) {
  std::atomic<std::uint64_t>& inHeader = g_engine.log.header().laneTurns;
  if (code != g_run.code) {
    g_engine.log.put<RecordKind::Lane>({g_run.turns, code});
    g_engine.log.publish();
    g_run = Run{code, 0, g_run.number + 1};
  }
  ++g_run.turns;
  inHeader.store(g_run.number << 32 | g_run.turns, std::memory_order_relaxed);
}

// -- replay

constexpr std::uint32_t kAnyone = 0xFFFFFFFEU;

/// laneCode() of whose turn it is. A thread whose turn it is not waits on it.
std::atomic<std::uint32_t> g_turn = kAnyone;
std::uint32_t g_turnsLeft = 0;
const unsigned char* g_runsAt = nullptr;
const unsigned char* g_runsEnd = nullptr;
std::atomic<std::uint64_t> g_passed = 0;  ///< turns that have been

// -- the page

std::uint32_t g_waiting = 0;  ///< threads in a call, or before their turn
struct {
  std::uint32_t call = 0;
  std::int32_t peer = -2;
  std::int32_t tag = -1;
} g_lastCall;

void beginWait(std::uint16_t call, std::int32_t peer, std::int32_t tag) {
  g_lastCall = {1U + call, peer, tag};
  ++g_waiting;
  showCalls();
}

void sayWhere(const CallPlace& place) {
  g_engine.page->waitAddress.store(reinterpret_cast<std::uint64_t>(applicationAddress(place)),
                                   std::memory_order_relaxed);
}

void endWait() {
  --g_waiting;
  g_engine.page->inCall.store(0, std::memory_order_relaxed);
}

std::uint32_t readRun() {
  std::uint32_t value = 0;
  for (unsigned shift = 0; g_runsAt < g_runsEnd && shift < 32; shift += 7) {
    const unsigned char byte = *g_runsAt++;
    value |= (byte & 0x7FU) << shift;
    if (byte < 0x80) {
      break;
    }
  }
  return value;
}

/// Locks that an ended thread took in the recording and did not take now: time decides how often
/// some threads go round.
bool isOver(std::uint32_t code) {
  bool ended = false;
  findLane(code / 2, &ended);
  return ended && code % 2 != 0;
}

void nextRun() {
  std::uint32_t code = kAnyone;
  const unsigned char* const before = g_runsAt;
  while (g_runsAt < g_runsEnd) {
    code = readRun();
    g_turnsLeft = readRun();
    if (g_turnsLeft != 0 && !isOver(code)) {
      break;
    }
    code = kAnyone;
  }
  g_engine.choices.hasRead(before, g_runsAt);
  g_turn.store(code, std::memory_order_release);
  futex(g_turn, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr);
}

void passTurn() {
  t_hasTurn = false;
  if (g_turn.load(std::memory_order_relaxed) != kAnyone && --g_turnsLeft == 0) {
    nextRun();
  }
  // The lock is held: no other thread writes it.
  g_passed.store(g_passed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

/// Whether a thread of this process waits in a futex: for a lock, a condition, another thread.
bool waitsForThreads(pid_t task) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/syscall", task);
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return false;
  }
  char text[16] = {};
  const ssize_t n = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  char futexCall[16];
  const int length = std::snprintf(futexCall, sizeof futexCall, "%d ", SYS_futex);
  return n > length && std::memcmp(text, futexCall, static_cast<std::size_t>(length)) == 0;
}

/// The lock is held. True: no thread can come to have the turn.
bool allHeld() {
  for (const Lane* lane = liveThreads(); lane != nullptr; lane = lane->next) {
    const Doing doing = lane->doing.load(std::memory_order_relaxed);
    if (doing == Doing::InMpi || (doing == Doing::Computing && !waitsForThreads(lane->task))) {
      return false;
    }
  }
  return true;
}

/// A thread has waited for seconds, and no other had a turn: can one still come?
void lookForOwner(const CallPlace& place, std::uint32_t code, unsigned seconds) {
  const std::uint32_t turn = g_turn.load(std::memory_order_relaxed);
  bool ended = false;
  const Lane* owner = findLane(turn / 2, &ended);
  const bool hopeless = ended || (seconds >= 4 && allHeld());
  if (turn == kAnyone || turn == code || !hopeless) {
    return;
  }
  char expected[160];
  std::snprintf(expected, sizeof expected, "%s of thread %u, which %s",
                turn % 2 != 0 ? "a lock" : "the next call", turn / 2,
                ended              ? "has ended"
                : owner == nullptr ? "has not come"
                                   : "waits for another thread");
  char got[128];
  std::snprintf(got, sizeof got, "%s of thread %u",
                code % 2 != 0 ? "a lock" : kCallNames[place.call], code / 2);
  diverge(place, expected, got);
}

void waitForTurn(const CallPlace& place, Lane& lane, std::uint32_t code) {
  const Doing before = lane.doing.exchange(Doing::WaitingForTurn, std::memory_order_relaxed);
  std::uint64_t passed = g_passed.load(std::memory_order_relaxed);
  unsigned looks = 0;
  if (before == Doing::Computing) {
    sayWhere(place);
    beginWait(place.call, -2, -1);
  }
  release();
  for (unsigned tries = 0;; ++tries) {
    const std::uint32_t turn = g_turn.load(std::memory_order_acquire);
    if (turn == code || turn == kAnyone) {
      break;
    }
    if (tries < 20) {
      sched_yield();
      continue;
    }
    const timespec limit{0, 250000000};
    if (futex(g_turn, FUTEX_WAIT_PRIVATE, turn, &limit) == 0) {
      continue;
    }
    const std::uint64_t now = g_passed.load(std::memory_order_relaxed);
    looks = now == passed ? looks + 1 : 0;
    passed = now;
    if (looks >= 8 && looks % 4 == 0) {
      acquire();
      lookForOwner(place, code, looks / 4);
      release();
    }
  }
  acquire();
  if (before == Doing::Computing) {
    endWait();
  }
  lane.doing.store(before, std::memory_order_relaxed);
}

/// A thread has had all of its turns in a recording that was cut. What it does next may be what
/// ended the rank: first the others come to where they were then, as long as they come on.
void letOthersCome(Lane& lane) {
  const Doing before = lane.doing.exchange(Doing::WaitingForTurn, std::memory_order_relaxed);
  std::uint64_t passed = g_passed.load(std::memory_order_relaxed);
  for (unsigned looks = 0; looks < 500 && !turnsUsedUp(); ++looks) {
    const timespec pause{0, 2000000};
    nanosleep(&pause, nullptr);
    const std::uint64_t now = g_passed.load(std::memory_order_relaxed);
    looks = now == passed ? looks : 0;
    passed = now;
  }
  lane.doing.store(before, std::memory_order_relaxed);
}

}  // namespace

void lockState() {
  if (t_locks++ == 0) {
    acquire();
  }
}

void unlockState() {
  if (--t_locks != 0) {
    return;
  }
  if (!t_hasTurn) {
    release();
    return;
  }
  passTurn();
  release();
  Lane& lane = myLane();
  if (g_engine.jitter) {
    jitterPause(lane.random);
  }
  if (t_lastTurn) {
    t_lastTurn = false;
    letOthersCome(lane);
  }
}

void dropState() {
  if (t_locks > 0) {
    t_locks = 1;
    unlockState();
  }
}

bool hasState() {
  return t_locks != 0;
}

void pauseState() {
  release();
}

void resumeState() {
  acquire();
}

void yieldState() {
  release();
  sched_yield();
  acquire();
}

void takeTurn(const CallPlace& place, bool ofLock) {
  Lane& lane = myLane(place);
  if (!g_engine.threads) {
    if (lane.number == 0) {
      return;
    }
    tellThreadsApart();  // a thread whose making we have not seen
  }
  if (t_locks == 0) {
    return;
  }
  if (t_hasTurn) {
    passTurn();
  }
  const std::uint32_t code = laneCode(lane.number, ofLock);
  const std::uint32_t turn = g_turn.load(std::memory_order_acquire);
  if (turn != code && turn != kAnyone) {
    waitForTurn(place, lane, code);
  }
  t_hasTurn = true;
  lane.events += ofLock ? 0 : 1;
  lane.changes += ofLock ? 0 : 1;
  if (lane.turns > 0) {
    lane.lockTurns -= ofLock && lane.lockTurns > 0 ? 1U : 0U;
    t_lastTurn = --lane.turns == 0 && !ofLock && g_engine.choices.header().complete == 0;
  }
  if (g_engine.record) {
    logTurn(code);
  }
}

bool turnsUsedUp() {
  return g_turn.load(std::memory_order_acquire) == kAnyone;
}

void startTurns() {
  const ScheduleSection& runs = g_engine.choices.header().laneRuns;
  g_runsAt = g_engine.choices.section(runs);
  g_runsEnd = g_runsAt + runs.size;
  nextRun();
}

void skipTurnsOfEnded() {
  if (g_engine.replay && g_engine.threads) {
    const std::uint32_t turn = g_turn.load(std::memory_order_relaxed);
    if (turn != kAnyone && isOver(turn)) {
      nextRun();
    }
  }
}

void beginIdle() {
  const StateLock lock;
  ++g_waiting;
  showCalls();
}

void endIdle() {
  const StateLock lock;
  endWait();
}

void showCalls() {
  if (!g_rankOnly.active || !g_engine.threads) {
    return;
  }
  RankPage& page = *g_engine.page;
  const bool all = g_waiting != 0 && g_waiting >= liveThreadCount();
  page.waitPeer.store(g_lastCall.peer, std::memory_order_relaxed);
  page.waitTag.store(g_lastCall.tag, std::memory_order_relaxed);
  page.inCall.store(all ? g_lastCall.call : 0, std::memory_order_relaxed);
}

void enterCall(const CallPlace& place, MPI_Comm comm, int peer, int tag) {
  const StateLock lock;
  myLane().doing.store(Doing::InMpi, std::memory_order_relaxed);
  if (g_engine.record && !g_engine.events) {
    g_engine.log.header().inside.store(1U + place.call, std::memory_order_relaxed);
  }
  sayWhere(place);
  beginWait(place.call, g_engine.comms.worldRank(comm, peer), reportedTag(tag));
}

void leaveCall() {
  const StateLock lock;
  myLane().doing.store(Doing::Computing, std::memory_order_relaxed);
  endWait();
  if (g_engine.record && !g_engine.events) {
    g_engine.log.header().inside.store(0, std::memory_order_relaxed);
  }
}

}  // namespace pf

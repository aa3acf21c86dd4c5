// SPDX-License-Identifier: MIT
#include "replay_engine/rank/engine/engine.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "replay_engine/rank/engine/event_times.h"
#include "replay_engine/rank/engine/lanes.h"
#include "replay_engine/rank/engine/python_lines.h"
#include "replay_engine/rank/engine/rank_link.h"
#include "replay_engine/rank/engine/real_calls.h"
#include "replay_engine/rank/engine/send_gates.h"

namespace pf {

__thread int t_depth __attribute__((tls_model("initial-exec"))) = 0;
__thread const void* t_outermost __attribute__((tls_model("initial-exec"))) = nullptr;
Engine g_engine;
RankOnly g_rankOnly;
SilentSink g_silentSink;
static_assert(sizeof(RankOnly) == kRankOnlySize);

void keepFromChildren() {
  if (sysconf(_SC_PAGESIZE) == static_cast<long>(kRankOnlySize)) {
    madvise(&g_rankOnly, sizeof g_rankOnly, MADV_WIPEONFORK);
  }
}

int ofProcessStatus(const char* name) {
  char text[4096];
  const int fd = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return 0;
  }
  const ssize_t n = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (n <= 0) {
    return 0;
  }
  text[n] = '\0';
  const char* line = std::strstr(text, name);
  return line != nullptr ? std::atoi(line + std::strlen(name)) : 0;
}

namespace {

/// Whether a debugger traces this process: the trap below would end it otherwise.
bool isTraced() {
  return ofProcessStatus("TracerPid:") != 0;
}

bool mustStopBefore(std::uint64_t serial) {
  const std::uint64_t stopAt = g_engine.page->stopAt.load(std::memory_order_acquire);
  return stopAt != 0 && serial >= stopAt;
}

void describe(char* text, std::size_t size, std::uint16_t call, MPI_Comm comm, int peer, int tag) {
  int used = std::snprintf(text, size, "%s", kCallNames[call]);
  if (comm == MPI_COMM_NULL) {
    return;
  }
  const auto number = g_engine.comms.number(comm);
  if (peer == MPI_ANY_SOURCE) {
    used += std::snprintf(text + used, size - static_cast<std::size_t>(used), " any source");
  } else if (peer >= 0) {
    used += std::snprintf(text + used, size - static_cast<std::size_t>(used), " rank %d", peer);
  }
  const bool steered = peer != kNoPeer && peer != MPI_PROC_NULL;
  if (steered && tag == MPI_ANY_TAG) {
    used += std::snprintf(text + used, size - static_cast<std::size_t>(used), " any tag");
  } else if (steered) {
    used += std::snprintf(text + used, size - static_cast<std::size_t>(used), " tag %d", tag);
  }
  if (number != 0) {
    std::snprintf(text + used, size - static_cast<std::size_t>(used), " on communicator #%u",
                  number);
  }
}

/// Receives that the program cancelled where a replay left that undone, as their end is not in what it forces: whether a message comes first is
/// open then. But for those whose message is forced. No lock: the caller has it.
void cancelWhatIsOpen() {
  for (const Request& entry : g_engine.requests) {
    const bool forced = entry.wild && g_engine.choices.pin(entry.wildNumber) != kPinUnknown;
    if (!entry.cancelled || !isReceive(entry) || forced ||
        g_engine.choices.wasCancelled(entry.number)) {
      continue;
    }
    MPI_Request handle = entry.inner() != MPI_REQUEST_NULL ? entry.inner() : entry.handle;
    PF_REAL(Cancel)(&handle);
  }
}

/// The replay has done all that the recording has of this rank.
void recordUsedUp(const CallPlace& place, const char* got) {
  if (g_engine.choices.header().complete != 0) {
    diverge(place, "nothing more: the recorded run went on to MPI_Finalize here", got);
  }
  if (g_recordEnds != nullptr) {
    g_recordEnds(place.call);
  }
  if (!g_engine.live) {
    g_engine.live = true;
    if ((g_engine.page->mode & kBranch) != 0) {
      cancelWhatIsOpen();
    } else {
      g_engine.page->pastEnd.store(1, std::memory_order_relaxed);
      tellAgent();
    }
  }
}

void rememberEvent(const CallPlace& place, MPI_Comm comm, int peer, int tag) {
  g_engine.page->past[g_engine.serial % kPageEvents] = {
      g_engine.serial,  reinterpret_cast<std::uint64_t>(applicationAddress(place)),
      place.call,       comm == MPI_COMM_NULL ? -2 : g_engine.comms.worldRank(comm, peer),
      reportedTag(tag), 0};
}

void compare(const CallPlace& place, MPI_Comm comm, int peer, int tag) {
  if (g_engine.choices.allUsed(g_engine.serial - 1)) {
    char got[256];
    describe(got, sizeof got, place.call, comm, peer, tag);
    recordUsedUp(place, got);
    return;
  }
  const ScheduleHeader& recorded = g_engine.choices.header();
  if (recorded.complete != 0 && g_engine.serial == recorded.serials &&
      place.call != kCallFinalize) {
    char got[256];
    describe(got, sizeof got, place.call, comm, peer, tag);
    diverge(place, kCallNames[kCallFinalize], got);
  }
  const std::uint32_t expected = g_engine.choices.check(g_engine.serial);
  if (expected == 0) {
    return;
  }
  const bool none = comm == MPI_COMM_NULL;
  if (eventCheck(place.call, none ? 0 : g_engine.comms.of(comm).key,
                 g_engine.comms.worldRank(comm, peer), reportedTag(tag)) != expected) {
    char got[256];
    describe(got, sizeof got, place.call, comm, peer, tag);
    char was[64];
    std::snprintf(was, sizeof was, "%s",
                  expected >> 22 < kCallCount ? kCallNames[expected >> 22] : "?");
    diverge(place, was, got);
  }
}

}  // namespace

}  // namespace pf

using namespace pf;

// Outside of any namespace: GDB and the MI bridge know a stop by a frame named pf_stop….

/// Stops for the debugger. A function of its own, so that the frame after the trap bears this name.
extern "C" __attribute__((noinline, visibility("hidden"))) void pf_stop_trap() {
#if defined(__x86_64__)
  __asm__ volatile("int3\n\tnop");
#else
  std::raise(SIGTRAP);
#endif
}

/// Where a rank waits before an event that it was told to stop at. GDB finds it by its name.
extern "C" __attribute__((noinline, visibility("hidden"))) void pf_stop_at_event() {
  RankPage& page = *g_engine.page;
  const std::uint64_t next = g_engine.serial + 1;
  page.phase.store(static_cast<std::uint32_t>(RankPhase::Stopped), std::memory_order_release);
  tellAgent();
  while (true) {
    const std::uint32_t seen = page.toRank.load(std::memory_order_acquire);
    const std::uint64_t stopAt = page.stopAt.load(std::memory_order_acquire);
    if (stopAt == 0 || next < stopAt) {
      break;
    }
    if (page.trapOnStop.load(std::memory_order_acquire) != 0 && isTraced()) {
      page.trapOnStop.store(0, std::memory_order_release);
      pf_stop_trap();
      // The debugger continued: go on, unless a new order came with it. One that is gone ordered
      // nothing.
      std::uint64_t unchanged = stopAt;
      if (isTraced()) {
        page.stopAt.compare_exchange_strong(unchanged, 0);
      }
      continue;
    }
    waitForAgent(seen);
  }
  page.phase.store(static_cast<std::uint32_t>(RankPhase::Running), std::memory_order_release);
  tellAgent();
}

namespace pf {

void beginEvent(const CallPlace& place, MPI_Comm comm, int peer, int tag) {
  if (g_engine.multiple || g_engine.threads) [[unlikely]] {
    takeTurn(place);
    if (g_beforeEvent != nullptr) {
      g_beforeEvent(place, comm);
    }
  }
  if (g_engine.serial + 1 >= g_engine.snapshotAt) [[unlikely]] {
    g_engine.atSnapshot();
  }
  if (mustStopBefore(g_engine.serial + 1)) [[unlikely]] {
    describe(g_engine.page->waitCall, sizeof g_engine.page->waitCall, place.call, comm, peer, tag);
    g_engine.page->callAddress = reinterpret_cast<std::uint64_t>(place.returnAddress);
    pf_stop_at_event();
  }
  ++g_engine.serial;
  g_engine.page->serial.store(g_engine.serial, std::memory_order_relaxed);
  if (g_engine.record && !g_engine.events) {  // with events, the records themselves count them
    g_engine.log.header().serial.store(g_engine.serial, std::memory_order_relaxed);
  }
  if (g_engine.replay) {
    lookAtPythonLines();
    rememberEvent(place, comm, peer, tag);
  }
  if (g_engine.replay && !g_engine.live) {
    compare(place, comm, peer, tag);
  }
  if (g_engine.jitter && !g_engine.threads) [[unlikely]] {
    jitterBefore(place.call);
  }
  if (g_engine.gated) [[unlikely]] {
    passSendGates(g_engine.serial);
  }
  if (g_engine.events) {
    stampBegin();
  }
}

void holdIfDue() {
  const StateLock lock;
  if (g_engine.gated && g_rankOnly.active) {
    tellDone(g_engine.serial);
  }
  if ((g_engine.page->mode & kHoldAfter) != 0 && g_rankOnly.active &&
      mustStopBefore(g_engine.serial + 1)) {
    pf_stop_at_event();
  }
  if (g_recordEnds != nullptr && g_rankOnly.active && g_engine.choices.header().insideLast != 0 &&
      g_engine.choices.allUsed(g_engine.serial)) {
    g_recordEnds(
        static_cast<std::uint16_t>(g_engine.page->past[g_engine.serial % kPageEvents].call));
  }
}

InCall::InCall(const CallPlace& place, RecordKind kind, MPI_Comm comm, int peer, int tag)
    : m_ofThreads(g_engine.threads) {
  if (g_engine.jitter) [[unlikely]] {
    jitterInCall(true);
  }
  if (m_ofThreads) [[unlikely]] {
    enterCall(place, comm, peer, tag);
    return;
  }
  RankPage& page = *g_engine.page;
  page.waitPeer.store(g_engine.comms.worldRank(comm, peer), std::memory_order_relaxed);
  page.waitTag.store(reportedTag(tag), std::memory_order_relaxed);
  page.inCall.store(1U + place.call, std::memory_order_relaxed);
  if (!g_engine.events) {
    if (g_engine.record) {
      g_engine.log.header().inside.store(1U + place.call, std::memory_order_relaxed);
    }
    return;
  }
  BegunCall& begun = g_engine.log.header().begun;
  begun.check = 0;
  begun.serial = g_engine.serial;
  begun.kind = static_cast<std::uint32_t>(kind);
  if (kind == RecordKind::Padding) {  // its record is written: only that the rank is inside counts
    begun.check = kBegunInside;
    return;
  }
  g_engine.log.publish();  // when it began is known even if the call never ends
  begun.site = siteNumber(place);
  begun.comm = comm == MPI_COMM_NULL ? 0 : g_engine.comms.number(comm);
  begun.source = reportedPeer(peer);
  begun.tag = reportedTag(tag);
  begun.check = begunCheck(begun);
}

InCall::~InCall() {
  if (m_ofThreads) [[unlikely]] {
    endOfThread();
    return;
  }
  if (g_engine.jitter) [[unlikely]] {
    jitterInCall(false);
  }
  g_engine.page->inCall.store(0, std::memory_order_relaxed);
  if (g_engine.events) {
    stampEnd();
    g_engine.log.header().begun.check = 0;
  } else if (g_engine.record) {
    g_engine.log.header().inside.store(0, std::memory_order_relaxed);
  }
}

void InCall::endOfThread() {
  if (m_ofThreads && !m_over) {
    m_over = true;
    leaveCall();
  }
}

void diverge(const CallPlace& place, const char* expected, const char* got) {
  RankPage& page = *g_engine.page;
  page.divergedAt = g_engine.serial;
  std::snprintf(page.expected, sizeof page.expected, "%s", expected);
  std::snprintf(page.got, sizeof page.got, "%s", got);
  std::snprintf(page.waitCall, sizeof page.waitCall, "%s", kCallNames[place.call]);
  page.callAddress = reinterpret_cast<std::uint64_t>(applicationAddress(place));
  sink().publish();
  page.phase.store(static_cast<std::uint32_t>(RankPhase::Diverged), std::memory_order_release);
  tellAgent();
  while (true) {
    if (page.trapOnStop.load(std::memory_order_acquire) != 0 && isTraced()) {
      page.trapOnStop.store(0);
      pf_stop_trap();
    }
    waitForAgent(page.toRank.load(std::memory_order_acquire));
  }
}

void noteNested(const CallPlace& place) {
  if (g_rankOnly.active && !isOfMpi(place.returnAddress)) {
    noteUnsupported(place);
  }
}

void noteSession(const CallPlace& place) {
  static std::atomic<bool> said = false;
  if (g_rankOnly.active) {
    noteUnsupported(place);
  } else if (std::getenv(kRankPageVariable) != nullptr && !said.exchange(true)) {
    sayOfRank("MPI_Session_init: what is done in sessions, without MPI_Init, is not recorded");
  }
}

void noteUnsupported(const CallPlace& place) {
  const StateLock lock;
  static bool noted[kCallCount];
  if (!noted[place.call]) {
    noted[place.call] = true;
    sink().note(place);
  }
}

}  // namespace pf

// SPDX-License-Identifier: MIT
// State of the interposer in one rank. A guest in the user's process: no exceptions, no signal
// handlers, no output but one line when recording has to stop; everything it knows is in this
// struct.
#pragma once

#include "mpi_calls.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "replay_engine/execution/execution.h"
#include "replay_engine/log_format/log_format.h"
#include "replay_engine/protocol/rank_page.h"
#include "replay_engine/rank/engine/choice_stream.h"
#include "replay_engine/rank/engine/communicators.h"
#include "replay_engine/rank/engine/log_writer.h"
#include "replay_engine/rank/engine/mpi_header.h"
#include "replay_engine/rank/engine/record_sink.h"
#include "replay_engine/rank/engine/requests.h"

namespace pf {

/// Where the application made the call: number of the call, return address, and where on the stack
/// that return address lies (callers behind Fortran's bindings are found from there).
struct CallPlace {
  std::uint16_t call;
  void* returnAddress;
  void** slot;
};

/// Number of times that this thread has entered MPI; calls made inside of MPI pass through.
extern __thread int t_depth __attribute__((tls_model("initial-exec")));
/// Frame of the outermost of these calls: a call from above it shows that an error handler has left
/// MPI by longjmp or an exception.
extern __thread const void* t_outermost __attribute__((tls_model("initial-exec")));

struct RankClocks;
struct ShadowReplay;

/// Written by one thread, and read by all, MPI's own among them: none of these does anything but
/// see that it is not that one, whenever that is.
template <typename T>
class SeenByAll {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): it stands for the value
  constexpr SeenByAll(T value) : m_value(value) {}
  SeenByAll& operator=(T value) {
    m_value.store(value, std::memory_order_relaxed);
    return *this;
  }
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator T() const { return m_value.load(std::memory_order_relaxed); }

 private:
  std::atomic<T> m_value;
};

inline constexpr std::size_t kRankOnlySize = 4096;

/// What says that this process is the rank; a page of its own, all zeros in any other process. No
/// child is the rank, whose log and page it does not have: not even one of clone() or _Fork(),
/// which run no handlers of ours. There the kernel clears it (keepFromChildren()).
struct alignas(kRankOnlySize) RankOnly {
  bool active = false;   ///< between MPI_Init and MPI_Finalize of a rank under an agent
  bool fast = false;     ///< active, and fast_path.h has the common calls
  bool grouped = false;  ///< and asks whether they stay in the group (known_inside.h)
  SeenByAll<const void*> owner = nullptr;  ///< of what the environment says (system_values.h)
};
extern RankOnly g_rankOnly;

/// From now on.
void keepFromChildren();

/// The number behind `name` ("TracerPid:") in /proc/self/status, 0 where it cannot be read. Allocates nothing.
int ofProcessStatus(const char* name);

struct Engine {
  bool record = false;  ///< choices are logged
  bool events = false;  ///< and events
  bool offers = false;  ///< and what completion calls choose from
  bool replay = false;  ///< choices are forced
  bool jitter = false;
  bool multiple = false;  ///< MPI_THREAD_MULTIPLE
  bool threads = false;   ///< several threads may call MPI: see lanes.h
  std::atomic<bool> live =
      false;               ///< replay: this rank's record has been used up, MPI chooses again
  bool holdAfter = false;  ///< the end of an event matters: holdIfDue()
  bool gated = false;      ///< replay: sends wait at gates (send_gates.h)
  bool contents =
      false;  ///< what the rank sends is digested, to be recorded or compared (contents.h)

  MPI_Comm world{};   ///< of a light rank: MPI_COMM_WORLD, without a look-up
  MPI_Comm noComm{};  ///< and MPI_COMM_NULL

  RankPage* page = nullptr;
  std::uint64_t serial = 0;  ///< events begun
  std::uint64_t snapshotAt =
      ~std::uint64_t{0};  ///< replay: event before which the rank is copied (rank/snapshots)
  void (*atSnapshot)() = nullptr;
  void (*atFileLock)() =
      nullptr;  ///< replay that is copied: the program has locked an open file, which copies may share
  bool copying = false;         ///< a child of fork() is the rank's own, to be it one day
  std::uint32_t posts = 0;      ///< receives posted
  std::uint32_t wildPosts = 0;  ///< of them from MPI_ANY_SOURCE
  std::uint32_t wildLogged =
      0;                    ///< number of the wildcard receive that a kNextWild byte stands for
  std::uint32_t sends = 0;  ///< messages sent
  std::uint32_t outgoingLogged = 0;       ///< number behind that of the last Outgoing record
  std::uint64_t outgoingGivenLogged = 0;  ///< event of the last OutgoingGiven record
  std::uint32_t probes = 0;               ///< that succeeded, without matched ones
  std::uint32_t postedCollectives = 0;
  std::uint64_t random = 1;  ///< state of the jitter

  RecordSink* sink = &g_silentSink;  ///< how this run is recorded
  LogWriter log;
  Communicators comms;
  Requests requests;
  PostNumbers postNumbers;
  PostNumbers
      sendHandles;  ///< with `offers`: of sends that have no other entry (calls/offered_requests.h)
  ChoiceStreams choices;
  ShadowReplay* routes = nullptr;  ///< replay: deliveries forced by shadow routes (shadow.h)
  RankClocks* clocks = nullptr;    ///< where races are found while recording (clocks.h)
  MPI_Comm
      nowhere{};  ///< replay: where receives are posted that must never match. Contents are packed on it
  MPI_Comm meeting{};  ///< replay of ranks with several threads: for messages of our own
};
extern Engine g_engine;

/// The call of the application's that this thread is in.
inline CallPlace outermostCall(std::uint16_t call) {
  // The wrapper's frame: its return address is behind its caller's frame.
  void* const* const frame = static_cast<void* const*>(t_outermost);
  return {call, frame[1], const_cast<void**>(frame) + 1};
}

/// Of MPI_THREAD_MULTIPLE, where a layer below knows one thread only: before each event, in its turn.
/// A part of a job has done all that the recording has of this rank, which did not come to MPI_Finalize: what follows needs
/// ranks that do not run. Does not return.
inline void (*g_recordEnds)(std::uint16_t call) = nullptr;
inline void (*g_beforeEvent)(const CallPlace& place, MPI_Comm comm) = nullptr;

/// What the handlers tell of this run.
inline RecordSink& sink() {
  return *g_engine.sink;
}

/// The engine's lock, which a thread may take again while it has it. With the last unlock() the
/// turn goes on (lanes.h).
void lockState();
void unlockState();

/// Holds the engine's lock, in programs that call MPI from several threads.
class StateLock {
 public:
  StateLock() : m_locks(g_engine.threads) {
    if (m_locks) [[unlikely]] {
      lockState();
    }
  }
  ~StateLock() {
    if (m_locks) [[unlikely]] {
      unlockState();
    }
  }
  StateLock(const StateLock&) = delete;
  StateLock& operator=(const StateLock&) = delete;

 private:
  const bool m_locks;
};

/// Begins an event: counts it, stops before it where the agent said so, compares it with the
/// recording. `comm`, `peer` (of the communicator, or MPI_ANY_SOURCE), `tag`: what steers matching;
/// see eventCheck().
void beginEvent(const CallPlace& place, MPI_Comm comm = MPI_COMM_NULL, int peer = kNoPeer,
                int tag = -1);

/// The end of an event: tells of it where sends wait at gates, and with kHoldAfter stops where
/// beginEvent() would stop at the next one.
void holdIfDue();

/// Says on the page (and in the log's header) in which call the rank is, until the end of the
/// scope.
class InCall {
 public:
  InCall(const CallPlace& place, RecordKind kind, MPI_Comm comm, int peer, int tag);
  ~InCall();
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;

  /// With several threads, whose lock the caller has: the call is over already. (To take the lock
  /// once more for that costs as much as the rest of it.)
  void endOfThread();

 private:
  const bool m_ofThreads;
  bool m_over = false;
};

/// Whether the program's call ends one request only. (Not known of a rank whose other threads go on: false.)
inline bool isInLoneCompletion() {
  const std::uint32_t call = g_engine.page->inCall.load(std::memory_order_relaxed);
  return call == 1U + kCallWait || call == 1U + kCallTest;
}

/// Corrects what InCall says of whom the rank waits for, where only the engine knows it: a wildcard
/// that a replay has pinned, the receive behind MPI_Wait.
inline void sayPeer(MPI_Comm comm, int peer, int tag) {
  if (!g_engine.threads) {
    RankPage& page = *g_engine.page;
    page.waitPeer.store(g_engine.comms.worldRank(comm, peer), std::memory_order_relaxed);
    page.waitTag.store(reportedTag(tag), std::memory_order_relaxed);
  }
}

/// Number of the call site in the log (defines it there at its first use).
std::uint32_t siteNumber(const CallPlace& place);

/// The return address in the application, behind the bindings of its language.
void* applicationAddress(const CallPlace& place);

/// Whether `name` begins with one of these.
template <std::size_t Count>
bool beginsWithOne(const char* name, const char* const (&begins)[Count]) {
  for (const char* begin : begins) {
    if (std::strncmp(name, begin, std::strlen(begin)) == 0) {
      return true;
    }
  }
  return false;
}

/// The name of the file that holds it, without its directory; "" of the program itself, null of none. Not by dladdr(), which takes the
/// loader's lock: a thread that holds it (dlopen()) may run a constructor that waits for the one that asks.
const char* moduleOf(void* address);
/// Whether `address` is in the MPI library or a component of it.
bool isOfMpi(void* address);
/// The same, but for the bindings of other languages, which hand on calls of the program.
bool isMpisOwnCall(void* returnAddress);

/// Chooses what this run with jitter does, by its seed (jitter.cpp).
void startJitter();
/// Sleeps for a random while, in a run with jitter, before the rank's next event; in a recording
/// perhaps until all other ranks wait.
void jitterBefore(std::uint16_t call);
/// The rank is in a call that may block; its last test or probe failed; it is in MPI_Finalize.
void jitterInCall(bool inside);
void jitterMissed();
void jitterEnds();
/// In a recording with jitter: a source of whom a message is there, instead of MPI_ANY_SOURCE. MPI
/// may take any of them, and tends to the same ones.
int jitteredSource(int source, int tag, MPI_Comm comm);
/// The same for a probe that does not block. False: it is to find nothing yet.
bool jitteredPoll(int* source, int tag, MPI_Comm comm);
/// In a run with jitter: a probe has shown a message of `source`.
void jitteredProbe(int source, MPI_Comm comm);
/// And a receive among the requests of MPI_Waitany or MPI_Testany that is complete, or -1.
int jitteredIndex(int count, const MPI_Request* requests);
/// jitterBefore() of a thread of several: up to about 2 ms, often not at all.
void jitterPause(std::uint64_t& random);

/// The replay cannot go on as recorded: tells the agent, waits to be killed.
[[noreturn]] void diverge(const CallPlace& place, const char* expected, const char* got);

/// Files the use of a routine whose replay is not guaranteed.
void noteUnsupported(const CallPlace& place);
/// The same of MPI_Session_init; where there was no MPI_Init, says that nothing is recorded.
void noteSession(const CallPlace& place);
/// Files a call of the application made inside of MPI (from a callback), where choices are not
/// recorded; no effect for calls of the MPI library's own.
void noteNested(const CallPlace& place);

inline bool isWild(int source) {
  return source == MPI_ANY_SOURCE;
}

}  // namespace pf

// SPDX-License-Identifier: MIT
// The page that a rank's interposer and its agent share.
//
// The agent makes a file of kRankPageSize bytes (0600, in the session directory), fills the first two
// fields, and names it to the program in PHOTOFINISH_PAGE. The interposer maps it at MPI_Init. No
// sockets, no locks: words are atomics, and the two sides wake each other with futexes on `toRank` (bumped
// and woken by the agent) and `toAgent` (bumped and woken by the rank).
//
// Life of a rank:   Launched -> Hello -> (agent configures) -> Gated? -> Running <-> Stopped -> Finalized
//   Launched   program started; it may never call MPI_Init (then it is not an MPI program)
//   Hello      inside MPI_Init, PMPI_Init has returned; `pid rank size mpiLibrary executable` are filled;
//              waits until `configured` != 0
//   Gated      at the end of MPI_Init, only if kGate: waits until `gateOpen` != 0
//   Running
//   Stopped    just before event `serial` + 1; waits while `stopAt` is not 0 and at most that event
//   Diverged   the replay did something else than the recording; `divergence` is filled; waits until killed
//   Finalized  MPI_Finalize has been called
// Everything in here may be overwritten by a buggy program: each side checks ranges, and strings are
// NUL-terminated by the reader.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pf {

inline constexpr std::uint32_t kRankPageMagic = 0x50466E31;  // "PFn1"
inline constexpr std::uint32_t kRankPageVersion = 10;
inline constexpr std::size_t kRankPageSize = 16384;
inline constexpr const char* kRankPageVariable = "PHOTOFINISH_PAGE";
/// Beside the page: made by the first process of a host whose MPI library is refused, which says so.
inline constexpr const char* kRefusedMark = "refused";
/// In the replay of a part of a job: what its launcher said of this process (place_in_job.h).
/// NAME=VALUE, or NAME where it was not set; separated by ';'.
inline constexpr const char* kLaunchersVariable = "PHOTOFINISH_LAUNCHERS";
/// A file of this name beside the schedules: no more will come.
inline constexpr const char* kSchedulesMade = "schedules-made";

enum class RankPhase : std::uint32_t {
  Launched,
  Hello,
  Gated,
  Running,
  Stopped,
  Diverged,
  Finalized
};

/// Bits of RankPage::mode, set by the agent before `configured`.
enum RankMode : std::uint32_t {
  kRecordChoices = 1,  ///< write the outcome of every choice to `logPath`
  kRecordEvents = 2,   ///< and every event (full event log)
  kReplay = 4,         ///< force the choices of `schedulePath`
  kGate = 8,           ///< hold the rank at the end of MPI_Init until `gateOpen`
  kHoldAfter =
      32,  ///< stop at `stopAt` as soon as the event before it is done, and inside MPI_Abort
  kRecordRaces = 64,  ///< follow clocks and find races at each delivery (not with kRecordEvents)
  kTrapTsc = 128,  ///< rdtsc traps, so that it can be recorded and given back; in `launchMode` only
  kSameAddresses =
      4096,  ///< the program's memory lies where it did (replay_engine/rank/fixed_heap); for the agent only
  kBoundedBuffers = 8192,  ///< replay: sends wait at gates (replay_engine/steering/send_gates.h)
  kKeepContents =
      16384,  ///< what comes from outside of the rank's group is kept beside the log (rank/payload); who is in it, in a file
  kReplayGroup =
      32768,  ///< few ranks of the recorded job run (rank/partial_job); in `launchMode`, too
  kSnapshots = 65536,  ///< replay of one rank: copies of it are kept to go back to (rank/snapshots)
  kBranch =
      131072,  ///< with kReplay: the schedule is the beginning of a run that goes on by itself, as a recording does
  kOffers =
      262144,  ///< with kRecordEvents: which requests calls of Waitany's kind were offered is recorded, too
  kJitter = 16,  ///< delay sends and receives at random, seeded by `jitterSeed` and the rank
};

/// An event that a rank of a replay has begun: what led to a divergence.
struct PageEvent {
  std::uint64_t serial;
  std::uint64_t address;  ///< return address of the call, in the application
  std::uint32_t call;     ///< its index
  std::int32_t peer;      ///< world rank, -1 any, -2 none
  std::int32_t tag;
  std::uint32_t reserved;
};
inline constexpr std::size_t kPageEvents = 11;

/// Where MPI has the objects of its requests, if their handles are numbers (MPICH): those of the first handles lie in one
/// row, others in blocks. Zeros where a handle is the address of its object (Open MPI).
struct PageRequestObjects {
  std::uint64_t firstAt;  ///< address of the object of the first handle
  std::uint64_t
      blocksAt;  ///< address of the pointer to the table of pointers to blocks; it may be null
  std::uint32_t size;        ///< bytes an object; it begins with its handle (32 bits)
  std::uint32_t counter;     ///< in the object: address of the completion counter (64 bits)
  std::uint32_t ownCounter;  ///< in the object: its own completion counter (32 bits, 0: complete)
  std::uint32_t reserved;
};

/// Where the rank keeps its receives from any source, and where in MPI's own request the status is: so the agent sees which
/// of them have taken a message while the rank waits in a call. Offsets are in bytes, in an entry of the table.
struct PageRequests {
  std::uint64_t entriesAt;    ///< address of the pointer to the entries; 0: not in a recording
  std::uint64_t countAt;      ///< address of how many there are (32 bits)
  std::uint32_t stride;       ///< bytes an entry
  std::uint32_t handle;       ///< MPI's handle
  std::uint32_t handleBytes;  ///< 4 or 8
  std::uint32_t details;      ///< address of what few entries have (64 bits), or 0
  std::uint32_t inner;        ///< in that: the handle that stands in for the entry's, or `none`
  std::uint32_t post;         ///< 4 bytes
  std::uint32_t wild;         ///< 4 bytes: number among the wildcard receives
  std::uint32_t isWild;       ///< a byte, 1: from any source
  std::uint32_t isActive;     ///< a byte, 1: posted
  std::uint32_t isCancelled;  ///< a byte, 1: it may take nothing
  std::uint32_t matchedAt;    ///< in the log's file: replay_engine/base/matched_receives.h
  std::uint32_t
      status;  ///< in MPI's request: source and tag, 4 bytes each; 0: MPI's requests are not known
  std::uint64_t none;          ///< MPI_REQUEST_NULL
  PageRequestObjects objects;  ///< without them, the source is negative before the match
};

/// A copy of the rank, just before an event (replay_engine/rank/snapshots).
enum SnapshotState : std::uint32_t {
  kNoSnapshot,  ///< the place is free
  kSnapshotMaking,  ///< it is not there yet, or will never be: never given to another one while its process lives
  kSnapshotAsleep,
  kSnapshotWoken,  ///< by the agent, which wakes its futex: it becomes the rank, and leaves a copy here
};
struct PageSnapshot {
  std::atomic<std::uint32_t> state;   ///< SnapshotState; futex word of the copy
  std::atomic<std::int32_t> pid;      ///< a child of the agent
  std::atomic<std::uint64_t> serial;  ///< of the event that has not begun
  std::atomic<std::uint32_t> files;   ///< regular ones that the program has open in it
  std::uint32_t reserved;
};
inline constexpr std::size_t kPageSnapshots = 16;

/// Why a rank makes no snapshots at present.
enum SnapshotObstacle : std::uint32_t {
  kNoObstacle,
  kThreadsOfProgram,      ///< a copy would have none but the one that makes it
  kRankOfAnotherProcess,  ///< the program that was started has started the rank: that would see it go
  kNoMemoryForSnapshots,  ///< fork() failed
  kDescriptorsOfProgram,  ///< a pipe, a socket, a directory, a device …: a copy shares it
  kManyFilesOfProgram,    ///< their places could not be given back
  kFilesReadAndWritten,   ///< or appended to: what is written in them does not go back, and is read
  kLockedFiles,
  kSharedMemoryOfProgram,  ///< writable: it does not go back
  kChildrenOfProgram,      ///< a copy has none
  kTimersOfProgram,        ///< a copy has none
  kProcessNotSeen,         ///< /proc does not tell what of these there is
};

/// RankPage::waitPeer in a collective of MPI_COMM_WORLD that no rank leaves before all are in it.
inline constexpr std::int32_t kWaitsForAll = -3;

struct RankPage {
  // -- made by the agent
  std::uint32_t magic;
  std::uint32_t version;

  // -- futex words
  std::atomic<std::uint32_t> toRank;
  std::atomic<std::uint32_t> toAgent;

  // -- state, written by the rank
  std::atomic<std::uint32_t> phase;  ///< RankPhase
  std::atomic<std::uint32_t>
      inCall;  ///< 1 + call index (gen table order) while inside an MPI call that may block
  std::atomic<std::uint64_t> serial;  ///< events begun
  std::atomic<std::int32_t>
      waitPeer;  ///< world rank that the call waits for, -1 any, -2 not known, kWaitsForAll
  std::atomic<std::int32_t> waitTag;   ///< -1 any
  std::atomic<std::uint32_t> pastEnd;  ///< replay: 1 once the record of this rank has been used up
  std::atomic<std::uint32_t> claimed;  ///< 1 once a process has taken this page for its own
  std::atomic<std::uint32_t> logFailed;  ///< recording stopped (disk full …): errno
  std::atomic<std::uint32_t> races;      ///< kRecordRaces: racing deliveries found so far
  std::int32_t pid;
  std::int32_t rank;  ///< in MPI_COMM_WORLD
  std::int32_t size;
  std::int32_t threadLevel;   ///< MPI_THREAD_* provided
  char mpiLibrary[256];       ///< first line of MPI_Get_library_version, and kAbiMark
  char executable[1024];      ///< /proc/self/exe
  char waitCall[64];          ///< not hot: name of the call at a stop or a divergence
  std::uint64_t callAddress;  ///< return address of the call at a stop or a divergence

  // -- orders, written by the agent
  std::atomic<std::uint32_t> configured;
  std::atomic<std::uint32_t> gateOpen;
  std::atomic<std::uint64_t> stopAt;  ///< stop just before this serial, 0 = nowhere
  std::atomic<std::uint32_t>
      trapOnStop;           ///< a GDB is attached: raise SIGTRAP at a stop (only if traced)
  std::uint32_t mode;       ///< RankMode bits
  std::uint32_t algorithm;  ///< kRecordRaces: online::Algorithm, or kWindowAlgorithm + N
  std::uint64_t jitterSeed;
  std::uint64_t salt;  ///< seeds every checksum of the log
  char logPath[2048];
  char schedulePath[2048];
  char boardPath[2048];  ///< for clocks and jitter: file that this host's ranks share

  // -- divergence, written by the rank before phase = Diverged
  std::uint64_t divergedAt;  ///< serial
  char expected[512];
  char got[512];

  // -- made by the agent before the program starts: what it asks the system before MPI_Init
  std::uint32_t launchMode;  ///< RankMode bits of the session
  char earlySchedule
      [2048];  ///< replay: the schedule of this rank, soon; empty: its rank is not known

  // -- where the rank is, for who asks a rank that does not get on
  std::uint64_t
      outermostAt;  ///< address of the variable that names the frame of its first thread's MPI call
  std::atomic<std::uint64_t>
      waitAddress;  ///< with several threads: return address of the call that is said in `inCall`
  PageEvent past[kPageEvents];  ///< replay: event n is in slot n % kPageEvents
  PageRequests requests;        ///< in a recording, from `phase` Running on
  std::atomic<std::uint32_t>
      debugger;  ///< by the agent: a GDB is attached, which may ask for receives' buffers (replay_engine/base/noted_buffers.h)

  // -- replay: the first message of the rank whose contents are not the recorded ones. It goes on once the agent has seen it
  std::atomic<std::uint64_t> contentsAt;    ///< its event, 0 = none; written last
  std::uint64_t contentsAddress;            ///< return address of the call, in the application
  std::int64_t contentsTime;                ///< CLOCK_REALTIME in ns: which rank was the first
  std::atomic<std::uint32_t> contentsSeen;  ///< by the agent
  char contents[160];                       ///< what was sent

  // -- kSnapshots
  std::int32_t agentPid;                        ///< by the agent, before `configured`
  std::atomic<std::uint32_t> noSnapshots;       ///< SnapshotObstacle
  std::atomic<std::uint64_t> snapshotDistance;  ///< events from one to the next
  std::atomic<std::int32_t>
      awake;  ///< process that was a snapshot and is the rank now: it waits at its event
  PageSnapshot snapshots[kPageSnapshots];

  // -- before `phase` Hello: CPython in the rank, where its first thread has called MPI_Init; zeros where there is none
  std::uint64_t pythonRuntime;  ///< address of _PyRuntime
  std::uint64_t pythonVersion;  ///< PY_VERSION_HEX
  std::uint64_t pythonThread;   ///< address of the first thread's PyThreadState
};
static_assert(sizeof(RankPage) <= kRankPageSize);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace pf

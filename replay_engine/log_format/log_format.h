// SPDX-License-Identifier: MIT
// The log that a rank writes while it runs, and that everything else is made from.
//
// Layout of a log file (little endian; one per rank, made and mapped by the interposer):
//   [0, 8192)            LogHeader, then zeros
//   [8192 + i * 65536)   block i: records, zero padding, BlockTrailer in its last 8 bytes
//
// Records never straddle blocks. A record is a kind byte and varints (LEB128, unsigned; signed values by
// zigzag where the table says so). The writer publishes records with one 64-bit store of
// LogHeader::commit = crc32c(bytes of the open block so far) << 32 | low 16 bits of the block's number << 16 |
// bytes used in that block. A full block is sealed by its trailer before the next one is opened. So whatever
// kills the rank, the reader finds a prefix of whole records, and every byte of it is covered by a checksum that
// is salted with the run's salt and the block's number: old bytes of a re-used file never pass for new ones.
// After a power cut each page may be of another moment since the last sync: LogHeader::synced has the commit of that.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "replay_engine/base/matched_receives.h"
#include "replay_engine/base/synced_commits.h"
#include "replay_engine/log_format/record_kinds.h"
#include "replay_engine/log_format/system_values.h"

namespace pf {

inline constexpr std::uint64_t kLogMagic = 0x0001474F4C4E4650;  // "PFNLOG\1\0"
inline constexpr std::uint32_t kLogVersion = 6;
inline constexpr std::uint32_t kOldestLogVersion =
    3;  ///< that can be read: it has no Time and no Clock; 4 has no Contents, Given, Unfinished and no `matched`; 5 no Outgoing
inline constexpr std::size_t kLogHeaderSize = 8192;
inline constexpr std::size_t kLogBlockSize = 65536;
inline constexpr std::size_t kLogBlockData = kLogBlockSize - 8;
inline constexpr std::size_t kMaxRecord = 320;  ///< a module path longer than this is cut

struct BlockTrailer {
  std::uint32_t used;  ///< bytes of records; 0 = not sealed
  std::uint32_t crc;   ///< crc32c of these bytes, seeded with logBlockSeed()
};

[[nodiscard]] constexpr std::uint32_t logBlockSeed(std::uint64_t salt, std::uint64_t block) {
  const std::uint64_t mixed = (salt ^ (block * 0x9E3779B97F4A7C15ULL)) * 0xBF58476D1CE4E5B9ULL;
  return static_cast<std::uint32_t>(mixed >> 32);
}

/// What MPI or the system chose. Each kind is a stream of its own: the n-th success of a kind in a rank.
enum class ChoiceKind : std::uint8_t {
  Test,
  Testall,
  Testany,
  Testsome,
  Waitany,
  Waitsome,
  Iprobe,
  Improbe,
  Probe,
  Mprobe,
  GetStatus,
  Lock,  ///< of threads: pthread_mutex_trylock …, and waits with a time limit
};
inline constexpr std::size_t kChoiceKinds = 12;

/// A rank of mode races whose number of the algorithm is this plus N: Algorithm B, with decisions delayed by N
/// wildcard receives.
inline constexpr std::uint32_t kWindowAlgorithm = 0x100;

inline constexpr std::uint32_t kMostTagged = 24;  ///< a record
inline constexpr std::uint32_t kMostUnfinished = 32;
inline constexpr std::uint32_t kMostOffered = 24;

/// Names a call that completes requests, for what a replay must know before it makes the call: by its event; where the
/// rank has several threads, by its lane and how many events that one had had before.
[[nodiscard]] constexpr std::uint64_t completionKey(std::uint64_t serial) {
  return serial;
}
[[nodiscard]] constexpr std::uint64_t completionKey(std::uint32_t lane,
                                                    std::uint64_t eventsOfLane) {
  return (lane + std::uint64_t{1}) << 40 | eventsOfLane;
}

// Times. A tick is sixteen of the processor's time stamp counter where that is steady, else a nanosecond of CLOCK_MONOTONIC;
// ranks of one host share both. Ticks between two Clock records count evenly, ticks behind the last one as between the first
// and the last. Logs without events have neither record.

// Lanes. A rank whose application makes threads (and that has at least MPI_THREAD_SERIALIZED) tells them apart from then
// on: lane 0 called MPI_Init, the others are numbered as they come. What needs an order among threads (events, and locks
// that they take) is a *turn*; all turns of a rank have one order, logged as runs of turns of one lane. A blocking call
// is then two events, the second one when it is done, so that each event is a moment: Post and Completion for a receive,
// Start and Completion for MPI_Sendrecv, CollectivePost and Completion for a collective.
/// What orders two threads of a rank, as the application makes it. `what` names the object (its address), or the thread.
enum class ThreadOrdering : std::uint8_t {
  Released,  ///< the lane lets the object go: others may go on behind it (unlock, sem_post)
  Acquired,  ///< it has it: it goes on behind all that released it
  Arrived,   ///< at a barrier
  Left,      ///< the barrier, as all that have arrived
  Made,      ///< it makes a thread; what: how-manieth
  Ended,     ///< it ends; what: its pthread_t
  Joined,    ///< it has seen the end of a thread; what: its pthread_t
};
/// Names a run: of a lane's events, or of locks that it takes.
[[nodiscard]] constexpr std::uint32_t laneCode(std::uint32_t lane, bool ofLocks) {
  return lane * 2 + (ofLocks ? 1U : 0U);
}

/// A kind byte with this bit is a whole record: the source (the other bits) of the wildcard receive that is
/// next in number after the last Wild record, or the first one of all. Sources that do not fit take a Wild record.
inline constexpr std::uint8_t kNextWild = 0x80;

/// The call that a rank is in: fills the gap between the begin of an event and its record, so that a rank
/// that dies or hangs inside a call shows that call.
struct BegunCall {
  std::uint64_t serial;
  std::uint32_t site;
  std::uint32_t comm;
  std::int32_t source;     ///< wanted source or destination, -1 any, -2 none
  std::int32_t tag;        ///< -1 any
  std::uint32_t kind;      ///< RecordKind of the record to come
  std::uint32_t check;     ///< begunCheck() of the above
  std::uint32_t statuses;  ///< entries of LogHeader::posts and ::status in use
  std::uint32_t reserved;
};

[[nodiscard]] constexpr std::uint32_t begunCheck(const BegunCall& b) {
  std::uint64_t h = b.serial * 0x9E3779B97F4A7C15ULL;
  h ^= (std::uint64_t{b.site} << 32 | b.comm) * 0xBF58476D1CE4E5B9ULL;
  h ^= (static_cast<std::uint64_t>(static_cast<std::uint32_t>(b.source)) << 32 |
        static_cast<std::uint32_t>(b.tag)) *
       0x94D049BB133111EBULL;
  h += b.kind;
  return static_cast<std::uint32_t>(h >> 32) | 1U;
}

/// BegunCall::check of a call whose record is complete (kind Padding): the rank is inside of event `serial`.
inline constexpr std::uint32_t kBegunInside = 2;

inline constexpr std::size_t kLanesInHeader = 32;
inline constexpr std::size_t kStatusSlots = 64;
inline constexpr std::size_t kStatusSize = 32;  ///< at least sizeof(MPI_Status)
inline constexpr std::int32_t kStatusUntouched =
    -77777;  ///< in a slot's MPI_SOURCE: MPI has not filled it

inline constexpr std::uint32_t kMostFailedPolls = 0xFFFFFFFF;  ///< that a log's header counts

struct LogHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t headerCrc;  ///< crc32c of the bytes from `salt` up to `commit`
  std::uint64_t salt;
  std::int32_t rank;
  std::int32_t size;
  std::int32_t pid;
  std::int32_t threadLevel;
  std::uint32_t events;        ///< 1: full event log, 0: choices only
  std::uint32_t statusSource;  ///< offset of MPI_SOURCE in a status
  std::uint32_t statusTag;     ///< offset of MPI_TAG
  std::uint32_t statusStride;  ///< bytes a status in `status`
  char mpiLibrary[256];
  char executable[1024];

  // -- changing, each by one store
  alignas(64) std::atomic<std::uint64_t> commit;
  std::atomic<std::uint64_t> serial;  ///< events begun
  std::atomic<std::uint64_t> clean;   ///< kLogMagic after MPI_Finalize
  std::atomic<std::uint64_t> failed;  ///< errno << 32 | 1 once the log could not grow
  std::atomic<std::uint32_t>
      inside;  ///< logs without events: 1 + number of the call while in one that may block
  std::atomic<std::uint64_t>
      laneTurns;         ///< number of the last Lane record, from 1, << 32 | turns since
  SyncedCommits synced;  ///< written by the rank's agent
  alignas(64) BegunCall begun;
  /// Failed tests and probes since the last Choice of each kind: count (at most kMostFailedPolls) | ~count << 32.
  alignas(64) std::atomic<std::uint64_t> failedPolls[kChoiceKinds];
  /// Where MPI writes the statuses of receives that complete in the call that is `begun`: still there when a
  /// fatal error handler (truncation) ends the process inside the call. `posts` holds post numbers; in logs
  /// without events, wildcard numbers.
  alignas(64) std::uint32_t posts[kStatusSlots];
  alignas(64) unsigned char status[kStatusSlots][kStatusSize];
  /// As `failedPolls`, of lanes 1, 2 … in a rank with several threads. Of lanes beyond they are not kept.
  alignas(64) std::atomic<std::uint64_t> laneFailedPolls[kLanesInHeader][kChoiceKinds];
  alignas(64) MatchedReceives matched;  ///< written by the rank's agent
};
static_assert(sizeof(LogHeader) <= kLogHeaderSize);
static_assert(offsetof(LogHeader, commit) == SyncedCommits::kCommitAt &&
              offsetof(LogHeader, synced) == SyncedCommits::kAt);
static_assert(offsetof(LogHeader, synced) / 64 ==
              offsetof(LogHeader, commit) / 64);  // one sector of a disk: no older than it

/// What a replay compares at each event: the call and its arguments that steer matching. `key` of the
/// communicator (0 = MPI_COMM_WORLD, or none), `peer` as world rank, or negative.
[[nodiscard]] constexpr std::uint32_t eventCheck(std::uint32_t call, std::uint64_t key,
                                                 std::int32_t peer, std::int32_t tag) {
  std::uint64_t h =
      (key ^ std::uint64_t{static_cast<std::uint32_t>(peer)} << 32) * 0x9E3779B97F4A7C15ULL;
  h ^= (h >> 29) + static_cast<std::uint32_t>(tag);
  h *= 0xBF58476D1CE4E5B9ULL;
  h ^= h >> 32;
  return (call << 22) | (static_cast<std::uint32_t>(h) & 0x3FFFFFU);
}

/// The same of a message whose event does not say where it goes (MPI_Start, the send of MPI_Sendrecv).
[[nodiscard]] constexpr std::uint32_t sentCheck(std::uint64_t key, std::int32_t dest,
                                                std::int32_t tag) {
  return eventCheck(1, key, dest, tag);
}

// ---------------------------------------------------------------------------------------------------------
// The schedule of a rank: what a replay reads. Compiled from its log, mapped by the interposer.

inline constexpr std::uint64_t kScheduleMagic = 0x0001444353464650;
/// Of Iprobe and Improbe, in the place of the failed polls before a success: as many as it takes until what the probe is to see is there. A
/// schedule that is put together of several runs has them, as their numbers of polls tell nothing of one another's.
inline constexpr std::uint64_t kUntilThere = UINT64_MAX;
/// Of a probe, in the place of the source that it is to see: any.
inline constexpr std::uint64_t kSeesAny = UINT64_MAX;
inline constexpr std::int32_t kPinUnknown = -1;  ///< completion never observed: leave the wildcard

struct ScheduleSection {
  std::uint64_t offset;  ///< in the file
  std::uint64_t size;    ///< in bytes
};

struct ScheduleHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t crc;  ///< of the header with crc = 0
  std::int32_t rank;
  std::int32_t size;
  std::uint32_t complete;  ///< 1: the rank reached MPI_Finalize in the recording
  std::uint32_t
      routed;  ///< 1: deliveries of this or other ranks are forced by shadow routes (replay_engine/rank/forcing/shadow.h)
  std::uint64_t serials;  ///< events of the recording
  ScheduleSection pins;   ///< by number of the wildcard receive (replay_engine/log_format/pins.h)
  ScheduleSection cancelled;  ///< uint32 post numbers, ascending
  ScheduleSection checks;     ///< uint32 an event (eventCheck), or empty
  ScheduleSection
      choices[kChoiceKinds];  ///< varints: failed polls, payload, failed polls, payload …
  std::uint32_t finalFailedPolls[kChoiceKinds];  ///< failed polls after the last success
  ScheduleSection values[kValueKinds];           ///< payloads of each ValueKind in their order
  std::uint64_t earlyValues[kValueKinds];  ///< bytes of them that were asked for before MPI_Init
  std::uint64_t executable;      ///< pathHash() of the program: who the early ones are for
  ScheduleSection laneRuns;      ///< varints: laneCode, turns, laneCode, turns …
  ScheduleSection lanes;         ///< ScheduleLane, by number
  ScheduleSection routes;        ///< ScheduleRoute, by post
  ScheduleSection routeStreams;  ///< ScheduleRouteStream, by key, dest, tag
  ScheduleSection routeSends;    ///< ScheduleRouteSend, of one stream after another, by number
  ScheduleSection routesSeen;    ///< ScheduleRouteSeen, by probe
  std::uint64_t lastRoute;       ///< the greatest post in `routes` of all ranks
  ScheduleSection
      sent;  ///< of each message sent: contentsHead(), varint sentCheck() or 0, its digest if it has one
  ScheduleSection given;       ///< of each collective the same, with operation + 1 for the check
  ScheduleSection failed;      ///< ScheduleFailed, by key
  ScheduleSection unfinished;  ///< uint32 indices, of one ScheduleFailed after another
  std::uint64_t threads;       ///< 1: this or another rank had several threads
  /// Of some messages, in their order: varint how many before it have none, then as `sent` with 0 for the check.
  ScheduleSection outgoing;
  ScheduleSection outgoingGiven;  ///< of collectives: how many events, then as `given`
  std::uint64_t insideLast;       ///< 1: the last event had begun, and not ended
};

/// A completion call that failed.
struct ScheduleFailed {
  std::uint64_t key;    ///< completionKey()
  std::uint32_t first;  ///< of its requests that were left as they were, in `unfinished`
  std::uint32_t count;
};
/// A varint, in `sent` and `given`: a size in bytes if it is known, and whether 8 bytes of digest follow.
[[nodiscard]] constexpr std::uint64_t contentsHead(bool known, std::uint64_t bytes, bool digested) {
  return known ? ((bytes + 1) << 1 | (digested ? 1U : 0U)) : 0;
}

/// A receive whose message comes routed with its post.
struct ScheduleRoute {
  std::uint32_t post;
  std::int32_t world;   ///< world rank of the sender
  std::int32_t source;  ///< as the application knows it: rank of the communicator
  std::int32_t tag;     ///< the application's
};
/// Messages of this rank that it sends routed: `count` ScheduleRouteSend from `first` on.
struct ScheduleRouteStream {
  std::uint64_t key;  ///< of the communicator
  std::int32_t dest;  ///< world rank
  std::int32_t tag;
  std::uint32_t first;
  std::uint32_t count;
};
struct ScheduleRouteSend {
  std::uint32_t number;  ///< in its stream, from 1
  std::uint32_t post;    ///< of its receive
};
/// A successful probe (not a matched one) that saw a message which comes routed.
struct ScheduleRouteSeen {
  std::uint32_t probe;    ///< from 0
  std::uint32_t receive;  ///< whose message it is: index into `routes`
};

/// A thread of the recording. The choices of lane 0 are in the header.
struct ScheduleLane {
  std::uint32_t parent;   ///< lane that made it + 1, 0 = none
  std::uint32_t ordinal;  ///< how-manieth thread of its parent it was, 0 = not known
  std::uint32_t turns;    ///< of events and locks
  std::uint32_t lockTurns;
  ScheduleSection choices[kChoiceKinds];
  std::uint32_t finalFailedPolls[kChoiceKinds];
};

}  // namespace pf

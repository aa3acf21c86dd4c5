// SPDX-License-Identifier: MIT
// One recorded execution, as values: what every rank called, which messages it sent and received.
//
// Words are the MPI standard's and Netzer and Miller's. A rank's *event* is one MPI call that
// communicates, as the application saw it; its *serial* counts a rank's events from 1 and is the
// number that a user types (`--until RANK:SERIAL`). Failed tests and probes are no events. A
// *receive* is identified by its *post*: the p-th receive that its rank posted (0-based, in posting
// order; blocking, non-blocking, persistent starts, matched probes). It completes at the event at which
// the application *observes* its completion. Ranks in this file are always world ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pf {

using Rank = std::int32_t;
using Serial = std::uint64_t;  ///< 1-based; 0 = none
using Tag = std::int32_t;

/// Where a rank stands in what is kept per rank. Ranks of an execution are not negative.
constexpr std::size_t index(Rank rank) {
  return static_cast<std::size_t>(rank);
}

inline constexpr Rank kAnySource = -1;
inline constexpr Rank kUnknownRank = -2;
inline constexpr Tag kAnyTag = -1;
inline constexpr std::uint32_t kNone = 0xFFFFFFFFU;

/// An event: rank and serial.
struct EventRef {
  Rank rank = kUnknownRank;
  Serial serial = 0;
  [[nodiscard]] bool valid() const { return serial != 0; }
  friend bool operator==(const EventRef&, const EventRef&) = default;
};

/// A serial where there are many of them: a rank of 2^32 events or more is not to be had.
class ShortSerial {
 public:
  constexpr ShortSerial() = default;
  /// What is too large is no event of any rank.
  constexpr ShortSerial(Serial serial)  // NOLINT(google-explicit-constructor)
      : m_serial(serial < kNone ? static_cast<std::uint32_t>(serial) : kNone) {}
  constexpr operator Serial() const { return m_serial; }  // NOLINT(google-explicit-constructor)

 private:
  std::uint32_t m_serial = 0;
};

/// An EventRef in half of its room.
struct ShortEventRef {
  constexpr ShortEventRef() = default;
  constexpr ShortEventRef(Rank of, Serial number) : rank(of), serial(number) {}
  constexpr ShortEventRef(const EventRef& event)  // NOLINT(google-explicit-constructor)
      : ShortEventRef(event.rank, event.serial) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr operator EventRef() const { return {rank, serial}; }
  [[nodiscard]] constexpr bool valid() const { return serial != 0; }
  friend bool operator==(const ShortEventRef&, const ShortEventRef&) = default;

  Rank rank = kUnknownRank;
  ShortSerial serial;
};

/// What an event does to the order of events. The name of the call itself is in Event::call.
enum class EventKind : std::uint8_t {
  Send,     ///< a message leaves: Send Isend Ssend … Start of a persistent send
  Receive,  ///< blocking receive: post and completion in one event (Recv, Mprobe, hit of Improbe)
  SendReceive,     ///< Sendrecv(_replace): a send and a blocking receive in one event
  Post,            ///< non-blocking receive posted: Irecv, Start of a persistent receive
  Completion,      ///< Wait*, Test* that succeeded: completes the receives, synchronous sends and
                   ///< non-blocking collectives that list this event as theirs
  Probe,           ///< Probe, or Iprobe that succeeded: looks at a message, does not take it
  Collective,      ///< blocking collective
  CollectivePost,  ///< non-blocking collective posted
  Local,           ///< anything else worth a serial (Init, Finalize, Cancel, Abort …)
  Start,           ///< Startall, Isendrecv: posts receives and sends that list this event as theirs
};

/// One MPI call of one rank. Index in RankHistory::events is serial - 1.
struct Event {
  EventKind kind = EventKind::Local;
  std::uint16_t call = 0;      ///< index into Execution::callNames
  std::uint32_t site = kNone;  ///< index into Execution::sites
  std::uint32_t comm = kNone;  ///< index into Execution::communicators
  Rank peer =
      kUnknownRank;   ///< send: destination; receive, probe: source asked for (or kAnySource)
  Tag tag = kAnyTag;  ///< send: tag; receive, probe: tag asked for (or kAnyTag)
  std::uint32_t lane =
      0;  ///< thread that made the call: 0 called MPI_Init, the others as they came
  std::uint64_t bytes = 0;  ///< send: size of the message where known
};

/// When an event's call began and ended, in nanoseconds from the run's first event. Ranks of one host share the clock. Where the end is
/// not known (calls that do not block), it is the begin; calls of a rank with several threads are moments.
struct EventTime {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  friend bool operator==(const EventTime&, const EventTime&) = default;
};

/// Whose times those of an execution are.
enum class TimeOrigin : std::uint8_t {
  None,         ///< there are none
  Recording,    ///< of the run that was recorded
  Reexecution,  ///< of the survey that executed it again: its speed, not the recording's
};

enum class ReceiveState : std::uint8_t { Pending, Complete, Cancelled };

/// One posted receive. Index in RankHistory::receives is its post serial.
struct PostedReceive {
  Serial post = 0;        ///< event that posted it
  Serial completion = 0;  ///< event that observed its completion, 0 while pending
  std::uint32_t comm = kNone;
  Rank wantedSource = kAnySource;  ///< world rank or kAnySource
  Tag wantedTag = kAnyTag;
  ReceiveState state = ReceiveState::Pending;
  Rank source = kUnknownRank;  ///< of the message taken, when Complete
  Tag tag = kAnyTag;
  std::uint32_t message = kNone;  ///< index into Execution::messages, by matchMessages()
};

/// A successful probe. It makes the choice which a later receive by (source, tag) executes.
struct ProbeHit {
  Serial event = 0;
  std::uint32_t comm = kNone;
  Rank wantedSource = kAnySource;
  Tag wantedTag = kAnyTag;
  Rank source = kUnknownRank;  ///< of the message seen
  Tag tag = kAnyTag;
  std::uint32_t postsBefore = 0;  ///< receives that this rank had posted before the probe
  std::uint32_t message =
      kNone;  ///< by matchMessages(): first message of source and tag not received before
};

/// One message sent. RankHistory::sends is in sending order.
struct SentMessage {
  Serial event = 0;
  std::uint32_t comm = kNone;
  Rank dest = kUnknownRank;  ///< world rank
  Tag tag = 0;
  bool synchronous = false;  ///< Ssend, Issend: completes only once matched
  Serial syncCompletion =
      0;  ///< event at which completion of a synchronous send was observed (blocking
          ///< Ssend: its own event); 0 = not observed or not synchronous
};

/// How knowledge flows in a collective: along real data flow only.
enum class CollectiveFlow : std::uint8_t { None, AllToAll, FromRoot, ToRoot, FromLower };

/// One rank's part in one collective call.
struct CollectivePart {
  Serial event = 0;       ///< the blocking call, or the post of the non-blocking one
  Serial completion = 0;  ///< blocking: same as event; else where observed, 0 = never
  std::uint32_t comm = kNone;
  std::uint32_t ordinal =
      0;  ///< n-th collective of this rank on this communicator: same on every rank
  CollectiveFlow flow = CollectiveFlow::None;
  Rank root = kUnknownRank;  ///< world rank, for FromRoot and ToRoot
  bool contributes = true;   ///< false: this rank's count is zero, nothing flows from it
  bool takes = true;         ///< false: nothing flows to it
};

/// What a completion call was given to choose from.
enum class OfferedKind : std::uint8_t {
  Receive,          ///< number: its post
  Send,             ///< one that may end without its receiver
  SynchronousSend,  ///< number: into RankHistory::sends
  Collective,       ///< number: how-manieth non-blocking collective of its rank
  Other,            ///< nothing is known of what it waits for
};
inline constexpr std::uint8_t kOfferedKinds = 5;

/// An active request in the array of a completion call.
struct OfferedRequest {
  std::uint32_t index = 0;  ///< in the call's array
  std::uint32_t number = 0;
  OfferedKind kind = OfferedKind::Other;
  bool given = false;  ///< the call said that it is done
  friend bool operator==(const OfferedRequest&, const OfferedRequest&) = default;
};

/// A call of Waitany's kind that completed something (MPI 4.0, 3.7.5), where its run was recorded with what it was offered.
struct OfferedCompletion {
  Serial event = 0;
  bool some = false;                     ///< Waitsome, Testsome: several may be given
  std::vector<OfferedRequest> requests;  ///< by index
};

/// Of a rank with several threads: event `after` begins only when `before`, of another thread, is over, as the program has
/// it (a lock, a barrier, the making or joining of a thread).
struct ThreadLink {
  Serial before = 0;
  Serial after = 0;
  friend bool operator==(const ThreadLink&, const ThreadLink&) = default;
};

/// Everything one rank did, up to where its record ends.
struct RankHistory {
  std::vector<Event> events;
  std::vector<PostedReceive> receives;
  std::vector<ProbeHit> probes;
  std::vector<SentMessage> sends;
  std::vector<CollectivePart> collectives;
  std::vector<OfferedCompletion> offers;  ///< by event. Only of runs that explore and flip make
  std::vector<EventTime> times;           ///< of `events`, or empty. They do not run backwards
  std::vector<ThreadLink>
      threadLinks;  ///< by `after`. What they and its own order leave open, the threads do at once
};

/// A communicator. Both groups are world ranks; `remote` is empty unless it is an inter-communicator.
struct Communicator {
  std::uint64_t key = 0;  ///< equal on every rank; 0 is MPI_COMM_WORLD
  std::string name;       ///< "MPI_COMM_WORLD", or how it was made
  std::vector<Rank> group;
  std::vector<Rank> remote;
};

/// The place in a program that made a call. `file` is empty where there is no debug information.
struct CallSite {
  std::string module;        ///< path of the executable or library
  std::uint64_t offset = 0;  ///< of the return address within the module's file image
  std::string function;
  std::string file;
  std::int32_t line = 0;
};

/// A message of the execution: a send, and the receive that took it if one did.
struct Message {
  ShortEventRef send;
  std::uint32_t sendIndex = kNone;  ///< in the sender's RankHistory::sends
  Rank dest = kUnknownRank;
  std::uint32_t comm = kNone;
  Tag tag = 0;
  std::uint32_t post = kNone;  ///< post serial at dest, kNone = never received
  ShortSerial completion;      ///< event at dest that observed it, 0 = never
};
static_assert(sizeof(Message) == 32, "collation reads and writes all of them many times");

struct Execution {
  std::vector<RankHistory> ranks;
  std::vector<Communicator> communicators;
  std::vector<CallSite> sites;
  std::vector<std::string> callNames;        ///< "MPI_Recv" …
  std::vector<Message> messages;             ///< filled by matchMessages()
  TimeOrigin timeOrigin = TimeOrigin::None;  ///< of RankHistory::times
};

/// Whether each event has its time.
[[nodiscard]] inline bool hasTimes(const Execution& execution) {
  bool any = false;
  for (const RankHistory& rank : execution.ranks) {
    if (rank.times.size() != rank.events.size()) {
      return false;
    }
    any = any || !rank.times.empty();
  }
  return any;
}

}  // namespace pf

// SPDX-License-Identifier: MIT
// The records of a log: each kind with its fields, in the order in which they lie in the log. Writer (FieldWriter), reader
// (FieldReader), pf_log_dump and the table of docs/trace-format.md go by these lists.
//
// Each struct below has `fields(record, visit)`, which calls
//   visit(name, field)            an unsigned varint
//   visit.plus(name, field, n)    an unsigned varint of the field + n, so that MPI_ANY_* (-1) and "none" fit
//   visit.byte(name, field)       one byte
//   visit.fixed(name, field)      eight bytes
//   visit.rest(name, form)        what follows and is not in the struct: who writes or reads the record does that
//
// Sources and destinations are ranks of the communicator; sites, modules, communicators and the like are numbers by order
// of appearance in the log.
#pragma once

#include <cstdint>

namespace pf {

enum class RestForm : std::uint8_t { Numbers, Text, Hex };

namespace records {

struct Nothing {
  template <typename Self, typename Visit>
  static constexpr void fields(Self& /*self*/, Visit& /*visit*/) {}
};

struct Path {
  std::uint64_t length = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("length", self.length);
    visit.rest("path", RestForm::Text);
  }
};

struct Site {
  std::uint32_t call = 0;
  std::uint32_t module = 0;
  std::uint64_t address = 0;  ///< an ELF virtual address
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("call", self.call);
    visit("module", self.module);
    visit("address", self.address);
  }
};

struct SourceLine {
  std::uint32_t line = 0;  ///< 0: not known
  std::uint64_t length = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("line", self.line);
    visit("length", self.length);
    visit.rest("function", RestForm::Text);
  }
};

struct Comm {
  std::uint64_t key = 0;
  std::uint32_t madeBy = 0;  ///< a call
  std::uint32_t inter = 0;   ///< 0 or 1
  std::uint32_t groupSize = 0;
  std::uint32_t remoteSize = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit.fixed("key", self.key);
    visit("made_by", self.madeBy);
    visit("inter", self.inter);
    visit("group_size", self.groupSize);
    visit("remote_size", self.remoteSize);
  }
};

struct CommMembers {
  std::uint32_t n = 0;  ///< at most 32
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("n", self.n);
    visit.rest("n world ranks + 1", RestForm::Numbers);
  }
};

struct Choice {
  std::uint32_t kind = 0;  ///< ChoiceKind
  std::uint64_t failedPolls = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("kind", self.kind);
    visit("failed_polls", self.failedPolls);
    visit.rest(
        "by kind: Testany, Waitany: index + 1 (0 = MPI_UNDEFINED); Testsome, Waitsome: "
        "count + 1 (0 = MPI_UNDEFINED), indices; probes: source, tag; Lock: 1 = time ran out",
        RestForm::Numbers);
  }
};

struct Wild {
  std::uint64_t number = 0;
  std::int32_t source = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("number", self.number);
    visit.plus("source", self.source, 1);
  }
};

struct Post {
  std::uint32_t post = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("post", self.post);
  }
};

struct AtSite {
  std::uint32_t site = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("site", self.site);
  }
};

struct Send {
  std::uint32_t site = 0;
  std::uint32_t comm = 0;
  std::int32_t dest = 0;
  std::int32_t tag = 0;
  std::uint64_t bytes = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("site", self.site);
    visit("comm", self.comm);
    visit("dest", self.dest);
    visit("tag", self.tag);
    visit("bytes", self.bytes);
  }
};

struct Receive {
  std::uint32_t site = 0;
  std::uint32_t comm = 0;
  std::int32_t wantedSource = 0;
  std::int32_t wantedTag = 0;
  std::int32_t source = 0;  ///< -1: it failed
  std::int32_t tag = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("site", self.site);
    visit("comm", self.comm);
    visit.plus("wanted_source", self.wantedSource, 1);
    visit.plus("wanted_tag", self.wantedTag, 1);
    visit.plus("source", self.source, 1);
    visit.plus("tag", self.tag, 1);
  }
};

struct SendReceive {
  std::uint32_t site = 0;
  std::uint32_t comm = 0;
  std::int32_t dest = 0;  ///< -1: none
  std::int32_t sendTag = 0;
  std::uint64_t bytes = 0;
  std::int32_t wantedSource = 0;  ///< -1: any; -2: none
  std::int32_t wantedTag = 0;
  std::int32_t source = 0;
  std::int32_t tag = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("site", self.site);
    visit("comm", self.comm);
    visit.plus("dest", self.dest, 1);
    visit("send_tag", self.sendTag);
    visit("bytes", self.bytes);
    visit.plus("wanted_source", self.wantedSource, 2);
    visit.plus("wanted_tag", self.wantedTag, 1);
    visit.plus("source", self.source, 1);
    visit.plus("tag", self.tag, 1);
  }
};

struct PostReceive {
  std::uint32_t site = 0;
  std::uint32_t comm = 0;
  std::int32_t wantedSource = 0;
  std::int32_t wantedTag = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("site", self.site);
    visit("comm", self.comm);
    visit.plus("wanted_source", self.wantedSource, 1);
    visit.plus("wanted_tag", self.wantedTag, 1);
  }
};

struct SubPost {
  std::uint32_t comm = 0;
  std::int32_t wantedSource = 0;
  std::int32_t wantedTag = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("comm", self.comm);
    visit.plus("wanted_source", self.wantedSource, 1);
    visit.plus("wanted_tag", self.wantedTag, 1);
  }
};

struct SubSend {
  std::uint32_t synchronous = 0;  ///< 0 or 1
  std::uint32_t comm = 0;
  std::int32_t dest = 0;
  std::int32_t tag = 0;
  std::uint64_t bytes = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("synchronous", self.synchronous);
    visit("comm", self.comm);
    visit("dest", self.dest);
    visit("tag", self.tag);
    visit("bytes", self.bytes);
  }
};

struct Taken {
  std::uint32_t post = 0;
  std::int32_t source = 0;  ///< -1: it failed
  std::int32_t tag = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("post", self.post);
    visit.plus("source", self.source, 1);
    visit.plus("tag", self.tag, 1);
  }
};

struct Number {
  std::uint32_t number = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("number", self.number);
  }
};

struct Probe {
  std::uint32_t site = 0;
  std::uint32_t comm = 0;
  std::int32_t wantedSource = 0;
  std::int32_t wantedTag = 0;
  std::int32_t source = 0;
  std::int32_t tag = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("site", self.site);
    visit("comm", self.comm);
    visit.plus("wanted_source", self.wantedSource, 1);
    visit.plus("wanted_tag", self.wantedTag, 1);
    visit("source", self.source);
    visit("tag", self.tag);
  }
};

struct Collective {
  std::uint32_t site = 0;
  std::uint32_t comm = 0;
  std::uint32_t flow = 0;  ///< CollectiveFlow
  std::int32_t root = 0;   ///< -1: none
  std::uint32_t takes =
      0;  ///< 1: contributes; 2: takes; from bit 2 on: 1 + how-manieth persistent one of its communicator is started
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("site", self.site);
    visit("comm", self.comm);
    visit("flow", self.flow);
    visit.plus("root", self.root, 1);
    visit("takes", self.takes);
  }
};

struct Traced {
  std::uint32_t post = 0;  ///< of a Seen: number of the probe, from 0; matched ones do not count
  std::uint32_t comm = 0;
  std::int32_t source = 0;
  std::int32_t tag = 0;
  std::uint32_t number = 0;  ///< in its stream; 0: not known
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("post", self.post);
    visit("comm", self.comm);
    visit("source", self.source);
    visit("tag", self.tag);
    visit("number", self.number);
  }
};

struct Races {
  std::uint32_t algorithm = 0;  ///< online::Algorithm, or kWindowAlgorithm + N
  std::uint32_t found = 0;
  std::uint32_t wildcards = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("algorithm", self.algorithm);
    visit("found", self.found);
    visit("wildcards", self.wildcards);
  }
};

struct Exchanged {
  std::uint32_t rank = 0;  ///< of MPI_COMM_WORLD
  std::uint32_t sent = 0;
  std::uint32_t observed = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("rank", self.rank);
    visit("sent", self.sent);
    visit("observed", self.observed);
  }
};

struct Kept {
  std::uint32_t without = 0;  ///< wildcards, in a row by number, that a trace need not hold
  std::uint32_t held = 0;     ///< then those that it must
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("without", self.without);
    visit("held", self.held);
  }
};

struct Value {
  std::uint8_t kind = 0;  ///< ValueKind, or kValuesJoin: then nothing follows
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit.byte("kind", self.kind);
    visit.rest("value, by kind", RestForm::Hex);
  }
};

struct NextValue {
  template <typename Self, typename Visit>
  static constexpr void fields(Self& /*self*/, Visit& visit) {
    visit.rest("value, of the kind that the last Value has", RestForm::Hex);
  }
};

struct LaneMade {
  std::uint32_t lane = 0;
  std::uint32_t parent = 0;   ///< lane of the thread that made it + 1; 0: none
  std::uint32_t ordinal = 0;  ///< how-manieth that one made
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("lane", self.lane);
    visit("parent", self.parent);
    visit("ordinal", self.ordinal);
  }
};

struct Lane {
  std::uint32_t turns = 0;  ///< that the run before had
  std::uint32_t code = 0;   ///< laneCode() of the run that begins
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("turns", self.turns);
    visit("code", self.code);
  }
};

struct Routed {
  std::uint32_t comm = 0;
  std::int32_t dest = 0;  ///< of MPI_COMM_WORLD
  std::int32_t tag = 0;
  std::uint32_t n = 0;  ///< at most kMostTagged
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("comm", self.comm);
    visit("dest", self.dest);
    visit("tag", self.tag);
    visit("n", self.n);
    visit.rest(
        "n of: number in its stream less the one before, zigzag of the receive's post less "
        "the one before",
        RestForm::Numbers);
  }
};

struct Ordered {
  std::uint32_t ordering = 0;  ///< ThreadOrdering
  std::uint32_t lane = 0;
  std::uint64_t what = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("ordering", self.ordering);
    visit("lane", self.lane);
    visit("what", self.what);
  }
};

struct Clock {
  std::uint64_t ticks = 0;
  std::uint64_t monotonic = 0;  ///< CLOCK_MONOTONIC in ns
  std::uint64_t realTime = 0;   ///< CLOCK_REALTIME in ns
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("ticks", self.ticks);
    visit("monotonic", self.monotonic);
    visit("real_time", self.realTime);
  }
};

struct Time {
  std::uint64_t gap = 0;     ///< ticks since the end of the event before, or the last Clock
  std::uint64_t inCall = 0;  ///< ticks that the one before took; 0: it does not block, or not known
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("gap", self.gap);
    visit("in_call", self.inCall);
  }
};

struct Contents {
  std::uint64_t digest = 0;  ///< replay_engine/rank/engine/contents.h
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit.fixed("digest", self.digest);
  }
};

struct Given {
  std::uint32_t operation = 0;  ///< + 1; 0: none
  std::uint64_t bytes = 0;      ///< of a broadcast, also where this is not the root
  std::uint32_t digested = 0;   ///< 0 or 1
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("operation", self.operation);
    visit("bytes", self.bytes);
    visit("digested", self.digested);
    visit.rest("if digested: eight bytes", RestForm::Hex);
  }
};

struct Outgoing {
  std::uint64_t skipped = 0;  ///< of the same since the record before: messages; events
  std::uint32_t form = 0;     ///< twice Given::operation, and 1 if digested
  std::uint64_t bytes = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("skipped", self.skipped);
    visit("form", self.form);
    visit("bytes", self.bytes);
    visit.rest("if form is odd: eight bytes of digest", RestForm::Hex);
  }
};

struct Unfinished {
  std::uint64_t key = 0;  ///< completionKey()
  std::uint32_t n = 0;    ///< at most kMostUnfinished
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("key", self.key);
    visit("n", self.n);
    visit.rest("n indices", RestForm::Numbers);
  }
};

struct Offered {
  std::uint32_t some = 0;  ///< 1: several may be given
  std::uint32_t n = 0;     ///< at most kMostOffered
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("some", self.some);
    visit("n", self.n);
    visit.rest("n of: index less that of the one before, 16 * number + 8 if given + OfferedKind",
               RestForm::Numbers);
  }
};

struct Room {
  std::uint32_t post = 0;
  std::uint64_t bytes = 0;
  template <typename Self, typename Visit>
  static constexpr void fields(Self& self, Visit& visit) {
    visit("post", self.post);
    visit("bytes", self.bytes);
  }
};

}  // namespace records

// clang-format off
/// X(kind, struct of its fields, whether it starts an event, what it says)
#define PF_RECORD_KINDS(X) \
  X(Padding, Nothing, false, "the rest of the block is empty") \
  X(Module, Path, false, "an executable or library") \
  X(Site, Site, false, "a place in a module that makes a call") \
  X(Comm, Comm, false, "a communicator; the key is equal on every rank") \
  X(CommMembers, CommMembers, false, "the next members of the last Comm, its group first, then the remote one") \
  X(Choice, Choice, false, "what MPI or the system chose") \
  X(Wild, Wild, false, "the source of a wildcard receive (logs without events); see also kNextWild") \
  X(CancelledPost, Post, false, "this receive was cancelled (logs without events)") \
  X(Note, AtSite, false, "a routine was used whose replay is not guaranteed") \
  X(Send, Send, true, "a send") \
  X(SendSync, Send, true, "a blocking synchronous send") \
  X(SendSyncPosted, Send, true, "a non-blocking synchronous send, which DoneSend completes") \
  X(SendFailed, Nothing, false, "the last send returned an error: it did not happen") \
  X(Receive, Receive, true, "a blocking or matched receive") \
  X(SendReceive, SendReceive, true, "MPI_Sendrecv and its like") \
  X(Post, PostReceive, true, "a receive is posted") \
  X(Completion, AtSite, true, "a call that completes requests; Done… records follow") \
  X(Start, AtSite, true, "MPI_Startall, MPI_Isendrecv and their like; SubPost and SubSend follow") \
  X(SubPost, SubPost, false, "a receive of the last Start") \
  X(SubSend, SubSend, false, "a send of the last Start") \
  X(DoneReceive, Taken, false, "a receive is complete, in the last event") \
  X(DoneCancelled, Post, false, "a cancelled receive is complete, in the last event") \
  X(DoneSend, Number, false, "a synchronous send is complete, in the last event") \
  X(DoneCollective, Number, false, "a non-blocking collective is complete, in the last event") \
  X(Matched, Taken, false, "matched at the end, but never observed by the program") \
  X(Probe, Probe, true, "a probe saw a message") \
  X(Collective, Collective, true, "a collective") \
  X(CollectivePost, Collective, true, "a non-blocking collective begins (number: order of these), or a persistent one is started: then takes / 4 is 1 + how-manieth one of its communicator") \
  X(Local, AtSite, true, "a call that neither sends nor receives") \
  X(End, Nothing, false, "a clean end (MPI_Finalize)") \
  X(Refused, AtSite, true, "MPI returned an error for a call that would have been another event") \
  X(Traced, Traced, false, "a delivery that the algorithm traces (Netzer and Miller, A, B; logs of mode races)") \
  X(Races, Races, false, "deliveries found to race, wildcard receives posted: at a clean end (mode races)") \
  X(Exchanged, Exchanged, false, "messages sent to a rank, and observed of it: at a clean end (mode races)") \
  X(Kept, Kept, false, "runs of wildcards that a trace need not hold, and must (mode races)") \
  X(Value, Value, false, "what the system told the program (system_values.h)") \
  X(NextValue, NextValue, false, "the same, of the kind that the last Value has") \
  X(LaneMade, LaneMade, false, "a thread has a lane") \
  X(Lane, Lane, false, "a run of turns begins: what follows is that lane's") \
  X(Seen, Traced, false, "the message that a probe saw, as Traced") \
  X(Routed, Routed, false, "traced messages of this rank") \
  X(RoutesOnly, Number, false, "the wildcards' sources are not in this log; so many traced deliveries are in the senders' Routed") \
  X(Ordered, Ordered, false, "how the threads of the rank wait for one another") \
  X(Clock, Clock, false, "what the clocks show at a tick (logs with events)") \
  X(Time, Time, false, "an event begins") \
  X(Contents, Contents, false, "digest of the last message sent") \
  X(Given, Given, false, "what this rank gives to the last collective") \
  X(Unfinished, Unfinished, false, "MPI_Waitall or MPI_Testall failed, and left these requests of its array as they were (MPI_ERR_PENDING); more of them in records of the same key") \
  X(Outgoing, Outgoing, false, "the next message, but for so many, goes to a rank outside of the group (recordings with groups, logs without events)") \
  X(OutgoingGiven, Outgoing, false, "what this rank gives to the next collective, but for so many events, on a communicator with ranks outside (the same)") \
  X(Offered, Offered, false, "active requests of the last event, which MPI gave some of; more of them in a record behind it (runs of explore and flip)") \
  X(Room, Room, false, "a receive that is posted, maybe by the next event, takes a message of so many bytes at most (logs with contents)") \
  X(SourceFile, Path, false, "the path of a source of Python, for the SourceLine records up to the next one") \
  X(SourceLine, SourceLine, false, "the line of Python that the last Site is called from, and its function")
// clang-format on

enum class RecordKind : std::uint8_t {
#define PF_KIND(kind, fields, event, text) kind,
  PF_RECORD_KINDS(PF_KIND)
#undef PF_KIND
      Count
};

namespace records {
/// The struct of the fields of a kind.
template <RecordKind kind>
struct Of;
#define PF_KIND(kind, fields, event, text) \
  template <>                              \
  struct Of<RecordKind::kind> {            \
    using Fields = fields;                 \
  };
PF_RECORD_KINDS(PF_KIND)
#undef PF_KIND
}  // namespace records

template <RecordKind kind>
using FieldsOf = typename records::Of<kind>::Fields;

}  // namespace pf

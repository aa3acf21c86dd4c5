// SPDX-License-Identifier: GPL-3.0-or-later
// Every message of a session, as values.
//
//   agent  -> daemon   Hello RankLaunched RankHello RankState RankDiverged RankExited Output GdbState
//                      MiFromGdb RankStack Pong WentBack Snapshots
//   client -> daemon   Hello Plan OpenGate SetStop AttachGdb DetachGdb MiToGdb GdbSignal Kill AskStack
//                      Shutdown Ping GoBack
//   daemon -> agent    Welcome Refused Configure OpenGate SetStop AttachGdb DetachGdb MiToGdb GdbSignal
//                      AskStack Kill Ping GoBack
//   daemon -> client   Welcome Refused SessionState Verdict Nudged Notice Pong, and what agents say, with
//                      the rank set by the daemon
//
// Ranks are of MPI_COMM_WORLD. Serials count a rank's events from 1 (replay_engine/execution/execution.h). A field's
// number is for ever; see body.h for how messages may grow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "replay_engine/base/result.h"
#include "replay_engine/protocol/frame.h"
#include "replay_engine/protocol/program_context.h"
#include "replay_engine/protocol/rank_page.h"

namespace pf {
/// Lets body.h check a RankPhase that arrives (found through its namespace).
[[nodiscard]] constexpr RankPhase lastOf(RankPhase /*unused*/) {
  return RankPhase::Finalized;
}
}  // namespace pf

namespace pf::protocol {

inline constexpr std::size_t kKeySize = 32;
/// Output and MI text are cut into pieces of at most this size.
inline constexpr std::size_t kMaxChunk = std::size_t{64} << 10U;

enum class MessageType : std::uint8_t {
  Hello = 1,
  Welcome,
  Refused,
  RankLaunched,
  RankHello,
  Configure,
  RankState,
  RankDiverged,
  RankExited,
  Output,
  GdbState,
  MiFromGdb,
  MiToGdb,
  GdbSignal,
  OpenGate,
  SetStop,
  AttachGdb,
  DetachGdb,
  Kill,
  Plan,
  Shutdown,
  SessionState,
  Verdict,
  Nudged,
  AskStack,
  RankStack,
  Ping,
  Pong,
  Notice,
  GoBack,
  WentBack,
  Snapshots,
};

// -- is somebody there

/// Answered by a Pong at once: client -> daemon, daemon -> agent.
struct Ping {
  static constexpr MessageType kType = MessageType::Ping;
  std::uint64_t number = 0;

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.number);
  }
  friend bool operator==(const Ping&, const Ping&) = default;
};

/// Of an agent: whatever its rank did before the Ping came has been told by now.
struct Pong {
  static constexpr MessageType kType = MessageType::Pong;
  std::uint64_t number = 0;  ///< of the Ping

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.number);
  }
  friend bool operator==(const Pong&, const Pong&) = default;
};

// -- handshake

enum class PeerRole : std::uint8_t { Agent, Client };
[[nodiscard]] constexpr PeerRole lastOf(PeerRole /*unused*/) {
  return PeerRole::Client;
}

/// First message of every peer. `key` has kKeySize bytes.
struct Hello {
  static constexpr MessageType kType = MessageType::Hello;
  PeerRole role = PeerRole::Agent;
  std::string key;

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.role);
    field(2, m.key);
  }
  friend bool operator==(const Hello&, const Hello&) = default;
};

/// The key is right.
struct Welcome {
  static constexpr MessageType kType = MessageType::Welcome;
  std::uint32_t mode = 0;  ///< RankMode bits of the session

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.mode);
  }
  friend bool operator==(const Welcome&, const Welcome&) = default;
};

/// The daemon closes this peer (to an agent after RankHello: its program must not run). For people.
struct Refused {
  static constexpr MessageType kType = MessageType::Refused;
  std::string text;

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.text);
  }
  friend bool operator==(const Refused&, const Refused&) = default;
};

// -- what an agent says

/// The agent has started its program. Rank and size are the launcher's word (-1: it gave none).
struct RankLaunched {
  static constexpr MessageType kType = MessageType::RankLaunched;
  std::int32_t rank = -1;
  std::int32_t size = -1;
  std::int32_t pid = 0;
  std::int32_t agentPid = 0;
  std::string host;
  std::string program;
  LaunchContext environment;  ///< in a replay: GivenEnvironment::differences

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.rank);
    field(2, m.size);
    field(3, m.pid);
    field(4, m.agentPid);
    field(5, m.host);
    field(6, m.program);
    field(7, m.environment);
  }
  friend bool operator==(const RankLaunched&, const RankLaunched&) = default;
};

/// The program is in MPI_Init.
struct RankHello {
  static constexpr MessageType kType = MessageType::RankHello;
  std::int32_t rank = -1;
  std::int32_t size = 0;
  std::int32_t pid = 0;          ///< of the MPI process: what GDB attaches to
  std::int32_t threadLevel = 0;  ///< MPI_THREAD_* provided
  std::string host;
  std::string executable;
  std::string buildId;  ///< hex, empty if the executable has none
  std::string mpiLibrary;
  LaunchContext context{};  ///< in a replay; not passed on to clients

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.rank);
    field(2, m.size);
    field(3, m.pid);
    field(4, m.threadLevel);
    field(5, m.host);
    field(6, m.executable);
    field(7, m.buildId);
    field(8, m.mpiLibrary);
    field(9, m.context);
  }
  friend bool operator==(const RankHello&, const RankHello&) = default;
};

/// A place in the program's code: the return address of a call.
struct CodePlace {
  std::string module;        ///< path of the file; empty = not known
  std::uint64_t offset = 0;  ///< ELF virtual address in it
  std::string text{};        ///< for people: set by the daemon

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.module);
    field(2, m.offset);
    field(3, m.text);
  }
  friend bool operator==(const CodePlace&, const CodePlace&) = default;
};

/// Where a rank is. Sent at once when anything but `serial` changes, else every watch interval.
struct RankState {
  static constexpr MessageType kType = MessageType::RankState;
  std::int32_t rank = -1;
  RankPhase phase = RankPhase::Launched;
  std::uint64_t serial = 0;    ///< events begun
  std::uint32_t inCall = 0;    ///< 1 + index of the MPI call that it is in, 0 = in none
  std::string call;            ///< its name; at a stop: of the call that comes next
  std::int32_t waitPeer = -2;  ///< world rank, -1 any, -2 not known, kWaitsForAll (rank_page.h)
  std::int32_t waitTag = -1;
  bool pastEnd = false;        ///< the record of this rank has been used up
  std::int32_t logFailed = 0;  ///< errno, recording has stopped
  bool held = false;           ///< the process is stopped by a GDB or a signal
  std::uint32_t races = 0;  ///< racing deliveries found so far, by a recording that looks for them
  CodePlace place{};        ///< of the call that it has been in for a while, where that can be told
  std::uint64_t moved =
      0;                 ///< bytes that its process has read and written by the end of a long wait
  bool stopped = false;  ///< the process is stopped by a signal, not by a GDB
  bool uncertain =
      false;  ///< threads that call MPI, or other jobs: who else may end its wait is not known

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.rank);
    field(2, m.phase);
    field(3, m.serial);
    field(4, m.inCall);
    field(5, m.call);
    field(6, m.waitPeer);
    field(7, m.waitTag);
    field(8, m.pastEnd);
    field(9, m.logFailed);
    field(10, m.held);
    field(11, m.races);
    field(12, m.place);
    field(13, m.moved);
    field(14, m.stopped);
    field(15, m.uncertain);
  }
  friend bool operator==(const RankState&, const RankState&) = default;
};

/// An event that a rank of a replay has begun.
struct PastEvent {
  std::uint64_t serial = 0;
  std::uint32_t inCall = 0;  ///< 1 + index of the MPI call
  std::string call;          ///< its name, set by the daemon
  std::int32_t peer = -2;    ///< world rank, -1 any, -2 none or not known
  std::int32_t tag = -1;
  CodePlace place{};

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.serial);
    field(2, m.inCall);
    field(3, m.call);
    field(4, m.peer);
    field(5, m.tag);
    field(6, m.place);
  }
  friend bool operator==(const PastEvent&, const PastEvent&) = default;
};

struct RankDiverged {
  static constexpr MessageType kType = MessageType::RankDiverged;
  std::int32_t rank = -1;
  std::uint64_t serial = 0;
  std::string call;
  std::string expected;
  std::string got;
  std::uint64_t callAddress = 0;     ///< return address of the call
  CodePlace place{};                 ///< the same
  std::vector<PastEvent> history{};  ///< the last events before it, the oldest one first
  bool goesOn = false;               ///< only the contents of a message differ: the rank goes on
  std::int64_t time = 0;             ///< then: when, in ns of CLOCK_REALTIME

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.rank);
    field(2, m.serial);
    field(3, m.call);
    field(4, m.expected);
    field(5, m.got);
    field(6, m.callAddress);
    field(7, m.place);
    field(8, m.history);
    field(9, m.goesOn);
    field(10, m.time);
  }
  friend bool operator==(const RankDiverged&, const RankDiverged&) = default;
};

/// The program has ended, or its agent was lost (then `signal` and `exitStatus` are -1).
struct RankExited {
  static constexpr MessageType kType = MessageType::RankExited;
  std::int32_t rank = -1;                 ///< the launcher's word if it never called MPI_Init
  std::int32_t exitStatus = 0;            ///< -1 if ended by a signal
  std::int32_t signal = 0;                ///< 0 if it exited
  RankPhase phase = RankPhase::Launched;  ///< Launched: it never called MPI_Init
  std::uint64_t serial = 0;
  std::string text;  ///< one line for people

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.rank);
    field(2, m.exitStatus);
    field(3, m.signal);
    field(4, m.phase);
    field(5, m.serial);
    field(6, m.text);
  }
  friend bool operator==(const RankExited&, const RankExited&) = default;
};

/// What the program wrote. `cut` bytes before it were thrown away because nobody read fast enough.
struct Output {
  static constexpr MessageType kType = MessageType::Output;
  std::int32_t rank = -1;
  std::uint8_t stream = 1;  ///< 1 stdout, 2 stderr
  std::string bytes;
  std::uint64_t cut = 0;

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.rank);
    field(2, m.stream);
    field(3, m.bytes);
    field(4, m.cut);
  }
  friend bool operator==(const Output&, const Output&) = default;
};

enum class GdbCondition : std::uint8_t {
  Attached,  ///< a GDB runs and reads MI; send it `-target-attach PID` (field `pid`)
  Failed,    ///< it could not be started
  Died,      ///< it ended and nobody had asked it to
  Detached,  ///< it ended, as asked
};
[[nodiscard]] constexpr GdbCondition lastOf(GdbCondition /*unused*/) {
  return GdbCondition::Detached;
}

struct GdbState {
  static constexpr MessageType kType = MessageType::GdbState;
  std::int32_t rank = -1;
  GdbCondition state = GdbCondition::Attached;
  std::int32_t pid = 0;  ///< of the MPI process
  std::string text;

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.rank);
    field(2, m.state);
    field(3, m.pid);
    field(4, m.text);
  }
  friend bool operator==(const GdbState&, const GdbState&) = default;
};

/// A piece of the stream, cut anywhere.
struct MiFromGdb {
  static constexpr MessageType kType = MessageType::MiFromGdb;
  std::int32_t rank = -1;
  std::string bytes;

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.rank);
    field(2, m.bytes);
  }
  friend bool operator==(const MiFromGdb&, const MiFromGdb&) = default;
};

// -- orders

struct MiToGdb {
  static constexpr MessageType kType = MessageType::MiToGdb;
  std::int32_t rank = -1;
  std::string bytes;

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.rank);
    field(2, m.bytes);
  }
  friend bool operator==(const MiToGdb&, const MiToGdb&) = default;
};

enum class SignalTarget : std::uint8_t { Gdb, Program };
[[nodiscard]] constexpr SignalTarget lastOf(SignalTarget /*unused*/) {
  return SignalTarget::Program;
}

/// SIGINT or SIGTERM, to the rank's GDB or to its program.
struct GdbSignal {
  static constexpr MessageType kType = MessageType::GdbSignal;
  std::int32_t rank = -1;
  SignalTarget target = SignalTarget::Gdb;
  std::int32_t signal = 0;

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.rank);
    field(2, m.target);
    field(3, m.signal);
  }
  friend bool operator==(const GdbSignal&, const GdbSignal&) = default;
};

/// No ranks named: every rank. Takes effect once all ranks are gated.
struct OpenGate {
  static constexpr MessageType kType = MessageType::OpenGate;
  std::vector<std::int32_t> ranks;

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.ranks);
  }
  friend bool operator==(const OpenGate&, const OpenGate&) = default;
};

/// Stop `rank` just before event `serial`, or at its next event if that is later; 0 = nowhere (and
/// go on if it is stopped).
struct SetStop {
  static constexpr MessageType kType = MessageType::SetStop;
  std::int32_t rank = -1;
  std::uint64_t serial = 0;

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.rank);
    field(2, m.serial);
  }
  friend bool operator==(const SetStop&, const SetStop&) = default;
};

struct AttachGdb {
  static constexpr MessageType kType = MessageType::AttachGdb;
  std::vector<std::int32_t> ranks;

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.ranks);
  }
  friend bool operator==(const AttachGdb&, const AttachGdb&) = default;
};

struct DetachGdb {
  static constexpr MessageType kType = MessageType::DetachGdb;
  std::vector<std::int32_t> ranks;

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.ranks);
  }
  friend bool operator==(const DetachGdb&, const DetachGdb&) = default;
};

/// Asks ranks for their stacks (none named: all): each answers with a RankStack, at once.
struct AskStack {
  static constexpr MessageType kType = MessageType::AskStack;
  std::vector<std::int32_t> ranks;
  std::uint64_t question = 0;  ///< comes back in the answers

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.ranks);
    field(2, m.question);
  }
  friend bool operator==(const AskStack&, const AskStack&) = default;
};

/// The stack of a rank's first thread, without a debugger: return addresses, the innermost frame
/// first. Inside of an MPI call it begins with the program's frame that made it.
struct RankStack {
  static constexpr MessageType kType = MessageType::RankStack;
  std::int32_t rank = -1;
  std::uint64_t question = 0;
  std::uint32_t inCall = 0;       ///< as in RankState
  std::string call;               ///< the MPI call that it is in, or stopped before
  std::vector<CodePlace> frames;  ///< none: `text` says why
  std::string text;

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.rank);
    field(2, m.question);
    field(3, m.inCall);
    field(4, m.call);
    field(5, m.frames);
    field(6, m.text);
  }
  friend bool operator==(const RankStack&, const RankStack&) = default;
};

/// Ends every program: SIGKILL in a replay, SIGTERM and 2 s later SIGKILL in a recording.
struct Kill {
  static constexpr MessageType kType = MessageType::Kill;
  bool all = true;

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.all);
  }
  friend bool operator==(const Kill&, const Kill&) = default;
};

/// Where the ranks shall stop: a consistent cut (replay_engine/races/races.h cutBefore()), `stops[r]` = 1 + events
/// of r in the cut, 0 = r is free. Replaces the former plan; stopped ranks go on to their new stop.
/// May be sent before the ranks exist, and at any time after.
struct Plan {
  static constexpr MessageType kType = MessageType::Plan;
  std::vector<std::uint64_t> stops;
  std::int32_t targetRank =
      -1;                 ///< the rank that matters: others are nudged until it gets to its stop
  bool openGate = false;  ///< open the gate by itself once all ranks are there

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.stops);
    field(2, m.targetRank);
    field(3, m.openGate);
  }
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// Ends the daemon, not the ranks: send Kill first if they shall end.
struct Shutdown {
  static constexpr MessageType kType = MessageType::Shutdown;

  template <typename Self, typename Visitor>
  static void visit(Self& /*m*/, Visitor& /*field*/) {}
  friend bool operator==(const Shutdown&, const Shutdown&) = default;
};

/// In a replay: how the agent shall set up its rank, in answer to RankHello.
struct Configure {
  static constexpr MessageType kType = MessageType::Configure;
  std::int32_t rank = -1;
  std::uint32_t mode = 0;  ///< RankMode bits, kGate among them
  std::uint64_t jitterSeed = 0;
  std::string schedulePath;
  std::uint64_t stopAt = 0;

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.rank);
    field(2, m.mode);
    field(3, m.jitterSeed);
    field(4, m.schedulePath);
    field(5, m.stopAt);
  }
  friend bool operator==(const Configure&, const Configure&) = default;
};

// -- what the daemon tells clients

/// The whole session. Sent to a client when it comes, and to all when something but a rank's state
/// changes.
struct SessionState {
  static constexpr MessageType kType = MessageType::SessionState;
  std::uint32_t mode = 0;          ///< RankMode bits
  std::int32_t ranksExpected = 0;  ///< 0 = not known yet
  std::int32_t agents = 0;         ///< connected now
  bool allGated = false;  ///< all ranks have come to the gate, or stopped before it (stays true)
  bool gateOpen = false;
  std::vector<RankState> ranks;  ///< that have come to MPI_Init
  /// Milliseconds: the longest time in which every rank waited and after which they went on.
  std::uint64_t longestWait = 0;

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.mode);
    field(2, m.ranksExpected);
    field(3, m.agents);
    field(4, m.allGated);
    field(5, m.gateOpen);
    field(6, m.ranks);
    field(7, m.longestWait);
  }
  friend bool operator==(const SessionState&, const SessionState&) = default;
};

enum class VerdictKind : std::uint8_t {
  CutReached,  ///< the target is at its stop, the others at theirs, or wait in a call, or have
               ///< ended
  Diverged,  ///< a rank did something else than its recording; the others stop at their next event
  Stalled,   ///< every rank waits in a call, and not in a cycle
  Deadlock,  ///< every rank waits in a call, some of them for each other
  Ended,     ///< all programs have ended, or the target of a plan before its stop
  PastEnd,   ///< a rank has used up its record and runs freely
  Refused,   ///< this run does not fit the recording; all programs are killed
};
[[nodiscard]] constexpr VerdictKind lastOf(VerdictKind /*unused*/) {
  return VerdictKind::Refused;
}

struct Verdict {
  static constexpr MessageType kType = MessageType::Verdict;
  VerdictKind kind = VerdictKind::Ended;
  std::int32_t rank = -1;    ///< the rank that it is about, -1 = all
  std::uint64_t serial = 0;  ///< its event; CutReached: the one that it is stopped before
  std::string text;          ///< for people, may have several lines
  bool asRecorded = false;   ///< Stalled, Deadlock in a replay: so did the recorded run
  bool proven = false;       ///< Stalled, Deadlock: they cannot get on, whatever one waits
  bool overLimit = false;    ///< Stalled, Deadlock: for longer than the user lets a program wait

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.kind);
    field(2, m.rank);
    field(3, m.serial);
    field(4, m.text);
    field(5, m.asRecorded);
    field(6, m.proven);
    field(7, m.overLimit);
  }
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

/// The daemon let a stopped rank go on to `stopAt` because the target could not get on without it.
/// A client that has a GDB on the rank continues it, or nothing moves.
struct Nudged {
  static constexpr MessageType kType = MessageType::Nudged;
  std::int32_t rank = -1;
  std::uint64_t stopAt = 0;

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.rank);
    field(2, m.stopAt);
  }
  friend bool operator==(const Nudged&, const Nudged&) = default;
};

/// Something that people ought to know and that decides nothing: a process that is stopped.
struct Notice {
  static constexpr MessageType kType = MessageType::Notice;
  std::int32_t rank = -1;
  std::string text;

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.rank);
    field(2, m.text);
  }
  friend bool operator==(const Notice&, const Notice&) = default;
};

/// Client to daemon to agent: the rank shall stand before event `serial` again, or as little before that as a snapshot of it
/// does (kSnapshots). Its process is killed if there is one; a GDB that is attached has to be told so by the client.
struct GoBack {
  static constexpr MessageType kType = MessageType::GoBack;
  std::int32_t rank = -1;
  std::uint64_t serial = 0;

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.rank);
    field(2, m.serial);
  }
  friend bool operator==(const GoBack&, const GoBack&) = default;
};

/// The answer. The rank waits before event `serial` in process `pid`, of which no GDB knows. pid 0: nothing has been done, as
/// `text` says; or, if `gone`, the rank has been lost on its way.
struct WentBack {
  static constexpr MessageType kType = MessageType::WentBack;
  std::int32_t rank = -1;
  std::uint64_t serial = 0;
  std::int32_t pid = 0;
  bool gone = false;
  std::string text;

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.rank);
    field(2, m.serial);
    field(3, m.pid);
    field(4, m.gone);
    field(5, m.text);
  }
  friend bool operator==(const WentBack&, const WentBack&) = default;
};

/// Of a rank with kSnapshots, whenever they change, a few times a second at most.
struct Snapshots {
  static constexpr MessageType kType = MessageType::Snapshots;
  std::int32_t rank = -1;
  std::vector<std::uint64_t> serials;    ///< of the events that they stand before, ascending
  std::vector<std::uint64_t> kilobytes;  ///< of each: memory that it shares with no other process
  std::string obstacle;                  ///< why none is made at present; empty: they are

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.rank);
    field(2, m.serials);
    field(3, m.kilobytes);
    field(4, m.obstacle);
  }
  friend bool operator==(const Snapshots&, const Snapshots&) = default;
};

using Message = std::variant<Hello, Welcome, Refused, RankLaunched, RankHello, Configure, RankState,
                             RankDiverged, RankExited, Output, GdbState, MiFromGdb, MiToGdb,
                             GdbSignal, OpenGate, SetStop, AttachGdb, DetachGdb, Kill, Plan,
                             Shutdown, SessionState, Verdict, Nudged, AskStack, RankStack, Ping,
                             Pong, Notice, GoBack, WentBack, Snapshots>;

/// One function per kind of message: std::visit(Overloaded{[](const Hello&) {…}, …}, message).
template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

/// The frame of `message`; an error if it is larger than a frame may be.
[[nodiscard]] Result<std::string> encodeMessage(const Message& message, std::uint64_t sequence);
[[nodiscard]] Result<Message> decodeMessage(const Frame& frame);

}  // namespace pf::protocol

// SPDX-License-Identifier: GPL-3.0-or-later
// Reading the log of a rank (replay_engine/log_format/log_format.h), and what is made from it: the execution that the user browses,
// and the schedule that a replay forces.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "replay_engine/base/result.h"
#include "replay_engine/execution/execution.h"
#include "replay_engine/log/by_number.h"
#include "replay_engine/log_format/log_format.h"

namespace pf {

/// One choice of MPI: `failedPolls` failures, then a success with `payload`.
struct RecordedChoice {
  std::uint64_t failedPolls = 0;
  std::vector<std::uint64_t> payload;
};

/// A communicator as one rank knows it.
struct LoggedCommunicator {
  std::uint64_t key = 0;
  std::uint32_t madeBy = 0;
  bool inter = false;
  std::uint32_t groupSize = 0;
  std::uint32_t remoteSize = 0;
  std::vector<Rank> members;  ///< group, then remote group
};

/// A thread of a rank that has several (lanes, in replay_engine/log_format/log_format.h).
struct LoggedLane {
  std::uint32_t parent = 0;   ///< lane that made it + 1, 0 = none
  std::uint32_t ordinal = 0;  ///< how-manieth thread of its parent, 0 = not known
  std::vector<RecordedChoice>
      choices[kChoiceKinds];  ///< but for lane 0, whose are RankLog::choices
  std::uint32_t finalFailedPolls[kChoiceKinds] = {};
};

/// Turns of one lane, one behind the other.
struct LaneRun {
  std::uint32_t code = 0;  ///< laneCode()
  std::uint32_t turns = 0;
};

/// A start of a persistent collective.
struct StartedCollective {
  std::size_t part = 0;  ///< in RankHistory::collectives; its ordinal is how-manieth start it is
  std::uint32_t number =
      0;  ///< 1 + how-manieth persistent collective of its communicator, the same on every rank
};

struct LoggedSite {
  std::uint32_t call = 0;
  std::uint32_t module = 0;
  std::uint64_t address = 0;
  // Of a call from Python, whose line this is.
  std::uint32_t file = kNone;  ///< in RankLog::sourceFiles
  std::uint32_t line = 0;      ///< 0: not known
  std::string function = {};
};

/// What a rank that looked for races while it ran says at its end (mode races).
struct LoggedRaces {
  std::uint32_t algorithm = 0;  ///< number of RankPage::algorithm
  std::uint32_t found = 0;      ///< deliveries that race, as far as it knew
  std::uint32_t wildcards = 0;  ///< receives from any source
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>>
      exchanged;    ///< by world rank: sent, observed
  NumberRuns kept;  ///< wildcard numbers whose source a trace must hold
};

/// A delivery that an algorithm traces: number `number` (from 1, 0 = not known) of the messages of `source` (of the
/// communicator) with `tag`.
struct TracedDelivery {
  std::uint32_t post = 0;
  std::uint32_t comm = 0;
  std::int32_t source = 0;
  Tag tag = 0;
  std::uint32_t number = 0;
};

/// The message that a successful probe saw, as TracedDelivery; `probe` counts them from 0.
struct SeenMessage {
  std::uint32_t probe = 0;
  std::uint32_t comm = 0;
  std::int32_t source = 0;
  Tag tag = 0;
  std::uint32_t number = 0;
};

/// Traced messages of this rank, of one stream: (number, post of the receive), in ascending numbers.
struct RoutedStream {
  std::uint32_t comm = 0;
  Rank dest = kUnknownRank;  ///< world rank
  Tag tag = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> messages;
};

/// A call that completes requests and failed. `unfinished`: the indices of those that it left as they were.
struct FailedCompletion {
  std::uint64_t key = 0;  ///< completionKey()
  std::vector<std::uint32_t> unfinished;
};

/// Everything that the log of one rank says. Communicators, sites and modules are numbered by the rank.
struct RankLog {
  Rank rank = kUnknownRank;
  std::int32_t size = 0;
  std::int32_t pid = 0;
  std::int32_t threadLevel = 0;
  std::string executable;
  std::string mpiLibrary;
  bool hasEvents = false;      ///< full event log, else choices only
  bool complete = false;       ///< MPI_Finalize was reached
  std::string cut;             ///< where and why the record ends, if not complete
  std::uint64_t bytes = 0;     ///< of records
  Serial serials = 0;          ///< events begun
  bool insideLast = false;     ///< the last event had begun but not ended
  std::uint32_t lastCall = 0;  ///< call number of that event
  std::vector<std::string> modules;
  std::vector<std::string> sourceFiles;  ///< of Python
  std::vector<LoggedSite> sites;
  std::vector<LoggedCommunicator> communicators;
  std::vector<std::uint32_t> notes;  ///< sites of routines whose replay is not guaranteed
  std::int64_t realTimeAhead =
      0;  ///< of RankHistory::times, which are of CLOCK_MONOTONIC: what CLOCK_REALTIME is ahead, in ns
  RankHistory history;  ///< with communicator-local peers turned into world ranks
  std::vector<StartedCollective> startedCollectives;
  WildSources wildSources;  ///< by number of the wildcard receive
  std::vector<std::uint32_t> cancelledPosts;
  std::uint32_t unseenMatches =
      0;  ///< receives from any source, pending at the end, of which it is not known whether they had taken a message
  std::vector<RecordedChoice> choices[kChoiceKinds];
  std::uint32_t finalFailedPolls[kChoiceKinds] = {};
  std::vector<FailedCompletion> failed;  ///< in their order
  std::vector<std::uint32_t> checks;     ///< eventCheck() of each event
  std::vector<unsigned char> sent;  ///< sizes and digests, as a schedule has them (where asked for)
  std::vector<unsigned char> given;
  std::vector<std::pair<std::uint32_t, std::uint64_t>>
      rooms;  ///< numbers of receives, with the bytes of their buffers (where asked for)
  /// The same of what leaves the rank's group, as a schedule has them (where asked for).
  std::vector<unsigned char> outgoing;
  std::vector<unsigned char> outgoingGiven;
  std::vector<LoggedLane> lanes;  ///< by number; empty where there is one thread
  std::vector<LaneRun> laneRuns;
  std::optional<LoggedRaces> races;    ///< at a clean end, mode races
  std::vector<TracedDelivery> traced;  ///< mode races, by the algorithms that trace messages
  std::vector<SeenMessage> seen;       ///< by the same algorithms
  std::vector<RoutedStream> routed;    ///< a reduced trace: collated from the receivers' `traced`
  std::optional<std::uint32_t>
      routesOnly;  ///< a reduced trace: deliveries of this rank in other ranks' `routed`
  std::vector<unsigned char>
      values[kValueKinds];  ///< payloads of what the system told the program, by ValueKind
  std::uint64_t earlyValues[kValueKinds] = {};  ///< bytes of them from before MPI_Init
};

/// The bytes of a log that count: header and whole, checksummed records. Damage is told, never passed on.
struct LogExtent {
  std::vector<std::span<const unsigned char>> blocks;  ///< records of each block
  bool damaged = false;
  std::string damage;  ///< where, and what is lost
};

/// Checks header and blocks of a whole log file in memory. Error Damaged or Version if it is not a log at all.
Result<LogExtent> checkLog(std::span<const unsigned char> file);

/// Reads a whole log file. A log that is cut or damaged is read up to there; RankLog::cut says so. Takes no more than
/// 800 times the bytes of the records, whatever they say (of a usual log, 10 to 20 times). `contents`: with RankLog::sent and ::given.
Result<RankLog> readLog(std::span<const unsigned char> file, bool contents = false);

/// What becomes of a log where the trace holds less than the logs.
struct LogReduction {
  std::optional<NumberRuns> keep;  ///< sources of wildcard receives, by number; none = all stay
  bool dropTraced = false;         ///< Traced records go
  std::optional<std::vector<bool>> keepSeen;      ///< Seen records, in their order
  std::vector<std::vector<unsigned char>> added;  ///< records, before the end
};
/// `file` must be whole.
Result<std::vector<unsigned char>> reduceLog(std::span<const unsigned char> file,
                                             const LogReduction& reduction);

/// All ranks as one execution: communicators by key, call sites merged, sends and receives paired, times on one scale
/// (TimeOrigin::Recording; who knows that they are of a re-execution says so).
/// `logs` in rank order. `over`: no rank went on after its log was read.
Result<Execution> assemble(std::vector<RankLog> logs, bool over = true);

struct RankRoutes;
/// The schedule of a rank as a file's content. `routes` (replay_engine/log/shadow_routes.h): what is forced by shadow routes, null where nothing is.
/// `threads`: some rank of the recording had several.
std::vector<unsigned char> compileSchedule(const RankLog& log, const RankRoutes* routes = nullptr,
                                           std::uint64_t lastRoute = 0, bool threads = false);

}  // namespace pf

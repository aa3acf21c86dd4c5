// SPDX-License-Identifier: GPL-3.0-or-later
// The values that travel between the trace store and its users (docs/trace-format.md has the
// columns).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay_engine/causality/density_pyramid.h"
#include "replay_engine/execution/execution.h"
#include "replay_engine/races/races.h"

namespace pf::db {

inline constexpr std::size_t kLongestLogChunk = 1U << 20;  ///< bytes of a raw log in one row

/// A content that need not be text.
struct RawBytes {
  std::string bytes;
  friend bool operator==(const RawBytes&, const RawBytes&) = default;
};

/// Table `run`: the recorded run as a whole. Times are UTC, "2026-11-20T13:49:59Z".
struct RunInfo {
  std::string uuid;  ///< empty: TraceWriter makes one
  std::string createdUtc;
  std::string finishedUtc;
  std::vector<std::string> command;  ///< launcher, its options, program, arguments, as typed
  std::string workingDirectory;
  std::string launcher;
  std::string program;
  std::int32_t ranks = 0;
  std::string mode;  ///< "outcomes", "races" or "all"
  std::string mpiLibrary;
  std::string host;
  std::string version;                     ///< of Photofinish
  std::optional<std::int32_t> exitStatus;  ///< of the launcher
  bool complete = false;                   ///< every rank reached MPI_Finalize
  std::uint64_t salt = 0;                  ///< seeds the checksums inside the recorded logs
  std::optional<RawBytes> input;  ///< standard input of the launcher; nothing: not recorded
  /// Totals. TraceWriter::writeExecution() and TraceStore::replaceExecution() set them.
  std::optional<std::uint64_t> messages;
  std::optional<std::uint64_t> wildcardReceives;
  std::optional<std::uint64_t> racingReceives;
  bool sameAddresses = false;  ///< its memory lies where it does in each replay
  /// For how long every rank was in a call and then went on (ms); nothing: nobody has seen it.
  std::optional<std::uint64_t> longestWait;
  bool redacted = false;  ///< nothing in it can be run
  /// Table `group_recording`: groups of ranks that were recorded so that each can be replayed alone.
  std::optional<std::string> groups;
  friend bool operator==(const RunInfo&, const RunInfo&) = default;
};

/// Table `rank`.
struct RankInfo {
  Rank rank = kUnknownRank;
  std::int32_t pid = 0;
  std::string host;
  std::string executable;
  std::string buildId;
  std::int32_t threadLevel = 0;
  std::optional<std::int32_t> exitStatus;
  std::optional<std::int32_t> exitSignal;
  std::string state;  ///< what it was doing at the end, for a person
  Serial lastSerial = 0;
  bool complete = false;
  std::string cutReason;        ///< why its record is cut short; empty when complete
  std::uint64_t logBytes = 0;   ///< set by TraceWriter: of its log, not compressed
  std::uint64_t logChunks = 0;  ///< set by TraceWriter: number of its log chunks
  std::optional<std::uint64_t> probesAnswered{};  ///< probes that saw a message
  std::optional<std::uint64_t> tscReads{};  ///< of the time stamp counter; nothing: not recorded
  std::optional<std::uint64_t> wildcardReceives{};  ///< in mode races
  std::string racesFoundBy{};  ///< algorithm that looked for races while it ran; empty: none did
  std::optional<std::uint64_t> racesFound{};   ///< deliveries, by it
  std::optional<std::uint64_t> sourcesKept{};  ///< deliveries that are in the trace by their source
  std::optional<std::uint64_t> routesKept{};   ///< and by a tag
  friend bool operator==(const RankInfo&, const RankInfo&) = default;
};

/// Table `launch_fact`: something that a rank's program was started with (protocol::ContextFact).
struct LaunchFact {
  Rank rank = kUnknownRank;
  std::string relation;  ///< one of these
  std::string kind;
  std::string name;
  std::string value;
  static constexpr const char* kAll = "all";      ///< every rank has it; said with the first
  static constexpr const char* kAlso = "also";    ///< this rank has it, the first has not
  static constexpr const char* kLacks = "lacks";  ///< this rank has it not, the first has
  friend bool operator==(const LaunchFact&, const LaunchFact&) = default;
};

/// Table `printed`: what launcher and program wrote to a standard stream; where it was long, its beginning and its end.
struct Printed {
  std::int32_t stream = 1;  ///< 1: standard output, 2: standard error
  std::optional<RawBytes> beginning;
  std::uint64_t leftOut = 0;  ///< bytes between the two
  std::optional<RawBytes> end;
  friend bool operator==(const Printed&, const Printed&) = default;
};

/// Table `seen_input`: what a rank looked at besides messages.
struct SeenInput {
  Rank rank = kUnknownRank;
  std::string kind;  ///< "file", "absent", "exists", "listing", "link" or "variable"
  std::string name;
  std::int64_t size = 0;   ///< bytes; of a listing its names
  std::int64_t stamp = 0;  ///< last change, ns since 1970; of listings and links a checksum
  friend bool operator==(const SeenInput&, const SeenInput&) = default;
};

/// Table `not_guaranteed`: what a rank used whose outcome is not recorded, and where.
struct NotGuaranteed {
  Rank rank = kUnknownRank;
  std::string what;
  friend bool operator==(const NotGuaranteed&, const NotGuaranteed&) = default;
};

/// Table `payload`: what a rank received from ranks outside of its group, and how far it is kept.
struct PayloadInfo {
  Rank rank = kUnknownRank;
  std::uint64_t salt = 0;  ///< seeds the checksums of its entries
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;        ///< of them with their heads, not compressed
  std::uint64_t packedBytes = 0;  ///< the same, compressed
  std::uint64_t chunks = 0;
  std::string ending;  ///< one of these
  std::optional<std::int64_t> detail{};
  static constexpr const char* kComplete = "complete";  ///< up to MPI_Finalize
  static constexpr const char* kCut = "cut";            ///< to where the rank ended, or ran on
  static constexpr const char* kStopped = "stopped";    ///< no more could be kept; detail: errno
  static constexpr const char* kDamaged = "damaged";    ///< detail: first byte that is lost
  friend bool operator==(const PayloadInfo&, const PayloadInfo&) = default;
};

/// Table `module`: a file with code that call sites are in.
struct ModuleInfo {
  std::string path;
  std::string buildId;
  friend bool operator==(const ModuleInfo&, const ModuleInfo&) = default;
};

/// Logical times as pf::logicalTimes() gives them: [rank][serial - 1].
using LogicalTimes = std::vector<std::vector<std::uint32_t>>;

/// What can be said of an execution without a look at its events.
struct TraceOutline {
  std::vector<std::uint64_t> events;  ///< of each rank
  std::uint32_t lastStep = 0;         ///< of logical time
  std::uint64_t races = 0;
  std::uint32_t width = 0;      ///< of the narrowest bins of the cut pyramid; 0: there is none
  std::size_t levels = 0;       ///< of the pyramid
  std::vector<LongLine> lines;  ///< of the pyramid
};

/// What SQL gives as tables `race` and `race_alternative`.
struct StoredRace {
  Race race;
  Serial serial =
      0;  ///< event of the racing receive's completion (its post while pending), or of the probe
  Serial chosen = 0;  ///< event of the receive's post, or of the probe: where it chose
  std::uint32_t chosenStep = kNone;  ///< logical times of both; kNone: not known
  std::uint32_t step = kNone;
  Serial sent = 0;        ///< event that sent the message taken; 0: not known, or none
  Tag tag = kAnyTag;      ///< of the message taken
  std::string raceClass;  ///< empty: not classified
};

/// A race as its file has it, for who keeps it otherwise than as a StoredRace.
struct RaceRecord {
  Rank rank = kUnknownRank;
  bool probe = false;
  std::uint32_t index = kNone;  ///< as in Race
  std::uint32_t taken = kNone;
  Serial serial = 0;  ///< as in StoredRace
  Serial chosen = 0;
  std::uint32_t chosenStep = kNone;
  std::uint32_t step = kNone;
  Serial sent = 0;
  Tag tag = kAnyTag;
  std::uint32_t raceClass = kNone;  ///< as RaceClasses::of, where they are exact
  std::span<const std::uint32_t> alternatives;
};

/// Classes of races, and what table `race_class` says of each.
struct RaceClasses {
  RaceClasses() = default;
  /// Races with the same text are of one class, those without one are of none.
  RaceClasses(const std::vector<std::string>& textOfEach);  // NOLINT: so that texts will do

  std::vector<std::uint32_t> of;   ///< of each race its text's number, kNone: none; or empty
  std::vector<std::string> texts;  ///< none is empty; of several classes it may be the same
  bool exact = false;  ///< they are those of classesOfRaces() (replay_engine/races/race_classes.h)
};

// ---- Session tables: what a user adds to a trace. `id` 0 in a new value means: give it one.

struct Breakpoint {
  std::int64_t id = 0;
  std::string
      kind;  ///< "line", "function", "logical", "address", "watch", "rwatch", "awatch", "catch"
  std::string file;
  std::int32_t line = 0;
  std::string function;
  std::string lineText;  ///< the source line when it was set, to find it again in changed source
  std::string condition;
  std::int32_t ignoreCount = 0;
  bool enabled = true;
  std::vector<Rank> ranks{};  ///< empty: every rank
  std::string expression{};   ///< logical text, address, watched expression, what is caught
  bool temporary = false;
  std::vector<std::string> commands{};
  std::string log{};           ///< what a logpoint writes; empty: it stops
  std::string stops = "rank";  ///< "rank", "all", or the ranks that stop with it
  friend bool operator==(const Breakpoint&, const Breakpoint&) = default;
};

struct Watch {
  std::int64_t id = 0;
  std::string expression;
  friend bool operator==(const Watch&, const Watch&) = default;
};

/// One re-execution of the run.
struct Cycle {
  std::int64_t id = 0;
  std::string startedUtc;
  std::string finishedUtc;
  std::string buildId;
  std::string reason;
  std::optional<std::uint64_t> jitterSeed;
  std::optional<bool> matchedRecording;
  std::optional<std::int32_t> exitStatus;
  friend bool operator==(const Cycle&, const Cycle&) = default;
};

/// Where a rank stopped in a cycle.
struct CycleStop {
  std::int64_t id = 0;
  std::int64_t cycle = 0;
  Rank rank = kUnknownRank;
  Serial serial = 0;
  std::string reason;
  std::string file;
  std::int32_t line = 0;
  friend bool operator==(const CycleStop&, const CycleStop&) = default;
};

struct BreakpointHit {
  std::int64_t id = 0;
  std::int64_t cycle = 0;
  std::int64_t breakpoint = 0;
  Rank rank = kUnknownRank;
  Serial serial = 0;
  std::int64_t hits = 0;
  std::vector<std::string> watched{};  ///< expression, value, expression, value …
  friend bool operator==(const BreakpointHit&, const BreakpointHit&) = default;
};

struct Note {
  std::int64_t id = 0;
  Rank rank = kUnknownRank;
  Serial serial = 0;  ///< 0: about the rank, or about the run where `rank` is kUnknownRank
  std::string text;
  std::string createdUtc;
  bool failing = false;  ///< the receive that "Failing receive" goes to
  friend bool operator==(const Note&, const Note&) = default;
};

/// A named set of ranks, as in "0, 2-4".
struct RankGroup {
  std::int64_t id = 0;
  std::string name;
  std::string ranks;
  friend bool operator==(const RankGroup&, const RankGroup&) = default;
};

/// Which ranks the diagram shows, and how.
struct RankArrangement {
  std::int64_t id = 0;
  std::string hidden;                   ///< ranks, as of RankGroup
  std::string rowOrder;                 ///< "number", "waiting", "racing" or "host"
  std::vector<std::string> sharedRows;  ///< name, ranks, name, ranks …
  friend bool operator==(const RankArrangement&, const RankArrangement&) = default;
};

/// A class of races that somebody has judged.
struct JudgedRace {
  std::int64_t id = 0;
  std::string raceClass;  ///< its name (replay_engine/races/race_baseline.h)
  std::string verdict;    ///< "benign", "bug" or "unknown"
  std::string reason;
  std::string createdUtc;
  friend bool operator==(const JudgedRace&, const JudgedRace&) = default;
};

/// This run is another one with other choices.
struct Branch {
  std::int64_t id = 0;
  std::string parentUuid;  ///< RunInfo::uuid of the other one
  std::string parentFile;  ///< where it was
  std::string madeBy;      ///< "flip", "explore" or "blame"
  friend bool operator==(const Branch&, const Branch&) = default;
};

/// What a branch took, and its parent did not: both are events of the branch.
struct BranchFlip {
  std::int64_t id = 0;
  Rank rank = kUnknownRank;
  Serial serial = 0;  ///< posts the receive, or is the probe
  Rank sendRank = kUnknownRank;
  Serial sendSerial = 0;
  std::string text{};  ///< the same in words, with the line
  friend bool operator==(const BranchFlip&, const BranchFlip&) = default;
};

/// Ranks that are debugged without the others.
struct PartOfJob {
  std::int64_t id = 0;
  std::string ranks;  ///< as of RankGroup
  friend bool operator==(const PartOfJob&, const PartOfJob&) = default;
};

/// A class of races that somebody has judged to be harmless, named by line numbers. Former versions wrote them.
struct BenignRace {
  std::int64_t id = 0;
  std::string raceClass;
  std::string reason;
  std::string createdUtc;
  friend bool operator==(const BenignRace&, const BenignRace&) = default;
};

// ---- Damage

/// One piece of a trace that does not verify.
struct Finding {
  std::string what;   ///< what is wrong
  std::string where;  ///< table, or "log of rank 3, chunk 17"
  std::string lost;   ///< what the user cannot have any more
};

struct SalvageReport {
  std::vector<std::string> kept;  ///< tables and logs that are whole in the new file
  std::vector<Finding> lost;
};

}  // namespace pf::db

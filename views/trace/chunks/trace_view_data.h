// SPDX-License-Identifier: MIT
// Data port: one analysed execution as the views want it. The application fills it once (messages
// matched, races found, logical times computed) and shares it read-only. QtCore only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <QString>

#include "replay_engine/causality/clock_checkpoints.h"
#include "replay_engine/execution/execution.h"
#include "views/trace/chunks/chunk_cache.h"
#include "views/trace/chunks/clock_rows.h"
#include "views/trace/chunks/density_levels.h"
#include "views/trace/chunks/race_table.h"

namespace pf::views {

enum class RankEndKind { Unknown, Finished, Crashed, Aborted, Hung, Killed, Cut };

/// How one rank ended. `text` is for people: "SIGSEGV in collect()", "MPI_Abort(1)".
struct RankEnd {
  RankEndKind kind = RankEndKind::Unknown;
  QString text;
  bool inside = false;  ///< of its last call, which had not ended
};

/// The event at which the run failed; invalid if it did not fail.
struct Failure {
  EventRef event;
  QString reason;
};

/// Where a rank that was not recorded stands now, as far as the arguments of its call are known.
struct CallNow {
  enum class Kind : std::uint8_t { NoCall, Receive, Send, Completion, Collective, Other };
  Rank rank = kUnknownRank;
  Kind kind = Kind::NoCall;
  QString call;              ///< "MPI_Recv"; empty of NoCall
  std::optional<Rank> peer;  ///< in the communicator: source, destination or root
  bool anySource = false;
  bool nobody = false;  ///< MPI_PROC_NULL
  std::optional<Tag> tag;
  bool anyTag = false;
  std::optional<bool> ofWorld;  ///< whether it is of MPI_COMM_WORLD
  QString place;                ///< "ring.c:12"; may be empty
  friend bool operator==(const CallNow&, const CallNow&) = default;
};

/// What is known of a trace before its events are read.
struct TraceOutline {
  std::size_t events = 0;
  std::uint32_t lastTime = 1;
};

struct TraceData;
using TraceDataPtr = std::shared_ptr<const TraceData>;

struct TraceData {
  QString title;
  /// After matchMessages(). With `chunks` it has all but what the ranks did.
  Execution execution;
  RaceTable races;                                       ///< with `chunks` it has its places
  std::vector<std::string> raceClassNames;               ///< by their numbers there; may be empty
  std::vector<std::vector<std::uint32_t>> logicalTimes;  ///< [rank][serial - 1], from 1
  /// Null: `execution` and `logicalTimes` are the whole.
  std::shared_ptr<const ExecutionChunks> chunks;
  /// With `chunks`: the same with all in memory, or null. Not from the GUI thread; may take long.
  std::function<TraceDataPtr()> whole;
  CutLevelsPtr pyramid;                 ///< null: views of many events look at each of them
  std::vector<std::uint64_t> profile;   ///< with it: events in equal spans of logical time
  std::optional<TraceOutline> outline;  ///< set: the events are not there yet, only their ranks
  ClockCheckpoints clocks;  ///< may have none: then causality costs a look at each event
  std::shared_ptr<const ClockRows> clockRows;  ///< instead of `clocks`, where those are many
  std::vector<RankEnd> ends;                   ///< by rank; may be short
  Failure failure;
  std::vector<QString> hosts;  ///< by rank; may be short
  std::vector<CallNow> calls;  ///< of a job that was not recorded, by rank: those that are known
};

}  // namespace pf::views

// SPDX-License-Identifier: GPL-3.0-or-later
// What all parts of a session go by: the trace, the ranks as they are now, which of them is looked at. No part keeps a
// reference to a rank, or to its GDB, while events are handled.
#pragma once

#include <map>
#include <vector>

#include <QList>
#include <QString>

#include "app/session/state/all_events.h"
#include "db/store/trace_store.h"
#include "mi_bridge/fleet.h"
#include "replay_engine/protocol/messages.h"
#include "replay_engine/steering/stop_plan.h"
#include "views/values/debug_values.h"
#include "views/values/space_time_types.h"

namespace pf::session {

/// Where the ranks come from.
enum class Source {
  Recording,  ///< cycles of a trace
  Cores,      ///< core files: nothing runs
  Job,        ///< a running job: nothing can be replayed
};

/// Of the present cycle. Gating: ranks come to MPI_Init, where they wait for each other.
/// GoingBack: the rank, which runs alone, becomes one of its snapshots.
enum class Phase { Idle, Starting, Gating, Attaching, Running, GoingBack, Ending };

/// A rank of the present cycle.
struct RankNow {
  protocol::RankState state;
  pid_t pid = 0;
  QString host;
  Serial sentFrom = 0;  ///< event before which GDB last let it go on: what says so is out of date
  bool exited = false;
  QString end;
  bool attached = false;
  bool failedToAttach = false;
  QString where;
  QString why;
  bool broughtBack = false;  ///< by lines: `why` is more than GDB knows
  int broughtTo = 0;         ///< a breakpoint at which it had stood there

  /// It is in the call of the event that it has begun last, which is not over.
  [[nodiscard]] bool inside() const {
    return state.phase == RankPhase::Running && state.inCall != 0 && state.serial != 0;
  }
};

struct SessionState {
  explicit SessionState(mi::Fleet& gdbs) : fleet(gdbs) {}

  Source source = Source::Recording;
  Phase phase = Phase::Idle;
  QString path;  ///< empty: no trace is open
  views::TraceDataPtr trace;
  AllEvents events;  ///< of `trace`
  db::RunInfo run;
  std::vector<db::RankInfo> rankInfos;  ///< by rank
  std::vector<Rank> part;               ///< ranks that cycles run, ascending; empty: all
  std::map<int, RankNow> now;
  protocol::Snapshots snapshots;  ///< of the rank that runs alone
  bool diverged = false;
  bool searching = false;  ///< for one hit of one breakpoint: no other one stops
  int current = 0;         ///< the rank that is looked at
  mi::Fleet& fleet;

  [[nodiscard]] bool knows(int rank) const {
    return rank >= 0 && static_cast<std::size_t>(rank) < rankInfos.size();
  }
  /// It is one of the ranks that cycles run.
  [[nodiscard]] bool runs(int rank) const;
  [[nodiscard]] std::size_t rankCount() const {
    return part.empty() ? rankInfos.size() : part.size();
  }
  /// Why nothing can be done with a rank that is not among them, and how it can, as a sentence.
  [[nodiscard]] QString notInReplay(int rank) const;
  /// The ranks of this cycle are, or were, past the gate.
  [[nodiscard]] bool haveStarted() const {
    return phase == Phase::Attaching || phase == Phase::Running || phase == Phase::GoingBack;
  }
  /// The ranks do what they did in the recording, and can be sent on in it.
  [[nodiscard]] bool goesOn() const { return phase == Phase::Running && !diverged; }
  /// All events of the trace. Reads them on this thread if nothing else has.
  [[nodiscard]] const views::TraceData& whole() const { return events.all(); }

  /// Events that the rank has begun.
  [[nodiscard]] Serial serialOf(int rank) const;
  [[nodiscard]] bool standsBeforeEvent(int rank) const;
  /// Events that each rank has done, by rank; all of those that do not run.
  [[nodiscard]] std::vector<Serial> eventsDone() const;
  [[nodiscard]] RanksNow ranksNow() const;
  /// The rank's GDB; null while it has none.
  [[nodiscard]] mi::GdbSession* debugger(int rank) const;
  /// The same, null also while it runs.
  [[nodiscard]] mi::GdbSession* stoppedDebugger(int rank) const;

  [[nodiscard]] QList<values::RankState> rankStates() const;
  [[nodiscard]] std::vector<values::ReplayPosition> positions() const;
};

}  // namespace pf::session

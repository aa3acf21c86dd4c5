// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish replay: the recorded run once more, with the same deliveries.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "app/collation/collate.h"
#include "app/job/job.h"
#include "app/replaying/part_of_job.h"
#include "db/store/trace_store.h"
#include "replay_engine/base/result.h"

namespace pf::app {

struct ReplayOptions {
  std::string trace;
  std::vector<std::string> launcherOptions;
  std::uint64_t jitterSeed = 0;   ///< 0 = none
  std::optional<EventRef> until;  ///< stop there
  std::vector<EventRef> cut;      ///< stop each rank just before its event: one of each rank
  bool stopAtEnd = false;         ///< hold the ranks where a recording that is cut ends
  bool force = false;
  std::string deliveries;       ///< "pinned" or "tagged"; empty = by what the trace holds
  bool ignoreContents = false;  ///< what messages hold may differ from what they held
  PartOfJob part;               ///< which ranks run
  bool survey = false;          ///< re-execute with the full event log, and put it into the trace
  bool boundedBuffers = false;  ///< hold messages back until their receivers are ready for them
  bool sameAddresses = false;   ///< the trace must have been recorded so
  std::chrono::milliseconds stallAfter{0};  ///< every rank waits: until that is told; 0 = by itself
  bool environmentOfNow = false;  ///< the ranks get the environment of now, not the recorded one
  bool quiet = false;
};

/// Opens a trace; makes it first from the logs of a recording that was not finished.
Result<db::TraceStore> openTrace(const std::string& path, db::TraceStore::Mode mode);

/// What a Job needs to replay the trace `store`. `session` holds mode bits beyond kReplay, pty and
/// so on.
Result<JobOptions> replayJob(db::TraceStore& store, protocol::SessionConfig session,
                             std::uint64_t jitterSeed,
                             const std::vector<std::string>& launcherOptions, bool force);

/// Stops that hold every rank at the end of its record, so that no rank runs beyond the recording
/// before the one that failed has failed again; empty where every rank reached MPI_Finalize.
std::vector<std::uint64_t> stopsAtEnd(const db::TraceStore& store);

/// Usage unless the recording has this rank.
Status rankIsThere(const db::TraceStore& store, Rank rank);

/// Usage unless the recording has this event.
Status eventIsThere(const db::TraceStore& store, EventRef event);

/// Where the ranks are when one of them is just before an event.
struct Destination {
  std::string event;        ///< what it is
  std::vector<Serial> cut;  ///< events that each rank has done
};

/// Reads the execution from the last clock checkpoint before the event on. Usage where the survey did not come to this event.
Result<Destination> destinationOf(const std::string& trace, EventRef target);

/// The same in an execution that is known.
Result<Destination> destinationIn(const Execution& execution, EventRef target);

/// For each rank the number of events before its one of `events`, which name each rank once. Usage if
/// they do not, or if that is no consistent cut.
/// `running`: of a part of the job, its ranks; an event of each, and the others are where these need them. Empty: all.
Result<std::vector<Serial>> cutBeforeAll(const db::TraceStore& store, const Execution& execution,
                                         const std::vector<Rank>& running,
                                         const std::vector<EventRef>& events);

/// A rank that called MPI from several threads, for what does not know of them; nothing: none did.
Result<std::optional<Rank>> rankWithThreads(db::TraceStore& store);

/// Stops for a survey of a recording that is cut: as stopsAtEnd(), but a rank that ended by itself
/// inside of a call (a fatal error; not MPI_Abort, which is known) stops before that call, so that
/// every other rank gets to the end of its record first.
Result<std::vector<std::uint64_t>> stopsBeforeFailure(db::TraceStore& store);

/// Replays and returns the exit status for the shell. Divergence is an Error with code Divergence.
Result<int> replay(const ReplayOptions& options);

/// The receive after which the run failed (failure.h), or racing receive `number` (from 1, in the
/// order of 'photofinish races'): for ReplayOptions::until. Survey the trace if need be; Usage if
/// there is none.
Result<EventRef> failingReceiveOf(const std::string& trace);
Result<EventRef> racingReceiveOf(const std::string& trace, std::uint64_t number);

/// Whether the events of the trace are not known yet.
Result<bool> needsSurvey(const std::string& trace);
/// Fills the events, races and call sites of a trace that has choices only, by replaying it once.
Status surveyIfNeeded(const std::string& trace);
/// All replay()s of this process end their ranks, fail, and so do later ones. For a signal handler.
void endReplays();

}  // namespace pf::app

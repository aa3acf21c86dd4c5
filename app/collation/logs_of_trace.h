// SPDX-License-Identifier: GPL-3.0-or-later
// The logs of a trace, and the execution that they are.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "db/store/trace_store.h"
#include "replay_engine/base/result.h"
#include "replay_engine/log/rank_log.h"

namespace pf::app {

/// Of a rank that left no log, or none that can be read; `why` is said of it.
RankLog emptyLog(Rank rank, std::int32_t size, std::string why);

/// Whether each log begins as one of its rank does, which no checksum tells.
Status logsAreTheirRanks(db::TraceStore& store);
/// The logs of a trace, one a rank, as they were recorded. `contents`: as readLog().
Result<std::vector<RankLog>> readLogs(db::TraceStore& store,
                                      db::TraceStore::Log which = db::TraceStore::Log::Recorded,
                                      bool contents = false);
using LogFiles = std::map<Rank, std::vector<unsigned char>>;
/// Their bytes, of those ranks that have one.
Result<LogFiles> logFilesOf(db::TraceStore& store, db::TraceStore::Log which);
/// Whether a survey came to the end of what was recorded of a rank. One that ended inside of a call may end before that
/// call's record.
[[nodiscard]] bool seenAgain(Serial seen, Serial recorded, bool complete);
/// The execution of a trace that has one (hasExecution()): from the logs of the recording or of the
/// survey where they hold it, which is much quicker than from the rows.
Result<Execution> loadExecution(db::TraceStore& store);
/// The times of an execution that a survey of this trace saw are those of its own run: marks them so, or puts those of the recording
/// in their place where it has them.
void useRecordedTimes(db::TraceStore& store, Execution& surveyed);

}  // namespace pf::app

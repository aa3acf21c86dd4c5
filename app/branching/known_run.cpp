// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/branching/known_run.h"

#include <algorithm>

#include "app/branching/seen_run.h"
#include "app/collation/collate.h"
#include "app/collation/logs_of_trace.h"
#include "app/replaying/replay.h"
#include "app/traces/own_traces.h"

namespace pf::app {
Result<KnownRun> knownRun(const std::string& trace) {
  if (Status may = mayRun(trace); !may) {
    return may.error();
  }
  if (Status surveyed = surveyIfNeeded(trace); !surveyed) {
    return surveyed.error();
  }
  Result<db::TraceStore> store = openTrace(trace, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  const Result<std::optional<Rank>> threaded = rankWithThreads(*store);
  if (!threaded) {
    return threaded.error();
  }
  if (*threaded) {
    return threadsCallMpi(**threaded);
  }
  KnownRun known;
  known.run = store->run();
  known.ranks = store->ranks();
  Result<LogFiles> logs = logFilesOf(*store, db::TraceStore::Log::Survey);
  if (logs && logs->empty()) {
    logs = logFilesOf(*store, db::TraceStore::Log::Recorded);
  }
  if (!logs) {
    return logs.error();
  }
  known.logs = std::move(*logs);
  Result<Execution> execution = loadExecution(*store);
  if (!execution) {
    return execution.error();
  }
  known.execution = std::move(*execution);
  Result<std::vector<db::StoredRace>> races = store->races();
  if (!races) {
    return races.error();
  }
  for (db::StoredRace& race : *races) {
    known.races.push_back(std::move(race.race));
  }
  return known;
}

std::string messageText(const Execution& execution, std::uint32_t message) {
  const Message& m = execution.messages[message];
  return "the message that rank " + std::to_string(m.send.rank) + " sent at its event " +
         std::to_string(m.send.serial) + ", tag " + std::to_string(m.tag);
}

}  // namespace pf::app

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replaying/forced_deliveries.h"

#include <algorithm>

#include "app/collation/collate.h"
#include "app/collation/logs_of_trace.h"
#include "app/collation/race_reduction.h"

namespace pf::app {
namespace {

bool holdsRoutes(const RankLog& log) {
  return log.routesOnly.has_value();
}

}  // namespace

Status canForce(db::TraceStore& store, const std::string& deliveries) {
  const bool held = std::ranges::any_of(
      store.ranks(), [](const db::RankInfo& rank) { return rank.routesKept.has_value(); });
  if (deliveries.empty() && !held) {
    return {};
  }
  Result<std::vector<RankLog>> logs = readLogs(store);
  if (!logs) {
    return logs.error();
  }
  if (deliveries != "pinned" && held) {
    Result<ShadowRoutes> whole = collatedRoutes(*logs);
    return whole ? Status() : Status(whole.error());
  }
  if (deliveries == "tagged" || std::ranges::none_of(*logs, holdsRoutes)) {
    return {};
  }
  Result<std::vector<RankLog>> survey = readLogs(store, db::TraceStore::Log::Survey);
  for (std::size_t i = 0; i < logs->size(); ++i) {
    if (holdsRoutes((*logs)[i]) && (!survey || (*survey)[i].serials < (*logs)[i].serials)) {
      return Error{
          ErrorCode::Usage,
          "rank " + std::to_string((*logs)[i].rank) +
              " has no sources to pin: the trace names its traced messages by tags, and no "
              "survey of it is whole",
          "Replay it without --force pinned."};
    }
  }
  return {};
}

Result<ShadowRoutes> routesToForce(db::TraceStore& store, const std::vector<RankLog>& logs,
                                   const std::string& deliveries) {
  const bool held = std::ranges::any_of(logs, holdsRoutes);
  if (deliveries == "pinned" || (!held && deliveries.empty())) {
    return ShadowRoutes();
  }
  if (held) {
    return collatedRoutes(logs);
  }
  Result<Execution> execution = loadExecution(store);
  if (!execution) {
    return execution.error();
  }
  // What a rank was in when its record ended is known by its pins only.
  std::vector<bool> whole;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const bool inside = logs[i].lanes.empty() ? logs[i].insideLast : !logs[i].complete;
    whole.push_back(!inside && i < execution->ranks.size() &&
                    execution->ranks[i].events.size() >= logs[i].serials);
  }
  return routesOf(*execution, whole);
}

void takePins(std::vector<RankLog>& logs, const std::vector<RankLog>& survey) {
  for (std::size_t i = 0; i < logs.size() && i < survey.size(); ++i) {
    if (holdsRoutes(logs[i])) {
      logs[i].wildSources = survey[i].wildSources;
    }
  }
}

}  // namespace pf::app

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collation/rank_rows.h"

#include <algorithm>

#include "app/collation/call_sites.h"
#include "app/version.h"

namespace pf::app {
namespace {

/// `last`: "ended ", or "was " of a rank that still runs.
std::string stateText(const RankLog& log, const Execution& execution, const RankEnd& end,
                      const std::string& last) {
  if (log.complete) {
    return "finished";
  }
  if (log.history.events.empty() && !log.insideLast) {
    return log.serials == 0 ? log.cut : last + "after event " + std::to_string(log.serials);
  }
  const std::string call =
      log.lastCall < execution.callNames.size() ? execution.callNames[log.lastCall] : "?";
  if (log.insideLast && end.stuck) {
    return stuckText(call, log.serials, *end.stuck);
  }
  return last + (log.insideLast ? "inside " : "after ") + call + " (event " +
         std::to_string(log.serials) + ")";
}

}  // namespace

db::RankInfo rankInfo(const RankLog& log, const RunFacts& facts, const Execution& execution) {
  db::RankInfo info;
  info.rank = log.rank;
  info.pid = log.pid;
  info.executable = log.executable;
  info.buildId = buildIdOf(log.executable);
  info.threadLevel = log.threadLevel;
  info.lastSerial = log.serials;
  info.complete = log.complete;
  info.cutReason = log.cut;
  const auto end = facts.ends.find(log.rank);
  info.state = stateText(log, execution, end != facts.ends.end() ? end->second : RankEnd{},
                         facts.goesOn ? "was " : "ended ");
  if (end != facts.ends.end()) {
    info.exitStatus = end->second.status;
    info.exitSignal = end->second.signal;
    info.host = end->second.host;
    if (!end->second.core.empty()) {
      info.state += (info.state.empty() ? "core file: " : "; core file: ") + end->second.core;
    }
  }
  info.probesAnswered = probesAnswered(log);
  if (const auto& reads = log.values[static_cast<std::size_t>(ValueKind::Cycles)]; !reads.empty()) {
    info.tscReads = static_cast<std::uint64_t>(
        std::count_if(reads.begin(), reads.end(), [](unsigned char byte) { return byte < 0x80; }));
  }
  return info;
}

void addRaces(db::RankInfo& info, const RaceReduction& reduction) {
  const auto own = std::ranges::find(reduction.perRank, info.rank, &RankRaces::rank);
  if (own == reduction.perRank.end()) {
    return;
  }
  info.wildcardReceives = own->wildcards;
  info.racesFoundBy = own->found ? reduction.algorithm : std::string();
  info.racesFound = own->found;
  info.sourcesKept = own->kept;
  info.routesKept = own->routed ? std::optional(own->kept) : std::nullopt;
}

db::RunInfo runInfo(const std::vector<RankLog>& logs, const RunFacts& facts) {
  db::RunInfo run;
  run.createdUtc = facts.createdUtc;
  run.finishedUtc = utcNow();
  run.command = facts.command;
  run.workingDirectory = facts.workingDirectory;
  run.launcher = facts.launcher;
  run.program = facts.program;
  run.sameAddresses = facts.sameAddresses;
  run.longestWait = facts.longestWait;
  run.groups = facts.groups;
  run.ranks = static_cast<std::int32_t>(logs.size());
  run.mode = facts.mode;
  run.host = hostName();
  run.version = kVersion;
  run.exitStatus = facts.exitStatus;
  run.salt = facts.salt;
  run.complete =
      std::all_of(logs.begin(), logs.end(), [](const RankLog& log) { return log.complete; });
  for (const RankLog& log : logs) {
    run.mpiLibrary = run.mpiLibrary.empty() ? log.mpiLibrary : run.mpiLibrary;
  }
  return run;
}

std::vector<db::RankInfo> ranksOf(const std::vector<RankLog>& logs, const RunFacts& facts,
                                  const Execution& execution) {
  std::vector<db::RankInfo> ranks;
  ranks.reserve(logs.size());
  for (const RankLog& log : logs) {
    ranks.push_back(rankInfo(log, facts, execution));
  }
  return ranks;
}

std::uint64_t probesAnswered(const RankLog& log) {
  std::uint64_t probes = 0;
  for (const ChoiceKind kind :
       {ChoiceKind::Iprobe, ChoiceKind::Improbe, ChoiceKind::Probe, ChoiceKind::Mprobe}) {
    const auto k = static_cast<std::size_t>(kind);
    probes += log.choices[k].size();
    for (const LoggedLane& lane : log.lanes) {
      probes += lane.choices[k].size();
    }
  }
  return probes;
}

std::string andProbes(std::uint64_t probes) {
  return probes == 0 ? "" : ", " + std::to_string(probes) + (probes == 1 ? " probe" : " probes");
}

}  // namespace pf::app

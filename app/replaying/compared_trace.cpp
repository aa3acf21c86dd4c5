// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replaying/compared_trace.h"

#include "mpi_calls.h"

#include <algorithm>
#include <csignal>
#include <map>
#include <utility>

#include "app/collation/logs_of_trace.h"
#include "app/files/paths.h"
#include "app/replaying/replay.h"

namespace pf::app {
namespace {

/// Error where the two cannot be compared; else whether all that their calls come from is the same.
Result<bool> comparable(db::TraceStore& a, db::TraceStore& b) {
  if (a.run().ranks != b.run().ranks) {
    return Error{ErrorCode::Usage,
                 a.path() + " has " + std::to_string(a.run().ranks) + " ranks, " + b.path() + " " +
                     std::to_string(b.run().ranks) + ": they cannot be aligned",
                 "Compare two recordings of one program with the same number of ranks."};
  }
  bool builds = true;
  for (std::size_t i = 0; i < a.ranks().size() && i < b.ranks().size(); ++i) {
    const db::RankInfo& p = a.ranks()[i];
    const db::RankInfo& q = b.ranks()[i];
    if (p.executable.empty() || q.executable.empty()) {
      continue;
    }
    const bool sameBuild = p.buildId == q.buildId;
    builds = builds && sameBuild;
    if ((!sameBuild || p.buildId.empty()) && fileName(p.executable) != fileName(q.executable)) {
      return Error{ErrorCode::Usage,
                   "rank " + std::to_string(i) + " is " + p.executable + " in " + a.path() +
                       ", but " + q.executable + " in " + b.path(),
                   "Compare two recordings of one program (another build of it will do)."};
    }
  }
  Result<std::vector<db::ModuleInfo>> modulesA = a.modules();
  Result<std::vector<db::ModuleInfo>> modulesB = b.modules();
  if (!modulesA || !modulesB) {
    return modulesA ? modulesB.error() : modulesA.error();
  }
  std::map<std::string, std::string> known;
  for (const db::ModuleInfo& module : *modulesA) {
    known[fileName(module.path)] = module.buildId;
  }
  for (const db::ModuleInfo& module : *modulesB) {
    const auto found = known.find(fileName(module.path));
    builds = builds && (found == known.end() || found->second == module.buildId);
  }
  return builds;
}

RecordEnd endOf(const db::RankInfo& info, const RankLog& log, std::size_t events) {
  if (events < info.lastSerial) {
    return RecordEnd::Cut;  // the survey did not see all
  }
  if (info.complete) {
    return RecordEnd::Finished;
  }
  if (log.lastCall == kCallAbort && !log.history.events.empty()) {
    return RecordEnd::Failed;
  }
  const int signal = info.exitSignal.value_or(0);
  const bool ended = signal == SIGTERM || signal == SIGKILL || signal == SIGINT || signal == SIGHUP;
  return (signal != 0 || info.exitStatus) && !ended ? RecordEnd::Failed : RecordEnd::Cut;
}

struct ChoiceStream {
  ChoiceKind kind;
  std::uint16_t call;
  bool payload;                            ///< says more than which receives completed
  std::vector<std::uint16_t> others = {};  ///< calls whose choices are in it as well
};
const ChoiceStream kStreams[] = {
    {ChoiceKind::Test, kCallTest, false},
    {ChoiceKind::Testall, kCallTestall, false},
    {ChoiceKind::Testany, kCallTestany, true, {kCallRequest_get_status_any}},
    {ChoiceKind::Testsome, kCallTestsome, true, {kCallRequest_get_status_some}},
    {ChoiceKind::Waitany, kCallWaitany, true},
    {ChoiceKind::Waitsome, kCallWaitsome, true},
    {ChoiceKind::Iprobe, kCallIprobe, false},
    {ChoiceKind::Improbe, kCallImprobe, false},
    {ChoiceKind::GetStatus, kCallRequest_get_status, false, {kCallRequest_get_status_all}}};

/// The n-th success of a kind is the n-th event with its calls, unless their numbers say otherwise.
std::vector<ObservedChoice> stream(const ChoiceStream& which, const RankLog& log,
                                   const std::vector<Serial>& events, bool whole) {
  const auto& recorded = log.choices[static_cast<std::size_t>(which.kind)];
  const bool placed = events.size() == recorded.size() ||
                      (!whole && events.size() == recorded.size() + 1);  // inside of the last one
  std::vector<ObservedChoice> choices;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    choices.push_back({placed ? events[i] : 0, recorded[i].failedPolls,
                       which.payload ? recorded[i].payload : std::vector<std::uint64_t>()});
  }
  if (whole) {
    choices.push_back({0, log.finalFailedPolls[static_cast<std::size_t>(which.kind)], {}});
  }
  return choices;
}

RankFacts factsOf(const db::RankInfo& info, const RankLog& log, const RankHistory& history) {
  RankFacts facts;
  facts.end = endOf(info, log, history.events.size());
  if (facts.end == RecordEnd::Finished && !info.exitSignal) {
    facts.exitStatus = info.exitStatus;
  }
  std::map<std::uint16_t, std::vector<Serial>> successes;
  for (std::size_t i = 0; i < history.events.size(); ++i) {
    if (history.events[i].kind != EventKind::Local) {
      successes[history.events[i].call].push_back(i + 1);
    }
  }
  for (const ChoiceStream& each : kStreams) {
    std::vector<Serial> events = successes[each.call];
    for (const std::uint16_t other : each.others) {
      events.insert(events.end(), successes[other].begin(), successes[other].end());
    }
    std::sort(events.begin(), events.end());
    facts.choices.push_back(stream(each, log, events, facts.end == RecordEnd::Finished));
  }
  return facts;
}

Result<ComparedTrace> compared(const std::string& path) {
  Result<Loaded> loaded = load(path);
  if (!loaded) {
    Error error = loaded.error();
    if (error.code == ErrorCode::Divergence) {  // of its survey: say whose
      error.message = "the events of " + path + " cannot be found out: " + error.message;
    }
    return error;
  }
  Result<std::vector<RankLog>> logs = readLogs(loaded->store);
  if (!logs) {
    return logs.error();
  }
  std::vector<RankFacts> facts;
  const auto& ranks = loaded->store.ranks();
  for (std::size_t i = 0; i < loaded->execution.ranks.size(); ++i) {
    facts.push_back(i < ranks.size() && i < logs->size()
                        ? factsOf(ranks[i], (*logs)[i], loaded->execution.ranks[i])
                        : RankFacts());
  }
  return ComparedTrace{path, std::move(*loaded), std::move(facts)};
}

}  // namespace

Result<ComparedTraces> loadCompared(const std::string& a, const std::string& b) {
  Result<bool> builds = true;
  {
    Result<db::TraceStore> first = openTrace(a, db::TraceStore::Mode::ReadOnly);
    if (!first) {
      return first.error();
    }
    Result<db::TraceStore> second = openTrace(b, db::TraceStore::Mode::ReadOnly);
    if (!second) {
      return second.error();
    }
    builds = comparable(*first, *second);
    if (!builds) {
      return builds.error();
    }
  }
  Result<ComparedTrace> first = compared(a);
  if (!first) {
    return first.error();
  }
  Result<ComparedTrace> second = compared(b);
  if (!second) {
    return second.error();
  }
  return ComparedTraces{std::move(*first), std::move(*second), *builds};
}

}  // namespace pf::app

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/reports/report.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

#include "app/collation/race_reduction.h"
#include "app/replaying/replay.h"
#include "app/replaying/report_parts.h"
#include "app/reports/tracing_report.h"
#include "app/traces/own_traces.h"
#include "app/traces/redact.h"
#include "replay_engine/base/text_stream.h"

namespace pf::app {

using nlohmann::json;

std::string dump(const json& document) {
  return document.dump(1, ' ', true, json::error_handler_t::replace) + "\n";
}

namespace {

json optionalNumber(const std::optional<std::int32_t>& value) {
  return value ? json(*value) : json(nullptr);
}

}  // namespace

void putPlace(json& out, const Execution& execution, EventRef ref) {
  out["rank"] = ref.rank;
  out["serial"] = ref.serial;
  const Event& event = execution.ranks[static_cast<std::size_t>(ref.rank)].events[ref.serial - 1];
  out["call"] = event.call < execution.callNames.size() ? execution.callNames[event.call] : "";
  if (event.site < execution.sites.size()) {
    const CallSite& site = execution.sites[event.site];
    out["file"] = site.file.empty() ? json(nullptr) : json(site.file);
    out["line"] = site.file.empty() ? json(nullptr) : json(site.line);
    out["function"] = site.function;
  } else {
    out["file"] = nullptr;
    out["line"] = nullptr;
  }
}

Result<Loaded> load(const std::string& trace) {
  if (Status status = surveyIfNeeded(trace); !status) {
    return status.error();
  }
  return loadSurveyed(trace);
}

Result<Loaded> loadSurveyed(const std::string& trace) {
  Result<db::TraceStore> store = openTrace(trace, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  Result<Execution> execution = loadExecution(*store);
  if (!execution) {
    return execution.error();
  }
  return Loaded{std::move(*store), std::move(*execution)};
}

json timesName(TimeOrigin origin) {
  switch (origin) {
    case TimeOrigin::Recording:
      return "recording";
    case TimeOrigin::Reexecution:
      return "survey";
    case TimeOrigin::None:
      break;
  }
  return nullptr;
}

const char* kindText(EventKind kind) {
  switch (kind) {
    case EventKind::Send:
      return "send";
    case EventKind::Receive:
      return "receive";
    case EventKind::SendReceive:
      return "send-receive";
    case EventKind::Post:
      return "post";
    case EventKind::Completion:
      return "completion";
    case EventKind::Probe:
      return "probe";
    case EventKind::Collective:
      return "collective";
    case EventKind::CollectivePost:
      return "collective-post";
    case EventKind::Local:
      return "local";
    case EventKind::Start:
      return "start";
  }
  return "";
}

namespace {

/// What ranks of a recording of mode races found.
struct OnlineRaces {
  std::string algorithm;
  std::uint64_t found = 0;
  std::uint64_t kept = 0;
  bool tags = false;  ///< some are forced by tags
  void add(const db::RankInfo& rank) {
    algorithm = rank.racesFoundBy.empty() ? algorithm : rank.racesFoundBy;
    found += rank.racesFound.value_or(0);
    kept += rank.sourcesKept.value_or(0);
    tags = tags || rank.routesKept.has_value();
  }
};

json onlineJson(const OnlineRaces& online) {
  return online.algorithm.empty()
             ? json(nullptr)
             : json{{"algorithm", online.algorithm}, {"racingDeliveries", online.found}};
}

/// As JSON has it.
const char* ownerName(Owner owner) {
  switch (owner) {
    case Owner::Own:
      return "own";
    case Owner::TakenOver:
      return "taken over";
    case Owner::Foreign:
      break;
  }
  return "stranger";
}

/// For people.
const char* ownerText(Owner owner) {
  switch (owner) {
    case Owner::Own:
      return "you";
    case Owner::TakenOver:
      return "you, who have taken it over";
    case Owner::Foreign:
      break;
  }
  return "a stranger: not recorded by you on this machine, or changed since";
}

/// For people.
const char* timesText(TimeOrigin origin) {
  switch (origin) {
    case TimeOrigin::Recording:
      return "of the recording";
    case TimeOrigin::Reexecution:
      return "of the survey's re-execution, not of the recording ('record --mode all' keeps its "
             "own)";
    case TimeOrigin::None:
      break;
  }
  return "none ('record --mode all' keeps them, 'replay --survey' those of a re-execution)";
}

}  // namespace

Result<std::string> infoReport(const std::string& trace, bool asJson, bool tracing) {
  std::optional<TracingCounts> counts;
  if (tracing) {
    Result<Loaded> loaded = load(trace);
    if (!loaded) {
      return loaded.error();
    }
    Result<std::vector<db::StoredRace>> stored = loaded->store.races();
    if (!stored) {
      return stored.error();
    }
    std::vector<Race> races;
    for (db::StoredRace& each : *stored) {
      races.push_back(std::move(each.race));
    }
    counts = countTracing(loaded->execution, races);
  }
  Result<db::TraceStore> store = openTrace(trace, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  const Result<TimeOrigin> times = store->timeOrigin();
  if (!times) {
    return times.error();
  }
  const Result<Owner> owner = ownerOf(*store);
  if (!owner) {
    return owner.error();
  }
  const db::RunInfo& run = store->run();
  const std::uint64_t messages = run.messages.value_or(0);
  std::uint64_t bytes = 0;
  for (const db::RankInfo& rank : store->ranks()) {
    bytes += rank.logBytes;
  }
  std::uint64_t wildcards = run.wildcardReceives.value_or(0);
  if (!run.wildcardReceives) {
    Result<std::vector<RankLog>> logs = readLogs(*store);
    if (!logs) {
      return logs.error();
    }
    for (const RankLog& log : *logs) {
      wildcards += log.wildSources.size();
    }
  }
  const Result<std::vector<db::NotGuaranteed>> notes = store->notGuaranteed();
  if (!notes) {
    return notes.error();
  }
  OnlineRaces online;
  std::optional<std::uint64_t> probes;
  for (const db::RankInfo& rank : store->ranks()) {
    online.add(rank);
    if (rank.probesAnswered) {
      probes = probes.value_or(0) + *rank.probesAnswered;
    }
  }
  if (asJson) {
    json noted = json::array();
    for (const auto& [rank, text] : *notes) {
      noted.push_back({{"rank", rank}, {"text", text}});
    }
    json ranks = json::array();
    json cuts = json::array();
    for (const db::RankInfo& rank : store->ranks()) {
      ranks.push_back({{"rank", rank.rank},
                       {"pid", rank.pid},
                       {"host", rank.host},
                       {"executable", rank.executable},
                       {"buildId", rank.buildId},
                       {"events", rank.lastSerial},
                       {"complete", rank.complete},
                       {"state", rank.state},
                       {"exitStatus", optionalNumber(rank.exitStatus)},
                       {"signal", optionalNumber(rank.exitSignal)},
                       {"bytes", rank.logBytes}});
      if (!rank.complete) {
        cuts.push_back(
            {{"rank", rank.rank}, {"serial", rank.lastSerial}, {"reason", rank.cutReason}});
        ranks.back()["cut"] = rank.cutReason;
      }
    }
    return dump({{"ranks", run.ranks},
                 {"owner", ownerName(*owner)},
                 {"command", run.command},
                 {"directory", run.workingDirectory},
                 {"program", run.program},
                 {"mode", run.mode},
                 {"messages", run.messages ? json(messages) : json(nullptr)},
                 {"wildcardReceives", wildcards},
                 {"probes", probes ? json(*probes) : json(nullptr)},
                 {"racingReceives", run.racingReceives ? json(*run.racingReceives) : json(nullptr)},
                 {"traced", online.algorithm.empty() ? wildcards : online.kept},
                 {"forcedBy", online.tags ? "tags" : "pins"},
                 {"foundWhileRecording", onlineJson(online)},
                 {"times", timesName(*times)},
                 {"bytes", bytes},
                 {"complete", run.complete},
                 {"cut", cuts},
                 {"notGuaranteed", noted},
                 {"tracing", counts ? tracingJson(*counts) : json(nullptr)},
                 {"sameAddresses", run.sameAddresses},
                 {"redacted", run.redacted},
                 {"exitStatus", optionalNumber(run.exitStatus)},
                 {"mpi", run.mpiLibrary},
                 {"host", run.host},
                 {"created", run.createdUtc},
                 {"finished", run.finishedUtc},
                 {"version", run.version},
                 {"uuid", run.uuid},
                 {"perRank", ranks}});
  }
  TextStream out;
  std::string command;
  for (const std::string& word : run.command) {
    command += (command.empty() ? "" : " ") + word;
  }
  out << "command   " << command << "\nin        " << run.workingDirectory << "\nrecorded  "
      << run.createdUtc << " on " << run.host << ", mode " << run.mode << "\nowner     "
      << ownerText(*owner) << "\nMPI       " << run.mpiLibrary << "\nranks     " << run.ranks
      << "\nmessages  "
      << (run.messages ? std::to_string(messages)
                       : "not known (choices only; 'photofinish races' finds out)")
      << "\nwildcard  " << wildcards << " receives, "
      << (online.algorithm.empty() || online.kept == wildcards ? "all"
                                                               : std::to_string(online.kept))
      << " traced\n";
  if (probes) {
    out << "probes    " << *probes << " that saw a message\n";
  }
  out << "racing    "
      << (run.racingReceives ? std::to_string(*run.racingReceives) : "not known yet")
      << "\ntimes     " << timesText(*times) << "\nlog       " << bytes << " bytes\n";
  if (run.redacted) {
    out << "redacted  " << kRedactedText << "\n";
  }
  if (!online.algorithm.empty()) {
    out << "found     " << online.found << " racing deliveries while it ran, by "
        << online.algorithm << (online.tags ? "; replayed by tags\n" : "\n");
  }
  if (run.exitStatus) {
    out << "exit      " << *run.exitStatus << "\n";
  }
  out << (run.complete ? "complete\n" : "cut short:\n");
  for (const db::RankInfo& rank : store->ranks()) {
    if (!rank.complete) {
      out << "  rank " << rank.rank << ": " << rank.cutReason
          << (rank.state.empty() ? "" : "; " + rank.state) << "\n";
    }
  }
  for (const auto& [rank, text] : *notes) {
    out << "not guaranteed in a replay: rank " << rank << ": " << text << "\n";
  }
  if (counts) {
    out << tracingText(*counts);
  }
  return out.str();
}

}  // namespace pf::app

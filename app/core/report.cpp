#include "app/report.h"

#include "race_reduction.h"
#include "report_parts.h"
#include "tracing_report.h"
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <sstream>

#include "app/replay.h"

namespace pf::app {

using nlohmann::json;

std::string dump(const json& document) {
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
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

namespace {

json messageJson(const Execution& execution, std::uint32_t index) {
  json out = json::object();
  if (index >= execution.messages.size()) {
    return nullptr;
  }
  const Message& message = execution.messages[index];
  putPlace(out, execution, message.send);
  out["tag"] = message.tag;
  return out;
}

}  // namespace

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

json raceJson(const Execution& execution, const db::StoredRace& stored) {
  const Race& race = stored.race;
  const RankHistory& rank = execution.ranks[static_cast<std::size_t>(race.rank)];
  json receive = json::object();
  putPlace(receive, execution, raceEvent(execution, race));
  receive["probe"] = race.probe;
  if (!race.probe) {
    const PostedReceive& posted = rank.receives[race.index];
    receive["post"] = race.index;
    if (posted.completion != posted.post) {
      json completion = json::object();
      putPlace(completion, execution, {race.rank, posted.completion});
      completion.erase("rank");
      receive["completion"] = completion;
    }
  }
  json alternatives = json::array();
  for (const std::uint32_t alternative : race.alternatives) {
    alternatives.push_back(messageJson(execution, alternative));
  }
  return {{"receive", receive},
          {"taken", messageJson(execution, race.taken)},
          {"alternatives", alternatives},
          {"class", stored.raceClass}};
}

std::string placeText(const Execution& execution, EventRef ref) {
  return "rank " + std::to_string(ref.rank) + " event " + std::to_string(ref.serial) + " " +
         eventText(execution, ref);
}

/// What ranks of a recording of mode races found, from their counters.
struct OnlineRaces {
  std::string algorithm;
  std::uint64_t found = 0;
  std::uint64_t kept = 0;
  bool tags = false;  ///< some are forced by tags
  void add(const db::RankCounter& counter) {
    if (counter.name.rfind(kRacingFoundBy, 0) == 0) {
      algorithm = counter.name.substr(kRacingFoundBy.size());
      found += static_cast<std::uint64_t>(counter.value);
    } else if (counter.name == kSourcesKept) {
      kept += static_cast<std::uint64_t>(counter.value);
    } else if (counter.name == kTagsKept) {
      tags = true;
    }
  }
};

json onlineJson(const OnlineRaces& online) {
  return online.algorithm.empty()
             ? json(nullptr)
             : json{{"algorithm", online.algorithm}, {"racingDeliveries", online.found}};
}

/// In JSON.
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

/// For people.
const char* timesText(TimeOrigin origin) {
  switch (origin) {
    case TimeOrigin::Recording:
      return "of the recording";
    case TimeOrigin::Reexecution:
      return "of the survey's re-execution, not of the recording ('record --mode all' keeps its own)";
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
  Result<std::vector<db::RankCounter>> counters = store->counters();
  if (!counters) {
    return counters.error();
  }
  std::vector<std::pair<Rank, std::string>> notes;
  OnlineRaces online;
  bool sameAddresses = false;
  for (const db::RankCounter& counter : *counters) {
    sameAddresses = sameAddresses || counter.name == kSameMemory;
    online.add(counter);
    if (counter.name.rfind(kNotGuaranteed, 0) == 0) {
      notes.emplace_back(counter.rank, counter.name.substr(kNotGuaranteed.size()));
    }
  }
  if (asJson) {
    json noted = json::array();
    for (const auto& [rank, text] : notes) {
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
                 {"command", run.command},
                 {"directory", run.workingDirectory},
                 {"program", run.program},
                 {"mode", run.mode},
                 {"messages", run.messages ? json(messages) : json(nullptr)},
                 {"wildcardReceives", wildcards},
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
                 {"sameAddresses", sameAddresses},
                 {"exitStatus", optionalNumber(run.exitStatus)},
                 {"mpi", run.mpiLibrary},
                 {"host", run.host},
                 {"created", run.createdUtc},
                 {"finished", run.finishedUtc},
                 {"version", run.version},
                 {"uuid", run.uuid},
                 {"perRank", ranks}});
  }
  std::ostringstream out;
  std::string command;
  for (const std::string& word : run.command) {
    command += (command.empty() ? "" : " ") + word;
  }
  out << "command   " << command << "\nin        " << run.workingDirectory << "\nrecorded  "
      << run.createdUtc << " on " << run.host << ", mode " << run.mode << "\nMPI       "
      << run.mpiLibrary << "\nranks     " << run.ranks << "\nmessages  "
      << (run.messages ? std::to_string(messages)
                       : "not known (choices only; 'photofinish races' finds out)")
      << "\nwildcard  " << wildcards << " receives, "
      << (online.algorithm.empty() || online.kept == wildcards ? "all"
                                                               : std::to_string(online.kept))
      << " traced\nracing    "
      << (run.racingReceives ? std::to_string(*run.racingReceives) : "not known yet")
      << "\ntimes     " << timesText(*times) << "\nlog       " << bytes << " bytes\n";
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
  for (const auto& [rank, text] : notes) {
    out << "not guaranteed in a replay: rank " << rank << ": " << text << "\n";
  }
  if (counts) {
    out << tracingText(*counts);
  }
  return out.str();
}

Result<std::string> racesReport(const std::string& trace, bool asJson) {
  Result<Loaded> loaded = load(trace);
  if (!loaded) {
    return loaded.error();
  }
  Result<std::vector<db::StoredRace>> races = loaded->store.races();
  if (!races) {
    return races.error();
  }
  const Execution& execution = loaded->execution;
  if (asJson) {
    json all = json::array();
    for (const db::StoredRace& race : *races) {
      all.push_back(raceJson(execution, race));
    }
    return dump({{"races", all}});
  }
  std::ostringstream out;
  out << races->size() << (races->size() == 1 ? " racing receive\n" : " racing receives\n");
  for (const db::StoredRace& stored : *races) {
    out << placeText(execution, raceEvent(execution, stored.race)) << "\n";
    if (stored.race.taken < execution.messages.size()) {
      out << "    took     " << placeText(execution, execution.messages[stored.race.taken].send)
          << "\n";
    }
    for (const std::uint32_t alternative : stored.race.alternatives) {
      out << "    or could " << placeText(execution, execution.messages[alternative].send) << "\n";
    }
  }
  return out.str();
}

Result<std::string> eventsReport(const std::string& trace, std::optional<Rank> only, bool asJson) {
  if (only) {  // before a survey is made for it
    Result<db::TraceStore> store = openTrace(trace, db::TraceStore::Mode::ReadOnly);
    if (!store) {
      return store.error();
    }
    if (Status status = rankIsThere(*store, *only); !status) {
      return status.error();
    }
  }
  Result<Loaded> loaded = load(trace);
  if (!loaded) {
    return loaded.error();
  }
  const Execution& execution = loaded->execution;
  json all = json::array();
  std::ostringstream out;
  for (std::size_t r = 0; r < execution.ranks.size(); ++r) {
    if (only && static_cast<std::size_t>(*only) != r) {
      continue;
    }
    const RankHistory& rank = execution.ranks[r];
    std::map<Serial, json> deliveries;
    std::map<Serial, std::string> taken;
    std::map<std::uint32_t, Serial> ofThread;
    for (const PostedReceive& receive : rank.receives) {
      if (receive.state == ReceiveState::Complete) {
        json one = {{"post", receive.post}, {"source", receive.source}, {"tag", receive.tag}};
        if (receive.message < execution.messages.size()) {
          one["sendSerial"] = execution.messages[receive.message].send.serial;
        }
        deliveries[receive.completion].push_back(one);
        taken[receive.completion] +=
            " <- rank " + std::to_string(receive.source) + " tag " + std::to_string(receive.tag);
      }
    }
    for (const ProbeHit& probe : rank.probes) {
      taken[probe.event] +=
          " sees rank " + std::to_string(probe.source) + " tag " + std::to_string(probe.tag);
    }
    for (std::size_t i = 0; i < rank.events.size(); ++i) {
      const EventRef ref{static_cast<Rank>(r), i + 1};
      if (asJson) {
        json one = json::object();
        putPlace(one, execution, ref);
        const Event& event = rank.events[i];
        one["kind"] = kindText(event.kind);
        one["thread"] = event.lane;
        one["threadSerial"] = ++ofThread[event.lane];
        one["peer"] = event.peer;
        one["tag"] = event.tag;
        one["bytes"] = event.bytes;
        const bool timed = execution.timeOrigin != TimeOrigin::None;
        one["timeNs"] = timed ? json(rank.times[i].begin) : json(nullptr);
        one["durationNs"] = timed ? json(rank.times[i].end - rank.times[i].begin) : json(nullptr);
        one["communicator"] = event.comm < execution.communicators.size()
                                  ? json(execution.communicators[event.comm].name)
                                  : json(nullptr);
        if (const auto found = deliveries.find(ref.serial); found != deliveries.end()) {
          one["deliveries"] = found->second;
        }
        all.push_back(std::move(one));
      } else {
        const std::uint32_t lane = rank.events[i].lane;
        out << placeText(execution, ref) << taken[ref.serial]
            << (lane != 0 ? " (thread " + std::to_string(lane) + ")" : "") << "\n";
      }
    }
  }
  return asJson ? dump({{"times", timesName(execution.timeOrigin)}, {"events", all}}) : out.str();
}

}  // namespace pf::app

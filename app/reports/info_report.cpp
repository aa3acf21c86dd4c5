// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish info
#include <nlohmann/json.hpp>

#include <map>
#include <utility>

#include "app/collation/failure.h"
#include "app/collation/logs_of_trace.h"
#include "app/collation/printed_text.h"
#include "app/collation/race_reduction.h"
#include "app/replaying/replay.h"
#include "app/replaying/report_parts.h"
#include "app/reports/report.h"
#include "app/reports/tracing_report.h"
#include "app/traces/own_traces.h"
#include "app/traces/redact.h"
#include "replay_engine/base/text_stream.h"
#include "replay_engine/groups/replay_groups.h"

namespace pf::app {

using nlohmann::json;

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

json optionalNumber(const std::optional<std::int32_t>& value) {
  return value ? json(*value) : json(nullptr);
}

/// What a trace says of its run, without a look at its events.
struct Info {
  const db::RunInfo& run;
  const std::vector<db::RankInfo>& ranks;
  Owner owner = Owner::Foreign;
  TimeOrigin times = TimeOrigin::None;
  std::uint64_t bytes = 0;  ///< of all logs
  std::uint64_t wildcards = 0;
  std::optional<std::uint64_t> probes = {};  ///< that saw a message
  OnlineRaces online = {};
  std::vector<db::NotGuaranteed> notes = {};
  std::vector<db::PayloadInfo> contents = {};  ///< from outside of groups
  std::map<Rank, std::string> damaged = {};    ///< what of them, by the checksums of what is stored
  bool unchecked = false;                      ///< too many to read them for this
  std::optional<TracingCounts> tracing = {};
  LastPrinted printed = {};
};

json tracebackJson(const std::vector<TracedFrame>& traceback) {
  json frames = json::array();
  for (const TracedFrame& frame : traceback) {
    frames.push_back({{"file", frame.file}, {"line", frame.line}, {"function", frame.function}});
  }
  return traceback.empty() ? json(nullptr) : frames;
}

/// Of all ranks.
db::PayloadInfo allContents(const Info& info) {
  db::PayloadInfo all;
  for (const db::PayloadInfo& each : info.contents) {
    all.entries += each.entries;
    all.bytes += each.bytes;
    all.packedBytes += each.packedBytes;
  }
  return all;
}

/// A group of all ranks has no outside.
bool hasContents(const Info& info) {
  const Result<ReplayGroups> groups =
      ReplayGroups::parse(info.run.groups.value_or("each"), info.run.ranks);
  return !info.contents.empty() && !(groups && info.run.ranks > 1 && groups->count() == 1);
}

json contentsJson(const Info& info) {
  if (!hasContents(info)) {
    return nullptr;
  }
  const auto sizes = [](const db::PayloadInfo& of) {
    return json{{"entries", of.entries}, {"bytes", of.bytes}, {"packedBytes", of.packedBytes}};
  };
  json out = sizes(allContents(info));
  out["checked"] = !info.unchecked;
  for (const db::PayloadInfo& each : info.contents) {
    json one = sizes(each);
    one["rank"] = each.rank;
    one["ending"] = each.ending;
    one["end"] = contentsEnd(each);
    const auto damage = info.damaged.find(each.rank);
    one["damage"] = damage == info.damaged.end() ? json(nullptr) : json(damage->second);
    out["perRank"].push_back(std::move(one));
  }
  return out;
}

/// Their numbers, as --group takes them.
void tellGroups(TextStream& out, const db::RunInfo& run) {
  constexpr std::uint32_t kMostListed = 32;
  const Result<ReplayGroups> groups = ReplayGroups::parse(*run.groups, run.ranks);
  if (!groups || groups->count() == 1) {
    return;
  }
  if (groups->count() == groups->ranks()) {
    out << "  each rank is a group, which has the rank's number\n";
    return;
  }
  for (std::uint32_t group = 0; group < groups->count() && group < kMostListed; ++group) {
    out << "  group " << group << ": " << rangesText(groups->members(group)) << "\n";
  }
  if (groups->count() > kMostListed) {
    out << "  … and so on to group " << groups->count() - 1
        << ", in the order of their lowest ranks\n";
  }
}

/// For people.
void tellContents(TextStream& out, const Info& info) {
  if (info.run.groups) {
    out << "groups    " << *info.run.groups << "\n";
    tellGroups(out, info.run);
  }
  if (!hasContents(info)) {
    return;
  }
  const db::PayloadInfo all = allContents(info);
  out << "contents  of " << all.entries << " messages and results from outside of groups, for "
      << info.contents.size() << (info.contents.size() == 1 ? " rank: " : " ranks: ") << all.bytes
      << " bytes, " << all.packedBytes << " in the trace\n";
  for (const db::PayloadInfo& each : info.contents) {
    if (const std::string end = contentsEnd(each); !end.empty()) {
      out << "  rank " << each.rank << ": " << each.entries << ", then " << end << "\n";
    }
    if (const auto damage = info.damaged.find(each.rank); damage != info.damaged.end()) {
      out << "  rank " << each.rank << ": damaged: " << damage->second << "\n";
    }
  }
  if (info.unchecked) {
    out << "  so much of them was not read for this: 'photofinish check' looks whether it is "
           "whole\n";
  }
}

/// Takes what is stored as it is.
class Unseen final : public db::StoredContents {
 public:
  Status chunk(const db::PayloadInfo&, db::Bytes) override { return {}; }
  Status row(const db::PayloadInfo&) override { return {}; }
};

/// Whether the checksums of what is stored fit, without unpacking it.
Status checkContents(db::TraceStore& store, Info& info) {
  constexpr std::uint64_t kMostRead = std::uint64_t{256} << 20;
  info.unchecked = allContents(info).packedBytes > kMostRead;
  for (const db::PayloadInfo& each : info.contents) {
    Unseen unseen;
    const Status whole = info.unchecked ? Status() : store.showStoredPayload(each.rank, unseen);
    if (!whole && whole.error().code != ErrorCode::Damaged) {
      return whole;
    }
    if (!whole) {
      info.damaged.emplace(each.rank, whole.error().message);
    }
  }
  return {};
}

/// What each of the papers' algorithms would trace.
Result<TracingCounts> tracingOf(const std::string& trace) {
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
  return countTracing(loaded->execution, races);
}

Result<std::uint64_t> wildcardsIn(db::TraceStore& store) {
  if (store.run().wildcardReceives) {
    return *store.run().wildcardReceives;
  }
  Result<std::vector<RankLog>> logs = readLogs(store);
  if (!logs) {
    return logs.error();
  }
  std::uint64_t wildcards = 0;
  for (const RankLog& log : *logs) {
    wildcards += log.wildSources.size();
  }
  return wildcards;
}

/// Of a store that stays while it is used.
Result<Info> infoOf(db::TraceStore& store) {
  Info info{store.run(), store.ranks()};
  const Result<TimeOrigin> times = store.timeOrigin();
  const Result<Owner> owner = ownerOf(store);
  const Result<std::uint64_t> wildcards = wildcardsIn(store);
  Result<std::vector<db::NotGuaranteed>> notes = store.notGuaranteed();
  Result<std::vector<db::PayloadInfo>> contents = store.payloads();
  if (!times || !owner || !wildcards || !notes || !contents) {
    return !times       ? times.error()
           : !owner     ? owner.error()
           : !wildcards ? wildcards.error()
           : !notes     ? notes.error()
                        : contents.error();
  }
  info.contents = std::move(*contents);
  if (const Status checked = checkContents(store, info); !checked) {
    return checked.error();
  }
  info.times = *times;
  info.owner = *owner;
  info.wildcards = *wildcards;
  info.notes = std::move(*notes);
  if (const Result<std::vector<db::Printed>> printed = store.printed()) {
    info.printed = lastPrinted(*printed);
  }
  for (const db::RankInfo& rank : info.ranks) {
    info.bytes += rank.logBytes;
    info.online.add(rank);
    if (rank.probesAnswered) {
      info.probes = info.probes.value_or(0) + *rank.probesAnswered;
    }
  }
  return info;
}

std::optional<WhatFailed> failedIn(const Info& info) {
  return whatFailed(info.ranks, info.run.exitStatus);
}

json rankJson(const db::RankInfo& rank) {
  json out{{"rank", rank.rank},
           {"pid", rank.pid},
           {"host", rank.host},
           {"executable", rank.executable},
           {"buildId", rank.buildId},
           {"events", rank.lastSerial},
           {"complete", rank.complete},
           {"state", rank.state},
           {"exitStatus", optionalNumber(rank.exitStatus)},
           {"signal", optionalNumber(rank.exitSignal)},
           {"bytes", rank.logBytes}};
  if (!rank.complete) {
    out["cut"] = rank.cutReason;
  }
  return out;
}

std::string jsonText(const Info& info) {
  const db::RunInfo& run = info.run;
  json noted = json::array();
  for (const auto& [rank, text] : info.notes) {
    noted.push_back({{"rank", rank}, {"text", text}});
  }
  json ranks = json::array();
  json cuts = json::array();
  for (const db::RankInfo& rank : info.ranks) {
    ranks.push_back(rankJson(rank));
    if (!rank.complete) {
      cuts.push_back(
          {{"rank", rank.rank}, {"serial", rank.lastSerial}, {"reason", rank.cutReason}});
    }
  }
  const std::optional<WhatFailed> failed = failedIn(info);
  return dump(
      {{"ranks", run.ranks},
       {"owner", ownerName(info.owner)},
       {"command", run.command},
       {"directory", run.workingDirectory},
       {"program", run.program},
       {"mode", run.mode},
       {"messages", run.messages ? json(*run.messages) : json(nullptr)},
       {"wildcardReceives", info.wildcards},
       {"probes", info.probes ? json(*info.probes) : json(nullptr)},
       {"racingReceives", run.racingReceives ? json(*run.racingReceives) : json(nullptr)},
       {"traced", info.online.algorithm.empty() ? info.wildcards : info.online.kept},
       {"forcedBy", info.online.tags ? "tags" : "pins"},
       {"foundWhileRecording", onlineJson(info.online)},
       {"times", timesName(info.times)},
       {"bytes", info.bytes},
       {"complete", run.complete},
       {"failed", failed ? json{{"rank", failed->rank >= 0 ? json(failed->rank) : json(nullptr)},
                                {"text", failed->sentence}}
                         : json(nullptr)},
       {"printed", info.printed.line.empty() ? json(nullptr) : json(info.printed.line)},
       {"traceback", tracebackJson(info.printed.traceback)},
       {"cut", cuts},
       {"notGuaranteed", noted},
       {"tracing", info.tracing ? tracingJson(*info.tracing) : json(nullptr)},
       {"groups", run.groups ? json(*run.groups) : json(nullptr)},
       {"contents", contentsJson(info)},
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

/// What was run, and where.
void tellRun(TextStream& out, const Info& info) {
  const db::RunInfo& run = info.run;
  const OnlineRaces& online = info.online;
  std::string command;
  for (const std::string& word : run.command) {
    command += (command.empty() ? "" : " ") + word;
  }
  out << "command   " << command << "\nin        " << run.workingDirectory << "\nrecorded  "
      << run.createdUtc << " on " << run.host << ", mode " << run.mode << "\nowner     "
      << ownerText(info.owner) << "\nMPI       " << run.mpiLibrary << "\nranks     " << run.ranks
      << "\nmessages  "
      << (run.messages ? std::to_string(*run.messages)
                       : "not known (choices only; 'photofinish races' finds out)")
      << "\nwildcard  " << info.wildcards << " receives, "
      << (online.algorithm.empty() || online.kept == info.wildcards ? "all"
                                                                    : std::to_string(online.kept))
      << " traced\n";
}

std::string plainText(const Info& info) {
  const db::RunInfo& run = info.run;
  const OnlineRaces& online = info.online;
  TextStream out;
  tellRun(out, info);
  if (info.probes) {
    out << "probes    " << *info.probes << " that saw a message\n";
  }
  out << "racing    "
      << (run.racingReceives ? std::to_string(*run.racingReceives) : "not known yet")
      << "\ntimes     " << timesText(info.times) << "\nlog       " << info.bytes << " bytes\n";
  tellContents(out, info);
  if (run.redacted) {
    out << "redacted  " << kRedactedText << "\n";
  }
  if (!online.algorithm.empty()) {
    out << "found     " << online.found << " racing deliveries while it ran, by "
        << online.algorithm << (online.tags ? "; replayed by tags\n" : "\n");
  }
  if (const std::optional<WhatFailed> failed = failedIn(info)) {
    out << "failed    " << failed->sentence << "\n";
    if (!info.printed.line.empty()) {
      out << "printed   " << info.printed.line << "\n";
    }
    const char* name = "traceback ";
    for (const std::string& frame : frameTexts(info.printed.traceback)) {
      out << std::exchange(name, "          ") << frame << "\n";
    }
  }
  if (run.exitStatus) {
    out << "exit      " << *run.exitStatus << "\n";
  }
  out << (run.complete ? "complete\n" : "cut short:\n");
  for (const std::string& line : cutLines(info.ranks, true)) {
    out << "  " << line << "\n";
  }
  for (const auto& [rank, text] : info.notes) {
    out << "not guaranteed in a replay: rank " << rank << ": " << text << "\n";
  }
  if (info.tracing) {
    out << tracingText(*info.tracing);
  }
  return out.str();
}

}  // namespace

Result<std::string> infoReport(const std::string& trace, bool asJson, bool tracing) {
  std::optional<TracingCounts> counts;
  if (tracing) {
    Result<TracingCounts> counted = tracingOf(trace);  // first: it may survey
    if (!counted) {
      return counted.error();
    }
    counts = std::move(*counted);
  }
  Result<db::TraceStore> store = openTrace(trace, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  Result<Info> info = infoOf(*store);
  if (!info) {
    return info.error();
  }
  info->tracing = std::move(counts);
  return asJson ? jsonText(*info) : plainText(*info);
}

}  // namespace pf::app

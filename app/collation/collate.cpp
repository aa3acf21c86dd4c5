// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collation/collate.h"

#include "mpi_calls.h"
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <future>
#include <iterator>
#include <set>
#include <system_error>

#include "app/collation/call_sites.h"
#include "app/collation/inputs.h"
#include "app/collation/launch_context.h"
#include "app/collation/log_files.h"
#include "app/collation/race_reduction.h"
#include "app/collation/site_names.h"
#include "app/files/paths.h"
#include "app/recording/input_tee.h"
#include "app/version.h"
#include "db/store/trace_writer.h"
#include "replay_engine/base/shown_text.h"
#include "replay_engine/races/race_classes.h"

namespace pf::app {
namespace fs = std::filesystem;
namespace {

db::RaceClasses classify(const Execution& execution, const std::vector<Race>& races) {
  db::RaceClasses classes;
  SiteNames names(execution);
  classes.of = classesOfRaces(execution, races);
  classes.exact = true;
  for (std::size_t race = 0; race < races.size(); ++race) {
    if (classes.of[race] == classes.texts.size()) {  // the first of its class
      classes.texts.push_back(names.ofClass(races[race]));
    }
  }
  return classes;
}

}  // namespace

RankLog emptyLog(Rank rank, std::int32_t size, std::string why) {
  RankLog log;
  log.rank = rank;
  log.size = size;
  log.cut = std::move(why);
  log.hasEvents = true;
  return log;
}

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

Status addLog(db::TraceWriter& writer, Rank rank, const std::vector<unsigned char>& bytes) {
  std::uint64_t ordinal = 0;
  for (std::size_t offset = 0; offset < bytes.size(); offset += db::kLongestLogChunk, ++ordinal) {
    const std::size_t size = std::min(db::kLongestLogChunk, bytes.size() - offset);
    if (Status status = writer.addLogChunk(rank, ordinal, db::Bytes(bytes.data() + offset, size));
        !status) {
      return status;
    }
  }
  return {};
}

}  // namespace

std::string siteText(const Execution& execution, std::uint32_t site) {
  return site < execution.sites.size() ? siteText(execution.sites[site]) : "?";
}

EventRef raceEvent(const Execution& execution, const Race& race) {
  const RankHistory& rank = execution.ranks[static_cast<std::size_t>(race.rank)];
  return {race.rank, race.probe ? rank.probes[race.index].event : rank.receives[race.index].post};
}

std::string racePlaces(const Execution& execution, const Race& race) {
  const EventRef receive = raceEvent(execution, race);
  const auto& events = execution.ranks[static_cast<std::size_t>(receive.rank)].events;
  std::set<std::string> senders;
  const auto add = [&](std::uint32_t message) {
    if (message < execution.messages.size()) {
      const EventRef send = execution.messages[message].send;
      senders.insert(siteText(
          execution,
          execution.ranks[static_cast<std::size_t>(send.rank)].events[send.serial - 1].site));
    }
  };
  add(race.taken);
  for (const std::uint32_t alternative : race.alternatives) {
    add(alternative);
  }
  std::string text = siteText(execution, events[receive.serial - 1].site) + " <-";
  for (const std::string& sender : senders) {
    text += " " + sender;
  }
  return text;
}

Result<std::map<Rank, std::vector<unsigned char>>> readLogFiles(const std::string& logDirectory) {
  if (Status status = isNoLink(logDirectory); !status) {
    return status.error();
  }
  std::map<Rank, std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(logDirectory, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (const std::optional<Rank> rank = rankOfLog(name)) {
      names[*rank] = std::move(name);
    }
  }
  if (error) {
    return Error{
        ErrorCode::System, "cannot read the logs in " + logDirectory + ": " + error.message(), {}};
  }
  // Only now, so that of a directory that goes away not some are read and the others missed.
  std::map<Rank, std::vector<unsigned char>> files;
  for (const auto& [rank, name] : names) {
    Result<std::vector<unsigned char>> bytes = readRankLog(logDirectory, name);
    if (!bytes) {
      return bytes.error();
    }
    files[rank] = std::move(*bytes);
  }
  return files;
}

Result<Analysis> analyse(const std::vector<RankLog>& logs) {
  Result<Execution> execution = assemble(logs);
  if (!execution) {
    return execution.error();
  }
  Analysis analysis;
  analysis.execution = std::move(*execution);
  resolveCallSites(analysis.execution.sites);
  analysis.races = findRaces(analysis.execution);
  analysis.logicalTimes = logicalTimes(analysis.execution);
  analysis.raceClasses = classify(analysis.execution, analysis.races);
  return analysis;
}

namespace {

Error anotherRanks(Rank rank, Rank owner) {
  return Error{
      ErrorCode::Damaged,
      "the log of rank " + std::to_string(rank) + " is that of rank " + std::to_string(owner),
      "The trace was not written so: take another copy of it, or record again."};
}

}  // namespace

Status logsAreTheirRanks(db::TraceStore& store) {
  for (const db::RankInfo& rank : store.ranks()) {
    std::vector<unsigned char> start;
    const Status status = store.logChunks(rank.rank, [&](std::uint64_t, db::Bytes data) {
      if (start.empty()) {
        start.assign(data.begin(), data.end());
      }
      return Status();
    });
    if (!status) {
      return status;
    }
    const Result<RankLog> log = start.empty()
                                    ? Result<RankLog>(emptyLog(rank.rank, store.run().ranks, {}))
                                    : readLog(start);
    if (!log || log->rank != rank.rank) {
      return log ? anotherRanks(rank.rank, log->rank) : log.error();
    }
  }
  return {};
}

Result<std::vector<RankLog>> readLogs(db::TraceStore& store, db::TraceStore::Log which,
                                      bool contents) {
  std::vector<std::future<Result<RankLog>>> decoding;  // one thread reads, others decode
  for (const db::RankInfo& rank : store.ranks()) {
    std::vector<unsigned char> bytes;
    const Status status = store.logChunks(
        rank.rank,
        [&](std::uint64_t, db::Bytes data) {
          bytes.insert(bytes.end(), data.begin(), data.end());
          return Status();
        },
        which);
    if (!status) {
      return status.error();
    }
    const auto policy = bytes.size() > kLogBlockSize ? std::launch::async : std::launch::deferred;
    decoding.push_back(std::async(policy, [&store, rank, contents, content = std::move(bytes)] {
      Result<RankLog> log =
          content.empty() ? Result<RankLog>(emptyLog(rank.rank, store.run().ranks, rank.cutReason))
                          : readLog(content, contents);
      return log && log->rank != rank.rank ? Result<RankLog>(anotherRanks(rank.rank, log->rank))
                                           : std::move(log);
    }));
  }
  std::vector<RankLog> logs;
  for (auto& each : decoding) {
    Result<RankLog> log = each.get();
    if (!log) {
      return log.error();
    }
    logs.push_back(std::move(*log));
  }
  return logs;
}

std::string contentsEnd(const db::PayloadInfo& payload) {
  if (payload.ending == db::PayloadInfo::kStopped && payload.detail == ENOTSUP) {
    return "what its group cannot do alone";
  }
  if (payload.ending == db::PayloadInfo::kStopped) {
    return "no more could be kept: " +
           std::error_code(static_cast<int>(payload.detail.value_or(0)), std::generic_category())
               .message();
  }
  return payload.ending == db::PayloadInfo::kDamaged
             ? "what is from byte " + std::to_string(payload.detail.value_or(0)) + " on was damaged"
             : std::string();
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

void useRecordedTimes(db::TraceStore& store, Execution& surveyed) {
  surveyed.timeOrigin = hasTimes(surveyed) ? TimeOrigin::Reexecution : TimeOrigin::None;
  if (store.run().mode != "all") {
    return;
  }
  Result<std::vector<RankLog>> logs = readLogs(store, db::TraceStore::Log::Recorded);
  if (!logs) {
    return;  // a damaged log takes its times away, and nothing else
  }
  Result<Execution> recorded = assemble(std::move(*logs));
  if (!recorded || recorded->timeOrigin == TimeOrigin::None) {
    return;
  }
  for (std::size_t rank = 0; rank < surveyed.ranks.size(); ++rank) {
    if (recorded->ranks[rank].times.size() < surveyed.ranks[rank].events.size()) {
      return;
    }
  }
  for (std::size_t rank = 0; rank < surveyed.ranks.size(); ++rank) {
    surveyed.ranks[rank].times = std::move(recorded->ranks[rank].times);
    surveyed.ranks[rank].times.resize(surveyed.ranks[rank].events.size());
  }
  surveyed.timeOrigin = TimeOrigin::Recording;
}

bool seenAgain(Serial seen, Serial recorded, bool complete) {
  return seen + (complete ? 0U : 1U) >= recorded;
}

Result<Execution> loadExecution(db::TraceStore& store) {
  for (const auto which : {db::TraceStore::Log::Survey, db::TraceStore::Log::Recorded}) {
    if (which == db::TraceStore::Log::Recorded && store.run().mode != "all") {
      continue;
    }
    Result<std::vector<RankLog>> logs = readLogs(store, which);
    if (!logs) {
      return logs.error();
    }
    if (std::none_of(logs->begin(), logs->end(),
                     [](const RankLog& log) { return !log.history.events.empty(); })) {
      continue;
    }
    Result<Execution> execution = assemble(std::move(*logs));
    Result<std::vector<CallSite>> sites = store.callSites();
    if (execution && sites && sites->size() == execution->sites.size()) {
      execution->sites = std::move(*sites);
      if (which == db::TraceStore::Log::Survey) {
        useRecordedTimes(store, *execution);
      }
      return execution;
    }
  }
  return store.readExecution();
}

namespace {

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

/// What the rank found while it ran.
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

/// What a note's call is to people; empty: nothing that is known.
std::string noteName(std::uint32_t call, const Execution& execution) {
  if (call == kCallInit_thread) {
    return "calls of MPI from a thread that pthread_create did not make, first";
  }
  if (call >= kFirstNote && call < kFirstNote + kNoteKinds) {
    return kNotGuaranteedTexts[call - kFirstNote];
  }
  if (call >= kFirstAlone) {
    const std::string name = noteName(call - kFirstAlone, execution);
    return name.empty() ? name : kContentsEnd + name;
  }
  return call < execution.callNames.size() ? execution.callNames[call] : std::string();
}

const std::string kStrangeFile = "file that somebody else wrote during the run, ";

/// "rma.c:12": where a call of the rank stands.
std::string loggedPlace(const RankLog& log, const LoggedSite& site, const Execution& execution) {
  const std::string module = site.module < log.modules.size() ? log.modules[site.module] : "";
  const auto resolved = std::find_if(
      execution.sites.begin(), execution.sites.end(),
      [&](const CallSite& each) { return each.offset == site.address && each.module == module; });
  return siteText(execution, static_cast<std::uint32_t>(resolved - execution.sites.begin()));
}

/// Whether somebody or something ended the rank, or its record, in the middle of what it did.
bool wasCut(const RankLog& log, const RunFacts& facts) {
  const auto end = facts.ends.find(log.rank);
  return !log.complete && (end == facts.ends.end() || end->second.signal || !end->second.status);
}

/// Of a log of choices, which has no posts: whether some receive from any source has no source,
/// though later ones have theirs. Those that were cancelled have none either.
bool lacksSources(const RankLog& log) {
  std::size_t accountedFor = log.cancelledPosts.size();
  for (const auto& page : log.wildSources.pages()) {
    accountedFor += static_cast<std::size_t>(
        std::count_if(page.second.begin(), page.second.end(),
                      [](std::int32_t source) { return source != kPinUnknown; }));
  }
  return accountedFor < log.wildSources.size();
}

/// Of a rank that was cut: receives from any source that it had posted and not seen complete. MPI
/// may have put a message into their buffers by then, and a replay another one, or none.
std::vector<std::string> pendingReceives(const RankLog& log, const Execution& execution) {
  const std::string text =
      "buffer of a receive from any source that was pending where the record ends";
  if (!log.hasEvents) {
    return lacksSources(log) ? std::vector{text} : std::vector<std::string>{};
  }
  std::set<std::uint32_t> sites;
  const auto& events = log.history.events;
  for (const PostedReceive& receive : log.history.receives) {
    if (receive.state != ReceiveState::Pending || receive.completion != 0 ||
        receive.wantedSource != kAnySource || receive.post == 0 || receive.post > events.size()) {
      continue;
    }
    const Event& post = events[receive.post - 1];  // one that blocks has nothing to look at yet
    if (post.kind == EventKind::Post || post.kind == EventKind::Start) {
      sites.insert(post.site);
    }
  }
  std::vector<std::string> notes;
  for (const std::uint32_t site : sites) {
    const std::string place =
        site < log.sites.size() ? loggedPlace(log, log.sites[site], execution) : "?";
    std::string note = text + ", posted at " + place;
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) {
      notes.push_back(std::move(note));
    }
  }
  return notes;
}

/// What of a rank a replay does not guarantee: "MPI_Accumulate at rma.c:12", in the order of first
/// use, then what was under way where it was cut.
std::vector<std::string> notesOf(const RankLog& log, const RunFacts& facts,
                                 const Execution& execution) {
  std::vector<std::string> notes;
  for (const std::uint32_t number : log.notes) {
    if (number >= log.sites.size() || noteName(log.sites[number].call, execution).empty()) {
      continue;
    }
    const LoggedSite& site = log.sites[number];
    notes.push_back(noteName(site.call, execution) + " at " + loggedPlace(log, site, execution));
  }
  if (log.unseenMatches > 0) {
    notes.push_back(
        "receive from any source, pending where the record ends, which may have taken a message");
  }
  if (wasCut(log, facts)) {
    std::vector<std::string> pending = pendingReceives(log, execution);
    std::move(pending.begin(), pending.end(), std::back_inserter(notes));
  }
  return notes;
}

/// The standard input that the recorder kept beside the logs.
Result<std::optional<db::InputBytes>> keptInput(const std::string& logDirectory) {
  Result<std::optional<std::string>> bytes = readIfInLogs(logDirectory, "input", kMostInText);
  if (!bytes) {
    return bytes.error();
  }
  return *bytes ? std::optional(db::InputBytes{std::move(**bytes)}) : std::nullopt;
}

/// A file of a rank that cannot be read goes beside the trace, before the directory is removed. `what`: "log".
Status keepUnread(const std::string& logDirectory, Rank rank, const std::string& suffix,
                  const std::string& what, const std::string& trace) {
  const std::string name = "rank-" + std::to_string(rank) + suffix;
  const Result<UniqueFd> from = openInLogs(logDirectory, name);
  if (!from) {
    return from.error();
  }
  constexpr int kMostKept = 100;
  std::string to = trace + "." + name;
  std::error_code error;
  for (int n = 1; n <= kMostKept; ++n) {
    fs::copy_file("/proc/self/fd/" + std::to_string(from->get()), to, error);
    if (error != std::errc::file_exists) {
      break;
    }
    to = trace + "." + name + "." + std::to_string(n);
  }
  if (error) {
    return Error{ErrorCode::System,
                 "cannot keep the " + what + " of rank " + std::to_string(rank) +
                     ", which cannot be read, as " + to + ": " + error.message(),
                 "The logs are still in " + logDirectory + "."};
  }
  tell("the " + what + " of rank " + std::to_string(rank) + " cannot be read, and is kept as " +
       to);
  return {};
}

/// What ranks received from outside of their groups.
Status addPayloads(db::TraceWriter& writer, const std::string& logDirectory, std::int32_t ranks,
                   const std::string& unreadTo, Collated& collated) {
  for (Rank rank = 0; rank < ranks; ++rank) {
    const std::string name = "rank-" + std::to_string(rank) + ".payload";
    struct stat info {};
    if (::lstat((logDirectory + "/" + name).c_str(), &info) != 0 && errno == ENOENT) {
      continue;
    }
    const Result<UniqueFd> file = openInLogs(logDirectory, name);
    if (!file) {
      return file.error();
    }
    ContentsDigester digester(rank);
    const Result<db::PayloadInfo> added = writer.addPayload(rank, file->get(), &digester);
    if (!added) {
      return added.error();
    }
    collated.contents.push_back(digester.digest());
    if (const std::string end = contentsEnd(*added); !end.empty()) {
      collated.contentsCut.push_back("rank " + std::to_string(rank) +
                                     ": of what it received from outside of its " + "group " +
                                     std::to_string(added->entries) + " entries are kept: " + end);
    }
    const bool none = added->ending == db::PayloadInfo::kDamaged && added->bytes == 0;
    if (none && !unreadTo.empty()) {
      if (Status status = keepUnread(logDirectory, rank, ".payload", "file of contents", unreadTo);
          !status) {
        return status;
      }
    }
  }
  return {};
}

/// Into `writer`, which is finished by it; what is said of contents into `collated`.
Status writeTrace(db::TraceWriter* writer, const std::string& logDirectory,
                  const std::vector<RankLog>& logs, const RunFacts& facts,
                  const std::map<Rank, std::vector<unsigned char>>& files,
                  const RaceReduction& reduction, const Analysis& analysis,
                  const std::string& unreadTo, Collated& collated) {
  db::RunInfo run = runInfo(logs, facts);
  Result<std::optional<db::InputBytes>> input = keptInput(logDirectory);
  if (!input) {
    return input.error();
  }
  run.input = std::move(*input);
  if (reduction.races) {
    run.wildcardReceives = reduction.wildcards;
  }
  writer->setRun(std::move(run));
  const auto launch = launchFacts(logDirectory, static_cast<std::int32_t>(logs.size()));
  if (!launch) {
    return launch.error();
  }
  for (const db::LaunchFact& fact : *launch) {
    writer->addLaunchFact(fact);
  }
  for (db::SeenInput& seen : seenInputs(logs)) {
    writer->addSeenInput(std::move(seen));
  }
  const Result<std::optional<std::string>> leftOut =
      readIfInLogs(logDirectory, std::string("input") + kLeftOut, kMostInText);
  if (!leftOut) {
    return leftOut.error();
  }
  if (*leftOut) {
    writer->addNotGuaranteed({0, "standard input, which was longer than 15 MiB"});
  }
  const auto strange = filesOfOthers(logs);
  std::set<std::string> modules;
  std::vector<db::RankInfo> ranks;
  for (const RankLog& log : logs) {
    db::RankInfo rank = rankInfo(log, facts, analysis.execution);
    addRaces(rank, reduction);
    ranks.push_back(rank);
    writer->addRank(std::move(rank));
    std::vector<std::string> notes = notesOf(log, facts, analysis.execution);
    for (const auto& [reader, file] : strange) {
      if (reader == log.rank) {
        notes.push_back(kStrangeFile + file);
      }
    }
    std::ranges::sort(notes);
    for (std::string& note : notes) {
      writer->addNotGuaranteed({log.rank, std::move(note)});
    }
    modules.insert(log.modules.begin(), log.modules.end());
    if (const auto file = files.find(log.rank); file != files.end()) {
      if (Status status = addLog(*writer, log.rank, file->second); !status) {
        return status;
      }
    }
  }
  collated.cuts = cutLines(ranks);
  collated.failed = facts.goesOn ? std::nullopt : whatFailed(ranks, facts.exitStatus);
  if (Status status = addPayloads(*writer, logDirectory, static_cast<std::int32_t>(logs.size()),
                                  unreadTo, collated);
      !status) {
    return status;
  }
  modules.erase("");
  for (const std::string& module : modules) {
    if (Status status = writer->addModule({module, buildIdOf(module)}); !status) {
      return status;
    }
  }
  if (facts.mode == "all") {
    if (Status status = writer->writeExecution(analysis.execution, analysis.races,
                                               analysis.logicalTimes, analysis.raceClasses);
        !status) {
      return status;
    }
  }
  return writer->finish();
}

void sayThatRanksRun(std::vector<RankLog>& logs) {
  for (RankLog& log : logs) {
    if (!log.complete) {
      log.cut = kStillRan + ", after event " + std::to_string(log.serials);
    }
  }
}

Error tooManyRanks(const std::string& logDirectory, Rank rank, std::int32_t ranks,
                   std::size_t logs) {
  return Error{ErrorCode::Damaged,
               logDirectory + "/rank-" + std::to_string(rank) + ".log would be of a run of " +
                   std::to_string(ranks) + " ranks, and only " + std::to_string(logs) +
                   (logs == 1 ? " has" : " have") + " left a log",
               "No run leaves so few: it is a log of something else, or was changed. Move it away "
               "and try again."};
}

}  // namespace

std::vector<db::RankInfo> ranksOf(const std::vector<RankLog>& logs, const RunFacts& facts,
                                  const Execution& execution) {
  std::vector<db::RankInfo> ranks;
  for (const RankLog& log : logs) {
    ranks.push_back(rankInfo(log, facts, execution));
  }
  return ranks;
}

Result<Collated> collate(const std::string& logDirectory, const RunFacts& facts,
                         const std::string& path, db::Existing existing) {
  auto files = readLogFiles(logDirectory);
  if (!files) {
    return files.error();
  }
  std::map<Rank, RankLog> read;
  std::vector<Rank> unread;
  std::int32_t size = 0;
  for (const auto& [rank, bytes] : *files) {
    Result<RankLog> log = readLog(bytes);
    const bool isRanks = log && log->rank == rank;
    const std::int32_t ranks = isRanks ? std::max(log->size, rank + 1) : rank + 1;
    if (!mayBeRanks(ranks, files->size())) {
      return tooManyRanks(logDirectory, rank, ranks, files->size());
    }
    size = std::max(size, ranks);
    if (!isRanks) {
      unread.push_back(rank);
    }
    read.emplace(
        rank, isRanks ? std::move(*log)
                      : emptyLog(rank, 0, log ? "its log is another rank's" : log.error().message));
  }
  if (read.empty() && facts.goesOn) {
    return Error{
        ErrorCode::NotFound,
        "nothing is recorded yet: no process of '" + facts.program + "' has come out of MPI_Init",
        "Try again when it has."};
  }
  if (read.empty()) {
    return Error{ErrorCode::NotFound,
                 "nothing was recorded: no process of '" + facts.program + "' called MPI_Init",
                 "Is it an MPI program, dynamically linked with the MPI of this launcher?"};
  }
  const std::string unreadTo = facts.goesOn ? std::string() : path;
  for (const Rank rank : unread) {  // no trace with it could be read
    if (Status status =
            unreadTo.empty() ? Status() : keepUnread(logDirectory, rank, ".log", "log", unreadTo);
        !status) {
      return status.error();
    }
    files->erase(rank);
  }
  std::vector<RankLog> logs;
  for (Rank rank = 0; rank < size; ++rank) {
    const auto found = read.find(rank);
    logs.push_back(found != read.end() ? std::move(found->second)
                                       : emptyLog(rank, size, "it never came out of MPI_Init"));
  }
  if (facts.goesOn) {
    sayThatRanksRun(logs);
  }
  Result<Analysis> analysis = analyse(logs);
  if (!analysis) {
    return analysis.error();
  }
  Result<RaceReduction> reduction = reduceToRaces(logs, *files);
  if (!reduction) {
    return reduction.error();
  }
  Result<db::TraceWriter> writer = db::TraceWriter::create(path, existing);
  if (!writer) {
    return writer.error();
  }
  Collated result;
  if (Status status = writeTrace(&*writer, logDirectory, logs, facts, *files, *reduction, *analysis,
                                 unreadTo, result);
      !status) {
    return status.error();
  }
  result.kept = writer->kept();
  if (reduction->races) {
    result.racesFound =
        RacesFound{reduction->algorithm, reduction->found, reduction->kept, reduction->threads};
    result.notReduced = reduction->why;
  }
  result.ranks = size;
  result.messages = analysis->execution.messages.size();
  result.racing = analysis->races.size();
  result.analysed = facts.mode == "all";
  result.complete = true;
  std::set<std::string> notes;
  for (const RankLog& log : logs) {
    result.wildcardReceives += log.races ? log.races->wildcards : log.wildSources.size();
    result.probes += probesAnswered(log);
    result.complete = result.complete && log.complete;
    for (std::string& note : notesOf(log, facts, analysis->execution)) {
      notes.insert(std::move(note));
    }
  }
  for (const auto& [rank, file] : filesOfOthers(logs)) {
    notes.insert(kStrangeFile + file);
  }
  result.notes.assign(notes.begin(), notes.end());
  return result;
}

}  // namespace pf::app

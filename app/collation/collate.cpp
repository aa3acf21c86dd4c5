// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collation/collate.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>

#include "app/collation/call_sites.h"
#include "app/collation/inputs.h"
#include "app/collation/launch_context.h"
#include "app/collation/log_files.h"
#include "app/collation/logs_of_trace.h"
#include "app/collation/printed_text.h"
#include "app/collation/race_reduction.h"
#include "app/collation/rank_notes.h"
#include "app/collation/rank_rows.h"
#include "app/collation/site_names.h"
#include "app/files/paths.h"
#include "app/recording/input_tee.h"
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

Result<Analysis> analyse(const std::vector<RankLog>& logs, bool over) {
  Result<Execution> execution = assemble(logs, over);
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

namespace {

/// The standard input that the recorder kept beside the logs.
Result<std::optional<db::RawBytes>> keptInput(const std::string& logDirectory) {
  Result<std::optional<std::string>> bytes = readIfInLogs(logDirectory, "input", kMostInText);
  if (!bytes) {
    return bytes.error();
  }
  return *bytes ? std::optional(db::RawBytes{std::move(**bytes)}) : std::nullopt;
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

/// What the logs of a directory say, a log for each rank of the job.
struct ReadLogs {
  std::map<Rank, std::vector<unsigned char>> files;  ///< those that could be read
  std::vector<RankLog> logs;                         ///< in rank order, empty where there is none
  std::vector<Rank> unread;
};

Error tooManyRanks(const std::string& logDirectory, Rank rank, std::int32_t ranks,
                   std::size_t logs) {
  return Error{ErrorCode::Damaged,
               logDirectory + "/rank-" + std::to_string(rank) + ".log would be of a run of " +
                   std::to_string(ranks) + " ranks, and only " + std::to_string(logs) +
                   (logs == 1 ? " has" : " have") + " left a log",
               "No run leaves so few: it is a log of something else, or was changed. Move it away "
               "and try again."};
}

Error nothingRecorded(const RunFacts& facts) {
  if (facts.goesOn) {
    return Error{
        ErrorCode::NotFound,
        "nothing is recorded yet: no process of '" + facts.program + "' has come out of MPI_Init",
        "Try again when it has."};
  }
  return Error{ErrorCode::NotFound,
               "nothing was recorded: no process of '" + facts.program + "' called MPI_Init",
               "Is it an MPI program, dynamically linked with the MPI of this launcher?"};
}

Result<ReadLogs> readAllLogs(const std::string& logDirectory, const RunFacts& facts) {
  auto files = readLogFiles(logDirectory);
  if (!files) {
    return files.error();
  }
  ReadLogs out;
  std::map<Rank, RankLog> read;
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
      out.unread.push_back(rank);
    }
    read.emplace(
        rank, isRanks ? std::move(*log)
                      : emptyLog(rank, 0, log ? "its log is another rank's" : log.error().message));
  }
  if (read.empty()) {
    return nothingRecorded(facts);
  }
  for (Rank rank = 0; rank < size; ++rank) {
    const auto found = read.find(rank);
    RankLog& log = out.logs.emplace_back(
        found != read.end() ? std::move(found->second)
                            : emptyLog(rank, size, "it never came out of MPI_Init"));
    if (facts.goesOn && !log.complete) {
      log.cut = kStillRan + ", after event " + std::to_string(log.serials);
    }
  }
  out.files = std::move(*files);
  return out;
}

/// Makes the trace of one run: what it says of the run, its ranks, logs, contents, modules and, if they are known, events.
class Collation {
 public:
  Collation(const std::string& logDirectory, const RunFacts& facts, ReadLogs read)
      : m_directory(logDirectory),
        m_facts(facts),
        m_logs(std::move(read.logs)),
        m_unread(std::move(read.unread)),
        m_files(std::move(read.files)) {}

  Result<Collated> write(const std::string& path, db::Existing existing);

 private:
  /// What cannot be read goes beside the trace `unreadTo`, no trace of which can be made; nothing where that is empty.
  Status keepUnreadLogs(const std::string& unreadTo);
  Status addRun(db::TraceWriter& writer) const;
  Status addLaunch(db::TraceWriter& writer) const;
  Status addRanks(db::TraceWriter& writer);
  Status addPayloads(db::TraceWriter& writer, const std::string& unreadTo);
  Status addModules(db::TraceWriter& writer) const;
  Status addExecution(db::TraceWriter& writer) const;
  void summarise();

  const std::string& m_directory;
  const RunFacts& m_facts;
  std::vector<RankLog> m_logs;
  std::vector<Rank> m_unread;
  std::map<Rank, std::vector<unsigned char>> m_files;
  Analysis m_analysis;
  RaceReduction m_reduction;
  std::set<std::string> m_notes;  ///< of all ranks
  Collated m_collated;
};

Status Collation::keepUnreadLogs(const std::string& unreadTo) {
  for (const Rank rank : m_unread) {
    if (Status status =
            unreadTo.empty() ? Status() : keepUnread(m_directory, rank, ".log", "log", unreadTo);
        !status) {
      return status;
    }
    m_files.erase(rank);
  }
  return {};
}

Status Collation::addRun(db::TraceWriter& writer) const {
  db::RunInfo run = runInfo(m_logs, m_facts);
  Result<std::optional<db::RawBytes>> input = keptInput(m_directory);
  if (!input) {
    return input.error();
  }
  run.input = std::move(*input);
  if (m_reduction.races) {
    run.wildcardReceives = m_reduction.wildcards;
  }
  writer.setRun(std::move(run));
  return {};
}

Status Collation::addLaunch(db::TraceWriter& writer) const {
  const auto launch = launchFacts(m_directory, static_cast<std::int32_t>(m_logs.size()));
  if (!launch) {
    return launch.error();
  }
  for (const db::LaunchFact& fact : *launch) {
    writer.addLaunchFact(fact);
  }
  for (db::SeenInput& seen : seenInputs(m_logs)) {
    writer.addSeenInput(std::move(seen));
  }
  for (db::Printed& printed : printedIn(m_directory)) {
    writer.addPrinted(std::move(printed));
  }
  const Result<std::optional<std::string>> leftOut =
      readIfInLogs(m_directory, std::string("input") + kLeftOut, kMostInText);
  if (!leftOut) {
    return leftOut.error();
  }
  if (*leftOut) {
    writer.addNotGuaranteed({0, "standard input, which was longer than 15 MiB"});
  }
  return {};
}

Status Collation::addRanks(db::TraceWriter& writer) {
  const auto strange = filesOfOthers(m_logs);
  std::vector<db::RankInfo> ranks;
  for (const RankLog& log : m_logs) {
    db::RankInfo rank = rankInfo(log, m_facts, m_analysis.execution);
    addRaces(rank, m_reduction);
    ranks.push_back(rank);
    writer.addRank(std::move(rank));
    std::vector<std::string> notes = notesOf(log, m_facts, m_analysis.execution);
    for (const auto& [reader, file] : strange) {
      if (reader == log.rank) {
        notes.push_back(noteOfStrange(file));
      }
    }
    std::ranges::sort(notes);
    m_notes.insert(notes.begin(), notes.end());
    for (std::string& note : notes) {
      writer.addNotGuaranteed({log.rank, std::move(note)});
    }
    if (const auto file = m_files.find(log.rank); file != m_files.end()) {
      if (Status status = addLog(writer, log.rank, file->second); !status) {
        return status;
      }
    }
  }
  m_collated.cuts = cutLines(ranks, false);
  m_collated.failed = m_facts.goesOn ? std::nullopt : whatFailed(ranks, m_facts.exitStatus);
  return {};
}

/// What ranks received from outside of their groups.
Status Collation::addPayloads(db::TraceWriter& writer, const std::string& unreadTo) {
  for (const RankLog& log : m_logs) {
    const std::string name = "rank-" + std::to_string(log.rank) + ".payload";
    struct stat info {};
    if (::lstat((m_directory + "/" + name).c_str(), &info) != 0 && errno == ENOENT) {
      continue;
    }
    const Result<UniqueFd> file = openInLogs(m_directory, name);
    if (!file) {
      return file.error();
    }
    ContentsDigester digester(log.rank);
    const Result<db::PayloadInfo> added = writer.addPayload(log.rank, file->get(), &digester);
    if (!added) {
      return added.error();
    }
    m_collated.contents.push_back(digester.digest());
    if (const std::string end = contentsEnd(*added); !end.empty()) {
      m_collated.contentsCut.push_back(
          "rank " + std::to_string(log.rank) + ": of what it received from outside of its group " +
          std::to_string(added->entries) + " entries are kept: " + end);
    }
    const bool none = added->ending == db::PayloadInfo::kDamaged && added->bytes == 0;
    if (none && !unreadTo.empty()) {
      if (Status status =
              keepUnread(m_directory, log.rank, ".payload", "file of contents", unreadTo);
          !status) {
        return status;
      }
    }
  }
  return {};
}

Status Collation::addModules(db::TraceWriter& writer) const {
  std::set<std::string> modules;
  for (const RankLog& log : m_logs) {
    modules.insert(log.modules.begin(), log.modules.end());
  }
  modules.erase("");
  for (const std::string& module : modules) {
    if (Status status = writer.addModule({module, buildIdOf(module)}); !status) {
      return status;
    }
  }
  return {};
}

Status Collation::addExecution(db::TraceWriter& writer) const {
  return m_facts.mode == "all"
             ? writer.writeExecution(m_analysis.execution, m_analysis.races,
                                     m_analysis.logicalTimes, m_analysis.raceClasses)
             : Status();
}

void Collation::summarise() {
  if (m_reduction.races) {
    m_collated.racesFound =
        RacesFound{m_reduction.algorithm, m_reduction.found, m_reduction.kept, m_reduction.threads};
    m_collated.notReduced = m_reduction.why;
  }
  m_collated.ranks = static_cast<std::int32_t>(m_logs.size());
  m_collated.messages = m_analysis.execution.messages.size();
  m_collated.racing = m_analysis.races.size();
  m_collated.analysed = m_facts.mode == "all";
  m_collated.complete = std::ranges::all_of(m_logs, &RankLog::complete);
  for (const RankLog& log : m_logs) {
    m_collated.wildcardReceives += log.races ? log.races->wildcards : log.wildSources.size();
    m_collated.probes += probesAnswered(log);
  }
  m_collated.notes.assign(m_notes.begin(), m_notes.end());
}

Result<Collated> Collation::write(const std::string& path, db::Existing existing) {
  const std::string unreadTo = m_facts.goesOn ? std::string() : path;
  if (Status kept = keepUnreadLogs(unreadTo); !kept) {
    return kept.error();
  }
  Result<Analysis> analysis = analyse(m_logs, !m_facts.goesOn);
  if (!analysis) {
    return analysis.error();
  }
  m_analysis = std::move(*analysis);
  Result<RaceReduction> reduction = reduceToRaces(m_logs, m_files);
  if (!reduction) {
    return reduction.error();
  }
  m_reduction = std::move(*reduction);
  Result<db::TraceWriter> writer = db::TraceWriter::create(path, existing);
  if (!writer) {
    return writer.error();
  }
  Status written = addRun(*writer);
  written = written ? addLaunch(*writer) : written;
  written = written ? addRanks(*writer) : written;
  written = written ? addPayloads(*writer, unreadTo) : written;
  written = written ? addModules(*writer) : written;
  written = written ? addExecution(*writer) : written;
  written = written ? writer->finish() : written;
  if (!written) {
    return written.error();
  }
  m_collated.kept = writer->kept();
  summarise();
  return std::move(m_collated);
}

}  // namespace

Result<Collated> collate(const std::string& logDirectory, const RunFacts& facts,
                         const std::string& path, db::Existing existing) {
  Result<ReadLogs> read = readAllLogs(logDirectory, facts);
  return read ? Collation(logDirectory, facts, std::move(*read)).write(path, existing)
              : Result<Collated>(read.error());
}

}  // namespace pf::app

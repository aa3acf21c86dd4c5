// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/recording/record.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "app/collation/collate.h"
#include "app/collation/failure.h"
#include "app/collation/launch_context.h"
#include "app/collation/log_files.h"
#include "app/collation/race_reduction.h"
#include "app/collation/rank_rows.h"
#include "app/files/paths.h"
#include "app/job/job.h"
#include "app/recording/log_directory.h"
#include "app/recording/recorded_logs.h"
#include "app/traces/own_traces.h"
#include "app/traces/trace_place.h"
#include "replay_engine/base/shown_text.h"

namespace pf::app {
namespace fs = std::filesystem;
namespace {
using IsTaken = std::function<bool(const std::string& name)>;
}  // namespace

std::string freeTraceName(const std::string& base, const IsTaken& taken) {
  std::error_code error;
  for (int i = 1;; ++i) {
    std::string name = base + "-" + std::to_string(i) + ".pft";
    if (!fs::exists(name, error) && !fs::exists(logDirectoryOf(name), error) && !taken(name)) {
      return name;
    }
  }
}

namespace {

std::string nameOf(const RecordOptions& options, const LaunchCommand& command,
                   const IsTaken& taken) {
  return options.output.empty() ? freeTraceName(command.title(), taken) : options.output;
}

/// `grouped`: contents of messages between groups were kept.
std::vector<std::string> detailsOf(const Collated& collated, const std::string& trace,
                                   bool grouped) {
  std::vector<std::string> lines;
  for (const std::string& cut : collated.cuts) {
    lines.push_back("  " + cut);
  }
  for (const std::string& cut : collated.contentsCut) {
    lines.push_back("  " + cut);
  }
  if (grouped && collated.contentsCut.empty()) {
    lines.push_back("  'photofinish replay " + shownWord(trace) +
                    " --group 0' runs a group of ranks alone; 'photofinish info' lists the groups");
  }
  for (const std::string& note : collated.notes) {
    lines.push_back("  note: " + note +
                    ": what is decided there is not recorded, a replay may differ");
  }
  return lines;
}

void say(const Collated& collated, const Recorded& recorded) {
  const std::string probes = andProbes(collated.probes);
  if (!collated.analysed) {
    std::fprintf(
        stderr,
        "photofinish: %d ranks, %llu wildcard receives%s -> %s ('photofinish races %s' lists "
        "those that raced)\n",
        collated.ranks, static_cast<unsigned long long>(collated.wildcardReceives), probes.c_str(),
        recorded.trace.c_str(), recorded.trace.c_str());
  } else {
    std::fprintf(
        stderr,
        "photofinish: %d ranks, %llu messages, %llu wildcard receives%s, %llu racing -> %s\n",
        collated.ranks, static_cast<unsigned long long>(collated.messages),
        static_cast<unsigned long long>(collated.wildcardReceives), probes.c_str(),
        static_cast<unsigned long long>(collated.racing), recorded.trace.c_str());
  }
  if (const auto& found = collated.racesFound) {
    std::fprintf(stderr,
                 "photofinish:   %s found %llu racing deliveries; %llu deliveries kept%s%s\n",
                 found->algorithm.c_str(), static_cast<unsigned long long>(found->found),
                 static_cast<unsigned long long>(found->kept),
                 collated.notReduced.empty() ? "" : ": ", collated.notReduced.c_str());
    if (found->threads) {
      std::fprintf(stderr,
                   "photofinish:   races between threads of one rank are not found while it runs: "
                   "'photofinish races %s' has them\n",
                   recorded.trace.c_str());
    }
  }
  if (const auto& failed = recorded.failed ? recorded.failed : collated.failed; failed) {
    tell("  " + failed->sentence);
  }
  for (const std::string& line : recorded.details) {
    tell(line);
  }
}

/// Of a program that was ended when its time was up. Who waits for whom then is known; who was ended by what signal is our doing.
WhatFailed notEnded(std::chrono::milliseconds limit, const std::optional<WhatFailed>& failed) {
  std::array<char, 32> time{};
  std::snprintf(time.data(), time.size(), "%g s", std::chrono::duration<double>(limit).count());
  return {kUnknownRank,
          std::string("it had not ended after ") + time.data() + ", and was ended" +
              (failed && failed->hangs ? ": " + failed->sentence : ""),
          true};
}

/// Logs that lie beside a file of the trace's name, and no trace can be made of them.
Result<bool> leaveLogs(const std::string& logs, const Error& why) {
  std::fprintf(stderr,
               "photofinish: what %s has of a recording that was not finished is left alone: %s\n",
               logs.c_str(), why.message.c_str());
  return false;
}

/// Damaged unless the logs are this user's or root's: those of others make no file of this user.
Status mayTakeUp(const RunFacts& facts, const std::string& logs) {
  struct stat info {};
  if (::lstat(logs.c_str(), &info) != 0) {
    return systemError("cannot read " + logs, errno);
  }
  if (info.st_uid == ::geteuid() || info.st_uid == 0 || isOwnRecording(facts, logs)) {
    return {};
  }
  return Error{ErrorCode::Damaged,
               "no trace is made of " + logs + ": it belongs to another user (number " +
                   std::to_string(info.st_uid) + ")",
               "If you know where it comes from, make it yours (chown), or do this as that user."};
}

/// The logs are locked: a trace of this name is being made. Nothing: it is that of a former recording, and there.
std::optional<Error> beingRecorded(const std::string& trace, bool taken) {
  if (taken) {
    std::fprintf(stderr, "photofinish: %s is being recorded anew; this is the former one\n",
                 trace.c_str());
    return std::nullopt;
  }
  return Error{ErrorCode::System, trace + " is being recorded",
               "Wait until the program has ended."};
}

/// Makes the trace of a recording whose recorder is gone, and removes its logs. `numbered`: under a
/// number in any case. True if it has the name `trace` now.
Result<bool> takeUpLogs(const std::string& trace, bool numbered) {
  const std::string logs = logDirectoryOf(trace);
  if (!holdsLogs(logs)) {
    return false;
  }
  std::error_code unknown;
  const bool taken = fs::exists(fs::symlink_status(trace, unknown));
  if (taken && !db::looksLikeTrace(trace)) {
    return false;  // who opens it is told so
  }
  if (Status status = isNoLink(logs); !status) {
    return taken ? leaveLogs(logs, status.error()) : status.error();
  }
  const UniqueFd lock = lockLogs(logs);
  if (!lock.valid() && areLogsLocked(logs)) {
    const std::optional<Error> recorded = beingRecorded(trace, taken);
    return recorded ? Result<bool>(*recorded) : false;
  }
  const Result<RunFacts> facts = readFacts(logs);
  if (!facts) {
    return taken ? leaveLogs(logs, facts.error()) : facts.error();
  }
  if (taken && !isOwnRecording(*facts, logs)) {
    return leaveLogs(logs, {ErrorCode::Usage, "you have not recorded them on this machine", {}});
  }
  if (Status status = mayTakeUp(*facts, logs); !status) {
    return status.error();
  }
  const LogsAndTrace order = compareWithTrace(*facts, trace);
  if (order == LogsAndTrace::Made) {
    noteEnd(*facts);
    endLogs(logs);  // only that was not done
    return false;
  }
  if (Status status = noRankRuns(logs); !status) {
    if (status.error().code == ErrorCode::Damaged) {
      return status.error();
    }
    return Error{
        ErrorCode::System, status.error().message + "; its logs are in " + logs,
        taken ? trace + " is of a former one. " + status.error().advice : status.error().advice};
  }
  const bool aside = numbered || order == LogsAndTrace::Earlier;
  const std::string made = aside ? db::freeNumberedName(trace) : trace;
  const Result<Collated> collated =
      collate(logs, *facts, made, aside ? db::Existing::Refuse : db::Existing::Keep);
  if (!collated) {
    return taken && collated.error().code == ErrorCode::NotFound ? leaveLogs(logs, collated.error())
                                                                 : collated.error();
  }
  std::fprintf(stderr, "photofinish: made %s from the logs of a recording that was not finished\n",
               made.c_str());
  sayKept(trace, collated->kept);
  noteTrace(*facts, logs, made, collated->contents);
  noteEnd(*facts);
  endLogs(logs);
  return !aside;
}

}  // namespace

Status makePlace(const std::string& trace, bool replace) {
  if (Status status = mayBecomeTrace(trace); !status) {
    return status;
  }
  if (areLogsLocked(logDirectoryOf(trace))) {
    return {};  // beginLogs says so
  }
  const Result<bool> made = takeUpLogs(trace, replace);
  // Logs of which no trace can be made are kept aside by beginLogs.
  return made || made.error().code == ErrorCode::Damaged || made.error().code == ErrorCode::NotFound
             ? Status()
             : made.error();
}

std::string logDirectoryOf(const std::string& trace) {
  return trace + ".d";
}

namespace {

JobOptions jobOptionsOf(const RecordOptions& options, const LaunchCommand& command,
                        const RunFacts& facts, const std::string& logs) {
  JobOptions job;
  job.command = command;
  job.session.mode = kRecordChoices | (options.mode == "all" ? kRecordEvents : 0U) |
                     (options.mode == "races" ? kRecordRaces : 0U) |
                     (options.jitterSeed != 0 ? kJitter : 0U) | (options.cycles ? kTrapTsc : 0U) |
                     (options.sameAddresses ? kSameAddresses : 0U);
  job.session.mode |= options.groups.empty() ? 0U : static_cast<std::uint32_t>(kKeepContents);
  job.session.groups = options.groups;
  job.session.jitterSeed = options.jitterSeed;
  job.session.variables = exportedVariables(command);
  job.session.algorithm =
      options.window != 0
          ? kWindowAlgorithm + options.window
          : static_cast<std::uint32_t>(std::ranges::find(kAlgorithms, options.algorithm) -
                                       kAlgorithms.begin());
  job.session.logDirectory = logs;
  job.session.salt = facts.salt;
  job.stallAfter = options.stallAfter;
  job.stallLimit = options.stallLimit;
  job.output = options.standardOutput;
  return job;
}

Result<RunFacts> factsOf(const RecordOptions& options, const LaunchCommand& command) {
  std::error_code gone;
  RunFacts facts;
  facts.command = options.command;
  facts.workingDirectory = fs::current_path(gone).string();
  if (gone) {
    return Error{
        ErrorCode::System, "the working directory is gone: " + gone.message(),
        "Go to a directory that is there: a replay starts the program where it was recorded."};
  }
  facts.launcher = command.launcher;
  facts.program = command.program();
  facts.createdUtc = utcNow();
  facts.mode = options.mode;
  facts.salt = randomSalt();
  facts.sameAddresses = options.sameAddresses;
  if (!options.groups.empty()) {
    facts.groups = options.groups;
  }
  return facts;
}

}  // namespace

Result<std::string> nameOfTrace(const RecordOptions& options, const IsTaken& taken) {
  const Result<LaunchCommand> command = parseLaunch(options.command);
  return command ? Result<std::string>(nameOf(options, *command, taken))
                 : Result<std::string>(command.error());
}

Result<Recorded> record(const RecordOptions& options) {
  Result<LaunchCommand> command = parseLaunch(options.command);
  if (!command) {
    return command.error();
  }
  Result<RunFacts> facts = factsOf(options, *command);
  if (!facts) {
    return facts.error();
  }
  Recorded recorded;
  const std::string trace = nameOf(options, *command, [](const std::string&) { return false; });
  if (Status status = makePlace(trace, options.replace); !status) {
    return status.error();
  }
  RecordedLogs logs(std::move(*facts), trace, options.replace);
  if (Status begun = logs.begin(); !begun) {
    return begun.error();
  }
  const Result<int> status = logs.run(jobOptionsOf(options, *command, logs.facts(), logs.path()),
                                      {.input = options.input,
                                       .keepsOutput = true,
                                       .endStuck = options.endStuck,
                                       .limit = options.runLimit});
  if (!status) {
    logs.end();
    return status.error();
  }
  recorded.exitStatus = *status;
  recorded.interrupted = RecordedLogs::interrupted();
  recorded.timeWasUp = logs.timeWasUp();
  if (recorded.timeWasUp && recorded.exitStatus == 0) {
    recorded.exitStatus = 1;
  }
  Result<std::optional<Collated>> made = logs.makeTrace();
  if (!made) {
    return made.error();
  }
  if (const std::optional<Collated>& collated = *made; collated) {
    recorded.trace = trace;
    recorded.racing = collated->racing;
    recorded.failed = collated->failed;
    if (recorded.timeWasUp) {
      recorded.failed = notEnded(options.runLimit, collated->failed);
    }
    sayKept(recorded.trace, collated->kept);
    recorded.details =
        detailsOf(*collated, trace, !options.groups.empty() && options.groups != "all");
    if (!options.quiet) {
      say(*collated, recorded);
    }
  }
  return recorded;
}

Result<Collated> peek(const std::string& trace, const std::string& to) {
  const std::string logs = logDirectoryOf(trace);
  std::error_code unknown;
  const auto isOver = [&] { return fs::status(logs, unknown).type() == fs::file_type::not_found; };
  const auto nothing = [&] {
    return Error{ErrorCode::Usage, "nothing is being recorded as " + trace,
                 fs::exists(trace, unknown) ? "It is finished: open it."
                                            : "Give the name of the trace that is being made."};
  };
  if (isOver()) {
    return nothing();
  }
  if (fs::exists(to, unknown)) {
    return Error{ErrorCode::Usage, to + " is there already", "Give another name."};
  }
  Result<RunFacts> facts = readFacts(logs);
  if (!facts) {
    return isOver() ? nothing() : facts.error();
  }
  facts->goesOn = true;
  Result<Collated> collated = collate(logs, *facts, to);
  if (collated) {
    noteTrace(*facts, logs, to, collated->contents);
  }
  return !collated && isOver() ? nothing() : std::move(collated);
}

Result<bool> recoverTrace(const std::string& trace) {
  return takeUpLogs(trace, false);
}

}  // namespace pf::app

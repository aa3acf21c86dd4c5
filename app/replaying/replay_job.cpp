// SPDX-License-Identifier: GPL-3.0-or-later
// What the job of a replay is made of, and where the ranks of a run that failed stop.
#include "mpi_calls.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>

#include "app/collation/collate.h"
#include "app/collation/launch_context.h"
#include "app/collation/logs_of_trace.h"
#include "app/files/paths.h"
#include "app/recording/record.h"
#include "app/replaying/replay.h"
#include "app/traces/own_traces.h"
#include "app/traces/redact.h"

namespace pf::app {
namespace fs = std::filesystem;

Result<db::TraceStore> openTrace(const std::string& path, db::TraceStore::Mode mode) {
  Result<bool> recovered = recoverTrace(path);
  if (!recovered) {
    return recovered.error();
  }
  return db::TraceStore::open(absolutePath(path), mode);
}

namespace {

/// What was recorded by option.
std::uint32_t optionsMode(const db::TraceStore& store) {
  const bool cycles = std::ranges::any_of(
      store.ranks(), [](const db::RankInfo& rank) { return rank.tscReads.has_value(); });
  return (cycles ? kTrapTsc : 0U) | (store.run().sameAddresses ? kSameAddresses : 0U);
}

/// What was run, found again from where it was recorded: the program's path may be relative to that.
Result<LaunchCommand> recordedCommand(const db::RunInfo& run) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  fs::current_path(run.workingDirectory, error);
  if (error) {
    return Error{ErrorCode::NotFound,
                 "cannot go to the recorded working directory " + run.workingDirectory + ": " +
                     error.message(),
                 "Make it again, or record the program anew."};
  }
  Result<LaunchCommand> command = parseLaunch(run.command);
  fs::current_path(here, error);
  if (!command) {
    Error failed = command.error();
    failed.message = "cannot start the recorded program again in " + run.workingDirectory + ": " +
                     failed.message;
    return failed;
  }
  return command;
}

}  // namespace

Result<JobOptions> replayJob(db::TraceStore& store, protocol::SessionConfig session,
                             std::uint64_t jitterSeed,
                             const std::vector<std::string>& launcherOptions, bool force) {
  const db::RunInfo& run = store.run();
  const Result<std::vector<db::LaunchFact>> launch = store.launchFacts();
  if (!launch) {
    return launch.error();
  }
  if (run.redacted) {
    return redactedTrace(store.path());
  }
  const Result<Owner> owner = ownerOf(store);
  if (!owner || *owner == Owner::Foreign) {
    return owner ? foreignTrace(store) : owner.error();
  }
  // What does not verify is found here, not by the daemon that makes the schedules.
  if (Status whole = logsAreTheirRanks(store); !whole) {
    return whole.error();
  }
  Result<LaunchCommand> command = recordedCommand(run);
  if (!command) {
    return command.error();
  }
  JobOptions job;
  job.workingDirectory = run.workingDirectory;
  session.variables = exportedVariables(*command);
  job.command = std::move(*command);
  job.launcherOptions = launcherOptions;
  if (run.input) {
    job.givenInput = run.input->bytes;
  }
  job.session = std::move(session);
  job.session.mode |= kReplay | kGate | optionsMode(store) | (jitterSeed != 0 ? kJitter : 0U);
  std::map<Rank, protocol::LaunchContext> contexts = contextsOf(*launch, run.ranks);
  if (*owner != Owner::Own) {
    for (auto& [rank, context] : contexts) {
      context = withoutLoaders(std::move(context));
    }
  }
  job.session.recordedEnvironment = recordedEnvironments(contexts);
  job.session.jitterSeed = jitterSeed;
  job.session.ranks = run.ranks;
  job.session.salt = run.salt + 1;
  if (job.session.logDirectory.empty()) {
    job.session.logDirectory = fs::path(store.path())
                                   .parent_path()
                                   .string();  // nothing is written there without a record mode
  }
  job.trace = store.path();
  job.force = force;
  return job;
}

std::vector<std::uint64_t> stopsAtEnd(const db::TraceStore& store) {
  if (store.run().complete) {
    return {};
  }
  std::vector<std::uint64_t> stops;
  for (const db::RankInfo& rank : store.ranks()) {
    stops.push_back(rank.complete ? 0 : rank.lastSerial + 1);
  }
  return stops;
}

Result<std::vector<std::uint64_t>> stopsBeforeFailure(db::TraceStore& store) {
  std::vector<std::uint64_t> stops = stopsAtEnd(store);
  Result<std::vector<RankLog>> logs = readLogs(store);
  if (!logs) {
    return logs.error();
  }
  for (std::size_t i = 0; i < stops.size() && i < logs->size(); ++i) {
    const RankLog& log = (*logs)[i];
    const int signal = store.ranks()[i].exitSignal.value_or(0);
    const bool victim = signal == SIGTERM || signal == SIGKILL;  // the launcher ended it
    if (stops[i] > 1 && log.insideLast && !victim && log.lastCall != kCallAbort) {
      --stops[i];
    }
  }
  return stops;
}

}  // namespace pf::app

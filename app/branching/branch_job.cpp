// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/branching/branch_job.h"

#include <algorithm>
#include <cstdint>
#include <thread>

#include "app/recording/recorded_logs.h"
#include "app/replaying/replay.h"

namespace pf::app {
namespace {

constexpr std::uint64_t kTimesTheLongestWait = 20;
constexpr std::chrono::milliseconds kLeastStuck(3000);

}  // namespace

std::chrono::milliseconds stuckTime(const db::RunInfo& known, std::chrono::milliseconds most) {
  // A number from a file may be any.
  if (!known.longestWait || *known.longestWait >= static_cast<std::uint64_t>(most.count())) {
    return most;
  }
  return std::min(most, std::max(kLeastStuck, std::chrono::milliseconds(kTimesTheLongestWait *
                                                                        *known.longestWait)));
}

RunFacts factsOfBranch(const db::RunInfo& run) {
  RunFacts facts;
  facts.command = run.command;
  facts.workingDirectory = run.workingDirectory;
  facts.launcher = run.launcher;
  facts.program = run.program;
  facts.createdUtc = utcNow();
  facts.mode = "all";
  facts.salt = randomSalt();
  facts.sameAddresses = run.sameAddresses;
  return facts;
}

Result<JobOptions> branchJob(const std::string& trace,
                             std::vector<std::vector<unsigned char>> schedules,
                             const std::string& logs, std::uint64_t salt,
                             const std::vector<std::string>& launcherOptions, bool force) {
  Result<db::TraceStore> store = openTrace(trace, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  protocol::SessionConfig session;
  session.logDirectory = logs;
  Result<JobOptions> job = replayJob(*store, std::move(session), 0, launcherOptions, force);
  if (!job) {
    return job;
  }
  job->session.mode &= ~static_cast<std::uint32_t>(kGate);
  job->session.mode |= kRecordChoices | kRecordEvents | kBranch | kOffers;
  job->session.salt = salt;
  job->schedules = std::move(schedules);
  return job;
}

int jobsAtOnce(std::int32_t ranks) {
  constexpr int kRanksOfACore = 8;
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return std::clamp(kRanksOfACore * cores / std::max(1, ranks), 1, 2 * cores);
}

}  // namespace pf::app

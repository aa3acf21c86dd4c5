// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/branching/branch_runner.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "app/collation/failure.h"
#include "app/collation/rank_rows.h"
#include "app/recording/follow_recording.h"
#include "app/recording/kept_output.h"
#include "app/recording/recorded_logs.h"
#include "app/recording/until_failure.h"
#include "app/replaying/survey.h"
#include "app/traces/own_traces.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::app {
namespace {

constexpr std::size_t kMostPrinted = std::size_t{4} << 20;
constexpr int kLauncherTries = 3;
/// Ranks that all wait this long, and of which it is proven that none gets on, are deadlocked.
constexpr std::chrono::milliseconds kBranchStuckAfter(300);

using Clock = std::chrono::steady_clock;

}  // namespace

/// Of a run by itself; its standard input and output are still to be said.
JobOptions BranchRunner::jobOf(const std::vector<std::vector<unsigned char>>& schedules,
                               const std::string& logs, std::uint64_t jitterSeed,
                               std::uint64_t salt) const {
  JobOptions job = m_job;
  job.session.logDirectory = logs;
  job.session.salt = salt;
  job.session.mode |= jitterSeed != 0 ? static_cast<std::uint32_t>(kJitter) : 0U;
  job.session.jitterSeed = jitterSeed;
  job.schedules = schedules;
  if (schedules.empty()) {  // a recording as any, also in how jitter provokes other orders
    job.session.mode &= ~(kReplay | kBranch);
    job.trace.clear();
  }
  job.stallAfter = kBranchStuckAfter;
  job.stallLimit = m_limits.stuck;
  job.endsAtOnce = true;
  return job;
}

/// What the run that left these logs did, and how it ended.
Status BranchRunner::judge(MadeRun& made, LogFiles files, const Printed& printed,
                           bool timeIsUp) const {
  Result<SeenRun> seen = seenRun(std::move(files), m_job.session.ranks);
  if (!seen) {
    return seen.error();
  }
  if (Status one = oneThreadARank(*seen); !one) {
    return one;
  }
  made.seen = std::move(*seen);
  const std::vector<db::RankInfo> ranks = ranksOf(made.seen.logs, made.facts, *made.seen.execution);
  made.outcome = outcomeOf(ranks, made.facts, timeIsUp, printed);
  made.crashedAtItsEnd =
      std::ranges::all_of(ranks, &db::RankInfo::complete) &&
      (wasEnded(made.outcome) || std::ranges::any_of(ranks, [](const db::RankInfo& rank) {
         return rank.exitSignal.has_value();
       }));
  made.failed = failingReceive(ranks, *made.seen.execution).value_or(EventRef{});
  if (m_limits.check.empty() || !endedWell(made.outcome)) {
    return {};
  }
  const Result<bool> right = isRight(m_limits.check, printed);
  if (!right) {
    return right.error();
  }
  if (!*right) {
    made.outcome.name = "wrong";
    made.outcome.sentence = "it ended well, and '" + m_limits.check + "' says that it is wrong";
  }
  return {};
}

Result<MadeRun> BranchRunner::makeOnce(const std::vector<std::vector<unsigned char>>& schedules,
                                       const std::string& logs, std::uint64_t jitterSeed) const {
  if (::mkdir(logs.c_str(), 0700) != 0 && errno != EEXIST) {
    return systemError("cannot make " + logs, errno);
  }
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const UniqueFd words(memfd_create("photofinish-words", MFD_CLOEXEC));
  Result<std::unique_ptr<KeptOutput>> printed = KeptOutput::start(kMostPrinted);
  if (!printed) {
    return printed.error();
  }
  if (!null.valid() || !words.valid()) {
    return systemError("cannot keep what the program prints", errno);
  }
  MadeRun made;
  made.facts = m_facts;
  made.facts.salt = randomSalt();
  made.facts.createdUtc = utcNow();
  JobOptions job = jobOf(schedules, logs, jitterSeed, made.facts.salt);
  job.input = null.get();  // for one that has no recorded input
  job.output = (*printed)->writeEnd();
  job.error = words.get();
  const Clock::time_point begun = Clock::now();
  Result<std::unique_ptr<Job>> running = Job::start(std::move(job));
  if (!running) {
    return running.error();
  }
  bool timeIsUp = false;
  const Patience patience{true,
                          [&] {
                            timeIsUp = timeIsUp || Clock::now() - begun > m_limits.time;
                            return timeIsUp || m_stop;
                          },
                          true};
  const Result<int> status = followRecording(**running, made.facts, nullptr, patience);
  running->reset();
  if (!status) {
    return status.error();
  }
  made.interrupted = m_stop;
  made.facts.exitStatus = *status;
  Result<LogFiles> files = readLogFiles(logs);
  if (!files) {
    return files.error();
  }
  if (files->empty()) {
    return Error{
        ErrorCode::System,
        "no rank called MPI_Init (status " + std::to_string(*status) + ")" + lastWords(words.get()),
        "The launcher failed: try its command by itself."};
  }
  if (Status judged = judge(made, std::move(*files), (*printed)->take(), timeIsUp); !judged) {
    return judged.error();
  }
  return made;
}

/// False: a rank never came to MPI's beginning. Open MPI 4.1.4 ends one by SIGPIPE there now and then.
bool BranchRunner::allBegan(const std::string& logs) const {
  const Result<LogFiles> files = readLogFiles(logs);
  return files && std::cmp_greater_equal(files->size(), m_job.session.ranks);
}

Result<MadeRun> BranchRunner::make(const std::vector<std::vector<unsigned char>>& schedules,
                                   const std::string& logs, std::uint64_t jitterSeed) const {
  for (int tries = 1;; ++tries) {
    Result<MadeRun> made = makeOnce(schedules, logs, jitterSeed);
    const bool ofLauncher =
        made ? made->crashedAtItsEnd : made.error().code == ErrorCode::System || !allBegan(logs);
    if (!ofLauncher || tries == kLauncherTries || m_stop) {
      return made;
    }
    std::error_code ignored;
    std::filesystem::remove_all(logs, ignored);
  }
}

Status keepRun(const std::string& logs, const RunFacts& facts, const std::string& trace) {
  if (Status written = writeFacts(logs, facts); !written) {
    return written;
  }
  (void)noteStart(facts, logs);  // else its replays ask for --trust
  const Result<Collated> collated = collate(logs, facts, trace, db::Existing::Replace);
  if (collated) {
    noteTrace(facts, logs, trace, collated->contents);
  }
  noteEnd(facts);
  return collated ? Status() : Status(collated.error());
}

}  // namespace pf::app

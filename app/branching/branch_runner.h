// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the runs of an exploration, one after the other on each thread. Private to app/branching.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>

#include "app/branching/branch_job.h"
#include "app/branching/outcome.h"
#include "app/branching/seen_run.h"
#include "app/recording/kept_output.h"

namespace pf::app {

/// How the runs are made.
struct RunLimits {
  std::chrono::milliseconds time{60000};   ///< of one run; it is ended then
  std::chrono::milliseconds stuck{60000};  ///< in which no rank gets on; it is ended then
  std::string check;                       ///< for the shell, as UntilFailure::check
};

/// A run that was made.
struct MadeRun {
  SeenRun seen;
  RunFacts facts;
  Outcome outcome;
  EventRef failed;           ///< the failing receive; not valid: none looks as if it were
  bool interrupted = false;  ///< it was ended because `stop` was set
  /// All that it recorded was over when a signal ended a rank, or when it did not end: Open MPI 4.1 does so in one of some 200
  /// runs, by itself.
  bool crashedAtItsEnd = false;
};

class BranchRunner {
 public:
  /// `job`: of the first run's program, without schedules. `facts`: what all its runs have in common. Runs are ended once `stop` is set.
  BranchRunner(JobOptions job, RunFacts facts, RunLimits limits, const std::atomic<bool>& stop)
      : m_job(std::move(job)),
        m_facts(std::move(facts)),
        m_limits(std::move(limits)),
        m_stop(stop) {}

  /// Runs are ended after this time at the latest.
  void endAfter(std::chrono::milliseconds time) { m_limits.time = std::min(m_limits.time, time); }
  /// `schedules`: none: nothing is forced. `jitterSeed`: delays at random by it; 0: none. `logs`: a directory, which must not be there; the caller removes it. Divergence: the run did not begin as it was to;
  /// System and others: the launcher failed for reasons of its own, again and again. A run that crashed at its end is made
  /// again, too, and counts if it always does.
  Result<MadeRun> make(const std::vector<std::vector<unsigned char>>& schedules,
                       const std::string& logs, std::uint64_t jitterSeed = 0) const;

 private:
  Result<MadeRun> makeOnce(const std::vector<std::vector<unsigned char>>& schedules,
                           const std::string& logs, std::uint64_t jitterSeed) const;
  [[nodiscard]] JobOptions jobOf(const std::vector<std::vector<unsigned char>>& schedules,
                                 const std::string& logs, std::uint64_t jitterSeed,
                                 std::uint64_t salt) const;
  Status judge(MadeRun& made, LogFiles files, const Printed& printed, bool timeIsUp) const;
  [[nodiscard]] bool allBegan(const std::string& logs) const;

  const JobOptions m_job;
  const RunFacts m_facts;
  RunLimits m_limits;
  const std::atomic<bool>& m_stop;
};

/// Makes the trace of the logs of a run.
Status keepRun(const std::string& logs, const RunFacts& facts, const std::string& trace);

}  // namespace pf::app

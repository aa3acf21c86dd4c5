// SPDX-License-Identifier: GPL-3.0-or-later
// What a run is made of whose beginning is forced. Private to app/branching.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "app/branching/forced_prefix.h"
#include "app/collation/collate.h"
#include "app/job/job.h"

namespace pf::app {

/// What is known of a run of the program of `run` that is to be recorded.
RunFacts factsOfBranch(const db::RunInfo& run);

/// For how long all ranks of a run like this one may wait until they are stuck, although nobody can prove it: many times as
/// long as they ever did and then went on, and `most` where that is not known.
std::chrono::milliseconds stuckTime(const db::RunInfo& known, std::chrono::milliseconds most);

/// A job that runs the program of `trace` again; its ranks write to `logs` of `salt`.
Result<JobOptions> branchJob(const std::string& trace,
                             std::vector<std::vector<unsigned char>> schedules,
                             const std::string& logs, std::uint64_t salt,
                             const std::vector<std::string>& launcherOptions, bool force);

/// How many runs this machine makes at once if nobody says otherwise. Ranks of short programs mostly wait: for their
/// launcher, and for one another in MPI_Init.
int jobsAtOnce(std::int32_t ranks);

}  // namespace pf::app

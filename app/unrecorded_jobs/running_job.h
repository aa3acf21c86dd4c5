// SPDX-License-Identifier: GPL-3.0-or-later
// MPI jobs that run on this host, started without us: found in /proc.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "replay_engine/base/result.h"
#include "replay_engine/execution/execution.h"

namespace pf::app {

struct RunningRank {
  Rank rank = 0;
  pid_t pid = 0;
  std::string program;  ///< path of what it runs
};

struct RunningJob {
  pid_t launcher = 0;              ///< 0: a rank without a launcher on this host
  std::string command;             ///< of the launcher, for people
  std::vector<RunningRank> ranks;  ///< by rank; of this host only
};

/// The job of a launcher (mpirun, mpiexec, srun) or of one of its ranks. Looks at processes, stops none.
[[nodiscard]] Result<RunningJob> runningJob(pid_t pid);

/// All jobs of this user (of all users, for root).
[[nodiscard]] std::vector<RunningJob> runningJobs();

/// Why a process cannot be traced by us, as one sentence with what helps; "" if nothing speaks against it.
[[nodiscard]] std::string whyNotTraceable(pid_t pid);

}  // namespace pf::app

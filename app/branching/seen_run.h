// SPDX-License-Identifier: GPL-3.0-or-later
// A run as its logs have it: its execution, what it chose, and what else it could have chosen. Private to app/branching.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "app/branching/forced_prefix.h"
#include "replay_engine/branching/branches.h"
#include "replay_engine/log/rank_log.h"

namespace pf::app {

struct SeenRun {
  LogFiles files;
  std::vector<RankLog> logs;  ///< without what `execution` has
  std::unique_ptr<Execution> execution;
  std::unique_ptr<Choices> choices;
};

/// `size`: number of ranks; one that has left no log has done nothing.
Result<SeenRun> seenRun(LogFiles files, std::int32_t size);

/// Usage: of a run in which threads of a rank called MPI no branches are known.
Error threadsCallMpi(Rank rank);
Status oneThreadARank(const SeenRun& run);

/// The schedules of a branch of this run.
Result<std::vector<std::vector<unsigned char>>> schedulesOf(const SeenRun& run,
                                                            const BranchStart& start);

}  // namespace pf::app

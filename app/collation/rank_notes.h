// SPDX-License-Identifier: GPL-3.0-or-later
// What a replay of a run does not guarantee, in words.
#pragma once

#include <string>
#include <vector>

#include "app/collation/collate.h"
#include "replay_engine/log/rank_log.h"

namespace pf::app {

/// Of a rank: "MPI_Accumulate at rma.c:12", in the order of first use, then what was under way where it was cut.
std::vector<std::string> notesOf(const RankLog& log, const RunFacts& facts,
                                 const Execution& execution);
/// A file that a rank read and that nobody in the run wrote (filesOfOthers()).
std::string noteOfStrange(const std::string& file);

}  // namespace pf::app

// SPDX-License-Identifier: GPL-3.0-or-later
// The run and its ranks, as a trace has them.
#pragma once

#include <cstdint>
#include <vector>

#include "app/collation/collate.h"
#include "app/collation/race_reduction.h"
#include "db/schema/trace_types.h"
#include "replay_engine/log/rank_log.h"

namespace pf::app {

/// Of a log without what ranks found while they ran (addRaces()).
db::RankInfo rankInfo(const RankLog& log, const RunFacts& facts, const Execution& execution);
/// What the rank found while it ran.
void addRaces(db::RankInfo& info, const RaceReduction& reduction);
/// Of a run with these logs, one a rank.
db::RunInfo runInfo(const std::vector<RankLog>& logs, const RunFacts& facts);

}  // namespace pf::app

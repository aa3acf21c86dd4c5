// SPDX-License-Identifier: GPL-3.0-or-later
// The run and its ranks, as a trace has them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/collation/collate.h"
#include "app/collation/race_reduction.h"
#include "db/schema/trace_types.h"
#include "replay_engine/log/rank_log.h"

namespace pf::app {

/// Of a log without what ranks found while they ran (addRaces()).
db::RankInfo rankInfo(const RankLog& log, const RunFacts& facts, const Execution& execution);
/// What a trace would say of the ranks of these logs.
std::vector<db::RankInfo> ranksOf(const std::vector<RankLog>& logs, const RunFacts& facts,
                                  const Execution& execution);
/// What the rank found while it ran.
void addRaces(db::RankInfo& info, const RaceReduction& reduction);
/// Of a run with these logs, one a rank.
db::RunInfo runInfo(const std::vector<RankLog>& logs, const RunFacts& facts);

/// Probes of a rank that saw a message: which one, or when, MPI chose.
[[nodiscard]] std::uint64_t probesAnswered(const RankLog& log);
/// ", 12 probes", or nothing: behind a number of wildcard receives.
[[nodiscard]] std::string andProbes(std::uint64_t probes);

}  // namespace pf::app

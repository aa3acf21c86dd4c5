// SPDX-License-Identifier: GPL-3.0-or-later
// The deliveries that the ranks of a recording traced while they ran (record --mode races), and
// those that core's tracing algorithms trace of its execution afterwards.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replay_engine/execution/execution.h"
#include "replay_engine/log/rank_log.h"
#include "replay_engine/log/shadow_routes.h"

namespace pf::check {

using Traced = std::set<std::pair<Rank, std::uint32_t>>;  ///< rank, post

/// Whether every log is one of mode races that ended cleanly; else says which is not.
std::string notOnline(const std::vector<RankLog>& logs);

/// The source of a matched probe is a choice that every trace has.
bool isMatchedProbe(const Execution& execution, const RankHistory& history,
                    const PostedReceive& receive);

/// With matched probes, or without: an algorithm that traces messages traces those of probes, too.
Traced online(const Execution& execution, const std::vector<RankLog>& logs,
              const ShadowRoutes& tags, bool matchedProbes = false);

/// Without matched probes. `algorithm`: LoggedRaces::algorithm. The ranks do not follow that a
/// synchronous send has come back, so the execution is looked at without that.
Traced offline(Execution execution, std::uint32_t algorithm);

}  // namespace pf::check

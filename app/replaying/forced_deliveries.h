// SPDX-License-Identifier: GPL-3.0-or-later
// The two ways to force the deliveries of a replay: pins (a wildcard asks for its recorded source)
// and shadow routes (replay_engine/log/shadow_routes.h).
#pragma once

#include <string>
#include <vector>

#include "db/store/trace_store.h"
#include "replay_engine/base/result.h"
#include "replay_engine/log/shadow_routes.h"

namespace pf::app {

/// Usage unless `deliveries` ("pinned", "tagged", or empty: by what the trace holds) is a way to
/// replay this trace, whose events are known if it is not empty; Damaged where shadow routes are lost.
Status canForce(db::TraceStore& store, const std::string& deliveries);

/// What is forced by shadow routes; no rank where the trace holds no shadow routes, or pins are asked for.
Result<ShadowRoutes> routesToForce(db::TraceStore& store, const std::vector<RankLog>& logs,
                                   const std::string& deliveries);

/// Sources that are not in `logs`, of ranks whose deliveries are there by their shadow routes, from the
/// survey.
void takePins(std::vector<RankLog>& logs, const std::vector<RankLog>& survey);

}  // namespace pf::app

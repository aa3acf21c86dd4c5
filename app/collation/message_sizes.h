// SPDX-License-Identifier: GPL-3.0-or-later
// How large messages, the buffers of receives, and what ranks give to collectives, are: in the raw logs of a trace only.
#pragma once

#include <vector>

#include "db/store/trace_store.h"
#include "replay_engine/base/result.h"
#include "replay_engine/groups/traffic.h"

namespace pf::app {

/// Of a trace that has its events, of each rank those of loadExecution(). Usage: it has no logs with events, as one that
/// was redacted.
Result<std::vector<SizesOfRank>> messageSizes(db::TraceStore& store);

}  // namespace pf::app

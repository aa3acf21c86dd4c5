// SPDX-License-Identifier: GPL-3.0-or-later
// A recorded run with its events, as runs of other orders begin with it. Private to app/branching.
#pragma once

#include <string>
#include <vector>

#include "app/branching/forced_prefix.h"
#include "db/schema/trace_types.h"
#include "replay_engine/execution/execution.h"

namespace pf::app {

struct KnownRun {
  db::RunInfo run;
  std::vector<db::RankInfo> ranks;
  LogFiles logs;  ///< with events
  Execution execution;
  std::vector<Race> races;  ///< in the order of 'photofinish races'
};

/// Surveys the trace if need be. Usage: it may not be run here, or has threads that call MPI; Divergence: no survey of it came to its end.
Result<KnownRun> knownRun(const std::string& trace);

/// "the message that rank 2 sent at its event 17, tag 3"
std::string messageText(const Execution& execution, std::uint32_t message);

}  // namespace pf::app

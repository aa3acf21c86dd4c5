// SPDX-License-Identifier: GPL-3.0-or-later
// Random executions whose ranks have several threads.
#pragma once

#include <cstdint>

#include "replay_engine/races/tests/random_execution.h"

namespace pf::oracle {

/// Lets several threads have made the calls of some ranks of an execution, as the record allows it:
/// who completes a request follows who posted it. Some more links order the threads.
void giveThreads(Execution& execution, std::uint64_t seed);

}  // namespace pf::oracle

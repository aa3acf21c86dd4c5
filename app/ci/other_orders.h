// SPDX-License-Identifier: GPL-3.0-or-later
// The other orders of a program, for 'photofinish ci --explore': the one place that asks for them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "replay_engine/base/result.h"

namespace pf::app {

struct OrdersWish {
  std::vector<std::string> command;  ///< launcher, its options, program, arguments
  std::size_t mostRuns = 0;
  std::string check;  ///< command of the shell, as of `record --check`; empty: none
};

struct TriedOrders {
  struct Run {
    std::string trace;   ///< kept; it is ours to remove
    bool wrong = false;  ///< it ended well, and the check says that it is wrong
  };
  std::vector<Run> runs;  ///< at least one of each outcome
  std::size_t tried = 0;  ///< executions, all of them
};

/// Runs each distinct matching of the program's messages once, up to `mostRuns` (app/branching/explore.h).
Result<TriedOrders> tryOrders(const OrdersWish& wish);

}  // namespace pf::app

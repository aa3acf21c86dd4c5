// SPDX-License-Identifier: GPL-3.0-or-later
// What holds of the traces of all algorithms, of any execution: each covers its races, is enough
// for a replay that does its worst otherwise (tracing_replay.h), and is no smaller than the
// optimum; Algorithms A and B trace the same, a subset of what Netzer and Miller trace.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "replay_engine/races/races.h"
#include "replay_engine/races/tracing.h"

namespace pf::oracle {

struct NamedTrace {
  std::string name;
  std::vector<TracedReceive> trace;
  bool bySource = false;  ///< sufficient even if a replay forces sources only
};

/// By TracingRules::Mpi: Netzer and Miller, Algorithms A and B, Meehan, naive, then with windows of
/// 0 (as B) and more.
[[nodiscard]] std::vector<NamedTrace> allTraces(const Execution& execution);

// Each gives what is wrong, and the execution, as text for people; nothing if all is right.

/// Of the two deliveries of every race, one must be in the trace.
[[nodiscard]] std::string wrongCover(const Execution& execution, const std::vector<Race>& races,
                                     const NamedTrace& traced);

/// `traces`: allTraces().
[[nodiscard]] std::string wrongOrder(const Execution& execution,
                                     const std::vector<NamedTrace>& traces,
                                     const OptimalTrace& optimal);

/// The record must be whole. `states`: how many states to look at before giving up, 0 for none but
/// those in which one receive is held back. `all` says whether every state was looked at.
[[nodiscard]] std::string wrongReplay(const Execution& execution, const NamedTrace& traced,
                                      std::size_t states, bool& all);

}  // namespace pf::oracle

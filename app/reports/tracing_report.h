// SPDX-License-Identifier: GPL-3.0-or-later
// What the papers' tracing algorithms would trace of a run, for 'photofinish info --tracing'.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "replay_engine/execution/execution.h"
#include "replay_engine/races/races.h"

namespace pf::app {

struct TracingCounts {
  std::uint64_t messages = 0;
  std::uint64_t wildcardReceives = 0;
  std::uint64_t racing = 0;
  struct Row {
    std::string algorithm;  ///< "netzer-miller", …, "window-16"
    std::uint64_t traced = 0;
    bool printed = false;         ///< the paper's form is counted as well
    std::uint64_t asPrinted = 0;  ///< by the rules of the paper, which can miss races of MPI
  };
  std::vector<Row> rows;
  std::uint64_t lower = 0;  ///< bounds on the optimal trace
  std::uint64_t upper = 0;
};

[[nodiscard]] TracingCounts countTracing(const Execution& execution,
                                         const std::vector<Race>& races);
[[nodiscard]] nlohmann::json tracingJson(const TracingCounts& counts);
/// A table, one algorithm a line.
[[nodiscard]] std::string tracingText(const TracingCounts& counts);

}  // namespace pf::app

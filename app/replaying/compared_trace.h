// SPDX-License-Identifier: GPL-3.0-or-later
// A trace as a comparison needs it. Private to app/replaying.
#pragma once

#include <string>
#include <vector>

#include "app/replaying/report_parts.h"
#include "replay_engine/comparison/difference.h"

namespace pf::app {

struct ComparedTrace {
  std::string path;
  Loaded loaded;
  std::vector<RankFacts> facts;

  [[nodiscard]] const Execution& execution() const { return loaded.execution; }
  [[nodiscard]] ComparedRun run() const { return {loaded.execution, facts}; }
};

struct ComparedTraces {
  ComparedTrace a;
  ComparedTrace b;
  bool sameBuild = true;  ///< program and libraries: places of calls can be compared
};

/// Usage unless both have the same number of ranks and are of one program, which is found out
/// before any survey is made.
Result<ComparedTraces> loadCompared(const std::string& a, const std::string& b);

}  // namespace pf::app

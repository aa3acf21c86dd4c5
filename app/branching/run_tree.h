// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish runs: a run, the runs that it is another order of, and all other orders of these.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "replay_engine/base/result.h"

namespace pf::app {

/// A run of the tree. Texts are as its trace has them: a stranger's, perhaps.
struct TreeRun {
  std::string file;                   ///< absolute
  std::string uuid;                   ///< RunInfo::uuid
  std::optional<std::size_t> parent;  ///< in RunTree::runs
  std::size_t depth = 0;              ///< parents above it
  bool found = true;                  ///< false: its branches name it, and it is not there
  std::string madeBy;                 ///< "flip", "explore", "blame"; empty: it was recorded
  std::vector<std::string> flips;     ///< "rank 0's MPI_Recv at app.c:21 (event 2) takes …"
  bool endedWell = true;
  std::string ended;  ///< "exit status 3: …"; empty: not known
  std::string createdUtc;
};

struct RunTree {
  std::vector<TreeRun> runs;  ///< each before its branches; those of one run by time
  std::size_t here = 0;       ///< the run that was asked for
  bool all = true;            ///< false: there are more traces beside them than are looked at
};

/// Looks at the traces that lie beside `trace`, beside those that its tree names, and in directories of explorations there;
/// at most 2,000. What cannot be read, and what has a former format, is passed over. NotFound, Damaged: `trace` itself.
Result<RunTree> runTree(const std::string& trace);

/// For people, with what stands at each run: [*] the one that was asked for.
std::string runTreeText(const RunTree& tree);
/// A contract: docs/other-orders.md.
std::string runTreeJson(const RunTree& tree);

}  // namespace pf::app

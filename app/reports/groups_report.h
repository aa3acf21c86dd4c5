// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish groups: which ranks to replay together.
#pragma once

#include <cstddef>
#include <string>

#include "db/store/trace_store.h"
#include "replay_engine/base/result.h"

namespace pf::app {

struct GroupsOptions {
  std::size_t most = 0;  ///< ranks of a group; 0: usualMost()
  bool json = false;
  std::string picture;  ///< SVG file to make; empty: none
};

/// Twice the processors of this machine (MPIWiz, section 4: one to four times).
[[nodiscard]] std::size_t usualMost();

/// Whether ranks communicated one-sidedly, which no group is found by.
[[nodiscard]] Result<bool> usesOneSided(db::TraceStore& store);

/// photofinish groups FILE [--max S] [--json] [--picture FILE.svg]. Surveys the trace if it has no events.
Result<std::string> groupsReport(const std::string& trace, const GroupsOptions& options);

}  // namespace pf::app

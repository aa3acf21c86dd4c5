// SPDX-License-Identifier: GPL-3.0-or-later
// Replay groups of a trace, as a view frames them (MPIWiz, Figure 1): those it was recorded with, and those that its messages
// show. With sentences that say what they leave to log.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <QString>

#include "replay_engine/base/result.h"
#include "replay_engine/execution/execution.h"

namespace pf::session {

struct FramedGroups {
  std::vector<std::vector<Rank>>
      groups;  ///< all ranks, each in one; empty: the trace has no groups
  QString text;
};

/// Those it was recorded with. Errors: as app::openTrace().
[[nodiscard]] Result<FramedGroups> recordedGroups(const std::string& trace);
/// Those of at most `most` ranks that leave the fewest bytes to log, by what the ranks sent each other. Takes as long as
/// reading the trace and `photofinish groups` do. Version: a trace without sizes of collectives. Usage: `most` is 0.
[[nodiscard]] Result<FramedGroups> groupsByTraffic(const std::string& trace, std::size_t most);

}  // namespace pf::session

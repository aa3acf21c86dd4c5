// SPDX-License-Identifier: GPL-3.0-or-later
// Who gets how much from whom, as an SVG picture (MPIWiz, Figure 1), with groups framed.
#pragma once

#include <string>

#include "replay_engine/groups/replay_groups.h"
#include "replay_engine/groups/traffic.h"

namespace pf::app {

/// Ranks in the order of their groups: each group is one square. More than 256 ranks share cells.
[[nodiscard]] std::string groupsPicture(const Traffic& traffic, const ReplayGroups& groups);

}  // namespace pf::app

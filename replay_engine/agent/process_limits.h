// SPDX-License-Identifier: GPL-3.0-or-later
// What a process inherits and a program may ask for: limits, the mask of new files, its priority.
// Kept as facts of the kind "limit" beside the environment; a replay says which are others.
#pragma once

#include "replay_engine/protocol/program_context.h"

namespace pf::agent {

/// Of this process, which its program gets: {"limit", "umask", "0022"}.
[[nodiscard]] protocol::LaunchContext processLimits();
/// {"other", "umask", "'0077', recorded: '0022'"}; a fact that was not recorded differs in nothing.
[[nodiscard]] protocol::LaunchContext changedLimits(const protocol::LaunchContext& recorded,
                                                    const protocol::LaunchContext& now);

}  // namespace pf::agent

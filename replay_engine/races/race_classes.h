// SPDX-License-Identifier: GPL-3.0-or-later
// Classes of races: what a person judges is a class, not each of its thousand races.
#pragma once

#include <cstdint>
#include <vector>

#include "replay_engine/execution/execution.h"
#include "replay_engine/races/races.h"

namespace pf {

/// Of each race the number of its class; classes are numbered from 0 in the order of their first
/// races. Two races are of one class if and only if their receives (their posts, or probes) have
/// the same call site and call, and so has the set of sends of the messages that they took or could
/// have taken. Needs matchMessages() first.
[[nodiscard]] std::vector<std::uint32_t> classesOfRaces(const Execution& execution,
                                                        const std::vector<Race>& races);

}  // namespace pf

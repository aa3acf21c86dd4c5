// SPDX-License-Identifier: GPL-3.0-or-later
// Which races to look at first: how each relates to the failure of its run. The same for the window, reports and the
// command line.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "replay_engine/execution/execution.h"
#include "replay_engine/races/races.h"

namespace pf {

enum class RaceWeight : std::uint8_t {
  First,          ///< the last racing receive of the rank that failed, before it failed
  BeforeFailure,  ///< what it took is in the causal past of the failure, and can have caused it
  Other           ///< nothing that the failure depends on comes after it, or the run did not fail
};
/// "first", "before failure", "other"
[[nodiscard]] const char* nameOf(RaceWeight weight);

/// Of each of `races` races. `failed`: the failing receive; not valid: the run did not fail. `past`: by rank, how many
/// of its events the failure depends on, itself included. `observed`: the event in which the rank observes what race
/// i took; not valid where that is not known.
[[nodiscard]] std::vector<RaceWeight> weighRaces(
    EventRef failed, std::span<const Serial> past, std::size_t races,
    const std::function<EventRef(std::size_t)>& observed);
/// The same, of an execution that is in memory. Needs matchMessages() first.
[[nodiscard]] std::vector<RaceWeight> weighRaces(
    const Execution& execution, EventRef failed, std::size_t races,
    const std::function<const Race&(std::size_t)>& race);

}  // namespace pf

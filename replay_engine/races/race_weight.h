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

/// Of each of `classes` classes the weight of its weightiest race. `classOf`: of each race, below `classes`.
[[nodiscard]] std::vector<RaceWeight> weighClasses(
    std::size_t classes, std::span<const RaceWeight> weights,
    const std::function<std::size_t(std::size_t)>& classOf);

/// A class of races as it stands in a list of all of them.
struct RankedClass {
  std::uint32_t number = 0;               ///< as classesOfRaces() has it
  RaceWeight weight = RaceWeight::Other;  ///< of its weightiest race
  std::size_t races = 0;
  std::size_t first = 0;       ///< race
  std::size_t weightiest = 0;  ///< the first race of this weight
};
/// The classes that have races, in the order in which every list of them begins: weightiest first; of one weight, by
/// their first races. `classOf`: classesOfRaces(); `weights`: of each race.
[[nodiscard]] std::vector<RankedClass> rankClasses(std::span<const std::uint32_t> classOf,
                                                   std::span<const RaceWeight> weights);

}  // namespace pf

// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/races/race_weight.h"

#include <algorithm>
#include <utility>

namespace pf {

const char* nameOf(RaceWeight weight) {
  switch (weight) {
    case RaceWeight::First:
      return "first";
    case RaceWeight::BeforeFailure:
      return "before failure";
    case RaceWeight::Other:
      break;
  }
  return "other";
}

std::vector<RaceWeight> weighRaces(EventRef failed, std::span<const Serial> past, std::size_t races,
                                   const std::function<EventRef(std::size_t)>& observed) {
  std::vector<RaceWeight> weights(races, RaceWeight::Other);
  Serial last = 0;  // of the rank that failed
  for (std::size_t i = 0; failed.valid() && i < races; ++i) {
    const EventRef event = observed(i);
    const auto rank = static_cast<std::size_t>(event.rank);
    if (event.valid() && rank < past.size() && event.serial <= past[rank]) {
      weights[i] = RaceWeight::BeforeFailure;
      last = event.rank == failed.rank ? std::max(last, event.serial) : last;
    }
  }
  for (std::size_t i = 0; last != 0 && i < races; ++i) {
    if (observed(i) == EventRef{failed.rank, last}) {
      weights[i] = RaceWeight::First;
    }
  }
  return weights;
}

std::vector<RaceWeight> weighRaces(const Execution& execution, EventRef failed, std::size_t races,
                                   const std::function<const Race&(std::size_t)>& raceOf) {
  const std::vector<Serial> past = failed.valid()
                                       ? cutBefore(execution, {failed.rank, failed.serial + 1})
                                       : std::vector<Serial>();
  return weighRaces(failed, past, races, [&](std::size_t i) -> EventRef {
    const Race& race = raceOf(i);
    const RankHistory& rank = execution.ranks[static_cast<std::size_t>(race.rank)];
    if (race.probe) {
      return {race.rank, rank.probes[race.index].event};
    }
    const PostedReceive& receive = rank.receives[race.index];
    return {race.rank, receive.completion != 0 ? receive.completion : receive.post};
  });
}

std::vector<RaceWeight> weighClasses(std::size_t classes, std::span<const RaceWeight> weights,
                                     const std::function<std::size_t(std::size_t)>& classOf) {
  std::vector<RaceWeight> weightiest(classes, RaceWeight::Other);
  for (std::size_t race = 0; race < weights.size(); ++race) {
    RaceWeight& weight = weightiest[classOf(race)];
    weight = std::min(weight, weights[race]);
  }
  return weightiest;
}

std::vector<RankedClass> rankClasses(std::span<const std::uint32_t> classOf,
                                     std::span<const RaceWeight> weights) {
  const std::size_t classes =
      classOf.empty() ? 0 : std::size_t{*std::max_element(classOf.begin(), classOf.end())} + 1;
  const std::vector<RaceWeight> weightiest =
      weighClasses(classes, weights, [classOf](std::size_t race) { return classOf[race]; });
  std::vector<RankedClass> ranked(classes);
  for (std::size_t race = 0; race < classOf.size(); ++race) {
    RankedClass& one = ranked[classOf[race]];
    if (one.races++ == 0) {
      one = {classOf[race], weightiest[classOf[race]], 1, race, weights.size()};
    }
    if (one.weightiest == weights.size() && weights[race] == one.weight) {
      one.weightiest = race;
    }
  }
  std::erase_if(ranked, [](const RankedClass& one) { return one.races == 0; });
  std::sort(ranked.begin(), ranked.end(), [](const RankedClass& one, const RankedClass& other) {
    return std::pair(one.weight, one.first) < std::pair(other.weight, other.first);
  });
  return ranked;
}

}  // namespace pf

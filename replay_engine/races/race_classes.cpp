// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/races/race_classes.h"

#include <algorithm>
#include <map>

namespace pf {
namespace {

/// Call site and call.
std::uint64_t placeOf(const Execution& execution, Rank rank, Serial serial) {
  const Event& event = execution.ranks[static_cast<std::size_t>(rank)].events[serial - 1];
  return std::uint64_t{event.site} << 32U | event.call;
}

}  // namespace

std::vector<std::uint32_t> classesOfRaces(const Execution& execution,
                                          const std::vector<Race>& races) {
  std::vector<std::uint32_t> classes;
  classes.reserve(races.size());
  std::map<std::vector<std::uint64_t>, std::uint32_t> known;
  std::vector<std::uint64_t> places;  // that of the receive, then those of the senders, ascending
  for (const Race& race : races) {
    const RankHistory& history = execution.ranks[static_cast<std::size_t>(race.rank)];
    places.assign(1, placeOf(execution, race.rank,
                             race.probe ? history.probes[race.index].event
                                        : history.receives[race.index].post));
    const auto add = [&](std::uint32_t message) {
      if (message < execution.messages.size()) {
        const EventRef send = execution.messages[message].send;
        const std::uint64_t place = placeOf(execution, send.rank, send.serial);
        const auto at = std::lower_bound(places.begin() + 1, places.end(), place);
        if (at == places.end() || *at != place) {
          places.insert(at, place);
        }
      }
    };
    add(race.taken);
    std::for_each(race.alternatives.begin(), race.alternatives.end(), add);
    const auto next = static_cast<std::uint32_t>(known.size());
    classes.push_back(known.try_emplace(places, next).first->second);
  }
  return classes;
}

}  // namespace pf

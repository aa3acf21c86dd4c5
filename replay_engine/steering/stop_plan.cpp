// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/steering/stop_plan.h"

#include <algorithm>
#include <tuple>

#include "replay_engine/races/races.h"

namespace pf {
namespace {

std::size_t at(Rank rank) {
  return static_cast<std::size_t>(rank);
}

/// The first breakpoint of each rank; of several on one event, the widest.
std::vector<PendingStop> firstOfEach(const Execution& execution, const RanksNow& now,
                                     const std::vector<Serial>& limits,
                                     const std::vector<PendingStop>& pending) {
  std::vector<PendingStop> first(execution.ranks.size());
  for (const PendingStop& stop : pending) {
    const std::size_t rank = at(stop.event.rank);
    if (stop.event.rank < 0 || rank >= first.size()) {
      continue;
    }
    const Serial past = now.begun[rank] + (now.standing[rank] ? 1 : 0);
    const bool beyond = limits[rank] != 0 && stop.event.serial > limits[rank];
    if (stop.event.serial <= past || beyond) {
      continue;
    }
    PendingStop& own = first[rank];
    if (!own.event.valid() || stop.event.serial < own.event.serial ||
        (stop.event.serial == own.event.serial && stop.scope > own.scope)) {
      own = stop;
    }
  }
  std::erase_if(first, [](const PendingStop& stop) { return !stop.event.valid(); });
  return first;
}

bool stopsWith(const PendingStop& stop, std::size_t rank) {
  return stop.scope == StopScope::All ||
         (stop.scope == StopScope::Group && std::find(stop.group.begin(), stop.group.end(),
                                                      static_cast<Rank>(rank)) != stop.group.end());
}

/// Whether every rank gets to the cut.
bool reaches(const std::vector<Serial>& stops, const std::vector<Serial>& cut, EventRef event) {
  for (std::size_t rank = 0; rank < stops.size(); ++rank) {
    const Serial needed = rank == at(event.rank) ? event.serial - 1 : cut[rank];
    if (stops[rank] != 0 && stops[rank] <= needed) {
      return false;
    }
  }
  return true;
}

}  // namespace

StopPlan planStops(const Execution& execution, const std::vector<std::vector<std::uint32_t>>& times,
                   const RanksNow& now, const std::vector<Serial>& limits, EventRef goal,
                   const std::vector<PendingStop>& pending) {
  std::vector<PendingStop> first = firstOfEach(execution, now, limits, pending);
  const auto order = [&](const PendingStop& stop) {
    return std::tuple(times[at(stop.event.rank)][stop.event.serial - 1], stop.event.rank);
  };
  std::sort(first.begin(), first.end(),
            [&](const PendingStop& a, const PendingStop& b) { return order(a) < order(b); });
  StopPlan plan{limits, {}};
  for (const PendingStop& stop : first) {
    plan.stops[at(stop.event.rank)] = stop.event.serial;
  }
  // What the wide ones that come earlier need is not taken away by later ones.
  std::vector<Serial> needed(plan.stops.size(), 0);
  for (const PendingStop& stop : first) {
    if (stop.scope == StopScope::Alone) {
      continue;
    }
    const std::vector<Serial> cut = cutBefore(execution, stop.event);
    if (!reaches(plan.stops, cut, stop.event)) {
      continue;
    }
    for (std::size_t rank = 0; rank < plan.stops.size(); ++rank) {
      needed[rank] =
          std::max(needed[rank], rank == at(stop.event.rank) ? stop.event.serial - 1 : cut[rank]);
      if (rank != at(stop.event.rank) && stopsWith(stop, rank)) {
        const Serial here = std::max(needed[rank], now.begun[rank]) + 1;
        plan.stops[rank] = plan.stops[rank] == 0 ? here : std::min(plan.stops[rank], here);
      }
    }
    plan.target = plan.target.valid() ? plan.target : stop.event;
    if (stop.scope == StopScope::All) {
      break;  // nobody gets beyond its cut
    }
  }
  if (goal.valid()) {
    plan.target = plan.stops == limits ? goal : plan.target;
  }
  return plan;
}

}  // namespace pf

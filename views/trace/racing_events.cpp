// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/racing_events.h"

#include <algorithm>
#include <tuple>

#include "views/trace/chunks/digit_sort.h"

namespace pf::views {

struct RacingEvents::Place {
  std::uint32_t time;
  std::uint32_t race;
  std::uint32_t event;  ///< its id, by rank and serial
};

RacingEvents::RacingEvents(const TraceEvents& events, const TraceTimes& times,
                           const RaceIndex& races)
    : m_times(times),
      m_races(races),
      m_tableHasTimes(times.areOfData() && races.table().hasPlaces()) {
  std::vector<Place> order = places(events);
  const auto before = [](const Place& a, const Place& b) {
    return std::tie(a.event, a.race) < std::tie(b.event, b.race);
  };
  if (!std::is_sorted(order.begin(), order.end(), before)) {  // findRaces() gives them so
    std::sort(order.begin(), order.end(), before);
  }
  sortByDigits(order, [](const Place& place) { return place.time; });
  const auto end = std::unique(order.begin(), order.end(),
                               [](const Place& a, const Place& b) { return a.event == b.event; });
  const auto count = static_cast<std::size_t>(end - order.begin());
  m_first.resize(count);
  m_when.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    m_first[i] = order[i].race;
    m_when[i] = order[i].time;
  }
}

std::vector<RacingEvents::Place> RacingEvents::places(const TraceEvents& events) const {
  const RaceTable& table = m_races.table();
  std::vector<Place> places;
  places.reserve(table.size());
  for (std::size_t race = 0; race < table.size(); ++race) {
    if (const EventRef at = m_races.eventOf(race); events.contains(at)) {
      places.push_back({m_tableHasTimes ? table.place(race).chosenStep : m_times.at(at),
                        static_cast<std::uint32_t>(race), events.shortId(at)});
    }
  }
  return places;
}

std::uint32_t RacingEvents::observedTime(std::size_t race) const {
  return m_tableHasTimes ? m_races.table().place(race).observedStep
                         : m_times.at(m_races.completionOf(race));
}

}  // namespace pf::views

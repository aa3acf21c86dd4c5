// SPDX-License-Identifier: GPL-3.0-or-later
// The races of a TraceIndex.
#include <algorithm>
#include <tuple>

#include "views/trace/digit_sort.h"
#include "views/trace/trace_index.h"

namespace pf::views {

/// By time, rank and serial.
void TraceIndex::orderRaces() {
  struct Place {
    std::uint32_t time;
    std::uint32_t race;
    std::uint32_t event;  ///< its id, by rank and serial
  };
  const RaceTable& races = data().races;
  const bool known = racesHaveTimes();
  std::vector<Place> order;
  order.reserve(races.size());
  for (std::size_t race = 0; race < races.size(); ++race) {
    if (const EventRef at = raceEvent(race); contains(at)) {
      order.push_back({known ? races.place(race).chosenStep : time(at),
                       static_cast<std::uint32_t>(race), shortId(at)});
    }
  }
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
  m_racing.resize(count);
  m_racingTimes.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    m_racing[i] = order[i].race;
    m_racingTimes[i] = order[i].time;
  }
}

EventRef TraceIndex::raceEvent(std::size_t race) const {
  const RaceTable& races = data().races;
  const Rank rank = races.rank(race);
  if (rank < 0 || index(rank) >= rankCount()) {
    return {};
  }
  if (races.hasPlaces()) {
    return {rank, races.place(race).chosen};
  }
  const RankView& history = execution().ranks[index(rank)];
  const std::uint32_t i = races.index(race);
  if (races.isProbe(race)) {
    return i < history.probes.size() ? EventRef{rank, history.probes[i].event} : EventRef{};
  }
  return i < history.receives.size() ? EventRef{rank, history.receives[i].post} : EventRef{};
}

EventRef TraceIndex::raceCompletion(std::size_t race) const {
  const RaceTable& races = data().races;
  const EventRef chosen = raceEvent(race);
  if (!chosen.valid() || races.isProbe(race)) {
    return chosen;
  }
  if (races.hasPlaces()) {
    return {chosen.rank, races.place(race).observed};
  }
  const Serial done = execution().ranks[index(chosen.rank)].receives[races.index(race)].completion;
  return done != 0 ? EventRef{chosen.rank, done} : chosen;
}

std::uint32_t TraceIndex::raceTime(std::size_t race) const {
  return racesHaveTimes() ? data().races.place(race).observedStep : time(raceCompletion(race));
}

void TraceIndex::indexRaces() {
  EventItems::Pairs races;
  m_links->takenInRace.assign(execution().messages.size(), false);
  for (std::size_t i = 0; i < data().races.size(); ++i) {
    const EventRef chosen = raceEvent(i);
    const EventRef done = raceCompletion(i);
    races.emplace_back(shortId(chosen), static_cast<std::uint32_t>(i));
    if (!(done == chosen)) {
      races.emplace_back(shortId(done), static_cast<std::uint32_t>(i));
    }
    if (const std::uint32_t taken = data().races.taken(i); taken < m_links->takenInRace.size()) {
      m_links->takenInRace[taken] = true;
    }
  }
  m_links->races = EventItems(m_total, std::move(races));
  orderRaces();
}

EventRef RacingEvents::operator[](std::size_t i) const {
  return m_trace->raceEvent(m_races[i]);
}

std::optional<TakenMessage> TraceIndex::takenIn(std::size_t race) const {
  const RaceTable& races = data().races;
  const std::uint32_t m = races.taken(race);
  if (m >= messageCount()) {
    return std::nullopt;
  }
  if (races.hasMessages()) {
    return TakenMessage{senderOf(m), races.sent(race), races.tag(race)};
  }
  const Message message = execution().messages[m];
  return TakenMessage{message.send.rank, message.send.serial, message.tag};
}

Rank TraceIndex::senderOf(std::uint32_t message) const {
  return m_pages != nullptr ? m_pages->senderOf(message)
                            : data().execution.messages[message].send.rank;
}

std::span<const std::uint32_t> TraceIndex::racesAt(EventRef ref) const {
  return m_links->races.at(id(ref));
}

bool TraceIndex::takenInRace(std::uint32_t message) const {
  return message < m_links->takenInRace.size() && m_links->takenInRace[message];
}

}  // namespace pf::views

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/race_index.h"

#include <utility>

namespace pf::views {

RaceIndex::RaceIndex(const TraceEvents& events)
    : m_events(events),
      m_table(events.data().races),
      m_taken(events.execution().messages.size(), false) {
  EventItems::Pairs races;
  for (std::size_t race = 0; race < m_table.size(); ++race) {
    const EventRef chosen = eventOf(race);
    const EventRef done = completionOf(race);
    races.emplace_back(events.shortId(chosen), static_cast<std::uint32_t>(race));
    if (!(done == chosen)) {
      races.emplace_back(events.shortId(done), static_cast<std::uint32_t>(race));
    }
    if (const std::uint32_t taken = m_table.taken(race); taken < m_taken.size()) {
      m_taken[taken] = true;
    }
  }
  m_at = EventItems(events.count(), std::move(races));
}

EventRef RaceIndex::eventOf(std::size_t race) const {
  const Rank rank = m_table.rank(race);
  if (rank < 0 || index(rank) >= m_events.rankCount()) {
    return {};
  }
  if (m_table.hasPlaces()) {
    return {rank, m_table.place(race).chosen};
  }
  const RankView& history = m_events.execution().ranks[index(rank)];
  const std::uint32_t i = m_table.index(race);
  if (m_table.isProbe(race)) {
    return i < history.probes.size() ? EventRef{rank, history.probes[i].event} : EventRef{};
  }
  return i < history.receives.size() ? EventRef{rank, history.receives[i].post} : EventRef{};
}

EventRef RaceIndex::completionOf(std::size_t race) const {
  const EventRef chosen = eventOf(race);
  if (!chosen.valid() || m_table.isProbe(race)) {
    return chosen;
  }
  if (m_table.hasPlaces()) {
    return {chosen.rank, m_table.place(race).observed};
  }
  const auto& receives = m_events.execution().ranks[index(chosen.rank)].receives;
  const Serial done = receives[m_table.index(race)].completion;
  return done != 0 ? EventRef{chosen.rank, done} : chosen;
}

std::optional<TakenMessage> RaceIndex::takenIn(std::size_t race) const {
  const std::uint32_t m = m_table.taken(race);
  if (m >= m_events.execution().messages.size()) {
    return std::nullopt;
  }
  if (m_table.hasMessages()) {
    return TakenMessage{m_events.senderOf(m), m_table.sent(race), m_table.tag(race)};
  }
  const Message message = m_events.execution().messages[m];
  return TakenMessage{message.send.rank, message.send.serial, message.tag};
}

}  // namespace pf::views

// SPDX-License-Identifier: MIT
#include "plugins/bundled/index_trace.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "plugins/host/facts.h"

namespace pf::plugins {

IndexTrace::IndexTrace(std::string path, views::TraceIndexPtr index)
    : m_path(std::move(path)), m_index(std::move(index)) {
  const views::TraceData& data = m_index->data();
  m_hosts.resize(m_index->rankCount());
  m_ends.resize(m_index->rankCount());
  for (std::size_t rank = 0; rank < m_index->rankCount(); ++rank) {
    if (rank < data.hosts.size()) {
      m_hosts[rank] = data.hosts[rank].toStdString();
    }
    if (rank < data.ends.size() && data.ends[rank].kind != views::RankEndKind::Finished) {
      m_ends[rank] = data.ends[rank].text.toStdString();
    }
  }
}

std::int32_t IndexTrace::ranks() const {
  return static_cast<std::int32_t>(m_index->rankCount());
}

photofinish::Rank IndexTrace::rank(std::int32_t rank) const {
  photofinish::Rank shown;
  if (rank >= 0 && rank < ranks()) {
    shown.host = m_hosts[pf::index(rank)];
    shown.end = m_ends[pf::index(rank)];
  }
  return shown;
}

std::uint64_t IndexTrace::events(std::int32_t rank) const {
  return m_index->lastSerial(rank);
}

bool IndexTrace::racesAt(const EventRef& event) const {
  const auto races = m_index->races().at(event);
  return std::ranges::any_of(
      races, [&](std::uint32_t race) { return m_index->races().eventOf(race) == event; });
}

photofinish::Event IndexTrace::event(photofinish::EventRef at) const {
  const EventRef ref = eventOf(at);
  if (!m_index->contains(ref)) {
    return {};
  }
  photofinish::Event shown = shownEvent(ref, m_index->event(ref), m_index->execution().callNames);
  shown.logicalTime = m_index->logicalTime(ref);
  shown.racing = racesAt(ref);
  if (const std::optional<EventTime> time = m_index->events().clockTime(ref)) {
    shown.timed = true;
    shown.begin = time->begin;
    shown.end = time->end;
  }
  return shown;
}

std::uint64_t IndexTrace::messages() const {
  return m_index->execution().messages.size();
}

photofinish::Message IndexTrace::message(std::uint64_t number) const {
  if (number >= messages()) {
    return {};
  }
  const Message message = m_index->execution().messages[number];
  photofinish::Message shown = shownMessage(message);
  shown.bytes = m_index->contains(message.send) ? m_index->event(message.send).bytes : 0;
  if (message.post != kNone && message.dest >= 0 && message.dest < ranks()) {
    const auto& receives = m_index->execution().ranks[pf::index(message.dest)].receives;
    if (message.post < receives.size()) {
      shown.posted = shownRef({message.dest, receives[message.post].post});
    }
  }
  return shown;
}

std::uint64_t IndexTrace::races() const {
  return m_index->data().races.size();
}

photofinish::Race IndexTrace::race(std::uint64_t number) const {
  if (number >= races()) {
    return {};
  }
  const views::RaceTable& table = m_index->races().table();
  photofinish::Race shown;
  shown.chosen = shownRef(m_index->races().eventOf(number));
  shown.observed = shownRef(m_index->races().completionOf(number));
  shown.taken = shownIndex(table.taken(number));
  shown.alternatives = table.alternatives(number);
  shown.probe = table.isProbe(number);
  return shown;
}

std::uint64_t IndexTrace::alternative(std::uint64_t race, std::uint64_t which) const {
  if (race >= races()) {
    return photofinish::kNone;
  }
  if (race != m_asked) {
    m_alternatives = m_index->races().table()[race].alternatives;
    m_asked = race;
  }
  return which < m_alternatives.size() ? shownIndex(m_alternatives[which]) : photofinish::kNone;
}

std::uint64_t IndexTrace::sites() const {
  return m_index->execution().sites.size();
}

photofinish::Site IndexTrace::site(std::uint64_t number) const {
  return shownSite(m_index->execution().sites, number);
}

std::uint64_t IndexTrace::communicators() const {
  return m_index->execution().communicators.size();
}

photofinish::Communicator IndexTrace::communicator(std::uint64_t number) const {
  return shownCommunicator(m_index->execution().communicators, number);
}

photofinish::EventRef IndexTrace::failure() const {
  return shownRef(m_index->data().failure.event);
}

std::uint64_t IndexTrace::sentAt(photofinish::EventRef at, std::uint64_t* numbers,
                                 std::uint64_t room) const {
  Room<std::uint64_t> found(numbers, room);
  if (const EventRef ref = eventOf(at); m_index->contains(ref)) {
    for (const std::uint32_t message : m_index->links().sentAt(ref)) {
      found.put(message);
    }
  }
  return found.count();
}

std::uint64_t IndexTrace::receivedAt(photofinish::EventRef at, photofinish::Receive* receives,
                                     std::uint64_t room) const {
  Room<photofinish::Receive> found(receives, room);
  const EventRef ref = eventOf(at);
  if (!m_index->contains(ref)) {
    return 0;
  }
  const views::RankView& rank = m_index->execution().ranks[pf::index(ref.rank)];
  for (const std::uint32_t receive : m_index->links().completedAt(ref)) {
    found.put(shownReceive(ref.rank, rank.receives[receive]));
  }
  for (const std::uint32_t probe : m_index->links().probesAt(ref)) {
    found.put(shownProbe(ref.rank, rank.probes[probe]));
  }
  return found.count();
}

}  // namespace pf::plugins

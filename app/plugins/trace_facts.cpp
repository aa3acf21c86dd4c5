// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plugins/trace_facts.h"

#include "app/collation/failure.h"
#include "plugins/host/facts.h"
#include "replay_engine/races/races.h"

namespace pf::app {

using plugins::eventOf;
using plugins::Room;
using plugins::shownIndex;
using plugins::shownRef;

TraceFacts::TraceFacts(const IndexedTrace& trace)
    : m_trace(trace),
      m_ranks(trace.loaded.store.ranks()),
      m_failure(failingReceive(m_ranks, trace.execution()).value_or(EventRef{})) {}

bool TraceFacts::has(const photofinish::EventRef& at) const {
  return at.serial >= 1 && at.serial <= events(at.rank);
}

std::int32_t TraceFacts::ranks() const {
  return static_cast<std::int32_t>(m_trace.execution().ranks.size());
}

photofinish::Rank TraceFacts::rank(std::int32_t rank) const {
  photofinish::Rank shown;
  for (const db::RankInfo& each : m_ranks) {
    if (each.rank == rank) {
      shown.host = each.host;
      if (!endedWell(each)) {
        shown.end = each.cutReason.empty() ? each.state : each.cutReason;
      }
    }
  }
  return shown;
}

std::uint64_t TraceFacts::events(std::int32_t rank) const {
  return rank >= 0 && rank < ranks() ? m_trace.execution().ranks[index(rank)].events.size() : 0;
}

photofinish::Event TraceFacts::event(photofinish::EventRef at) const {
  if (!has(at)) {
    return {};
  }
  const EventRef ref = eventOf(at);
  photofinish::Event shown =
      plugins::shownEvent(ref, m_trace.event(ref), m_trace.execution().callNames);
  shown.logicalTime = m_trace.time(ref);
  shown.racing = m_trace.races(ref);
  if (m_trace.timed()) {
    shown.timed = true;
    shown.begin = m_trace.span(ref).begin;
    shown.end = m_trace.span(ref).end;
  }
  return shown;
}

std::uint64_t TraceFacts::messages() const {
  return m_trace.execution().messages.size();
}

photofinish::Message TraceFacts::message(std::uint64_t number) const {
  if (number >= messages()) {
    return {};
  }
  const Message& message = m_trace.execution().messages[number];
  photofinish::Message shown = plugins::shownMessage(message);
  shown.bytes = m_trace.event(message.send).bytes;
  if (message.post != kNone) {
    const auto& receives = m_trace.execution().ranks[index(message.dest)].receives;
    shown.posted = shownRef({message.dest, receives[message.post].post});
  }
  return shown;
}

std::uint64_t TraceFacts::races() const {
  return m_trace.storedRaces.size();
}

photofinish::Race TraceFacts::race(std::uint64_t number) const {
  if (number >= races()) {
    return {};
  }
  const Race& race = m_trace.storedRaces[number].race;
  const EventRef chosen = raceEvent(m_trace.execution(), race);
  photofinish::Race shown;
  shown.chosen = shownRef(chosen);
  shown.observed =
      race.probe
          ? shown.chosen
          : shownRef({race.rank,
                      m_trace.execution().ranks[index(race.rank)].receives[race.index].completion});
  shown.taken = shownIndex(race.taken);
  shown.alternatives = race.alternatives.size();
  shown.probe = race.probe;
  return shown;
}

std::uint64_t TraceFacts::alternative(std::uint64_t race, std::uint64_t which) const {
  return race < races() && which < m_trace.storedRaces[race].race.alternatives.size()
             ? shownIndex(m_trace.storedRaces[race].race.alternatives[which])
             : photofinish::kNone;
}

std::uint64_t TraceFacts::sites() const {
  return m_trace.execution().sites.size();
}

photofinish::Site TraceFacts::site(std::uint64_t number) const {
  return plugins::shownSite(m_trace.execution().sites, number);
}

std::uint64_t TraceFacts::communicators() const {
  return m_trace.execution().communicators.size();
}

photofinish::Communicator TraceFacts::communicator(std::uint64_t number) const {
  return plugins::shownCommunicator(m_trace.execution().communicators, number);
}

photofinish::EventRef TraceFacts::failure() const {
  return shownRef(m_failure);
}

std::uint64_t TraceFacts::sentAt(photofinish::EventRef at, std::uint64_t* numbers,
                                 std::uint64_t room) const {
  Room<std::uint64_t> found(numbers, room);
  if (has(at)) {
    m_trace.index[index(at.rank)].messages.each(at.serial, [&](std::uint32_t i) { found.put(i); });
  }
  return found.count();
}

std::uint64_t TraceFacts::receivedAt(photofinish::EventRef at, photofinish::Receive* receives,
                                     std::uint64_t room) const {
  Room<photofinish::Receive> found(receives, room);
  if (has(at)) {
    const RankHistory& history = m_trace.execution().ranks[index(at.rank)];
    const RankIndex& events = m_trace.index[index(at.rank)];
    events.completions.each(at.serial, [&](std::uint32_t i) {
      found.put(plugins::shownReceive(at.rank, history.receives[i]));
    });
    events.probes.each(at.serial, [&](std::uint32_t i) {
      found.put(plugins::shownProbe(at.rank, history.probes[i]));
    });
  }
  return found.count();
}

}  // namespace pf::app

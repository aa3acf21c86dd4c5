// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <optional>

#include "replay_engine/base/large_vector.h"
#include "replay_engine/causality/event_graph.h"
#include "replay_engine/causality/traversal.h"
#include "replay_engine/races/races.h"

namespace pf {
namespace {

/// Longest path, an event after everything that it waits for. Calls that wait for one another (an
/// exchange by MPI_Sendrecv, a barrier) form a *meeting* and get the same time.
class LogicalClock {
 public:
  explicit LogicalClock(const EventGraph& graph)
      : m_graph(graph),
        m_earliest(graph.rankCount(), 0),
        m_waits(graph.rankCount()),
        m_states(graph.instances().size()) {
    for (std::uint32_t rank = 0; rank < graph.rankCount(); ++rank) {
      m_times.push_back(largeVector(std::size_t{graph.eventCount(rank)}, 0U));
    }
    for (std::size_t i = 0; i < m_states.size(); ++i) {
      m_states[i].missing = graph.instances()[i].contributors;
    }
  }

  std::vector<std::vector<std::uint32_t>> run() {
    Traversal<LogicalClock>(m_graph, m_progress, *this).run();
    return std::move(m_times);
  }

  /// A blocking synchronous send ends after its blocking receive began, which began after the send:
  /// the message line goes forward, so what waits for the receive is the sender's next event.
  bool tryEnter(Place place) {
    std::uint32_t earliest = 1;
    if (place.serial > 1) {
      const Place previous{place.rank, place.serial - 1};
      earliest = time(previous) + 1;
      for (const Link link : m_graph.incoming(previous)) {
        if (!m_graph.isRendezvous(link)) {
          continue;
        }
        if (!m_progress.isLeft(m_graph.origin(link))) {
          return false;
        }
        earliest = std::max(earliest, time(m_graph.origin(link)) + 1);
      }
    }
    enter(place, earliest);
    return true;
  }

  bool tryLeave(Place place) {
    Waits& waits = m_waits[place.rank];
    while (waits.next < waits.places.size()) {
      if (!m_progress.isLeft(waits.places[waits.next])) {
        return false;
      }
      ++waits.next;
    }
    for (const std::uint32_t instance : waits.allToAll) {
      if (m_states[instance].missing > 0) {
        return false;
      }
    }
    m_times[place.rank][place.serial - 1] = timeNow(place);
    return true;
  }

  void resolveStall(const std::vector<std::uint32_t>& ranks);

 private:
  /// What the event that a rank is in waits for.
  struct Waits {
    std::vector<Place> places;
    std::vector<std::uint32_t> allToAll;  ///< instances
    std::size_t next = 0;                 ///< places before this one have been left
  };
  struct AllToAllState {
    std::uint32_t missing = 0;   ///< contributors that have not entered
    std::uint32_t earliest = 1;  ///< for those that contribute and take
    bool meeting = false;        ///< there are such
  };

  [[nodiscard]] std::uint32_t time(Place place) const {
    return m_times[place.rank][place.serial - 1];
  }
  [[nodiscard]] Place inside(std::uint32_t rank) const { return {rank, m_progress.left[rank] + 1}; }
  [[nodiscard]] bool isInside(std::uint32_t rank) const {
    return m_progress.entered[rank] > m_progress.left[rank];
  }
  [[nodiscard]] static bool meets(const CollectiveMember& member) {
    return member.contributes && member.takes && member.completion == member.entry.serial;
  }

  void enter(Place place, std::uint32_t earliest);
  void waitFor(Place place, Link link);
  void contribute(const CollectiveMember& member, std::uint32_t earliest);
  [[nodiscard]] std::uint32_t timeNow(Place place) const;
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> waitsFor(std::uint32_t rank) const;
  std::vector<std::uint32_t> reachable(std::uint32_t from) const;
  void dropOpen(const std::vector<std::uint32_t>& ranks);
  bool leaveMeetings(const std::vector<std::uint32_t>& ranks);
  void leave(std::uint32_t rank, std::uint32_t time);

  const EventGraph& m_graph;
  Progress m_progress;
  std::vector<std::vector<std::uint32_t>> m_times;
  std::vector<std::uint32_t>
      m_earliest;  ///< by rank: time of its event if it had to wait for nothing
  std::vector<Waits> m_waits;
  std::vector<AllToAllState> m_states;  ///< by collective instance
  std::vector<std::optional<std::vector<std::uint32_t>>>
      m_edges;  ///< during a stall: who waits for whom
};

void LogicalClock::enter(Place place, std::uint32_t earliest) {
  m_earliest[place.rank] = earliest;
  Waits& waits = m_waits[place.rank];
  waits.places.clear();
  waits.allToAll.clear();
  waits.next = 0;
  for (const Link link : m_graph.outgoing(place)) {
    if (link.kind == LinkKind::Collective) {
      contribute(m_graph.members()[link.index], earliest);
    }
  }
  for (const Link link : m_graph.incoming(place)) {
    waitFor(place, link);
  }
}

void LogicalClock::waitFor(Place place, Link link) {
  Waits& waits = m_waits[place.rank];
  if (link.kind != LinkKind::Collective) {
    if (!m_graph.isRendezvous(link)) {
      waits.places.push_back(m_graph.origin(link));
    }
    return;
  }
  const CollectiveMember& member = m_graph.members()[link.index];
  const CollectiveInstance& instance = m_graph.instances()[member.instance];
  if (instance.flow == CollectiveFlow::AllToAll) {
    waits.allToAll.push_back(member.instance);
    return;
  }
  for (std::uint32_t i = instance.begin; i < m_graph.sourcesEnd(link.index); ++i) {
    if (m_graph.members()[i].contributes) {
      waits.places.push_back(m_graph.members()[i].entry);
    }
  }
}

void LogicalClock::contribute(const CollectiveMember& member, std::uint32_t earliest) {
  AllToAllState& state = m_states[member.instance];
  --state.missing;
  state.meeting = state.meeting || meets(member);
  state.earliest = std::max(state.earliest, meets(member) ? earliest : earliest + 1);
}

/// As far as what it waits for is known: everything, unless a stall is being resolved.
std::uint32_t LogicalClock::timeNow(Place place) const {
  std::uint32_t result = m_earliest[place.rank];
  for (const Place from : m_waits[place.rank].places) {
    if (m_progress.isLeft(from)) {
      result = std::max(result, time(from) + 1);
    }
  }
  for (const Link link : m_graph.incoming(place)) {
    if (link.kind == LinkKind::Collective) {
      const CollectiveMember& member = m_graph.members()[link.index];
      const AllToAllState& state = m_states[member.instance];
      if (m_graph.instances()[member.instance].flow == CollectiveFlow::AllToAll &&
          state.missing == 0) {
        result = std::max(result, state.earliest + (state.meeting && !meets(member) ? 1 : 0));
      }
    }
  }
  return result;
}

/// The ranks inside an event that this rank's event still waits for; nothing if it waits for an
/// event that is not entered.
std::optional<std::vector<std::uint32_t>> LogicalClock::waitsFor(std::uint32_t rank) const {
  if (!isInside(rank)) {
    return std::nullopt;
  }
  std::vector<std::uint32_t> others;
  for (const Place from : m_waits[rank].places) {
    if (!m_progress.isEntered(from)) {
      return std::nullopt;
    }
    if (!m_progress.isLeft(from) && from.rank != rank) {
      others.push_back(from.rank);
    }
  }
  for (const std::uint32_t instance : m_waits[rank].allToAll) {
    if (m_states[instance].missing > 0) {
      return std::nullopt;
    }
  }
  return others;
}

std::vector<std::uint32_t> LogicalClock::reachable(std::uint32_t from) const {
  std::vector<std::uint32_t> found{from};
  std::vector<bool> seen(m_graph.rankCount(), false);
  seen[from] = true;
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const std::uint32_t other : *m_edges[found[i]]) {
      if (!seen[other]) {
        seen[other] = true;
        found.push_back(other);
      }
    }
  }
  return found;
}

/// Drops ranks that wait, at any remove, for an event that is not entered.
void LogicalClock::dropOpen(const std::vector<std::uint32_t>& ranks) {
  bool dropped = true;
  while (dropped) {
    dropped = false;
    for (const std::uint32_t rank : ranks) {
      if (m_edges[rank] && std::ranges::any_of(*m_edges[rank], [this](std::uint32_t other) {
            return !m_edges[other];
          })) {
        m_edges[rank].reset();
        dropped = true;
      }
    }
  }
}

/// Leaves every set of events that wait for one another and for nothing else, each at one time.
bool LogicalClock::leaveMeetings(const std::vector<std::uint32_t>& ranks) {
  std::vector<std::vector<std::uint32_t>> reached(m_graph.rankCount());
  for (const std::uint32_t rank : ranks) {
    if (m_edges[rank]) {
      reached[rank] = reachable(rank);
    }
  }
  bool any = false;
  for (const std::uint32_t rank : ranks) {
    const std::vector<std::uint32_t>& group = reached[rank];
    if (group.empty() || !isInside(rank) || std::ranges::any_of(group, [&](std::uint32_t other) {
          return reached[other].size() != group.size();
        })) {
      continue;
    }
    std::uint32_t time = 0;
    for (const std::uint32_t other : group) {
      time = std::max(time, timeNow(inside(other)));
    }
    for (const std::uint32_t other : group) {
      leave(other, time);
    }
    any = true;
  }
  return any;
}

void LogicalClock::leave(std::uint32_t rank, std::uint32_t time) {
  m_times[rank][m_progress.left[rank]] = time;
  m_progress.left[rank] += 1;
}

void LogicalClock::resolveStall(const std::vector<std::uint32_t>& ranks) {
  m_edges.assign(m_graph.rankCount(), std::nullopt);
  std::optional<std::uint32_t> first;  // waits for sends only that are under way
  for (const std::uint32_t rank : ranks) {
    m_edges[rank] = waitsFor(rank);
    if (m_edges[rank] && (!first || m_earliest[rank] < m_earliest[*first])) {
      first = rank;
    }
  }
  dropOpen(ranks);
  if (leaveMeetings(ranks)) {
    return;
  }
  // One event has one time: a send and a receive in one call with other events between them in the
  // order cannot both go forward. Let the receive of that send have its time from where the call
  // began.
  const std::uint32_t rank = first.value_or(ranks.front());
  std::uint32_t earliest =
      isInside(rank) ? timeNow(inside(rank)) : time({rank, m_progress.left[rank]}) + 1;
  const std::optional<std::vector<std::uint32_t>> others = waitsFor(rank);
  if (others) {
    for (const std::uint32_t other : *others) {
      earliest = std::max(earliest, m_earliest[other] + 1);
    }
  }
  if (!isInside(rank)) {
    enter(inside(rank), earliest);
    m_progress.entered[rank] += 1;
    return;
  }
  leave(rank, earliest);
}

}  // namespace

std::vector<std::vector<std::uint32_t>> logicalTimes(const Execution& execution) {
  const EventGraph graph(execution);
  return LogicalClock(graph).run();
}

}  // namespace pf

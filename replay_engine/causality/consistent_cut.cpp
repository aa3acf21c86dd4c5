// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "replay_engine/causality/event_graph.h"
#include "replay_engine/execution/record_checks.h"
#include "replay_engine/races/races.h"

namespace pf {
namespace {

/// Backward closure: whatever an event in the cut waited for is in the cut.
class Cut {
 public:
  Cut(const EventGraph& graph, Place next)
      : m_graph(graph),
        m_next(next),
        m_needed(graph.rankCount(), 0),
        m_followed(graph.rankCount(), 0) {}

  /// These have begun, and those before the last of each rank need no others, but for probes.
  void start(const Execution& execution, std::span<const std::uint32_t> begun) {
    for (std::uint32_t rank = 0; rank < begun.size() && rank < m_needed.size(); ++rank) {
      const std::uint32_t last = std::min(begun[rank], m_graph.eventCount(rank));
      m_followed[rank] = last == 0 ? 0 : last - 1;
      m_needed[rank] = m_followed[rank];
      need({rank, last});
    }
    for (std::uint32_t rank = 0; rank < begun.size() && rank < m_needed.size(); ++rank) {
      const Serial followed = begun[rank] == 0 ? 0 : begun[rank] - 1;
      for (const ProbeHit& probe : execution.ranks[rank].probes) {
        if (probe.event >= 1 && probe.event <= followed &&
            probe.event <= m_graph.eventCount(rank)) {
          follow({rank, static_cast<std::uint32_t>(probe.event)});
        }
      }
    }
  }

  std::vector<Serial> close() {
    need({m_next.rank, m_next.serial - 1});
    while (!m_open.empty()) {
      const std::uint32_t rank = m_open.back();
      m_open.pop_back();
      while (m_followed[rank] < m_needed[rank]) {
        follow({rank, ++m_followed[rank]});
      }
    }
    return {m_needed.begin(), m_needed.end()};
  }

 private:
  void follow(Place place) {
    for (const Link link : m_graph.incoming(place)) {
      if (link.kind != LinkKind::Collective) {
        need(m_graph.origin(link));
        continue;
      }
      const CollectiveMember& member = m_graph.members()[link.index];
      for (std::uint32_t i = m_graph.instances()[member.instance].begin;
           i < m_graph.sourcesEnd(link.index); ++i) {
        if (m_graph.members()[i].contributes) {
          need(m_graph.members()[i].entry);
        }
      }
    }
  }

  void need(Place place) {
    // Another rank may be inside a call that ends only after `m_next`; that is not done here.
    if (place.rank == m_next.rank) {
      place.serial = std::min(place.serial, m_next.serial - 1);
    }
    if (m_needed[place.rank] < place.serial) {
      if (m_needed[place.rank] == m_followed[place.rank]) {
        m_open.push_back(place.rank);
      }
      m_needed[place.rank] = place.serial;
    }
  }

  const EventGraph& m_graph;
  Place m_next;
  std::vector<std::uint32_t> m_needed;
  std::vector<std::uint32_t> m_followed;
  std::vector<std::uint32_t> m_open;
};

}  // namespace

std::vector<Serial> cutBefore(const Execution& execution, EventRef event) {
  return cutBefore(execution, event, {});
}

std::vector<Serial> cutBefore(const Execution& execution, EventRef event,
                              std::span<const std::uint32_t> begun) {
  if (!isRank(execution, event.rank) || !event.valid()) {
    std::vector<Serial> nothing(execution.ranks.size(), 0);
    return nothing;
  }
  const EventGraph graph(execution, nullptr, LinkSides::Incoming);
  const auto rank = static_cast<std::uint32_t>(event.rank);
  const Serial last = Serial{graph.eventCount(rank)} + 1;
  Cut cut(graph, {rank, static_cast<std::uint32_t>(std::min(event.serial, last))});
  cut.start(execution, begun);
  return cut.close();
}

}  // namespace pf

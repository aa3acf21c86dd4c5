// SPDX-License-Identifier: GPL-3.0-or-later
// Visits every event of an execution, each rank's in order, an exit only after what it waits for.
// Private to the analysis. Time O(events x ranks) at worst, no recursion; ends for cyclic (damaged) records
// too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "replay_engine/causality/event_graph.h"

namespace pf {

/// How far each rank is: serial of the last event entered, and of the last one left.
struct Progress {
  std::vector<std::uint32_t> entered;
  std::vector<std::uint32_t> left;
  [[nodiscard]] bool isEntered(Place place) const { return entered[place.rank] >= place.serial; }
  [[nodiscard]] bool isLeft(Place place) const { return left[place.rank] >= place.serial; }
};

/// Whether what the link waits for has been entered. `missing`: by instance of a collective, its
/// contributors that have not.
[[nodiscard]] inline bool isReady(const EventGraph& graph, const Progress& progress,
                                  const std::vector<std::uint32_t>& missing, Link link) {
  if (link.kind != LinkKind::Collective) {
    return progress.isEntered(graph.origin(link));
  }
  const std::uint32_t instance = graph.members()[link.index].instance;
  if (graph.instances()[instance].flow != CollectiveFlow::FromLower) {
    return missing[instance] == 0;
  }
  for (std::uint32_t i = graph.instances()[instance].begin; i < graph.sourcesEnd(link.index); ++i) {
    const CollectiveMember& member = graph.members()[i];
    if (member.contributes && !progress.isEntered(member.entry)) {
      return false;
    }
  }
  return true;
}

/// Drives `pass`, which decides and computes: bool tryEnter(Place), bool tryLeave(Place), and
/// resolveStall(ranks), called when none of these unfinished ranks can go on: it must leave an
/// event.
template <typename Pass>
class Traversal {
 public:
  Traversal(const EventGraph& graph, Progress& progress, Pass& pass)
      : m_graph(graph), m_progress(progress), m_pass(pass) {
    m_progress.entered.assign(graph.rankCount(), 0);
    m_progress.left.assign(graph.rankCount(), 0);
  }

  void run() {
    std::vector<std::uint32_t> unfinished;
    for (std::uint32_t rank = 0; rank < m_graph.rankCount(); ++rank) {
      unfinished.push_back(rank);
    }
    while (true) {
      std::erase_if(unfinished, [this](std::uint32_t rank) {
        return m_progress.left[rank] == m_graph.eventCount(rank);
      });
      if (unfinished.empty()) {
        return;
      }
      bool moved = false;
      for (const std::uint32_t rank : unfinished) {
        moved = advance(rank) || moved;
      }
      if (!moved) {
        m_pass.resolveStall(unfinished);
      }
    }
  }

 private:
  /// Some events at a time, so that ranks stay close together and few messages are in flight.
  static constexpr int kTurn = 64;

  bool advance(std::uint32_t rank) {
    bool moved = false;
    for (int i = 0; i < kTurn && m_progress.left[rank] < m_graph.eventCount(rank); ++i) {
      const Place place{rank, m_progress.left[rank] + 1};
      if (!m_progress.isEntered(place)) {
        if (!m_pass.tryEnter(place)) {
          return moved;
        }
        m_progress.entered[rank] = place.serial;
        moved = true;
      }
      if (!m_pass.tryLeave(place)) {
        return moved;
      }
      m_progress.left[rank] = place.serial;
      moved = true;
    }
    return moved;
  }

  const EventGraph& m_graph;
  Progress& m_progress;
  Pass& m_pass;
};

}  // namespace pf

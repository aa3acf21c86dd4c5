// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/causality/cut_check.h"

#include <algorithm>

#include "replay_engine/causality/event_graph.h"

namespace pf {
namespace {

class CutCheck {
 public:
  CutCheck(const Execution& execution, std::vector<Serial> done)
      : m_graph(execution, nullptr, LinkSides::Incoming), m_done(std::move(done)) {
    m_done.resize(m_graph.rankCount(), 0);
    for (std::uint32_t rank = 0; rank < m_graph.rankCount(); ++rank) {
      m_done[rank] = std::min(m_done[rank], Serial{m_graph.eventCount(rank)});
    }
  }

  /// From event `from` of this rank on.
  [[nodiscard]] std::optional<Crossing> find(std::uint32_t rank, Serial from) const {
    for (Serial serial = from; serial <= m_done[rank]; ++serial) {
      for (const Link link : m_graph.incoming({rank, static_cast<std::uint32_t>(serial)})) {
        if (const std::optional<Place> missing = missingOf(link)) {
          return Crossing{{static_cast<Rank>(missing->rank), missing->serial},
                          {static_cast<Rank>(rank), serial},
                          link.kind == LinkKind::Message ? link.index : kNone};
        }
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Crossing> find() const {
    for (std::uint32_t rank = 0; rank < m_graph.rankCount(); ++rank) {
      if (std::optional<Crossing> found = find(rank, 1)) {
        return found;
      }
    }
    return std::nullopt;
  }

  std::vector<Serial> shrink() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t rank = 0; rank < m_graph.rankCount(); ++rank) {
        if (const std::optional<Crossing> found = find(rank, 1)) {
          m_done[rank] = found->to.serial - 1;
          changed = true;
        }
      }
    }
    return m_done;
  }

 private:
  [[nodiscard]] std::optional<Place> missingOf(Link link) const {
    if (link.kind != LinkKind::Collective) {
      const Place origin = m_graph.origin(link);
      return origin.serial > m_done[origin.rank] ? std::optional(origin) : std::nullopt;
    }
    const CollectiveMember& member = m_graph.members()[link.index];
    for (std::uint32_t i = m_graph.instances()[member.instance].begin;
         i < m_graph.sourcesEnd(link.index); ++i) {
      const CollectiveMember& other = m_graph.members()[i];
      if (other.contributes && other.entry.serial > m_done[other.entry.rank]) {
        return other.entry;
      }
    }
    return std::nullopt;
  }

  const EventGraph m_graph;
  std::vector<Serial> m_done;
};

}  // namespace

std::optional<Crossing> crossing(const Execution& execution, const std::vector<Serial>& done) {
  return CutCheck(execution, done).find();
}

std::vector<Serial> consistentPart(const Execution& execution, std::vector<Serial> done) {
  return CutCheck(execution, std::move(done)).shrink();
}

}  // namespace pf

// SPDX-License-Identifier: MIT
// The collective calls of a trace: their parts by rank, when they are, and what flows between their
// parts. QtCore only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "views/trace/trace_times.h"

namespace pf::views {

/// The parts of one collective call, by rank.
struct CollectiveGroup {
  std::uint32_t comm = kNone;
  std::uint32_t ordinal = 0;
  /// Of its parts; where chunks are read when they are asked for, those of their chunks.
  std::uint32_t firstTime = 0;
  std::uint32_t lastTime = 0;
  std::uint32_t about = 0;  ///< firstTime, as well as it is known without reading a chunk
  std::vector<EventRef> parts;
  bool joins = false;  ///< each part comes after all, and ends where it begins
  bool meets = false;  ///< it joins all ranks of the trace: parts[rank] is of that rank
};

/// The part of a rank in the collective that begins at an event; none: none does.
[[nodiscard]] std::optional<CollectivePart> partAt(const RankView& history, Serial event);

class CollectiveIndex {
 public:
  CollectiveIndex(const TraceEvents& events, const TraceTimes& times);
  /// The same collectives on another axis.
  CollectiveIndex(const CollectiveIndex& other, const TraceTimes& times);

  [[nodiscard]] const std::vector<CollectiveGroup>& groups() const { return m_groups; }
  /// The group of an event; kNone if it is not a collective.
  [[nodiscard]] std::uint32_t at(EventRef ref) const {
    const auto group = m_groupAt->at(m_events.id(ref));
    return m_events.contains(ref) && !group.empty() ? group.front() : kNone;
  }
  /// The first of its parts' times.
  [[nodiscard]] std::uint32_t firstTimeOf(const CollectiveGroup& group) const;
  [[nodiscard]] bool allJoin() const { return m_allJoin; }

  /// Events of other ranks from which something flows into part `part` of `rank`'s collectives.
  [[nodiscard]] std::vector<EventRef> feeding(Rank rank, std::uint32_t part) const;
  /// Calls `visit` with where each part of other ranks ends into which something flows from `own`,
  /// which begins at `event` and is of group `group`.
  void forEachFedBy(EventRef event, const CollectivePart& own, std::uint32_t group,
                    const std::function<void(EventRef)>& visit) const;

  /// The last collective of `event`'s rank up to `event` in which each rank has learnt from all
  /// what they did before it; null: none is near.
  [[nodiscard]] const CollectiveGroup* meetingUpTo(EventRef event) const;
  /// The first one from `event` on.
  [[nodiscard]] const CollectiveGroup* meetingFrom(EventRef event) const;
  /// Calls `visit` with each event of serials [first, last] of a rank that is a collective, and
  /// with its group.
  template <typename Visit>
  void forEachIn(Rank rank, Serial first, Serial last, Visit&& visit) const {
    const std::size_t base = m_events.firstId(rank);
    m_groupAt->in(base + (first - 1), base + (last - 1), [&](std::size_t id, std::uint32_t group) {
      visit(EventRef{rank, id - base + 1}, group);
    });
  }

 private:
  void group();
  void place(CollectiveGroup& group) const;
  void placeByChunk(CollectiveGroup& group) const;

  const TraceEvents& m_events;
  const TraceTimes& m_times;
  std::vector<CollectiveGroup> m_groups;
  std::shared_ptr<const EventItems> m_groupAt;  ///< of both axes
  bool m_allJoin = true;
};

}  // namespace pf::views

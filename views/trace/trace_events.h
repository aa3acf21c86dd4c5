// SPDX-License-Identifier: MIT
// The events of a TraceData, by rank and serial, and the number of each among all of them. They
// have no time here, so that the axes share them. What is of the data refers to it: it stays as
// long as this. QtCore only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "views/trace/chunks/execution_view.h"
#include "views/trace/chunks/trace_view_data.h"

namespace pf::views {

class TraceEvents {
 public:
  explicit TraceEvents(TraceDataPtr data);

  [[nodiscard]] const TraceData& data() const { return *m_data; }
  [[nodiscard]] const TraceDataPtr& dataPtr() const { return m_data; }
  [[nodiscard]] const ExecutionView& execution() const { return m_view; }
  /// Null: all is in memory.
  [[nodiscard]] const ChunkCache* pages() const { return m_pages.get(); }
  [[nodiscard]] std::size_t rankCount() const { return m_view.ranks.size(); }
  /// False: only an outline is there; all that asks for events finds none.
  [[nodiscard]] bool hasEvents() const { return !m_data->outline; }
  /// Of those that are there.
  [[nodiscard]] std::size_t count() const { return m_count; }
  [[nodiscard]] Serial lastSerial(Rank rank) const {
    return rank >= 0 && index(rank) < rankCount() ? Serial{m_view.ranks[index(rank)].events.size()}
                                                  : 0;
  }
  [[nodiscard]] bool contains(EventRef ref) const {
    return ref.serial != 0 && ref.serial <= lastSerial(ref.rank);
  }
  [[nodiscard]] Event event(EventRef ref) const;

  /// Numbers go rank by rank from 0; that of a rank's first event.
  [[nodiscard]] std::size_t firstId(Rank rank) const { return m_firstIds[index(rank)]; }
  /// count() for an event that is not there.
  [[nodiscard]] std::size_t id(EventRef ref) const {
    return contains(ref) ? firstId(ref.rank) + (ref.serial - 1) : m_count;
  }
  /// As EventItems has it.
  [[nodiscard]] std::uint32_t shortId(EventRef ref) const {
    return static_cast<std::uint32_t>(id(ref));
  }

  /// They have times of a clock.
  [[nodiscard]] bool hasClockTimes() const {
    return hasEvents() && m_view.timeOrigin != TimeOrigin::None;
  }
  /// When an event's call began and ended; nothing where that is not known.
  [[nodiscard]] std::optional<EventTime> clockTime(EventRef ref) const;

  /// Who sent a message of the record; no chunk is read for it.
  [[nodiscard]] Rank senderOf(std::uint32_t message) const;

 private:
  TraceDataPtr m_data;
  std::shared_ptr<const ChunkCache> m_pages;
  ExecutionView m_view;
  std::vector<std::size_t> m_firstIds;  ///< by rank
  std::size_t m_count = 0;
};

}  // namespace pf::views

// SPDX-License-Identifier: MIT
// A trace on a time axis as the views ask for it, computed once from a TraceData. Each of its parts
// has a job of its own and knows only those before it: events, their times, what belongs to them,
// races, messages, collectives. What follows causally is in trace_causality.h. Immutable after
// construction, so it may be shared between threads. QtCore only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "views/trace/collective_index.h"
#include "views/trace/event_link_index.h"
#include "views/trace/message_lines.h"
#include "views/trace/race_index.h"
#include "views/trace/racing_events.h"
#include "views/trace/trace_events.h"
#include "views/trace/trace_times.h"

namespace pf::views {

class TraceIndex {
 public:
  /// On the logical axis.
  explicit TraceIndex(TraceDataPtr data);
  /// The same trace with physical time as its time(); null without such times. Without `pyramid`,
  /// which is pf::densityPyramid(), views of many events look at each of them. Takes some 100 ns an
  /// event, and reads all of them where they are not in memory: not for the GUI thread.
  [[nodiscard]] static std::shared_ptr<const TraceIndex> onPhysicalAxis(
      const TraceIndex& logical, const PyramidMaker& pyramid = {});

  [[nodiscard]] const TraceEvents& events() const { return *m_events; }
  [[nodiscard]] const TraceTimes& times() const { return *m_times; }
  [[nodiscard]] const EventLinkIndex& links() const { return *m_links; }
  [[nodiscard]] const RaceIndex& races() const { return *m_races; }
  [[nodiscard]] const RacingEvents& racing() const { return m_racing; }
  [[nodiscard]] const MessageLines& messages() const { return m_messages; }
  [[nodiscard]] const CollectiveIndex& collectives() const { return m_collectives; }

  // What is asked for everywhere:
  [[nodiscard]] const TraceData& data() const { return m_events->data(); }
  [[nodiscard]] const TraceDataPtr& dataPtr() const { return m_events->dataPtr(); }
  [[nodiscard]] const ExecutionView& execution() const { return m_events->execution(); }
  /// Null: all is in memory.
  [[nodiscard]] const ChunkCache* pages() const { return m_events->pages(); }
  [[nodiscard]] std::size_t rankCount() const { return m_events->rankCount(); }
  /// False: only an outline is there; all that asks for events finds none.
  [[nodiscard]] bool hasEvents() const { return m_events->hasEvents(); }
  /// Of the run, also where they are not there yet.
  [[nodiscard]] std::size_t eventCount() const {
    return hasEvents() ? m_events->count() : data().outline->events;
  }
  [[nodiscard]] Serial lastSerial(Rank rank) const { return m_events->lastSerial(rank); }
  [[nodiscard]] bool contains(EventRef ref) const { return m_events->contains(ref); }
  [[nodiscard]] Event event(EventRef ref) const { return m_events->event(ref); }
  /// Its events have times of a clock: there can be an index on the physical axis.
  [[nodiscard]] bool hasPhysicalTimes() const { return m_events->hasClockTimes(); }
  /// What time() and all that goes by it mean.
  [[nodiscard]] TimeAxis axis() const { return m_times->axis(); }
  [[nodiscard]] double step() const { return m_times->step(); }
  [[nodiscard]] std::uint32_t time(EventRef ref) const { return m_times->at(ref); }
  [[nodiscard]] std::uint32_t lastTime() const { return m_times->last(); }
  /// On either axis.
  [[nodiscard]] std::uint32_t logicalTime(EventRef ref) const { return m_logical->at(ref); }

 private:
  TraceIndex(const TraceIndex& logical, const PyramidMaker& pyramid);

  // Of both axes, but for m_times:
  std::shared_ptr<const TraceEvents> m_events;
  std::shared_ptr<const EventLinkIndex> m_links;
  std::shared_ptr<const RaceIndex> m_races;
  std::shared_ptr<const TraceTimes> m_logical;
  std::shared_ptr<const TraceTimes> m_times;
  RacingEvents m_racing;
  MessageLines m_messages;
  CollectiveIndex m_collectives;
};

using TraceIndexPtr = std::shared_ptr<const TraceIndex>;

/// Index of `data`, or null for null.
[[nodiscard]] TraceIndexPtr makeIndex(TraceDataPtr data);

}  // namespace pf::views

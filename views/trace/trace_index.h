// SPDX-License-Identifier: MIT
// What the views ask of a TraceData again and again, computed once: event -> messages, receives,
// races, collective; visible ranges; causal past and future. Immutable after construction, so it
// may be shared between threads. QtCore only.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "views/trace/execution_view.h"
#include "views/trace/trace_view_data.h"

namespace pf::views {

/// Logical: steps, in which every message goes forward. Physical: units of m_unit nanoseconds, from
/// 1 at the first event; events that wait are where their call ends, what sends is where it begins.
enum class TimeAxis { Logical, Physical };

/// Makes a pyramid of times [rank][serial - 1], and of when what each event sends leaves.
using PyramidMaker =
    std::function<DensityPyramid(const Execution& execution, const std::vector<Race>& races,
                                 const std::vector<std::vector<std::uint32_t>>& times,
                                 const std::vector<std::vector<std::uint32_t>>& departures)>;

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

/// The line of a message.
struct MessageLine {
  std::uint32_t message = kNone;
  Rank source = kUnknownRank;
  Rank dest = kUnknownRank;
  std::uint32_t departs = 0;
  std::uint32_t arrives = 0;  ///< 0: it does not
};

class TraceIndex;

/// Events of all races by time, without repeats.
class RacingEvents {
 public:
  class Iterator;
  RacingEvents(const TraceIndex& trace, std::span<const std::uint32_t> races)
      : m_trace(&trace), m_races(races) {}
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] Iterator end() const;
  [[nodiscard]] std::size_t size() const { return m_races.size(); }
  [[nodiscard]] bool empty() const { return m_races.empty(); }
  [[nodiscard]] EventRef operator[](std::size_t i) const;
  [[nodiscard]] EventRef front() const { return (*this)[0]; }
  [[nodiscard]] EventRef back() const { return (*this)[size() - 1]; }
  friend bool operator==(const RacingEvents& a, const RacingEvents& b);

 private:
  const TraceIndex* m_trace;
  std::span<const std::uint32_t> m_races;  ///< one of each event
};

class RacingEvents::Iterator {
 public:
  using value_type = EventRef;
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::random_access_iterator_tag;  // so that a search halves
  using pointer = void;
  using reference = EventRef;

  Iterator() = default;
  Iterator(const RacingEvents& events, std::size_t at)
      : m_events(&events), m_at(static_cast<difference_type>(at)) {}
  EventRef operator*() const { return (*m_events)[static_cast<std::size_t>(m_at)]; }
  EventRef operator[](difference_type n) const { return *(*this + n); }
  Iterator& operator++() { return *this += 1; }
  Iterator operator++(int) {
    const Iterator before = *this;
    *this += 1;
    return before;
  }
  Iterator& operator--() { return *this -= 1; }
  Iterator operator--(int) {
    const Iterator before = *this;
    *this -= 1;
    return before;
  }
  Iterator& operator+=(difference_type n) {
    m_at += n;
    return *this;
  }
  Iterator& operator-=(difference_type n) {
    m_at -= n;
    return *this;
  }
  friend Iterator operator+(Iterator a, difference_type n) { return a += n; }
  friend Iterator operator+(difference_type n, Iterator a) { return a += n; }
  friend Iterator operator-(Iterator a, difference_type n) { return a -= n; }
  friend difference_type operator-(const Iterator& a, const Iterator& b) { return a.m_at - b.m_at; }
  friend auto operator<=>(const Iterator& a, const Iterator& b) { return a.m_at <=> b.m_at; }
  friend bool operator==(const Iterator& a, const Iterator& b) { return a.m_at == b.m_at; }

 private:
  const RacingEvents* m_events = nullptr;
  difference_type m_at = 0;
};

inline RacingEvents::Iterator RacingEvents::begin() const {
  return {*this, 0};
}
inline RacingEvents::Iterator RacingEvents::end() const {
  return {*this, size()};
}
inline bool operator==(const RacingEvents& a, const RacingEvents& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

/// Items of an event. They stay while this does.
class LinkedItems {
 public:
  LinkedItems() = default;
  LinkedItems(std::shared_ptr<const EventLinks> keep, std::span<const std::uint32_t> items)
      : m_keep(std::move(keep)), m_items(items) {}
  [[nodiscard]] auto begin() const { return m_items.begin(); }
  [[nodiscard]] auto end() const { return m_items.end(); }
  [[nodiscard]] bool empty() const { return m_items.empty(); }
  [[nodiscard]] std::size_t size() const { return m_items.size(); }
  [[nodiscard]] std::uint32_t front() const { return m_items.front(); }
  [[nodiscard]] std::uint32_t operator[](std::size_t i) const { return m_items[i]; }
  /// The first ones of them.
  [[nodiscard]] LinkedItems first(std::size_t n) const { return {m_keep, m_items.first(n)}; }

 private:
  std::shared_ptr<const EventLinks> m_keep;
  std::span<const std::uint32_t> m_items;
};

class TraceIndex {
 public:
  explicit TraceIndex(TraceDataPtr data);

  [[nodiscard]] const TraceData& data() const { return *m_data; }
  [[nodiscard]] const TraceDataPtr& dataPtr() const { return m_data; }
  [[nodiscard]] const ExecutionView& execution() const { return m_view; }
  /// Null: all is in memory.
  [[nodiscard]] const ChunkCache* pages() const { return m_pages.get(); }
  [[nodiscard]] std::size_t rankCount() const { return execution().ranks.size(); }
  /// False: only an outline is there; all that asks for events finds none.
  [[nodiscard]] bool hasEvents() const { return !m_data->outline; }
  [[nodiscard]] std::size_t eventCount() const {
    return hasEvents() ? m_total : m_data->outline->events;
  }
  [[nodiscard]] Serial lastSerial(Rank rank) const;
  [[nodiscard]] bool contains(EventRef ref) const;
  [[nodiscard]] Event event(EventRef ref) const;

  /// Its events have times of a clock: there can be an index on the physical axis.
  [[nodiscard]] bool hasPhysicalTimes() const {
    return hasEvents() && execution().timeOrigin != TimeOrigin::None;
  }
  /// The same trace with physical time as its time(); null without such times. Without `pyramid`,
  /// which is pf::densityPyramid(), views of many events look at each of them. Takes some 100 ns an
  /// event, and reads all of them where they are not in memory: not for the GUI thread.
  [[nodiscard]] static std::shared_ptr<const TraceIndex> onPhysicalAxis(
      const TraceIndex& logical, const PyramidMaker& pyramid = {});
  /// What time() and all that goes by it mean.
  [[nodiscard]] TimeAxis axis() const { return m_axis; }
  /// How far apart two events of a rank are in about: 1 on the logical axis.
  [[nodiscard]] double step() const { return m_step; }
  /// Nanoseconds since the run's first event at a time of the physical axis, and back.
  [[nodiscard]] double nanoseconds(double time) const {
    return (time - 1) * static_cast<double>(m_unit);
  }
  [[nodiscard]] std::uint32_t timeAt(std::uint64_t nanoseconds) const {
    return static_cast<std::uint32_t>(nanoseconds / m_unit + 1);
  }
  /// When an event's call began and ended; nothing where that is not known. On either axis.
  [[nodiscard]] std::optional<EventTime> clockTime(EventRef ref) const;
  [[nodiscard]] std::uint32_t logicalTime(EventRef ref) const;
  /// Where the line of a message begins.
  [[nodiscard]] std::uint32_t departure(const Message& message) const;
  /// Null: views of many events look at each of them.
  [[nodiscard]] const DensityLevels* pyramid() const {
    return m_axis == TimeAxis::Logical ? m_data->pyramid.get() : m_pyramid.get();
  }

  [[nodiscard]] std::uint32_t time(EventRef ref) const;
  [[nodiscard]] std::uint32_t lastTime() const { return m_lastTime; }
  [[nodiscard]] EventSteps times(Rank rank) const;
  /// Serials [first, last) of `rank` whose time is in [from, to].
  [[nodiscard]] std::pair<Serial, Serial> serialsIn(Rank rank, double from, double to) const;
  /// The event of `rank` nearest in time; invalid for an empty rank.
  [[nodiscard]] EventRef nearest(Rank rank, std::uint32_t time) const;

  [[nodiscard]] LinkedItems sentAt(EventRef ref) const;       ///< messages that leave here
  [[nodiscard]] LinkedItems postedAt(EventRef ref) const;     ///< receives posted here
  [[nodiscard]] LinkedItems completedAt(EventRef ref) const;  ///< receives completed here
  [[nodiscard]] LinkedItems probesAt(EventRef ref) const;     ///< probe hits of this event
  [[nodiscard]] std::span<const std::uint32_t> racesAt(
      EventRef ref) const;                            ///< whose post or completion it is
  [[nodiscard]] bool isWildcard(EventRef ref) const;  ///< posts, or probes for, any source
  [[nodiscard]] bool takenInRace(std::uint32_t message) const;
  [[nodiscard]] std::uint32_t messageCount() const;
  [[nodiscard]] LinkedItems synchronousDoneAt(
      EventRef ref) const;  ///< messages sent synchronously, known here to have been matched
  [[nodiscard]] LinkedItems collectivesDoneAt(
      EventRef ref) const;  ///< collective parts of its rank that end here

  /// Where a race is chosen (post of the receive, or the probe), and where it is observed.
  [[nodiscard]] EventRef raceEvent(std::size_t race) const;
  [[nodiscard]] EventRef raceCompletion(std::size_t race) const;
  /// What its receive took; nothing: no message of the record. No chunk is read for it where the
  /// races have their messages.
  [[nodiscard]] std::optional<TakenMessage> takenIn(std::size_t race) const;
  /// Who sent a message of the record; no chunk is read for it.
  [[nodiscard]] Rank senderOf(std::uint32_t message) const;
  /// Events of all races by time, without repeats.
  [[nodiscard]] RacingEvents racingEvents() const { return {*this, m_racing}; }
  /// time() of these.
  [[nodiscard]] const std::vector<std::uint32_t>& racingTimes() const { return m_racingTimes; }
  /// time() of where a race is observed.
  [[nodiscard]] std::uint32_t raceTime(std::size_t race) const;

  [[nodiscard]] const std::vector<CollectiveGroup>& collectives() const { return m_groups; }
  [[nodiscard]] std::uint32_t collectiveAt(EventRef ref) const;  ///< kNone if not a collective

  /// Events of other ranks from which something flows into part `part` of `rank`'s collectives.
  [[nodiscard]] std::vector<EventRef> feeding(Rank rank, std::uint32_t part) const;

  /// The first of its parts' times.
  [[nodiscard]] std::uint32_t firstTimeOf(const CollectiveGroup& group) const;

  /// Calls `visit` for each message whose line meets times [from, to]; in no order.
  void forMessagesIn(double from, double to,
                     const std::function<void(const MessageLine&)>& visit) const;
  /// Where a message's line ends: at its completion, or at the post of a receive that was never
  /// observed.
  [[nodiscard]] EventRef arrival(const Message& message) const;

  /// For each rank the number of its events that happen before `ref` (itself included).
  [[nodiscard]] std::vector<Serial> past(EventRef ref) const;
  /// For each rank the first serial that happens after `ref` (itself included); 0 = none.
  [[nodiscard]] std::vector<Serial> future(EventRef ref) const;
  /// Other ends of the messages of this event, else the other parts of its collective.
  [[nodiscard]] std::vector<EventRef> partners(EventRef ref) const;

 private:
  /// What does not depend on the axis.
  struct Links {
    std::vector<std::vector<std::uint32_t>> fallbackTimes;
    EventLinks events;  ///< of all events; empty where chunks are read when they are asked for
    EventItems races;
    EventItems groupAt;  ///< event -> its collective
    std::vector<bool> takenInRace;
  };
  class Flows;

  struct OnPhysicalAxis {};
  TraceIndex(const TraceIndex& logical, const PyramidMaker& pyramid, OnPhysicalAxis);
  void layOutPhysicalTimes(const PyramidMaker& pyramid);
  void orderMessages();
  void orderRaces();
  /// The times of this axis that the races have in their table are time() of their events.
  [[nodiscard]] bool racesHaveTimes() const {
    return m_axis == TimeAxis::Logical && m_links->fallbackTimes.empty() &&
           m_data->races.hasPlaces();
  }

  [[nodiscard]] std::size_t id(EventRef ref) const;
  [[nodiscard]] std::uint32_t shortId(EventRef ref) const {
    return static_cast<std::uint32_t>(id(ref));
  }
  [[nodiscard]] LinkedItems items(EventRef ref, const EventItems EventLinks::*which) const;
  void indexTimes();
  void indexMessages();
  void indexReceives();
  void indexRaces();
  void indexCollectives();
  void placeGroup(CollectiveGroup& group) const;
  void forMessagesOfChunk(Rank rank, std::size_t ordinal, double from, double to,
                          const std::function<void(const MessageLine&)>& visit) const;
  [[nodiscard]] std::vector<EventRef> causes(EventRef ref) const;
  [[nodiscard]] std::vector<EventRef> effects(EventRef ref) const;
  void collectiveEffects(EventRef event, const CollectivePart& own, std::uint32_t group,
                         const std::function<void(EventRef)>& visit) const;

  TraceDataPtr m_data;
  std::shared_ptr<const ChunkCache> m_pages;
  ExecutionView m_view;
  std::vector<std::size_t> m_base;  ///< first event id of each rank
  std::size_t m_total = 0;
  std::uint32_t m_lastTime = 1;
  std::shared_ptr<Links> m_links;       ///< of both axes; filled by the logical one's constructor
  std::vector<std::uint32_t> m_racing;  ///< a race of each racing event
  std::vector<std::uint32_t> m_racingTimes;
  std::vector<CollectiveGroup> m_groups;
  bool m_onlyJoins = true;     ///< of all groups
  bool m_synchronous = false;  ///< with chunks: a message was sent so, and known to be matched
  std::vector<std::uint32_t> m_bySendTime;  ///< messages
  std::vector<std::uint32_t> m_blockEnd;    ///< latest arrival in each block of them
  TimeAxis m_axis = TimeAxis::Logical;
  std::uint64_t m_unit = 0;  ///< nanoseconds of a unit of physical time
  double m_step = 1;
  std::vector<std::vector<std::uint32_t>> m_physicalTimes;
  CutLevelsPtr m_pyramid;
};

using TraceIndexPtr = std::shared_ptr<const TraceIndex>;

/// Index of `data`, or null for null.
[[nodiscard]] TraceIndexPtr makeIndex(TraceDataPtr data);

}  // namespace pf::views

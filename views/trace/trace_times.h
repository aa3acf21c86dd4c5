// SPDX-License-Identifier: MIT
// A time axis of a trace: when its events are, and which are when. The times of a rank do not fall.
// QtCore only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "views/trace/trace_events.h"

namespace pf::views {

/// Logical: steps, in which every message goes forward. Physical: units of some nanoseconds, from
/// 1 at the first event; events that wait are where their call ends, what sends is where it begins.
enum class TimeAxis { Logical, Physical };

/// Makes a pyramid of times [rank][serial - 1], and of when what each event sends leaves.
using PyramidMaker =
    std::function<DensityPyramid(const Execution& execution, const std::vector<Race>& races,
                                 const std::vector<std::vector<std::uint32_t>>& times,
                                 const std::vector<std::vector<std::uint32_t>>& departures)>;

class TraceTimes {
 public:
  /// The logical times of the data. Where they are missing or fall, serials are in their place, so
  /// that searches stay valid.
  explicit TraceTimes(const TraceEvents& events);
  /// The physical ones, of events that are in memory and have times of a clock.
  TraceTimes(const TraceEvents& events, const PyramidMaker& pyramid);
  ~TraceTimes() = default;
  TraceTimes(const TraceTimes&) = delete;
  TraceTimes& operator=(const TraceTimes&) = delete;

  [[nodiscard]] TimeAxis axis() const { return m_axis; }
  /// They are the logical times that the data has.
  [[nodiscard]] bool areOfData() const { return m_axis == TimeAxis::Logical && m_own.empty(); }
  /// How far apart two events of a rank are in about: 1 on the logical axis.
  [[nodiscard]] double step() const { return m_step; }
  [[nodiscard]] std::uint32_t last() const { return m_last; }
  /// 0: no such event.
  [[nodiscard]] std::uint32_t at(EventRef ref) const {
    if (m_pages != nullptr) {
      return m_events.contains(ref) ? m_pages->step(ref.rank, ref.serial - 1) : 0;
    }
    return m_events.contains(ref) ? m_kept[index(ref.rank)][ref.serial - 1] : 0;
  }
  [[nodiscard]] EventSteps of(Rank rank) const;
  /// Serials [first, last) of `rank` whose time is in [from, to].
  [[nodiscard]] std::pair<Serial, Serial> serialsIn(Rank rank, double from, double to) const;
  /// The event of `rank` nearest in time; invalid for an empty rank.
  [[nodiscard]] EventRef nearest(Rank rank, std::uint32_t time) const;

  /// Nanoseconds since the run's first event at a time of the physical axis, and back.
  [[nodiscard]] double nanoseconds(double time) const {
    return (time - 1) * static_cast<double>(m_unit);
  }
  [[nodiscard]] std::uint32_t timeAt(std::uint64_t nanoseconds) const {
    return static_cast<std::uint32_t>(nanoseconds / m_unit + 1);
  }
  /// When an event's call began and ended; nothing where that is not known. On either axis.
  [[nodiscard]] std::optional<EventTime> clockTime(EventRef ref) const {
    return m_events.clockTime(ref);
  }
  /// Where the line of a message begins.
  [[nodiscard]] std::uint32_t departure(const Message& message) const;
  /// Null: views of many events look at each of them.
  [[nodiscard]] const DensityLevels* pyramid() const { return m_pyramid.get(); }

 private:
  void fallBackToSerials();
  void chooseUnit();
  void layOut(const PyramidMaker& pyramid);

  const TraceEvents& m_events;
  const ChunkCache* m_pages = nullptr;                 ///< times are in them
  std::vector<std::vector<std::uint32_t>> m_own;       ///< [rank][serial - 1]; empty: the data's
  std::vector<std::span<const std::uint32_t>> m_kept;  ///< without pages, those that count
  TimeAxis m_axis;
  std::uint64_t m_unit = 0;  ///< nanoseconds of a unit of physical time
  double m_step = 1;
  std::uint32_t m_last = 1;
  CutLevelsPtr m_pyramid;
};

}  // namespace pf::views

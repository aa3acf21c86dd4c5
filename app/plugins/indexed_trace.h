// SPDX-License-Identifier: GPL-3.0-or-later
// A trace with its events, and what belongs to each of them: what exporters and judges of races go by.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/replaying/report_parts.h"
#include "db/schema/trace_types.h"

namespace pf::app {

/// Indices by the event that they belong to.
class SerialIndex {
 public:
  void add(Serial serial, std::size_t index) {
    if (serial != 0) {
      m_entries.emplace_back(serial, static_cast<std::uint32_t>(index));
    }
  }
  void finish() { std::sort(m_entries.begin(), m_entries.end()); }

  /// Calls use(index) for each of the event's, ascending.
  template <typename Use>
  void each(Serial serial, Use use) const {
    auto entry = std::lower_bound(m_entries.begin(), m_entries.end(), std::pair(serial, 0U));
    for (; entry != m_entries.end() && entry->first == serial; ++entry) {
      use(entry->second);
    }
  }

 private:
  std::vector<std::pair<Serial, std::uint32_t>> m_entries;
};

/// One rank's receives, sends and so on by event.
struct RankIndex {
  SerialIndex posts;
  SerialIndex completions;  ///< of receives, cancelled ones too
  SerialIndex probes;
  SerialIndex messages;  ///< sent: into Execution::messages
  SerialIndex collectives;
  SerialIndex collectiveEnds;
  std::set<Serial> racing;          ///< events at which races show (raceEvent())
  std::set<Serial> observedRacing;  ///< and those that observe a racing receive's completion
};

/// A trace, and its events by what belongs to them.
struct IndexedTrace {
  std::string path;
  Loaded loaded;
  db::LogicalTimes times;
  std::vector<RankIndex> index;  ///< by rank
  std::vector<db::StoredRace> storedRaces;

  [[nodiscard]] const Execution& execution() const { return loaded.execution; }
  [[nodiscard]] const Event& event(EventRef ref) const {
    return execution().ranks[static_cast<std::size_t>(ref.rank)].events[ref.serial - 1];
  }
  [[nodiscard]] std::uint32_t time(EventRef ref) const {
    return times[static_cast<std::size_t>(ref.rank)][ref.serial - 1];
  }
  /// The events have times of a clock.
  [[nodiscard]] bool timed() const { return execution().timeOrigin != TimeOrigin::None; }
  /// span() of a length that viewers show: what is a moment ends before the next event begins.
  [[nodiscard]] EventTime shownSpan(EventRef ref) const {
    constexpr std::uint64_t kMoment = 100;  // ns
    EventTime shown = span(ref);
    const auto& spans = execution().ranks[static_cast<std::size_t>(ref.rank)].times;
    if (shown.end == shown.begin) {
      const std::uint64_t room =
          ref.serial < spans.size() ? spans[ref.serial].begin - shown.begin : 2 * kMoment;
      shown.end += std::min(kMoment, room / 2);
    }
    return shown;
  }
  /// Where timed().
  [[nodiscard]] const EventTime& span(EventRef ref) const {
    return execution().ranks[static_cast<std::size_t>(ref.rank)].times[ref.serial - 1];
  }
  [[nodiscard]] bool races(EventRef ref) const {
    return index[static_cast<std::size_t>(ref.rank)].racing.contains(ref.serial);
  }
  [[nodiscard]] std::string callName(const Event& event) const {
    return event.call < execution().callNames.size() ? execution().callNames[event.call] : "";
  }
  /// Its call site, if it has one with a file; else nullptr.
  [[nodiscard]] const CallSite* site(const Event& event) const {
    const auto& sites = execution().sites;
    return event.site < sites.size() && !sites[event.site].file.empty() ? &sites[event.site]
                                                                        : nullptr;
  }
  [[nodiscard]] std::string communicatorName(const Event& event) const {
    return event.comm < execution().communicators.size()
               ? execution().communicators[event.comm].name
               : "";
  }

  /// Calls use(EventRef) for every event, rank after rank.
  template <typename Use>
  void eachEvent(Use use) const {
    for (std::size_t rank = 0; rank < execution().ranks.size(); ++rank) {
      for (Serial serial = 1; serial <= execution().ranks[rank].events.size(); ++serial) {
        use(EventRef{static_cast<Rank>(rank), serial});
      }
    }
  }
};

/// With everything that it takes to go by events. `path`: of its file.
Result<IndexedTrace> indexed(Loaded loaded, const std::string& path);
/// Surveys the trace first if it has no events.
Result<IndexedTrace> loadIndexed(const std::string& path);

}  // namespace pf::app

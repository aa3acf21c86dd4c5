// SPDX-License-Identifier: MIT
// The races of a trace: where each is chosen and observed, and those of an event. Without time, so
// that the axes share it. QtCore only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "views/trace/trace_events.h"

namespace pf::views {

class RaceIndex {
 public:
  explicit RaceIndex(const TraceEvents& events);
  ~RaceIndex() = default;
  RaceIndex(const RaceIndex&) = delete;
  RaceIndex& operator=(const RaceIndex&) = delete;

  [[nodiscard]] const RaceTable& table() const { return m_table; }
  /// Those whose event or completion an event is.
  [[nodiscard]] std::span<const std::uint32_t> at(EventRef ref) const {
    return m_at.at(m_events.id(ref));
  }
  /// Where a race is chosen: the post of the receive, or the probe.
  [[nodiscard]] EventRef eventOf(std::size_t race) const;
  /// Where it is observed.
  [[nodiscard]] EventRef completionOf(std::size_t race) const;
  /// What its receive took; nothing: no message of the record. No chunk is read for it where the
  /// races have their messages.
  [[nodiscard]] std::optional<TakenMessage> takenIn(std::size_t race) const;
  /// A receive of a race took this message.
  [[nodiscard]] bool isTaken(std::uint32_t message) const {
    return message < m_taken.size() && m_taken[message];
  }

 private:
  const TraceEvents& m_events;
  const RaceTable& m_table;
  EventItems m_at;
  std::vector<bool> m_taken;  ///< by message
};

}  // namespace pf::views

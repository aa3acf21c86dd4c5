// SPDX-License-Identifier: MIT
// The messages of a trace as lines on a time axis. QtCore only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "views/trace/trace_times.h"

namespace pf::views {

/// The line of a message.
struct MessageLine {
  std::uint32_t message = kNone;
  Rank source = kUnknownRank;
  Rank dest = kUnknownRank;
  std::uint32_t departs = 0;
  std::uint32_t arrives = 0;  ///< 0: it does not
};

class MessageLines {
 public:
  using Visit = std::function<void(const MessageLine&)>;

  MessageLines(const TraceEvents& events, const TraceTimes& times);

  [[nodiscard]] std::uint32_t count() const {
    return static_cast<std::uint32_t>(m_events.execution().messages.size());
  }
  /// Who sent a message of the record; no chunk is read for it.
  [[nodiscard]] Rank senderOf(std::uint32_t message) const { return m_events.senderOf(message); }
  /// Where a message's line ends: at its completion, or at the post of a receive that was never
  /// observed.
  [[nodiscard]] EventRef arrival(const Message& message) const;
  /// Calls `visit` for each message whose line meets times [from, to]; in no order.
  void forEachIn(double from, double to, const Visit& visit) const;

 private:
  void forEachOfChunk(Rank rank, std::size_t ordinal, double from, double to,
                      const Visit& visit) const;
  void forEachOfChunks(double from, double to, const Visit& visit) const;
  void forEachOfBlock(std::size_t block, double from, double to, const Visit& visit) const;

  const TraceEvents& m_events;
  const TraceTimes& m_times;
  std::vector<std::uint32_t> m_byDeparture;  ///< messages; none with chunks
  std::vector<std::uint32_t> m_blockEnd;     ///< latest arrival in each block of them
};

}  // namespace pf::views

// SPDX-License-Identifier: MIT
// Vector clocks of some events of each rank, so that what happens before or after an event is found
// without a look at the whole execution.
//
// The relation is that of whole events, as the views show it: an event comes after its rank's
// former one, after the sends of the messages that it completed, after the posts of the receives
// that its synchronous sends met, and after the parts of collectives that flow into it; with an
// event comes all of that event. Probes order nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay_engine/execution/execution.h"

namespace pf {

/// Checkpoint n of a rank is of its event (n + 1) * every.
struct ClockCheckpoints {
  std::uint32_t every = 0;  ///< events from one to the next; 0: there are none
  std::size_t ranks = 0;
  /// [rank][n * ranks + other]: the last event of `other` that must have begun when the event ends.
  /// All before it must have ended; what it waits for itself may be missing.
  std::vector<std::vector<std::uint32_t>> past;
  /// The first event of `other` that cannot end before the event begins, 0 = none. All after it
  /// cannot begin; what waits for it may be missing.
  std::vector<std::vector<std::uint32_t>> future;

  [[nodiscard]] std::size_t count(Rank rank) const {
    return every == 0 ? 0 : past[static_cast<std::size_t>(rank)].size() / ranks;
  }
  [[nodiscard]] std::span<const std::uint32_t> pastOf(Rank rank, std::size_t n) const {
    return std::span(past[static_cast<std::size_t>(rank)]).subspan(n * ranks, ranks);
  }
  [[nodiscard]] std::span<const std::uint32_t> futureOf(Rank rank, std::size_t n) const {
    return std::span(future[static_cast<std::size_t>(rank)]).subspan(n * ranks, ranks);
  }
  friend bool operator==(const ClockCheckpoints&, const ClockCheckpoints&) = default;
};

/// Of executions of so many ranks: a look at `ranks` times as many events is quick, and all clocks
/// together take less than a byte an event of a file.
[[nodiscard]] std::uint32_t checkpointDistance(std::size_t ranks, std::size_t events);

/// None where the record waits for itself (damage) or has too many ranks. Needs matchMessages()
/// first. `every` 0: checkpointDistance().
[[nodiscard]] ClockCheckpoints clockCheckpoints(const Execution& execution,
                                                std::uint32_t every = 0);

}  // namespace pf

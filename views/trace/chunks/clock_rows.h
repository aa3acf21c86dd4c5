// SPDX-License-Identifier: MIT
// Clock checkpoints, of which not all need be in memory (replay_engine/causality/clock_checkpoints.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay_engine/causality/clock_checkpoints.h"

namespace pf::views {

/// Data port. Threads may share it.
class ClockRows {
 public:
  ClockRows() = default;
  virtual ~ClockRows() = default;
  ClockRows(const ClockRows&) = delete;
  ClockRows& operator=(const ClockRows&) = delete;

  /// Events from one checkpoint to the next.
  [[nodiscard]] virtual std::uint32_t every() const = 0;
  /// Clocks of past and future of checkpoint `n` of a rank, as ClockCheckpoints has them; `kept` is
  /// for those that are not in memory. Empty: it cannot be read.
  [[nodiscard]] virtual std::span<const std::uint32_t> past(
      Rank rank, std::size_t n, std::vector<std::uint32_t>& kept) const = 0;
  [[nodiscard]] virtual std::span<const std::uint32_t> future(
      Rank rank, std::size_t n, std::vector<std::uint32_t>& kept) const = 0;
};

}  // namespace pf::views

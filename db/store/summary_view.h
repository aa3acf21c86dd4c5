// SPDX-License-Identifier: GPL-3.0-or-later
// The cut pyramid of a trace, tile by tile, and its clock checkpoints, a few at a time, for those
// who do not want all of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "db/schema/trace_types.h"
#include "replay_engine/base/result.h"
#include "replay_engine/causality/density_pyramid.h"

namespace pf::db {

/// Has a connection of its own. Of one thread at a time.
class SummaryView {
 public:
  static constexpr std::size_t kTileRanks = 64;
  static constexpr std::size_t kTileBins = 256;

  /// As TraceStore::open(). NotFound: the trace has no pyramid.
  [[nodiscard]] static Result<SummaryView> open(const std::string& path);
  SummaryView(SummaryView&&) noexcept;
  SummaryView& operator=(SummaryView&&) noexcept;
  SummaryView(const SummaryView&) = delete;
  SummaryView& operator=(const SummaryView&) = delete;
  ~SummaryView();

  [[nodiscard]] const TraceOutline& outline() const;
  /// Bins of a level.
  [[nodiscard]] std::size_t bins(std::size_t level) const;
  /// The cells of ranks from `row` * kTileRanks and bins from `column` * kTileBins on, as many as
  /// there are, in the order of ranks and bins; instead of what is in `cells`.
  Status tile(std::size_t level, std::size_t row, std::size_t column,
              std::vector<DensityCell>& cells);

  /// Events from one checkpoint to the next; 0: there are none.
  [[nodiscard]] std::uint32_t clockDistance() const;
  [[nodiscard]] std::size_t clocksAChunk() const;
  /// The clocks of checkpoints from `ordinal` * clocksAChunk() on, as ClockCheckpoints::past or
  /// future has them, instead of what is in `values`.
  Status clocks(bool future, Rank rank, std::size_t ordinal, std::vector<std::uint32_t>& values);

 private:
  struct State;
  explicit SummaryView(std::unique_ptr<State> state);
  std::unique_ptr<State> m_state;
};

}  // namespace pf::db

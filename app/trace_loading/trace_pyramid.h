// SPDX-License-Identifier: GPL-3.0-or-later
// The pyramid of a trace file as the views' cut levels: tiles of it are read when they are in view,
// and those used last stay.
#pragma once

#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "app/trace_loading/kept_parts.h"
#include "db/store/summary_view.h"
#include "views/trace/chunks/density_levels.h"

namespace pf::session {

class FileDensityLevels : public views::DensityLevels {
 public:
  explicit FileDensityLevels(db::SummaryView summary) : m_summary(std::move(summary)) {}

  [[nodiscard]] std::size_t count() const override { return m_summary.outline().levels; }
  [[nodiscard]] std::uint32_t width(std::size_t level) const override {
    return m_summary.outline().width << level;
  }
  [[nodiscard]] const std::vector<LongLine>& lines() const override {
    return m_summary.outline().lines;
  }
  [[nodiscard]] std::shared_ptr<const views::DensityWindow> window(std::size_t level, Rank first,
                                                                   Rank last, double from,
                                                                   double to) const override;

 private:
  using Place = std::tuple<std::size_t, std::size_t, std::size_t>;  ///< level, row, column
  /// Cells, of 16 bytes: a picture of 1,024 ranks, twice as wide as a window, has up to 6.5
  /// million.
  static constexpr std::size_t kMostKept = std::size_t{7} << 20U;

  /// Null: it cannot be read.
  [[nodiscard]] std::shared_ptr<const std::vector<DensityCell>> tile(const Place& place) const;

  mutable std::mutex m_mutex;
  mutable db::SummaryView m_summary;
  mutable KeptParts<Place, DensityCell> m_tiles{kMostKept};
};

}  // namespace pf::session

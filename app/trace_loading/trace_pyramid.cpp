// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/trace_loading/trace_pyramid.h"

#include <algorithm>

namespace pf::session {

using db::SummaryView;

std::shared_ptr<const std::vector<DensityCell>> FileDensityLevels::tile(const Place& place) const {
  return m_tiles.get(place, [&](std::vector<DensityCell>& cells) {
    const auto& [level, row, column] = place;
    return m_summary.tile(level, row, column, cells).ok();
  });
}

std::shared_ptr<const views::DensityWindow> FileDensityLevels::window(std::size_t level, Rank first,
                                                                      Rank last, double from,
                                                                      double to) const {
  constexpr std::size_t kRanks = SummaryView::kTileRanks;
  constexpr std::size_t kBins = SummaryView::kTileBins;
  const std::lock_guard lock(m_mutex);
  const std::size_t bins = m_summary.bins(level);
  const auto [begin, end] = binsIn(bins, width(level), from, to);
  const std::size_t left = begin / kBins;
  const std::size_t right = (end + kBins - 1) / kBins;
  const std::size_t top = static_cast<std::size_t>(first) / kRanks;
  const auto bottom = static_cast<std::size_t>(std::max(first, last));
  auto out = std::make_shared<views::DensityWindow>(
      views::DensityWindow{width(level), begin, end - begin, right - left, kRanks, top, {}});
  for (std::size_t row = top; row * kRanks < bottom; ++row) {
    for (std::size_t column = left; column < right; ++column) {
      std::shared_ptr<const std::vector<DensityCell>> cells = tile({level, row, column});
      if (cells == nullptr) {
        return nullptr;
      }
      out->tiles.push_back(
          {std::move(cells), column * kBins, std::min(kBins, bins - column * kBins)});
    }
  }
  return out;
}

}  // namespace pf::session

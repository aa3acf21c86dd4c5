#include "trace_pyramid.h"

#include <algorithm>

namespace pf::session {

using db::SummaryView;

const std::vector<CutCell>* FileCutLevels::tile(const Place& place) const {
  return m_tiles.get(place, [&](std::vector<CutCell>& cells) {
    const auto& [level, row, column] = place;
    return m_summary.tile(level, row, column, cells).ok();
  });
}

std::shared_ptr<const views::CutWindow> FileCutLevels::window(std::size_t level, Rank first,
                                                              Rank last, double from,
                                                              double to) const {
  const std::lock_guard lock(m_mutex);
  const std::size_t bins = m_summary.bins(level);
  const auto [begin, end] = binsIn(bins, width(level), from, to);
  auto out = std::make_shared<views::CutWindow>(
      views::CutWindow{width(level), begin, end - begin, first, {}});
  const auto top = static_cast<std::size_t>(first);
  const auto bottom = static_cast<std::size_t>(std::max(first, last));
  out->cells.resize((bottom - top) * out->bins);
  constexpr std::size_t kRanks = SummaryView::kTileRanks;
  constexpr std::size_t kBins = SummaryView::kTileBins;
  for (std::size_t row = top / kRanks; row * kRanks < bottom; ++row) {
    for (std::size_t column = begin / kBins; column * kBins < end; ++column) {
      const std::vector<CutCell>* const cells = tile({level, row, column});
      if (cells == nullptr) {
        return nullptr;
      }
      const std::size_t across = std::min(kBins, bins - column * kBins);
      const std::size_t left = std::max(begin, column * kBins);
      const std::size_t right = std::min(end, column * kBins + across);
      const std::size_t lowest = std::min(bottom, (row + 1) * kRanks);
      for (std::size_t rank = std::max(top, row * kRanks); rank < lowest; ++rank) {
        const auto from0 = (rank - row * kRanks) * across + (left - column * kBins);
        std::copy_n(cells->begin() + static_cast<std::ptrdiff_t>(from0), right - left,
                    out->cells.begin() +
                        static_cast<std::ptrdiff_t>((rank - top) * out->bins + (left - begin)));
      }
    }
  }
  return out;
}

}  // namespace pf::session

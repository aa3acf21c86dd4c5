// SPDX-License-Identifier: GPL-3.0-or-later
// Where things are in the space-time diagram: time <-> x, rank <-> y.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <QRectF>

#include "views/trace/analyses/rank_arrangement.h"
#include "views/trace/trace_index.h"

namespace pf::views {

struct SpaceTimeGeometry {
  QRectF plot;      ///< in the device's coordinates
  double t0 = 0.0;  ///< time, of the trace's axis, at the left edge
  double t1 = 1.0;  ///< and at the right edge
  double rowHeight = 40.0;
  double step = 1.0;     ///< of time: TraceIndex::step()
  double scroll = 0.0;   ///< pixels of rows above the top edge
  int rows = 0;          ///< ranks, or what is left of them when some are hidden or share a row
  RankRowsPtr arranged;  ///< null: a row for each rank, by number

  [[nodiscard]] double scale() const { return plot.width() / std::max(t1 - t0, 1e-9); }
  /// Pixels of a step.
  [[nodiscard]] double stepWidth() const { return scale() * step; }
  [[nodiscard]] double x(double time) const { return plot.left() + (time - t0) * scale(); }
  [[nodiscard]] double time(double xPos) const { return t0 + (xPos - plot.left()) / scale(); }
  [[nodiscard]] int rowOf(Rank rank) const { return arranged ? arranged->rowOf(rank) : rank; }
  [[nodiscard]] bool isShown(Rank rank) const { return rowOf(rank) >= 0 && rowOf(rank) < rows; }
  [[nodiscard]] double rowY(int row) const { return plot.top() + (row + 0.5) * rowHeight - scroll; }
  /// Middle of the rank's row; far above of all for a hidden one.
  [[nodiscard]] double y(Rank rank) const {
    constexpr double kFarAway = 1e6;
    const int row = rowOf(rank);
    return row >= 0 ? rowY(row) : plot.top() - kFarAway;
  }
  [[nodiscard]] QPointF point(const TraceIndex& trace, EventRef ref) const {
    return {x(trace.time(ref)), y(ref.rank)};
  }
  /// Where the line of a message begins.
  [[nodiscard]] QPointF departure(const TraceIndex& trace, const Message& message) const {
    return {x(trace.times().departure(message)), y(message.send.rank)};
  }
  /// Row that holds `yPos`, or -1.
  [[nodiscard]] int rowAt(double yPos) const {
    const double row = std::floor((yPos - plot.top() + scroll) / rowHeight);
    return row >= 0 && row < rows ? static_cast<int>(row) : -1;
  }
  /// Ranks of a row, ascending; none for -1.
  [[nodiscard]] std::vector<Rank> ranksOf(int row) const {
    return row < 0    ? std::vector<Rank>()
           : arranged ? arranged->rows()[static_cast<std::size_t>(row)].ranks
                      : std::vector<Rank>{row};
  }
  /// Rows [first, last) that are at least partly in view.
  [[nodiscard]] std::pair<int, int> visibleRows() const {
    const int first = static_cast<int>(std::floor(scroll / rowHeight));
    const int last = static_cast<int>(std::ceil((scroll + plot.height()) / rowHeight));
    return {std::clamp(first, 0, rows), std::clamp(last, 0, rows)};
  }
  /// Their ranks, from top to bottom.
  [[nodiscard]] std::vector<Rank> ranksInView() const {
    std::vector<Rank> ranks;
    const auto [first, last] = visibleRows();
    for (int row = first; row < last; ++row) {
      const std::vector<Rank> more = ranksOf(row);
      ranks.insert(ranks.end(), more.begin(), more.end());
    }
    return ranks;
  }
  /// Of a rank's bar, where events are not signs of their own.
  [[nodiscard]] double barHeight() const { return std::max(1.0, std::floor(rowHeight * 0.32)); }
  /// Where rows are lower than these, the messages below are seen through the bars.
  [[nodiscard]] double barOpacity() const { return std::clamp(rowHeight / 4, 0.25, 1.0); }
  [[nodiscard]] double glyphRadius() const {
    return std::clamp(std::min(rowHeight * 0.19, stepWidth() * 0.34), 1.6, 7.0);
  }
};

}  // namespace pf::views

// Where things are in the space-time diagram: logical time <-> x, rank <-> y.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include <QRectF>

#include "views/trace_index.h"

namespace pf::views {

struct SpaceTimeGeometry {
  QRectF plot;      ///< in the device's coordinates
  double t0 = 0.0;  ///< logical time at the left edge
  double t1 = 1.0;  ///< and at the right edge
  double rowHeight = 40.0;
  double scroll = 0.0;  ///< pixels of rows above the top edge
  int ranks = 0;

  [[nodiscard]] double scale() const { return plot.width() / std::max(t1 - t0, 1e-9); }
  [[nodiscard]] double x(double time) const { return plot.left() + (time - t0) * scale(); }
  [[nodiscard]] double time(double xPos) const { return t0 + (xPos - plot.left()) / scale(); }
  [[nodiscard]] double y(Rank rank) const { return plot.top() + (rank + 0.5) * rowHeight - scroll; }
  [[nodiscard]] QPointF point(const TraceIndex& trace, EventRef ref) const {
    return {x(trace.time(ref)), y(ref.rank)};
  }
  /// Rank whose row holds `yPos`, or -1.
  [[nodiscard]] Rank rankAt(double yPos) const {
    const double row = std::floor((yPos - plot.top() + scroll) / rowHeight);
    return row >= 0 && row < ranks ? static_cast<Rank>(row) : -1;
  }
  /// Ranks [first, last) that are at least partly in view.
  [[nodiscard]] std::pair<int, int> visibleRanks() const {
    const int first = static_cast<int>(std::floor(scroll / rowHeight));
    const int last = static_cast<int>(std::ceil((scroll + plot.height()) / rowHeight));
    return {std::clamp(first, 0, ranks), std::clamp(last, 0, ranks)};
  }
  [[nodiscard]] double glyphRadius() const {
    return std::clamp(std::min(rowHeight * 0.19, scale() * 0.34), 1.6, 7.0);
  }
};

}  // namespace pf::views

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/canvas/space_time_hits.h"

#include <algorithm>
#include <cmath>

namespace pf::views {

EventRef eventAt(const TraceIndex& trace, const SpaceTimeGeometry& g, QPointF position) {
  if (!g.plot.contains(position)) {
    return {};
  }
  const double reach = std::max(g.glyphRadius() + 3, 6.0);
  const auto time = static_cast<std::uint32_t>(std::max(0.0, std::round(g.time(position.x()))));
  EventRef best;
  double closest = reach;
  for (const Rank rank : g.ranksOf(g.rowAt(position.y()))) {
    const EventRef found = trace.times().nearest(rank, time);
    const QPointF d = g.point(trace, found) - position;
    if (found.valid() && std::abs(d.x()) <= closest &&
        std::abs(d.y()) <= std::max(reach, g.rowHeight * 0.3)) {
      best = found;
      closest = std::abs(d.x());
    }
  }
  return best;
}

/// Whether the line from `from` to `to`, or the number at its beginning, is at `position`.
static bool isAt(const SpaceTimeGeometry& g, QPointF from, QPointF to, QPointF position) {
  constexpr double kReach = 5;
  constexpr double kPill = 10;
  const double r = g.glyphRadius();
  const QPointF way = to - from;
  const double square = std::max(QPointF::dotProduct(way, way), 1e-9);
  const double along = std::clamp(QPointF::dotProduct(position - from, way) / square, 0.0, 1.0);
  const QPointF off = position - (from + way * along);
  const QPointF pill = position - (from + QPointF(r * 1.3 + 3 + kPill, -r * 1.5 - 5));
  return std::hypot(off.x(), off.y()) <= kReach ||
         (std::abs(pill.x()) <= kPill && std::abs(pill.y()) <= kPill);
}

int alternativeAt(const TraceIndex& trace, const SpaceTimeGeometry& g, EventRef selected,
                  QPointF position) {
  if (!g.plot.contains(position)) {
    return 0;
  }
  for (const std::uint32_t race : trace.races().at(selected)) {
    const QPointF to = g.point(trace, trace.races().completionOf(race));
    int number = 0;
    for (const std::uint32_t message : trace.data().races[race].alternatives) {
      ++number;
      if (message < trace.messages().count() &&
          isAt(g, g.departure(trace, trace.execution().messages[message]), to, position)) {
        return number;
      }
    }
  }
  return 0;
}

}  // namespace pf::views

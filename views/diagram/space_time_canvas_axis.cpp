// SPDX-License-Identifier: GPL-3.0-or-later
// The canvas between the logical and the physical axis.
#include <algorithm>
#include <cmath>

#include "views/diagram/space_time_canvas.h"

namespace pf::views {

void SpaceTimeCanvas::setPhysical(TraceIndexPtr physical) {
  m_physical = std::move(physical);
}

void SpaceTimeCanvas::setAxis(TimeAxis axis) {
  if (axis == m_span.axis || !m_logical || (axis == TimeAxis::Physical && !m_physical)) {
    return;
  }
  const TraceIndexPtr other = axis == TimeAxis::Physical ? m_physical : m_logical;
  Span span = m_span;
  std::tie(span.t0, span.t1) = spanOf(*other);
  span.axis = axis;
  m_sinceZoom.invalidate();
  remember();
  show(span);
  setSpan(span.t0, span.t1);  // within its limits
}

/// The event that stays where it is: the selected one if it is in view, else the one nearest to the
/// middle.
EventRef SpaceTimeCanvas::anchor() const {
  const SpaceTimeGeometry g = view();
  const EventRef selected = m_overlay.selected;
  if (m_trace->contains(selected) && m_trace->time(selected) >= g.t0 &&
      m_trace->time(selected) <= g.t1) {
    return selected;
  }
  const double middle = (g.t0 + g.t1) / 2;
  EventRef nearest;
  double least = 0;
  for (const Rank rank : g.ranksInView()) {
    const EventRef event = m_trace->nearest(
        rank, static_cast<std::uint32_t>(std::clamp(middle, 0.0, 1.0 * m_trace->lastTime())));
    const double distance = std::abs(m_trace->time(event) - middle);
    if (event.valid() && (!nearest.valid() || distance < least)) {
      nearest = event;
      least = distance;
    }
  }
  return nearest;
}

/// What the view becomes on the other axis: as wide as the events take there that are in view here.
std::pair<double, double> SpaceTimeCanvas::spanOf(const TraceIndex& other) const {
  const SpaceTimeGeometry g = view();
  constexpr double kFitStep = 96;
  const double beside = other.step() * 0.9;
  double first = other.lastTime();
  double last = 1;
  bool all = true;
  for (const Rank rank : g.ranksInView()) {
    const auto [from, to] = m_trace->serialsIn(rank, g.t0, g.t1);
    all = all && from <= 1 && to > m_trace->lastSerial(rank);
    if (from < to) {
      first = std::min(first, 1.0 * other.time({rank, from}));
      last = std::max(last, 1.0 * other.time({rank, to - 1}));
    }
  }
  if (all || last < first) {  // as fit() shows it
    const double least = other.axis() == TimeAxis::Logical ? g.plot.width() / kFitStep : 0;
    return {1 - beside, std::max(other.lastTime() + beside, 1 - beside + least)};
  }
  const EventRef fixed = anchor();
  const double width = (last - first) * (1 + 2 * 0.02) + 1;
  const double share =
      std::clamp((m_trace->time(fixed) - g.t0) / std::max(g.t1 - g.t0, 1e-9), 0.0, 1.0);
  const double start = other.time(fixed) - share * width;
  return {start, start + width};
}

void SpaceTimeCanvas::useAxis(TimeAxis axis) {
  const TraceIndexPtr other = axis == TimeAxis::Physical ? m_physical : m_logical;
  if (!other) {
    return;
  }
  m_trace = other;
  m_cacheValid = false;
  m_cacheOld = false;
  m_askedValid = false;
  m_renderer.forget();
  arrangeFound();
  Q_EMIT axisChanged();
}

void SpaceTimeCanvas::arrangeFound() {
  const bool other = m_trace && axis() == TimeAxis::Physical && !m_found->hits.empty();
  m_overlay.found = other ? onAxisOf(*m_trace, *m_found) : m_found;
}

}  // namespace pf::views

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/canvas/space_time_viewport.h"

#include <algorithm>
#include <utility>

#include "views/values/text.h"

namespace pf::views {

namespace {

constexpr double kMinRow = 0.4;  // all of 1,024 ranks in one picture
constexpr double kMaxRow = 92.0;

/// Whether `trace` has the events of what `outline` only outlines.
bool completes(const TraceIndexPtr& outline, const TraceIndexPtr& trace) {
  return outline && trace && !outline->hasEvents() && trace->hasEvents() &&
         outline->data().title == trace->data().title &&
         outline->rankCount() == trace->rankCount() && outline->lastTime() == trace->lastTime();
}

}  // namespace

SpaceTimeViewport::SpaceTimeViewport(std::function<QRectF()> plot) : m_plot(std::move(plot)) {}

bool SpaceTimeViewport::setTrace(const TraceIndexPtr& newer) {
  const bool same = completes(trace(), newer);
  m_traces = {newer, nullptr};
  if (!same) {
    m_shown = ViewStep{};
    m_rows.reset();
    m_scroll = 0;
    m_history.clear();
    if (newer) {
      fitAtFirst();
    }
  }
  Q_EMIT changed();
  return same;
}

void SpaceTimeViewport::renewTrace(const TraceIndexPtr& logical, const TraceIndexPtr& physical) {
  const AxisTraces before = std::exchange(m_traces, {logical, physical});
  if (!physical) {
    m_history.remove(TimeAxis::Physical);
  } else if (before.physical) {
    m_history.renewTimes(TimeAxis::Physical,
                         [&](double time) { return sameTime(time, *before.physical, *physical); });
  }
  m_shown.time = renewedSpan(m_shown.time, *before.on(axis()), *trace(), width());
  Q_EMIT changed();
}

SpaceTimeGeometry SpaceTimeViewport::geometryIn(const QRectF& plot) const {
  const TraceIndexPtr& shown = trace();
  SpaceTimeGeometry g;
  g.plot = plot;
  g.arranged = m_rows;
  g.rows = m_rows ? toInt(m_rows->rows().size()) : shown ? toInt(shown->rankCount()) : 0;
  g.t0 = m_shown.time.t0;
  g.t1 = m_shown.time.t1;
  g.step = shown ? shown->step() : 1;
  g.rowHeight = m_shown.rowHeight > 0
                    ? m_shown.rowHeight
                    : std::clamp((plot.height() - 4) / std::max(g.rows, 1), kMinRow, kMaxRow);
  g.scroll = m_scroll;
  return g;
}

void SpaceTimeViewport::plotResized(double before) {
  if (trace() && before > 0) {
    m_shown.time = resizedSpan(m_shown.time, *trace(), before, width());
  } else if (trace()) {
    fitAtFirst();
  }
  limitScroll();
  Q_EMIT changed();
}

void SpaceTimeViewport::setAxis(TimeAxis axis, EventRef event) {
  const TraceIndexPtr& other = m_traces.on(axis);
  if (axis == m_shown.axis || !m_traces.logical || !other) {
    return;
  }
  ViewStep next = m_shown;
  next.time = spanOnAxis(*other, *trace(), geometry(), event);
  next.axis = axis;
  step();
  show(next);
  setSpan(next.time.t0, next.time.t1);  // within its limits
}

void SpaceTimeViewport::arrange(const RankArrangement& arrangement) {
  if (!trace() || arrangement == m_shown.ranks) {
    return;
  }
  step();
  ViewStep next = m_shown;
  next.ranks = arrangement;
  show(std::move(next));
}

/// Before what is a step of the history by itself.
void SpaceTimeViewport::step() {
  m_history.beginStep();
  m_history.remember(m_shown);
}

void SpaceTimeViewport::show(ViewStep step) {
  const bool otherRows = !(step.ranks == m_shown.ranks);
  const bool otherAxis = step.axis != m_shown.axis;
  m_shown = std::move(step);
  if (otherAxis) {
    Q_EMIT axisChanged();
  }
  if (otherRows) {
    m_rows = m_traces.logical ? arrangedRows(*m_traces.logical, m_shown.ranks) : nullptr;
    Q_EMIT arrangementChanged();
  }
  limitScroll();
  Q_EMIT changed();
}

void SpaceTimeViewport::undo() {
  if (const auto before = m_history.undo(m_shown)) {
    show(*before);
  }
}

void SpaceTimeViewport::redo() {
  if (const auto after = m_history.redo(m_shown)) {
    show(*after);
  }
}

void SpaceTimeViewport::fit() {
  if (!trace()) {
    return;
  }
  step();
  m_shown.rowHeight = 0;
  setScroll(0);
  const TimeSpan whole = wholeSpan(*trace(), width());
  setSpan(whole.t0, whole.t1);
}

/// There is nothing to go back to.
void SpaceTimeViewport::fitAtFirst() {
  fit();
  m_history.clear();
}

void SpaceTimeViewport::zoomBy(double factor, double aroundX) {
  if (!trace() || factor <= 0) {
    return;
  }
  m_history.remember(m_shown);
  m_shown.time = zoomedSpan(m_shown.time, factor, geometry().time(aroundX), *trace(), width());
  Q_EMIT changed();
}

void SpaceTimeViewport::zoomTo(double t0, double t1) {
  step();
  setSpan(std::min(t0, t1), std::max(t0, t1));
}

void SpaceTimeViewport::setSpan(double t0, double t1) {
  if (trace()) {
    m_shown.time = limitedSpan({t0, t1}, *trace(), width());
    Q_EMIT changed();
  }
}

void SpaceTimeViewport::setRowHeight(double height) {
  m_history.remember(m_shown);
  m_shown.rowHeight = height <= 0 ? 0 : std::clamp(height, kMinRow, kMaxRow * 1.5);
  limitScroll();
  Q_EMIT changed();
}

void SpaceTimeViewport::zoomRowsBy(double factor, double aroundY) {
  const SpaceTimeGeometry before = geometry();
  const double below = aroundY - before.plot.top();
  const double row = (below + before.scroll) / before.rowHeight;
  m_history.remember(m_shown);
  m_shown.rowHeight = std::clamp(before.rowHeight * factor, kMinRow, kMaxRow * 1.5);
  setScroll(row * geometry().rowHeight - below);
}

void SpaceTimeViewport::limitScroll() {
  const SpaceTimeGeometry g = geometry();
  m_scroll = std::clamp(m_scroll, 0.0, std::max(0.0, g.rows * g.rowHeight - g.plot.height()));
}

void SpaceTimeViewport::setScroll(double pixels) {
  m_scroll = pixels;
  limitScroll();
  Q_EMIT changed();
}

void SpaceTimeViewport::reveal(EventRef event) {
  if (!trace() || !trace()->contains(event)) {
    return;
  }
  if (m_shown.ranks.hidden.contains(event.rank)) {  // who goes there wants to see it
    RankArrangement shown = m_shown.ranks;
    shown.hidden.removeAll(event.rank);
    arrange(shown);
  }
  const SpaceTimeGeometry g = geometry();
  const QPointF p = g.point(*trace(), event);
  const double edge = std::min(60.0, g.plot.width() * 0.1);
  if (p.x() < g.plot.left() + edge || p.x() > g.plot.right() - edge) {
    const TimeSpan there = spanAround(event, m_shown.time, *trace());
    setSpan(there.t0, there.t1);
  }
  scrollTo(g, p.y());
}

/// Until the row in the middle of which `y` is is in view.
void SpaceTimeViewport::scrollTo(const SpaceTimeGeometry& g, double y) {
  const double half = g.rowHeight / 2;
  if (y - half < g.plot.top()) {
    setScroll(m_scroll + (y - half - g.plot.top()));
  } else if (y + half > g.plot.bottom()) {
    setScroll(m_scroll + (y + half - g.plot.bottom()));
  }
}

}  // namespace pf::views

#include "moc_space_time_viewport.cpp"

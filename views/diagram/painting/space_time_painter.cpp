// SPDX-License-Identifier: GPL-3.0-or-later
// The scene: rows, collectives, messages, events.
#include "views/diagram/painting/space_time_painter.h"

#include <algorithm>
#include <cmath>

#include <QFontMetricsF>
#include <QPainterPath>

#include "views/trace/analyses/trace_text.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

void arrowHead(QPainter& painter, QPointF from, QPointF tip, double size, const QColor& color) {
  const double dx = tip.x() - from.x();
  const double dy = tip.y() - from.y();
  const double length = std::hypot(dx, dy);
  if (length < size) {
    return;
  }
  const QPointF u(dx / length, dy / length);
  const QPointF n(-u.y(), u.x());
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawPolygon(QPolygonF(
      QList<QPointF>{tip, tip - u * size + n * size * 0.42, tip - u * size - n * size * 0.42}));
}

}  // namespace

SpaceTimePainter::SpaceTimePainter(const TraceIndex& trace, const SpaceTimeGeometry& geometry,
                                   const Theme& theme)
    : m_trace(trace), m_geometry(geometry), m_theme(theme), m_radius(geometry.glyphRadius()) {}

bool SpaceTimePainter::inView(QPointF p) const {
  return m_geometry.plot.adjusted(-20, -20, 20, 20).contains(p);
}

SpaceTimePainter::Visible SpaceTimePainter::collect() const {
  Visible visible;
  const std::pair<int, int> rows = m_geometry.visibleRows();  // captured below: no binding
  visible.ranks = m_geometry.ranksInView();
  const double slack = (m_radius + 2) / m_geometry.scale();
  for (const Rank rank : visible.ranks) {
    visible.serials.push_back(
        m_trace.times().serialsIn(rank, m_geometry.t0 - slack, m_geometry.t1 + slack));
    visible.events += visible.serials.back().second - visible.serials.back().first;
  }
  m_trace.messages().forEachIn(m_geometry.t0, m_geometry.t1, [&](const MessageLine& line) {
    const auto [low, high] =
        std::minmax({m_geometry.rowOf(line.source), m_geometry.rowOf(line.dest)});
    if (low >= 0 && high >= rows.first && low < rows.second) {
      visible.messages.push_back(line);
    }
  });
  return visible;
}

std::size_t SpaceTimePainter::eventsInView() const {
  std::size_t events = 0;
  for (const Rank rank : m_geometry.ranksInView()) {
    events += m_trace.times().of(rank).about(m_geometry.t0, m_geometry.t1, kExactLimit);
  }
  return events;
}

/// Null: the view is drawn from its events.
std::shared_ptr<const DensityWindow> SpaceTimePainter::overviewCells(std::size_t events) const {
  // The pyramid's rows are all ranks by number.
  if (m_pyramid == nullptr || m_pyramid->count() == 0 || m_geometry.arranged != nullptr ||
      (m_trace.hasEvents() && events <= kExactLimit)) {
    return nullptr;
  }
  std::size_t level = m_pyramid->levelFor(1 / m_geometry.scale());
  if (level == m_pyramid->count()) {
    const bool blurs = m_pyramid->width(0) * m_geometry.scale() > kWidestBin;
    if (m_trace.hasEvents() && (blurs || events <= kDenseLimit)) {
      return nullptr;
    }
    level = 0;  // as fine as it is known, or a picture of all would take long
  }
  const auto [first, last] = m_geometry.visibleRows();  // which are ranks here
  return m_pyramid->window(level, std::max(0, first - 1), last, m_geometry.t0, m_geometry.t1);
}

/// About the events in view.
std::size_t SpaceTimePainter::eventsOf(const DensityWindow& cells) const {
  const auto [first, last] = m_geometry.visibleRows();  // ranks, as nothing is arranged
  std::size_t events = 0;
  std::vector<DensityCell> gathered;
  for (Rank rank = first; rank < last; ++rank) {
    for (const DensityCell& cell : cells.row(rank, gathered)) {
      events += cell.events;
    }
  }
  return events;
}

/// Of a row lower than a pixel, one column of it is less than one.
double SpaceTimePainter::eventsAPixel(std::size_t events) const {
  const QRectF& plot = m_geometry.plot;
  const auto [first, last] = m_geometry.visibleRows();
  const double rows = std::min<double>(last - first, plot.height());
  const double columns = std::min(plot.right(), m_geometry.x(m_trace.lastTime() + 1.0)) -
                         std::max(plot.left(), m_geometry.x(0));
  return static_cast<double>(events) / std::max(1.0, rows * columns);
}

SceneStats SpaceTimePainter::paintScene(QPainter& painter) const {
  std::size_t events = eventsInView();
  const std::shared_ptr<const DensityWindow> overview = overviewCells(events);
  if (overview != nullptr && !m_trace.hasEvents()) {
    events = eventsOf(*overview);
  }
  const Visible visible = overview != nullptr ? Visible{{}, {}, {}, events} : collect();
  const SceneStats stats{
      overview == nullptr && visible.events + visible.messages.size() <= kExactLimit,
      overview != nullptr, visible.events, visible.messages.size(), eventsAPixel(visible.events)};
  painter.save();
  painter.setClipRect(m_geometry.plot);
  if (overview != nullptr) {  // covers all
    painter.setRenderHint(QPainter::Antialiasing);
    paintOverview(painter, *overview);
    paintCollectives(painter, stats);
  } else {
    painter.fillRect(m_geometry.plot, m_theme.base);
    paintRows(painter);
    painter.setRenderHint(QPainter::Antialiasing);
    paintCollectives(painter, stats);
    stats.exact ? paintExact(painter, visible) : paintDensity(painter, visible);
  }
  if (m_found != nullptr) {
    paintFound(painter);
  }
  paintFailure(painter, false);
  painter.restore();
  return stats;
}

void SpaceTimePainter::paintRows(QPainter& painter) const {
  const auto [first, last] = m_geometry.visibleRows();
  const QRectF& plot = m_geometry.plot;
  for (int row = first; row < last; ++row) {
    const double y = m_geometry.rowY(row);
    if (row % 2 == 1) {
      painter.fillRect(
          QRectF(plot.left(), y - m_geometry.rowHeight / 2, plot.width(), m_geometry.rowHeight),
          m_theme.stripe);
    }
    double left = plot.right();
    double right = plot.left();
    for (const Rank rank : m_geometry.ranksOf(row)) {
      if (const auto times = m_trace.times().of(rank); !times.empty()) {
        left = std::min(left, std::max(plot.left(), m_geometry.x(times.front())));
        right = std::max(right, std::min(plot.right(), m_geometry.x(times.back())));
      }
    }
    painter.setPen(QPen(m_theme.grid, 1));
    painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
    if (right > left) {
      painter.setPen(QPen(m_theme.rail, m_geometry.rowHeight > 24 ? 1.6 : 1));
      painter.drawLine(QPointF(left, y), QPointF(right, y));
    }
  }
}

/// Where its parts are that are shown, from top to bottom.
QPolygonF SpaceTimePainter::partsInOrder(const CollectiveGroup& group) const {
  QPolygonF path;
  for (const EventRef part : group.parts) {
    if (m_geometry.isShown(part.rank)) {
      path << m_geometry.point(m_trace, part);
    }
  }
  std::stable_sort(path.begin(), path.end(), [](QPointF a, QPointF b) { return a.y() < b.y(); });
  return path;
}

void SpaceTimePainter::paintCollectiveLine(QPainter& painter, const CollectiveGroup& group,
                                           double x) const {
  double top = 0;
  double bottom = 0;
  std::size_t shown = 0;
  for (const EventRef part : group.parts) {
    if (m_geometry.isShown(part.rank)) {
      const double y = m_geometry.y(part.rank);
      top = shown == 0 ? y : std::min(top, y);
      bottom = shown++ == 0 ? y : std::max(bottom, y);
    }
  }
  if (shown > 1) {
    painter.fillRect(QRectF(x, top, 1, bottom - top), withAlpha(m_theme.collective, 0.25));
  }
}

// A band through its ranks in order, so that it is one vertical shape where the parts share a time.
void SpaceTimePainter::paintCollectives(QPainter& painter, const SceneStats& stats) const {
  const double slack = (m_radius + 4) / m_geometry.scale();
  const auto inView = [&](const CollectiveGroup& group) {
    return static_cast<double>(group.lastTime) >= m_geometry.t0 - slack &&
           static_cast<double>(group.firstTime) <= m_geometry.t1 + slack;
  };
  constexpr double kApart = 12;  // pixels: nearer to each other they would hide an overview
  if (stats.overview &&
      static_cast<double>(std::ranges::count_if(m_trace.collectives().groups(), inView)) * kApart >
          m_geometry.plot.width()) {
    return;
  }
  double lastX = -1e9;
  for (const CollectiveGroup& group : m_trace.collectives().groups()) {
    if (!inView(group)) {
      continue;
    }
    if (!stats.exact) {
      const std::uint32_t first =
          stats.overview ? group.about : m_trace.collectives().firstTimeOf(group);
      const double x = std::floor(m_geometry.x(first));
      if (x != lastX) {
        paintCollectiveLine(painter, group, x);
      }
      lastX = x;
      continue;
    }
    const QPolygonF path = partsInOrder(group);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(withAlpha(m_theme.collective, 0.22), m_radius * 2.0, Qt::SolidLine,
                        Qt::RoundCap, Qt::RoundJoin));
    painter.drawPolyline(path);
    painter.setPen(
        QPen(withAlpha(m_theme.collective, 0.75), 1.2, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.drawPolyline(path);
  }
}

void SpaceTimePainter::paintMessage(QPainter& painter, const Message& message, const QPen& pen,
                                    bool head) const {
  if (!m_geometry.isShown(message.send.rank) || !m_geometry.isShown(message.dest)) {
    return;
  }
  const QPointF from = m_geometry.departure(m_trace, message);
  const EventRef end = m_trace.messages().arrival(message);
  if (!m_trace.contains(end)) {  // never received: a stub towards its destination
    const double reach = std::min(m_geometry.stepWidth() * 0.7, 46.0);
    const double dy = m_geometry.y(message.dest) - from.y();
    const double slope =
        std::clamp(dy / std::max(std::abs(dy), 1.0) * m_geometry.rowHeight * 0.42, -24.0, 24.0);
    const QPointF to = from + QPointF(reach, slope);
    QPen dotted = pen;
    dotted.setStyle(Qt::DotLine);
    painter.setPen(dotted);
    painter.setBrush(m_theme.base);
    painter.drawLine(from, to);
    painter.setPen(QPen(pen.color(), 1.2));
    painter.drawEllipse(to, 2.2, 2.2);
    return;
  }
  const QPointF to = m_geometry.point(m_trace, end);
  painter.setPen(pen);
  painter.setBrush(Qt::NoBrush);
  if (m_geometry.rowOf(message.send.rank) ==
      m_geometry.rowOf(message.dest)) {  // an arc above the rail
    QPainterPath arc(from);
    arc.quadTo((from.x() + to.x()) / 2, from.y() - m_geometry.rowHeight * 0.7, to.x(), to.y());
    painter.drawPath(arc);
    return;
  }
  const double length = std::hypot(to.x() - from.x(), to.y() - from.y());
  const double trim = std::min(m_radius + 0.5, length / 3);
  const QPointF tip = to - (to - from) * (trim / std::max(length, 1e-6));
  painter.drawLine(from, tip);
  if (head) {
    arrowHead(painter, from, tip, std::clamp(m_radius * 1.15, 4.0, 7.5), pen.color());
  }
}

void SpaceTimePainter::paintMessages(QPainter& painter, const Visible& visible) const {
  const bool heads = m_radius >= 2.6 && visible.messages.size() < 4000;
  const double alpha = visible.messages.size() > 1500 ? 0.55 : 0.9;
  const QPen plain(withAlpha(m_theme.message, alpha), m_radius > 4 ? 1.25 : 1.0);
  const QPen racing(m_theme.race, m_radius > 4 ? 1.9 : 1.3);
  for (const bool race : {false, true}) {  // racing ones on top
    painter.setRenderHint(QPainter::Antialiasing, race || visible.messages.size() < 6000);
    for (const MessageLine& line : visible.messages) {
      if (m_trace.races().isTaken(line.message) == race) {
        paintMessage(painter, m_trace.execution().messages[line.message], race ? racing : plain,
                     heads);
      }
    }
  }
  painter.setRenderHint(QPainter::Antialiasing);
}

/// Calls that took their time, from their begin to their end.
void SpaceTimePainter::paintCalls(QPainter& painter, const Visible& visible) const {
  const QColor color = withAlpha(m_theme.muted, 0.3);
  const double height = std::round(std::clamp(m_radius * 0.9, 3.0, 6.0));
  for (std::size_t row = 0; row < visible.serials.size(); ++row) {
    const Rank rank = visible.ranks[row];
    const double y = m_geometry.y(rank);
    // The call before the first event in view may reach into it, and so may the one after the last.
    const Serial first = std::max<Serial>(visible.serials[row].first, 2) - 1;
    const Serial last = std::min<Serial>(visible.serials[row].second, m_trace.lastSerial(rank));
    for (Serial s = first; s <= last; ++s) {
      const EventTime at = m_trace.times().clockTime({rank, s}).value_or(EventTime());
      const double left =
          std::max(m_geometry.x(m_trace.times().timeAt(at.begin)), m_geometry.plot.left());
      const double right =
          std::min(m_geometry.x(m_trace.times().timeAt(at.end)), m_geometry.plot.right());
      if (right - left >= 1) {
        painter.fillRect(QRectF(left, y - height / 2, right - left, height).toAlignedRect(), color);
      }
    }
  }
}

// Where a rank stood still: what it does next depends on what others did later than its last event.
void SpaceTimePainter::paintWaits(QPainter& painter, const Visible& visible) const {
  if (m_trace.axis() == TimeAxis::Physical) {
    paintCalls(painter, visible);
    return;
  }
  const double gap = m_radius + 2;
  const QColor color =
      withAlpha(m_theme.muted, 0.3);  // as rectangles: wide lines cost many times as much
  const double height = std::round(std::clamp(m_radius * 0.9, 2.0, 5.0));
  for (std::size_t row = 0; row < visible.serials.size(); ++row) {
    const Rank rank = visible.ranks[row];
    const double y = m_geometry.y(rank);
    const auto times = m_trace.times().of(rank);
    // The wait for the first event to the right reaches into view.
    const Serial last = std::min<Serial>(visible.serials[row].second, times.size());
    for (Serial s = std::max<Serial>(visible.serials[row].first, 2); s <= last; ++s) {
      if (times[s - 1] > times[s - 2] + 1) {
        const double left = m_geometry.x(times[s - 2]) + gap;
        const double right = m_geometry.x(times[s - 1]) - gap;
        if (right > left) {
          painter.fillRect(QRectF(left, y - height / 2, right - left, height).toAlignedRect(),
                           color);
        }
      }
    }
  }
}

// From the post of a non-blocking receive to where its completion is observed.
void SpaceTimePainter::paintBrackets(QPainter& painter, const Visible& visible) const {
  if (m_radius < 2.5) {
    return;
  }
  for (std::size_t row = 0; row < visible.serials.size(); ++row) {
    const Rank rank = visible.ranks[row];
    const RankView& history = m_trace.execution().ranks[index(rank)];
    for (Serial s = visible.serials[row].first; s < visible.serials[row].second; ++s) {
      for (const std::uint32_t r : m_trace.links().completedAt({rank, s})) {
        const Serial post = history.receives[r].post;
        if (post == s || !m_trace.contains({rank, post})) {
          continue;
        }
        const double y = m_geometry.y(rank) + m_radius * 1.45;
        const double x1 = m_geometry.x(m_trace.time({rank, post}));
        const double x2 = m_geometry.x(m_trace.time({rank, s}));
        painter.setPen(QPen(withAlpha(m_theme.receive, 0.55), 1.4, Qt::SolidLine, Qt::RoundCap));
        painter.drawPolyline(QPolygonF(QList<QPointF>{{x1, y - 3}, {x1, y}, {x2, y}, {x2, y - 3}}));
      }
    }
  }
}

void SpaceTimePainter::paintLabels(QPainter& painter, const Visible& visible) const {
  if (m_geometry.rowHeight < 44 || m_geometry.stepWidth() < 34) {
    return;
  }
  QFont small = painter.font();
  small.setPointSizeF(std::max(6.5, small.pointSizeF() * 0.78));
  painter.setFont(small);
  const QFontMetricsF metrics(small);
  for (std::size_t row = 0; row < visible.serials.size(); ++row) {
    const Rank rank = visible.ranks[row];
    double freeFrom = -1e9;
    for (Serial s = visible.serials[row].first; s < visible.serials[row].second; ++s) {
      const EventRef ref{rank, s};
      QString name = callName(m_trace, ref);
      if (name.startsWith(u"MPI_"_s)) {
        name.remove(0, 4);
      }
      const double width = metrics.horizontalAdvance(name);
      const double left = m_geometry.x(m_trace.time(ref)) - width / 2;
      if (left < freeFrom || width > m_geometry.stepWidth() * 2.2) {
        continue;
      }
      const QPointF base(left, m_geometry.y(rank) + m_radius * 1.75 + metrics.ascent() + 3);
      painter.fillRect(
          QRectF(left - 1, base.y() - metrics.ascent() + 1, width + 2, metrics.height() - 2),
          withAlpha(m_geometry.rowOf(rank) % 2 == 1 ? m_theme.stripe : m_theme.base, 0.75));
      painter.setPen(m_theme.muted);
      painter.drawText(base, name);
      freeFrom = left + width + 6;
    }
  }
}

void SpaceTimePainter::paintExact(QPainter& painter, const Visible& visible) const {
  paintWaits(painter, visible);
  paintMessages(painter, visible);
  paintBrackets(painter, visible);
  painter.save();
  paintLabels(painter, visible);
  painter.restore();
  std::vector<EventRef> racing;  // on top: on the physical axis signs may lie over each other
  for (std::size_t row = 0; row < visible.serials.size(); ++row) {
    const Rank rank = visible.ranks[row];
    for (Serial s = visible.serials[row].first; s < visible.serials[row].second; ++s) {
      const EventRef ref{rank, s};
      if (!m_trace.races().at(ref).empty()) {
        racing.push_back(ref);
      } else {
        drawGlyph(painter, glyphOf(m_trace, ref), m_geometry.point(m_trace, ref), m_radius,
                  m_theme);
      }
    }
  }
  for (const EventRef ref : racing) {
    const QPointF centre = m_geometry.point(m_trace, ref);
    drawRaceRing(painter, centre, std::max(m_radius, 2.2), m_theme);
    drawGlyph(painter, glyphOf(m_trace, ref), centre, m_radius, m_theme);
  }
}

void SpaceTimePainter::paintFailure(QPainter& painter, bool withText) const {
  const EventRef failed = m_trace.data().failure.event;
  if (!m_trace.contains(failed)) {
    return;
  }
  const QPointF centre = m_geometry.point(m_trace, failed);
  if (!inView(centre)) {
    return;
  }
  const double r = std::max(m_radius, 5.5);
  drawGlyph(painter, Glyph::Failure, centre, r, m_theme);
  constexpr double kStrip = 130;  // no room for words between the rows
  if (!withText || m_trace.data().failure.reason.isEmpty() || m_geometry.plot.height() < kStrip) {
    return;
  }
  QFont small = painter.font();
  small.setPointSizeF(std::max(7.0, small.pointSizeF() * 0.85));
  painter.setFont(small);
  const QFontMetricsF metrics(small);
  const double gap = r * 1.35 + 5;
  const double room =
      std::max(m_geometry.plot.right() - centre.x(), centre.x() - m_geometry.plot.left()) - gap -
      14;
  const QString text = metrics.elidedText(oneLine(m_trace.data().failure.reason), Qt::ElideRight,
                                          std::min(room, 320.0));
  const double width = metrics.horizontalAdvance(text) + 10;
  const bool right = centre.x() + gap + width < m_geometry.plot.right();
  const double lift = std::min(m_geometry.rowHeight * 0.36, 22.0);
  const double y = std::max(centre.y() - lift, m_geometry.plot.top() + metrics.height() / 2 + 3);
  drawPill(painter, {right ? centre.x() + gap : centre.x() - gap - width, y}, text, m_theme.fail,
           m_theme.base);
}

}  // namespace pf::views

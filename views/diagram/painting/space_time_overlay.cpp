// SPDX-License-Identifier: GPL-3.0-or-later
// What lies over the scene: axis, row headers, selection, ghosts, cone, replay position, marks.
#include <algorithm>
#include <cmath>

#include <QFontMetricsF>

#include "views/diagram/painting/space_time_painter.h"
#include "views/trace/analyses/trace_text.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

QFont scaled(QFont font, double factor) {
  font.setPointSizeF(std::max(6.5, font.pointSizeF() * factor));
  return font;
}

}  // namespace

void SpaceTimePainter::paintAxis(QPainter& painter, const QRectF& area) const {
  painter.save();
  painter.fillRect(area, m_theme.panel);
  const QRectF& plot = m_geometry.plot;
  painter.setFont(scaled(painter.font(), 0.85));
  const QFontMetricsF metrics(painter.font());
  const bool physical = m_trace.axis() == TimeAxis::Physical;
  painter.setPen(m_theme.muted);
  painter.drawText(
      QRectF(area.left() + 10, area.top(), plot.left() - area.left() - 16, area.height()),
      Qt::AlignVCenter | Qt::AlignLeft, physical ? u"time"_s : u"logical time"_s);
  painter.setClipRect(QRectF(plot.left(), area.top(), plot.width(), area.height()));
  // Both count from 0 here: steps, or nanoseconds.
  const double unit = physical ? m_trace.times().nanoseconds(2) : 1;
  const double origin = physical ? 1 : 0;
  const double narrowest = physical ? metrics.horizontalAdvance(u"000.000 ms"_s) + 16 : 64;
  double step = 1;
  for (int i = 0; step / unit * m_geometry.scale() < narrowest; ++i) {
    step *= i % 3 == 1 ? 2.5 : 2;  // 1 2 5 10 20 50 …
  }
  const double first = std::ceil(std::max((m_geometry.t0 - origin) * unit, 0.0) / step);
  for (double n = first; n * step / unit + origin <= m_geometry.t1; ++n) {
    const double x = m_geometry.x(n * step / unit + origin);
    painter.setPen(QPen(m_theme.rail, 1));
    painter.drawLine(QPointF(x, area.bottom() - 4), QPointF(x, area.bottom()));
    painter.setPen(m_theme.muted);
    const QString text = physical ? clockTickText(n * step, step, (m_geometry.t1 - origin) * unit)
                                  : QString::number(n * step, 'f', 0);
    if (const double half = metrics.horizontalAdvance(text) / 2;
        x - half >= plot.left() && x + half <= plot.right()) {
      painter.drawText(QRectF(x - half - 8, area.top(), 2 * half + 16, area.height() - 4),
                       Qt::AlignCenter, text);
    }
  }
  painter.setClipping(false);
  painter.setPen(QPen(m_theme.rail, 1));
  painter.drawLine(area.bottomLeft(), area.bottomRight());
  painter.restore();
}

QString SpaceTimePainter::rowName(int row) const {
  const QString sharedRow =
      m_geometry.arranged ? m_geometry.arranged->rows()[at(row)].sharedRow : QString();
  return sharedRow.isEmpty() ? u"Rank %1"_s.arg(m_geometry.ranksOf(row).front())
                             : oneLine(sharedRow);
}

/// Of a row: how many ranks it has, and the worst that is said of one of them.
RankHeader SpaceTimePainter::headerOf(int row, const std::vector<RankHeader>& headers) const {
  const std::vector<Rank> ranks = m_geometry.ranksOf(row);
  RankHeader out;
  bool allDimmed = !ranks.empty();
  for (const Rank rank : ranks) {
    const RankHeader one = index(rank) < headers.size() ? headers[index(rank)] : RankHeader{};
    allDimmed = allDimmed && one.dimmed;
    if (ranks.size() == 1 || one.tone == Tone::Bad) {
      out = one;
    }
  }
  out.dimmed = allDimmed;
  if (m_geometry.arranged && !m_geometry.arranged->rows()[at(row)].sharedRow.isEmpty()) {
    out.text = counted(ranks.size(), u"rank"_s, u"ranks"_s);
  }
  return out;
}

void SpaceTimePainter::paintHeaderSign(QPainter& painter, QPointF at,
                                       const RankHeader& header) const {
  const double dot = std::clamp(m_geometry.rowHeight * 0.1, 2.0, 4.0);
  const QColor tone = m_theme.tone(header.tone);
  painter.setRenderHint(QPainter::Antialiasing);
  if (header.tone == Tone::Bad) {
    drawGlyph(painter, Glyph::Failure, at, dot, m_theme);
    return;
  }
  painter.setPen(header.tone == Tone::Muted ? QPen(tone, 1.2) : QPen(Qt::NoPen));
  painter.setBrush(header.tone == Tone::Muted ? QBrush(Qt::NoBrush) : QBrush(tone));
  painter.drawEllipse(at, dot, dot);
}

void SpaceTimePainter::paintHeaders(QPainter& painter, const QRectF& area,
                                    const std::vector<RankHeader>& headers) const {
  painter.save();
  painter.fillRect(area, m_theme.panel);
  painter.setClipRect(area);
  const auto [first, last] = m_geometry.visibleRows();
  QFont title = scaled(painter.font(), m_geometry.rowHeight < 13 ? 0.75 : 0.95);
  const QFont detail = scaled(painter.font(), 0.8);
  const double lineHeight = QFontMetricsF(title).height();
  const bool twoLines = m_geometry.rowHeight >= lineHeight * 1.9;
  const int every =
      std::max(1, static_cast<int>(std::ceil((lineHeight + 1) / m_geometry.rowHeight)));
  double free = area.top() - 1;  // of names, from here on
  for (int place = first; place < last; ++place) {
    if (place % every != 0) {
      continue;
    }
    const RankHeader header = headerOf(place, headers);
    // Low rows: a name stands beside several of them, and none is cut off.
    const double half = std::max(m_geometry.rowHeight, lineHeight) / 2;
    const double y = std::max(m_geometry.rowY(place),
                              lineHeight > m_geometry.rowHeight ? area.top() + half : -1e9);
    if (lineHeight > m_geometry.rowHeight && y + half > area.bottom()) {
      break;
    }
    if (y - half < free) {
      continue;
    }
    free = y + half - 1;
    const QRectF row(area.left() + 22, y - half, area.width() - 28,
                     std::max(m_geometry.rowHeight, lineHeight));
    const bool strong = header.tone == Tone::Bad;
    paintHeaderSign(painter, {area.left() + 12, y}, header);
    title.setBold((strong || twoLines) && !header.dimmed);
    painter.setFont(title);
    painter.setPen(strong ? m_theme.fail : header.dimmed ? m_theme.muted : m_theme.text);
    const QString name =
        QFontMetricsF(title).elidedText(rowName(place), Qt::ElideRight, row.width());
    if (!twoLines || header.text.isEmpty()) {
      painter.drawText(row, Qt::AlignVCenter | Qt::AlignLeft, name);
      continue;
    }
    painter.drawText(QRectF(row.left(), y - lineHeight, row.width(), lineHeight),
                     Qt::AlignVCenter | Qt::AlignLeft, name);
    painter.setFont(detail);
    painter.setPen(strong ? m_theme.fail : m_theme.muted);
    const QString text =
        QFontMetricsF(detail).elidedText(oneLine(header.text), Qt::ElideRight, row.width());
    painter.drawText(QRectF(row.left(), y, row.width(), lineHeight),
                     Qt::AlignVCenter | Qt::AlignLeft, text);
  }
  painter.setClipping(false);
  painter.setPen(QPen(m_theme.rail, 1));
  painter.drawLine(area.topRight(), area.bottomRight());
  painter.restore();
}

void SpaceTimePainter::paintOverlay(QPainter& painter, const SpaceTimeOverlay& overlay,
                                    EventRef selected, int alternative) const {
  painter.save();
  painter.setClipRect(m_geometry.plot);
  painter.setRenderHint(QPainter::Antialiasing);
  if (!overlay.different.empty()) {
    paintVeil(painter, overlay.different);
  }
  if (overlay.cone && m_trace.contains(selected)) {
    paintCone(painter, overlay);
  }
  paintReplay(painter, overlay.positions);
  paintHits(painter, *overlay.found);
  if (m_trace.contains(overlay.hovered) && !(overlay.hovered == selected)) {
    painter.setPen(QPen(withAlpha(m_theme.selection, 0.7), 1.6));
    painter.setBrush(Qt::NoBrush);
    painter.drawEllipse(m_geometry.point(m_trace, overlay.hovered), m_radius * 1.6 + 2,
                        m_radius * 1.6 + 2);
  }
  if (m_trace.contains(selected)) {
    paintSelection(painter, selected, alternative);
  }
  paintMarks(painter, overlay.marks);
  paintFailure(painter, true);
  painter.restore();
}

// The past stays clear, everything else is veiled; the edge is the consistent cut.
void SpaceTimePainter::paintCone(QPainter& painter, const SpaceTimeOverlay& overlay) const {
  const QRectF& plot = m_geometry.plot;
  painter.setPen(Qt::NoPen);
  for (const Rank rank : m_geometry.ranksInView()) {
    const double top = m_geometry.y(rank) - m_geometry.rowHeight / 2;
    const double left = std::max(plot.left(), boundary(rank, overlay.past[index(rank)] + 1));
    const Serial after = overlay.future[index(rank)];
    const double right = after == 0 ? plot.right() : std::min(plot.right(), boundary(rank, after));
    if (right > left) {
      painter.fillRect(QRectF(left, top, right - left, m_geometry.rowHeight),
                       withAlpha(m_theme.base, 0.72));
    }
    painter.fillRect(
        QRectF(plot.left(), top, std::max(0.0, left - plot.left()), m_geometry.rowHeight),
        withAlpha(m_theme.send, 0.07));
    if (after != 0 && right < plot.right()) {
      painter.fillRect(QRectF(right, top, plot.right() - right, m_geometry.rowHeight),
                       withAlpha(m_theme.race, 0.07));
    }
  }
}

// A halo round each event that was searched for, a plain one where they are hundreds; where they
// are more, ticks at the top. It is the GUI thread that draws them, and rounded ones take 10 us
// each.
void SpaceTimePainter::paintHits(QPainter& painter, const EventSearch& found) const {
  constexpr std::size_t kMostRounded = 150;
  constexpr std::size_t kMostHalos = 1500;
  const auto [first, last] = inView(found);
  if (last - first > kMostHalos) {
    paintHitTicks(painter, found, first, last);
    return;
  }
  const bool plain = last - first > kMostRounded;
  const double size = m_radius * 1.5 + 3;
  QList<QRectF> halos;
  for (std::size_t i = first; i < last; ++i) {
    const QPointF centre(m_geometry.x(found.times[i]), m_geometry.y(found.hits[i].rank));
    halos << QRectF(centre.x() - size, centre.y() - size, 2 * size, 2 * size);
  }
  painter.save();
  painter.setBrush(plain ? QBrush(Qt::NoBrush) : QBrush(withAlpha(m_theme.bookmark, 0.25)));
  painter.setPen(QPen(m_theme.bookmark, plain ? 1 : 1.8));
  if (plain) {
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.drawRects(halos);
  } else {
    for (const QRectF& halo : halos) {
      painter.drawRoundedRect(halo, 3, 3);
    }
  }
  painter.restore();
}

// Of hits [first, last) one a pixel, over all rows: where to look closer.
void SpaceTimePainter::paintHitTicks(QPainter& painter, const EventSearch& found, std::size_t first,
                                     std::size_t last) const {
  constexpr double kHeight = 6;
  const double top = m_geometry.plot.top();
  QList<QLineF> ticks;
  for (std::size_t i = first; i < last;) {
    const double x = std::floor(m_geometry.x(found.times[i]));
    ticks << QLineF(x, top, x, top + kHeight);
    // The next pixel's are not far, among millions: in steps of twice the length.
    const double next = m_geometry.time(x + 1);
    std::size_t step = 1;
    while (i + step < last && found.times[i + step] < next) {
      step *= 2;
    }
    const auto from = found.times.begin() + static_cast<std::ptrdiff_t>(i + step / 2);
    const auto to = found.times.begin() + static_cast<std::ptrdiff_t>(std::min(i + step, last));
    i = std::max(i + 1,
                 static_cast<std::size_t>(std::lower_bound(from, to, next) - found.times.begin()));
  }
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.setPen(QPen(m_theme.bookmark, 1));
  painter.drawLines(ticks);
  painter.restore();
}

// What two executions have in common is veiled; the edge is where they part.
void SpaceTimePainter::paintVeil(QPainter& painter, const std::vector<Serial>& different) const {
  const QRectF& plot = m_geometry.plot;
  for (const Rank rank : m_geometry.ranksInView()) {
    const Serial from = index(rank) < different.size() ? different[index(rank)] : 0;
    const double top = m_geometry.y(rank) - m_geometry.rowHeight / 2;
    const double edge =
        from == 0 ? plot.right() : std::clamp(boundary(rank, from), plot.left(), plot.right());
    painter.fillRect(QRectF(plot.left(), top, edge - plot.left(), m_geometry.rowHeight),
                     withAlpha(m_theme.base, 0.68));
    if (from != 0) {
      painter.fillRect(QRectF(edge, top, plot.right() - edge, m_geometry.rowHeight),
                       withAlpha(m_theme.changed, 0.10));
      painter.setPen(QPen(m_theme.changed, 2));
      painter.drawLine(QPointF(edge, top), QPointF(edge, top + m_geometry.rowHeight));
    }
  }
}

void SpaceTimePainter::paintDimmed(QPainter& painter,
                                   const std::vector<RankHeader>& headers) const {
  const QRectF& plot = m_geometry.plot;
  painter.save();
  painter.setClipRect(plot);
  painter.setRenderHint(QPainter::Antialiasing, false);
  const auto [first, last] = m_geometry.visibleRows();
  for (int row = first; row < last; ++row) {
    const bool dimmed = std::ranges::all_of(m_geometry.ranksOf(row), [&](Rank rank) {
      return index(rank) < headers.size() && headers[index(rank)].dimmed;
    });
    if (dimmed) {
      const double top = m_geometry.rowY(row) - m_geometry.rowHeight / 2;
      painter.fillRect(QRectF(plot.left(), top, plot.width(), m_geometry.rowHeight),
                       withAlpha(m_theme.base, 0.5));
    }
  }
  painter.restore();
}

void SpaceTimePainter::paintGhosts(QPainter& painter, EventRef selected, int chosen) const {
  painter.setFont(scaled(painter.font(), 0.82));
  for (const std::uint32_t race : m_trace.races().at(selected)) {
    const Race& r = m_trace.data().races[race];
    const QPointF to = m_geometry.point(m_trace, m_trace.races().completionOf(race));
    if (r.taken < m_trace.messages().count()) {
      paintMessage(painter, m_trace.execution().messages[r.taken], QPen(m_theme.race, 3.0),
                   m_radius >= 2.6);
    }
    int number = 0;
    for (const std::uint32_t m : r.alternatives) {
      ++number;
      if (m >= m_trace.messages().count() || number > 64 ||
          !m_geometry.isShown(m_trace.execution().messages[m].send.rank)) {
        continue;
      }
      const QPointF from = m_geometry.departure(m_trace, m_trace.execution().messages[m]);
      QPen ghost(m_theme.race, number == chosen ? 3.4 : 1.8, Qt::CustomDashLine, Qt::RoundCap);
      ghost.setDashPattern({3.5, 2.6});
      painter.setPen(ghost);
      painter.setBrush(Qt::NoBrush);
      painter.drawLine(from, to);
      painter.setPen(QPen(m_theme.race, 1.8));
      painter.drawEllipse(from, m_radius * 1.5 + 1, m_radius * 1.5 + 1);
      if (inView(from)) {
        drawPill(painter, from + QPointF(m_radius * 1.3 + 3, -m_radius * 1.5 - 5),
                 QString::number(number), number == chosen ? m_theme.base : m_theme.race,
                 number == chosen ? m_theme.race : m_theme.base);
      }
    }
  }
}

void SpaceTimePainter::paintSelection(QPainter& painter, EventRef selected, int alternative) const {
  if (!m_geometry.isShown(selected.rank)) {
    return;
  }
  const QPointF centre = m_geometry.point(m_trace, selected);
  painter.setPen(QPen(withAlpha(m_theme.selection, 0.35), 1));
  painter.drawLine(QPointF(centre.x(), m_geometry.plot.top()),
                   QPointF(centre.x(), m_geometry.plot.bottom()));
  const QPen chosen(m_theme.selection, 2.4);
  const RankView& history = m_trace.execution().ranks[index(selected.rank)];
  if (m_trace.races().at(selected).empty()) {
    for (const std::uint32_t m : m_trace.links().sentAt(selected)) {
      paintMessage(painter, m_trace.execution().messages[m], chosen, m_radius >= 2.6);
    }
    for (const auto& list :
         {m_trace.links().completedAt(selected), m_trace.links().postedAt(selected)}) {
      for (const std::uint32_t r : list) {
        if (history.receives[r].message < m_trace.messages().count()) {
          paintMessage(painter, m_trace.execution().messages[history.receives[r].message], chosen,
                       m_radius >= 2.6);
        }
      }
    }
  } else {
    paintGhosts(painter, selected, alternative);
  }
  if (m_radius >= 2.5) {
    drawGlyph(painter, glyphOf(m_trace, selected), centre, m_radius, m_theme);
  }
  painter.setPen(QPen(m_theme.selection, 2.4));
  painter.setBrush(Qt::NoBrush);
  painter.drawEllipse(centre, m_radius * 1.75 + 3, m_radius * 1.75 + 3);
}

double SpaceTimePainter::boundary(Rank rank, Serial next) const {
  const Serial last = m_trace.lastSerial(rank);
  if (last == 0) {
    return m_geometry.plot.left();
  }
  if (next > last) {
    return m_geometry.x(m_trace.time({rank, last}) + 0.5 * m_geometry.step);
  }
  const double here = m_trace.time({rank, std::max<Serial>(next, 1)});
  const double before = next > 1 ? m_trace.time({rank, next - 1}) : here - m_geometry.step;
  return m_geometry.x(std::max((here + before) / 2, here - 0.5 * m_geometry.step));
}

void SpaceTimePainter::paintReplay(QPainter& painter,
                                   const std::vector<ReplayPosition>& positions) const {
  const double half = m_geometry.rowHeight / 2;
  QPolygonF line;
  std::vector<ReplayPosition> sorted = positions;
  std::erase_if(sorted, [this](const ReplayPosition& p) { return !m_geometry.isShown(p.rank); });
  std::sort(sorted.begin(), sorted.end(), [this](const auto& a, const auto& b) {
    return m_geometry.rowOf(a.rank) < m_geometry.rowOf(b.rank);
  });
  for (const ReplayPosition& position : sorted) {
    const double x = boundary(position.rank, position.next);
    const double y = m_geometry.y(position.rank);
    const double from = std::clamp(x, m_geometry.plot.left(), m_geometry.plot.right());
    painter.fillRect(QRectF(from, y - half, m_geometry.plot.right() - from, m_geometry.rowHeight),
                     withAlpha(m_theme.base, 0.55));
    line << QPointF(x, y - half * 0.55) << QPointF(x, y + half * 0.55);
  }
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(withAlpha(m_theme.cut, 0.9), 2, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  painter.drawPolyline(line);
  if (m_geometry.rowHeight < 12) {
    return;
  }
  painter.setFont(scaled(painter.font(), 0.78));
  const double size = std::clamp(m_geometry.rowHeight * 0.11, 3.0, 5.5);
  for (const ReplayPosition& position : sorted) {
    const double x = boundary(position.rank, position.next);
    const double y = m_geometry.y(position.rank) - std::min(half * 0.62, 17.0);
    painter.setPen(QPen(m_theme.base, 1));
    painter.setBrush(position.stopped ? m_theme.cut : m_theme.base);
    if (!position.stopped) {
      painter.setPen(QPen(m_theme.cut, 1.4));
    }
    painter.drawPolygon(
        QPolygonF(QList<QPointF>{{x - size, y - size}, {x + size, y - size}, {x, y + size * 0.8}}));
    if (m_geometry.rowHeight >= 34) {
      painter.setPen(m_theme.cut);
      painter.drawText(QRectF(x + size + 3, y - 10, 60, 18), Qt::AlignVCenter | Qt::AlignLeft,
                       QString::number(position.next));
    }
  }
}

void SpaceTimePainter::paintMarks(QPainter& painter, const std::vector<EventMark>& marks) const {
  const double r = std::clamp(m_radius, 3.5, 5.5);
  for (const EventMark& mark : marks) {
    if (!m_trace.contains(mark.event)) {
      continue;
    }
    const QPointF centre = m_geometry.point(m_trace, mark.event);
    if (!inView(centre)) {
      continue;
    }
    const bool bookmark = mark.kind == MarkKind::Bookmark;
    const QPointF offset(bookmark ? m_radius + 2 : -(m_radius + 2), -(m_radius + r + 1));
    drawGlyph(painter, bookmark ? Glyph::Bookmark : Glyph::Breakpoint, centre + offset, r, m_theme);
  }
}

}  // namespace pf::views

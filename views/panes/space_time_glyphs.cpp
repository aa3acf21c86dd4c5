// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/space_time_glyphs.h"

#include <cmath>

namespace pf::views {

namespace {

void solid(QPainter& painter, const QColor& color, const Theme& theme) {
  painter.setPen(QPen(theme.base, 1.2));
  painter.setBrush(color);
}

void hollow(QPainter& painter, const QColor& color, const Theme& theme, double r) {
  painter.setPen(QPen(color, r > 4 ? 1.8 : 1.3));
  painter.setBrush(theme.base);
}

QRectF square(QPointF c, double r) {
  return {c.x() - r, c.y() - r, 2 * r, 2 * r};
}

void polygon(QPainter& painter, std::initializer_list<QPointF> points) {
  painter.drawPolygon(QPolygonF(QList<QPointF>(points)));
}

void drawReceive(QPainter& painter, QPointF c, double r, const Theme& theme, bool wildcard) {
  solid(painter, theme.receive, theme);
  painter.drawRoundedRect(square(c, r * 0.9), r * 0.25, r * 0.25);
  if (wildcard && r > 2.5) {  // an asterisk, as in "from *"
    painter.setPen(QPen(theme.base, std::max(1.0, r * 0.24), Qt::SolidLine, Qt::RoundCap));
    const double a = r * 0.48;
    for (const double angle : {90.0, 30.0, 150.0}) {
      const double rad = angle * M_PI / 180.0;
      const QPointF d(a * std::cos(rad), a * std::sin(rad));
      painter.drawLine(c - d, c + d);
    }
  }
}

void drawPost(QPainter& painter, QPointF c, double r, const Theme& theme, bool wildcard) {
  hollow(painter, theme.receive, theme, r);
  polygon(painter,
          {{c.x() - r, c.y() - r * 0.75}, {c.x() + r, c.y() - r * 0.75}, {c.x(), c.y() + r}});
  if (wildcard && r > 2.5) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.receive);
    painter.drawEllipse(QPointF(c.x(), c.y() - r * 0.18), r * 0.3, r * 0.3);
  }
}

void drawFailure(QPainter& painter, QPointF c, double r, const Theme& theme) {
  const double a = r * 1.35;
  const double b = a * 0.42;
  painter.setPen(QPen(theme.base, 1.5));
  painter.setBrush(theme.fail);
  polygon(painter, {{c.x() - b, c.y() - a},
                    {c.x() + b, c.y() - a},
                    {c.x() + a, c.y() - b},
                    {c.x() + a, c.y() + b},
                    {c.x() + b, c.y() + a},
                    {c.x() - b, c.y() + a},
                    {c.x() - a, c.y() + b},
                    {c.x() - a, c.y() - b}});
  painter.setPen(QPen(theme.dark ? QColor(Qt::black) : QColor(Qt::white), std::max(1.4, r * 0.3),
                      Qt::SolidLine, Qt::RoundCap));
  const double d = a * 0.42;
  painter.drawLine(QPointF(c.x() - d, c.y() - d), QPointF(c.x() + d, c.y() + d));
  painter.drawLine(QPointF(c.x() + d, c.y() - d), QPointF(c.x() - d, c.y() + d));
}

void drawFlag(QPainter& painter, QPointF c, double r, const Theme& theme) {
  painter.setPen(QPen(theme.bookmark, 1.4));
  painter.drawLine(QPointF(c.x() - r * 0.6, c.y() - r), QPointF(c.x() - r * 0.6, c.y() + r));
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.bookmark);
  polygon(painter, {{c.x() - r * 0.6, c.y() - r},
                    {c.x() + r, c.y() - r * 0.45},
                    {c.x() - r * 0.6, c.y() + r * 0.15}});
}

void drawComposite(QPainter& painter, Glyph glyph, QPointF c, double r, const Theme& theme) {
  if (glyph == Glyph::SendReceive) {
    solid(painter, theme.send, theme);
    painter.drawEllipse(c, r, r);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.receive);
    painter.drawPie(square(c, r - 0.6), 270 * 16, 180 * 16);
  } else if (glyph == Glyph::Start) {
    hollow(painter, theme.send, theme, r);
    painter.drawEllipse(c, r * 0.9, r * 0.9);
  } else if (glyph == Glyph::Collective || glyph == Glyph::CollectivePost) {
    if (glyph == Glyph::Collective) {
      solid(painter, theme.collective, theme);
    } else {
      hollow(painter, theme.collective, theme, r);
    }
    painter.drawEllipse(c, r * 0.8, r * 0.8);
  } else if (glyph == Glyph::Failure) {
    drawFailure(painter, c, r, theme);
  } else if (glyph == Glyph::Bookmark) {
    drawFlag(painter, c, r, theme);
  } else {
    solid(painter, theme.breakpoint, theme);
    painter.drawEllipse(c, r * 0.8, r * 0.8);
  }
}

}  // namespace

Glyph glyphOf(const TraceIndex& trace, EventRef ref) {
  const bool any = trace.links().isWildcard(ref);
  switch (trace.event(ref).kind) {
    case EventKind::Send:
      return Glyph::Send;
    case EventKind::Receive:
      return any ? Glyph::WildcardReceive : Glyph::Receive;
    case EventKind::SendReceive:
      return Glyph::SendReceive;
    case EventKind::Post:
      return any ? Glyph::WildcardPost : Glyph::Post;
    case EventKind::Completion:
      return Glyph::Completion;
    case EventKind::Probe:
      return Glyph::Probe;
    case EventKind::Collective:
      return Glyph::Collective;
    case EventKind::CollectivePost:
      return Glyph::CollectivePost;
    case EventKind::Start:
      return Glyph::Start;
    case EventKind::Local:
      return Glyph::Local;
  }
  return Glyph::Local;
}

void drawGlyph(QPainter& painter, Glyph glyph, QPointF c, double r, const Theme& theme) {
  if (glyph == Glyph::Send) {
    solid(painter, theme.send, theme);
    painter.drawEllipse(c, r * 0.92, r * 0.92);
  } else if (glyph == Glyph::Receive || glyph == Glyph::WildcardReceive) {
    drawReceive(painter, c, r, theme, glyph == Glyph::WildcardReceive);
  } else if (glyph == Glyph::Post || glyph == Glyph::WildcardPost) {
    drawPost(painter, c, r, theme, glyph == Glyph::WildcardPost);
  } else if (glyph == Glyph::Completion) {
    solid(painter, theme.completion, theme);
    painter.drawRoundedRect(QRectF(c.x() - r * 0.42, c.y() - r * 1.05, r * 0.84, r * 2.1), r * 0.3,
                            r * 0.3);
  } else if (glyph == Glyph::Probe) {
    hollow(painter, theme.receive, theme, r);
    polygon(painter, {{c.x(), c.y() - r * 1.1},
                      {c.x() + r * 1.1, c.y()},
                      {c.x(), c.y() + r * 1.1},
                      {c.x() - r * 1.1, c.y()}});
  } else if (glyph == Glyph::Local) {
    painter.setPen(QPen(theme.local, 1.4));
    painter.drawLine(QPointF(c.x(), c.y() - r * 0.8), QPointF(c.x(), c.y() + r * 0.8));
  } else {
    drawComposite(painter, glyph, c, r, theme);
  }
}

void drawRaceRing(QPainter& painter, QPointF c, double r, const Theme& theme) {
  painter.setPen(QPen(theme.race, r > 4 ? 2.2 : 1.6));
  painter.setBrush(withAlpha(theme.race, 0.16));
  painter.drawEllipse(c, r * 1.75, r * 1.75);
}

void drawPill(QPainter& painter, QPointF anchor, const QString& text, const QColor& ink,
              const QColor& paper) {
  const QFontMetricsF metrics(painter.font());
  const double width = metrics.horizontalAdvance(text) + 10;
  const double height = metrics.height() + 2;
  const QRectF box(anchor.x(), anchor.y() - height / 2, width, height);
  painter.setPen(QPen(withAlpha(ink, 0.55), 1));
  painter.setBrush(paper);
  painter.drawRoundedRect(box, 4, 4);
  painter.setPen(ink);
  painter.drawText(box, Qt::AlignCenter, text);
}

}  // namespace pf::views

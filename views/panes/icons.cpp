// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/icons.h"

#include <QGuiApplication>
#include <QIconEngine>
#include <QPainter>
#include <QPainterPath>
#include <QPalette>

#include "views/panes/theme.h"

namespace pf::views {

namespace {

/// Draws on a 16 x 16 field with the pen and brush of the ink.
class Sketch {
 public:
  Sketch(QPainter& painter, const Theme& theme, const QColor& ink)
      : m_painter(painter), m_theme(theme), m_ink(ink) {}

  void draw(Icon which);

 private:
  void stroke(const QColor& color, double width = 1.6) {
    m_painter.setPen(QPen(color, width, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    m_painter.setBrush(Qt::NoBrush);
  }
  void fill(const QColor& color) {
    m_painter.setPen(Qt::NoPen);
    m_painter.setBrush(color);
  }
  void line(double x1, double y1, double x2, double y2) {
    m_painter.drawLine(QPointF(x1, y1), QPointF(x2, y2));
  }
  void polygon(std::initializer_list<QPointF> points) {
    m_painter.drawPolygon(QPolygonF(QList<QPointF>(points)));
  }
  void arrowHead(double x, double y, double dx, double dy) {  // tip, direction as unit steps
    polygon({{x, y},
             {x - 4 * dx - 2.6 * dy, y - 4 * dy - 2.6 * dx},
             {x - 4 * dx + 2.6 * dy, y - 4 * dy + 2.6 * dx}});
  }
  void curve(double x1, double y1, double cx, double cy, double x2, double y2) {
    QPainterPath path(QPointF(x1, y1));
    path.quadTo(cx, cy, x2, y2);
    m_painter.drawPath(path);
  }
  void lens() {
    stroke(m_ink);
    m_painter.drawEllipse(QPointF(6.7, 6.7), 4.4, 4.4);
    stroke(m_ink, 2.2);
    line(10.2, 10.2, 13.8, 13.8);
    stroke(m_ink);
  }
  void control(Icon which);
  void zoom(Icon which);
  void races(Icon which);
  void diagram(Icon which);
  void file(Icon which);

  QPainter& m_painter;
  const Theme& m_theme;
  QColor m_ink;
};

void Sketch::control(Icon which) {
  const QColor go = m_ink.alpha() < 255 ? m_ink : m_theme.good;
  const QColor blue = m_ink.alpha() < 255 ? m_ink : m_theme.send;
  if (which == Icon::Continue) {
    fill(go);
    polygon({{4, 2.5}, {13.5, 8}, {4, 13.5}});
  } else if (which == Icon::Pause) {
    fill(blue);
    m_painter.drawRoundedRect(QRectF(3.5, 3, 3.4, 10), 1, 1);
    m_painter.drawRoundedRect(QRectF(9.1, 3, 3.4, 10), 1, 1);
  } else if (which == Icon::Stop) {
    fill(m_ink.alpha() < 255 ? m_ink : m_theme.fail);
    m_painter.drawRoundedRect(QRectF(3.5, 3.5, 9, 9), 1.5, 1.5);
  } else if (which == Icon::StepInto || which == Icon::StepOut) {
    const bool into = which == Icon::StepInto;
    stroke(blue);
    line(8, into ? 2 : 9.5, 8, into ? 7 : 4.5);
    fill(blue);
    arrowHead(8, into ? 10 : 1.8, 0, into ? 1 : -1);
    m_painter.drawEllipse(QPointF(8, 13), 1.9, 1.9);
  } else if (which == Icon::StepOver) {
    stroke(blue);
    curve(2.5, 9.5, 7.5, -0.5, 12.2, 7);
    fill(blue);
    polygon({{13.6, 9.8}, {9.4, 8}, {13.6, 4.8}});
    m_painter.drawEllipse(QPointF(7.6, 12.8), 1.9, 1.9);
  } else if (which == Icon::RestartCycle) {
    stroke(go, 1.8);
    QPainterPath path;
    path.arcMoveTo(QRectF(2.6, 2.8, 10.6, 10.6), 60);
    path.arcTo(QRectF(2.6, 2.8, 10.6, 10.6), 60, 300);
    m_painter.drawPath(path);
    fill(go);
    polygon({{14.2, 1.8}, {14.2, 7}, {9.2, 5.2}});
  }
}

void Sketch::zoom(Icon which) {
  if (which == Icon::ZoomIn || which == Icon::ZoomOut) {
    lens();
    line(4.6, 6.7, 8.8, 6.7);
    if (which == Icon::ZoomIn) {
      line(6.7, 4.6, 6.7, 8.8);
    }
  } else if (which == Icon::Find) {
    lens();
  } else if (which == Icon::ZoomFit) {
    stroke(m_ink);
    line(1.8, 3, 1.8, 13);
    line(14.2, 3, 14.2, 13);
    line(5, 8, 11, 8);
    fill(m_ink);
    arrowHead(3.4, 8, -1, 0);
    arrowHead(12.6, 8, 1, 0);
  } else if (which == Icon::ZoomBack || which == Icon::ZoomForward) {
    const double d = which == Icon::ZoomBack ? -1 : 1;
    stroke(m_ink, 1.8);
    curve(8 - d * 5, 12.5, 8 - d * 4, 5.5, 8 + d * 3, 5.5);
    fill(m_ink);
    arrowHead(8 + d * 6.2, 5.5, d, 0);
  }
}

void Sketch::races(Icon which) {
  const QColor race = m_ink.alpha() < 255 ? m_ink : m_theme.race;
  if (which == Icon::NextRace || which == Icon::PreviousRace) {
    const double d = which == Icon::NextRace ? 1 : -1;
    stroke(race, 1.8);
    m_painter.drawEllipse(QPointF(8 - d * 3.6, 8), 2.9, 2.9);
    line(8 + d * 0.6, 8, 8 + d * 3, 8);
    fill(race);
    arrowHead(8 + d * 6.6, 8, d, 0);
  }
}

void Sketch::diagram(Icon which) {
  const QColor blue = m_ink.alpha() < 255 ? m_ink : m_theme.send;
  const QColor red = m_ink.alpha() < 255 ? m_ink : m_theme.breakpoint;
  if (which == Icon::Partner) {
    stroke(m_ink);
    line(4.4, 4.4, 11.6, 11.6);
    fill(m_ink);
    m_painter.drawEllipse(QPointF(3.8, 3.8), 2.4, 2.4);
    m_painter.drawRect(QRectF(10.2, 10.2, 4.2, 4.2));
  } else if (which == Icon::Cone) {
    fill(withAlpha(m_ink, 0.28));
    polygon({{13.5, 8}, {2, 2.2}, {2, 13.8}});
    stroke(m_ink, 1.3);
    line(13, 8, 2, 2.2);
    line(13, 8, 2, 13.8);
    fill(m_ink);
    m_painter.drawEllipse(QPointF(13, 8), 2, 2);
  } else if (which == Icon::ReplayHere) {
    stroke(m_ink, 1.5);
    line(12.6, 2, 12.6, 14);
    fill(m_ink.alpha() < 255 ? m_ink : m_theme.good);
    polygon({{2.5, 3.6}, {10.4, 8}, {2.5, 12.4}});
  } else if (which == Icon::NextReceive) {
    stroke(m_ink, 1.4);
    line(1.5, 12.5, 14.5, 12.5);
    stroke(blue, 1.7);
    line(4, 2, 9.2, 8.2);
    fill(blue);
    polygon({{11, 10.6}, {6.8, 8.9}, {10.4, 5.9}});
    m_painter.drawRect(QRectF(9.4, 10.6, 3.8, 3.8));
  } else if (which == Icon::RunToFailure) {
    stroke(m_ink, 1.6);
    line(1.5, 8, 5.5, 8);
    fill(m_ink.alpha() < 255 ? m_ink : m_theme.fail);
    m_painter.drawEllipse(QPointF(10.4, 8), 4.8, 4.8);
    stroke(m_theme.base, 1.5);
    line(8.7, 6.3, 12.1, 9.7);
    line(12.1, 6.3, 8.7, 9.7);
  } else if (which == Icon::Breakpoint) {
    fill(red);
    m_painter.drawEllipse(QPointF(8, 8), 5, 5);
  } else if (which == Icon::Bookmark) {
    fill(blue);
    polygon({{4.2, 2}, {11.8, 2}, {11.8, 14}, {8, 10.6}, {4.2, 14}});
  } else if (which == Icon::Legend) {
    fill(m_ink);
    for (int i = 0; i < 3; ++i) {
      m_painter.drawEllipse(QPointF(3.6, 3.6 + 4.4 * i), 1.5, 1.5);
      m_painter.drawRect(QRectF(6.6, 2.9 + 4.4 * i, 7.4, 1.4));
    }
  } else if (which == Icon::Clock) {
    stroke(m_ink, 1.4);
    m_painter.drawEllipse(QPointF(8, 8), 5.8, 5.8);
    line(8, 8, 8, 4.4);
    line(8, 8, 10.8, 9.4);
  }
}

void Sketch::file(Icon which) {
  if (which == Icon::Add) {
    stroke(m_ink, 2);
    line(8, 3, 8, 13);
    line(3, 8, 13, 8);
  } else if (which == Icon::Remove) {
    stroke(m_ink, 2);
    line(3, 8, 13, 8);
  } else if (which == Icon::Clear) {
    stroke(m_ink, 1.8);
    line(4, 4, 12, 12);
    line(12, 4, 4, 12);
  } else if (which == Icon::Record) {
    fill(m_ink.alpha() < 255 ? m_ink : m_theme.fail);
    m_painter.drawEllipse(QPointF(8, 8), 5.4, 5.4);
  } else if (which == Icon::Open) {
    stroke(m_ink, 1.4);
    polygon({{1.8, 13}, {1.8, 3.4}, {6, 3.4}, {7.6, 5.2}, {13, 5.2}, {13, 7}});
    fill(withAlpha(m_ink, 0.45));
    polygon({{1.8, 13}, {4.4, 7.4}, {15, 7.4}, {12.4, 13}});
  } else if (which == Icon::Save) {
    stroke(m_ink, 1.5);
    line(8, 2, 8, 7);
    fill(m_ink);
    arrowHead(8, 10.4, 0, 1);
    stroke(m_ink, 1.5);
    m_painter.drawPolyline(
        QPolygonF(QList<QPointF>{{2.2, 9.6}, {2.2, 13.6}, {13.8, 13.6}, {13.8, 9.6}}));
  }
}

void Sketch::draw(Icon which) {
  control(which);
  zoom(which);
  races(which);
  diagram(which);
  file(which);
}

class SketchEngine : public QIconEngine {
 public:
  explicit SketchEngine(Icon which) : m_which(which) {}

  void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode,
             QIcon::State /*state*/) override {
    const QPalette palette = QGuiApplication::palette();
    const Theme theme = Theme::of(palette);
    QColor ink = palette.color(QPalette::WindowText);
    if (mode == QIcon::Disabled) {
      ink.setAlphaF(0.3F);
    } else if (mode == QIcon::Selected) {
      ink = palette.color(QPalette::HighlightedText);
    }
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->translate(rect.topLeft());
    painter->scale(rect.width() / 16.0, rect.height() / 16.0);
    Sketch(*painter, theme, ink).draw(m_which);
    painter->restore();
  }

  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
    QPixmap out(size);
    out.fill(Qt::transparent);
    QPainter painter(&out);
    paint(&painter, QRect(QPoint(), size), mode, state);
    return out;
  }

  [[nodiscard]] QIconEngine* clone() const override { return new SketchEngine(m_which); }

 private:
  Icon m_which;
};

}  // namespace

QIcon icon(Icon which) {
  return QIcon(new SketchEngine(which));
}

}  // namespace pf::views

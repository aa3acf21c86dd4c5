// SPDX-License-Identifier: GPL-3.0-or-later
// Painting and input of the canvas.
#include <algorithm>
#include <cmath>
#include <utility>

#include <QApplication>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include "views/diagram/space_time_canvas.h"
#include "views/trace/trace_text.h"
#include "views/values/text.h"

namespace pf::views {

namespace {
constexpr double kOverscan =
    0.5;  // of the width, rendered on each side so that panning only copies pixels
constexpr double kLowRow = 4;                // pixels
constexpr std::size_t kPaintedAtOnce = 500;  // events, on the GUI thread
}  // namespace

/// Whether a picture of `c` can be shown for `g` by moving it.
static bool covers(const SpaceTimeGeometry& c, const SpaceTimeGeometry& g) {
  return c.rowHeight == g.rowHeight && c.scroll == g.scroll && c.plot.height() == g.plot.height() &&
         c.arranged == g.arranged && std::abs(c.scale() - g.scale()) < 1e-9 * g.scale() &&
         g.t0 >= c.t0 && g.t1 <= c.t1;
}

bool SpaceTimeCanvas::cacheHolds(const SpaceTimeGeometry& g) const {
  return m_cacheValid && !m_cacheOld && m_cache.devicePixelRatio() == devicePixelRatioF() &&
         covers(m_cacheGeometry, g);
}

bool SpaceTimeCanvas::isUpToDate() const {
  return !m_trace || m_trace->eventCount() == 0 || cacheHolds(view());
}

SceneRequest SpaceTimeCanvas::sceneFor(const SpaceTimeGeometry& g) const {
  const double extra = (g.t1 - g.t0) * kOverscan;
  SceneRequest request{m_trace, g, m_theme, font(), devicePixelRatioF(), only()};
  request.geometry.t0 = g.t0 - extra;
  request.geometry.t1 = g.t1 + extra;
  request.geometry.plot = QRectF(0, 0, g.plot.width() * (1 + 2 * kOverscan), g.plot.height());
  return request;
}

void SpaceTimeCanvas::keepScene(const Scene& scene) {
  if (scene.request.trace != m_trace) {
    return;
  }
  m_cache = scene.image;
  m_cacheGeometry = scene.request.geometry;
  m_cacheValid = true;
  m_cacheOld = false;
  const SceneStats before = std::exchange(m_stats, scene.stats);
  if (before.exact != m_stats.exact || before.overview != m_stats.overview ||
      before.events != m_stats.events || before.eventsAPixel != m_stats.eventsAPixel) {
    QMetaObject::invokeMethod(this, &SpaceTimeCanvas::regimeChanged, Qt::QueuedConnection);
  }
  update();
}

/// Draws a view of few events now, and asks for a picture of one of many, or where events are read
/// from a file.
void SpaceTimeCanvas::renewCache(const SpaceTimeGeometry& g) {
  if (cacheHolds(g)) {
    return;
  }
  SceneRequest request = sceneFor(g);
  if (m_trace->hasEvents() && m_trace->pages() == nullptr &&
      SpaceTimePainter(*m_trace, request.geometry, m_theme).eventsInView() <= kPaintedAtOnce) {
    m_renderer.forget();
    m_askedValid = false;
    keepScene(SceneRenderer::draw(std::move(request), nullptr));
  } else if (!m_askedValid || !m_renderer.isBusy() || !covers(m_asked, g)) {
    m_asked = request.geometry;
    m_askedValid = true;
    m_renderer.request(std::move(request));
  }
}

/// The plot's background where the picture, which is at `target`, is not.
void SpaceTimeCanvas::paintAround(QPainter& painter, const SpaceTimeGeometry& g,
                                  const QRectF& target) const {
  const QRect covered(
      QPoint(static_cast<int>(std::ceil(target.left())), static_cast<int>(std::ceil(target.top()))),
      QPoint(static_cast<int>(std::floor(target.right())) - 1,
             static_cast<int>(std::floor(target.bottom())) - 1));
  const QRegion bare = QRegion(g.plot.toAlignedRect()).subtracted(covered);
  if (bare.isEmpty()) {
    return;
  }
  painter.save();
  painter.setClipRegion(bare, Qt::IntersectClip);
  painter.fillRect(g.plot, m_theme.base);
  if (g.rowHeight >= kLowRow) {  // of a thousand low ones a picture takes longer than it helps
    SpaceTimePainter(*m_trace, g, m_theme).paintRows(painter);
  }
  painter.restore();
}

/// The picture that there is, moved and stretched to the view.
void SpaceTimeCanvas::paintCache(QPainter& painter, const SpaceTimeGeometry& g) const {
  painter.save();
  painter.setClipRect(g.plot);
  const SpaceTimeGeometry& c = m_cacheGeometry;
  const double rows = m_cacheValid ? g.rowHeight / c.rowHeight : 1;
  const QRectF target = m_cacheValid ? QRectF(g.x(c.t0), g.plot.top() + c.scroll * rows - g.scroll,
                                              (c.t1 - c.t0) * g.scale(), c.plot.height() * rows)
                                     : QRectF();
  if (cacheHolds(g)) {
    painter.drawImage(target.topLeft(), m_cache);
  } else {
    paintAround(painter, g, target);
    if (m_cacheValid) {
      painter.drawImage(target, m_cache, QRectF(QPointF(), m_cache.size()));
    }
  }
  painter.restore();
}

/// Their texts take longer to draw than all else.
void SpaceTimeCanvas::paintNames(QPainter& painter, const SpaceTimeGeometry& g) {
  const SpaceTimeGeometry& c = m_namesGeometry;
  if (m_names.isNull() || m_names.devicePixelRatio() != devicePixelRatioF() || c.plot != g.plot ||
      c.rowHeight != g.rowHeight || c.scroll != g.scroll || c.arranged != g.arranged) {
    const QSizeF size(g.plot.left(), g.plot.height());
    m_names = QPixmap((size * devicePixelRatioF()).toSize().expandedTo(QSize(1, 1)));
    m_names.setDevicePixelRatio(devicePixelRatioF());
    m_names.fill(m_theme.panel);
    m_namesGeometry = g;
    QPainter names(&m_names);
    names.setFont(font());
    names.translate(0, -g.plot.top());
    SpaceTimePainter(*m_trace, g, m_theme)
        .paintHeaders(names, QRectF(QPointF(0, g.plot.top()), size), m_headers);
  }
  painter.drawPixmap(QPointF(0, g.plot.top()), m_names);
}

void SpaceTimeCanvas::paintEmpty(QPainter& painter) const {
  painter.fillRect(rect(), m_theme.base);
  painter.setPen(m_theme.muted);
  painter.drawText(rect(), Qt::AlignCenter,
                   m_trace ? tr("This trace has no events.") : tr("No trace is open."));
}

void SpaceTimeCanvas::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setFont(font());
  if (!m_trace || m_trace->eventCount() == 0) {
    paintEmpty(painter);
    return;
  }
  const SpaceTimeGeometry g = view();
  renewCache(g);
  paintCache(painter, g);
  const SpaceTimePainter over(*m_trace, g, m_theme);
  over.paintOverlay(painter, m_overlay);
  paintNames(painter, g);
  over.paintAxis(painter, QRectF(0, 0, width(), g.plot.top()));
  if (m_drag == Drag::Band) {
    const QRectF band(QPointF(m_pressed.x(), g.plot.top()), QPointF(m_last.x(), g.plot.bottom()));
    painter.fillRect(band.normalized(), withAlpha(m_theme.selection, 0.18));
    painter.setPen(QPen(m_theme.selection, 1));
    painter.drawRect(band.normalized());
  }
  if (hasFocus()) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(withAlpha(m_theme.selection, 0.8), 1));
    painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
  }
}

void SpaceTimeCanvas::renderTo(QPaintDevice* device, const QSizeF& size) const {
  QPainter painter(device);
  painter.setFont(font());
  painter.fillRect(QRectF(QPointF(), size), m_theme.base);
  if (!m_trace || m_trace->eventCount() == 0) {
    return;
  }
  const SpaceTimeGeometry g = geometryFor(size);
  const EventSearchPtr shown = only();
  SpaceTimePainter all(*m_trace, g, m_theme);
  all.setFound(shown.get());
  all.paintScene(painter);
  all.paintOverlay(painter, m_overlay);
  all.paintHeaders(painter, QRectF(0, g.plot.top(), g.plot.left(), g.plot.height()), m_headers);
  all.paintAxis(painter, QRectF(0, 0, size.width(), g.plot.top()));
}

void SpaceTimeCanvas::resizeEvent(QResizeEvent* event) {
  const double oldWidth = geometryFor(event->oldSize()).plot.width();
  if (event->oldSize().width() > 10 &&
      m_trace) {  // keep the scale for small traces, the span for large ones
    const double scale = oldWidth / (m_span.t1 - m_span.t0);
    const double widest = 96.0;
    const double width = view().plot.width();
    if (axis() == TimeAxis::Logical &&
        (scale >= widest * 0.99 || (m_span.t1 - m_span.t0) * 1.0 < width / 260.0)) {
      m_span.t1 = m_span.t0 + width / scale;
    }
  } else if (m_trace && event->oldSize().width() <= 10) {
    fit();
    m_back.clear();
  }
  limitScroll();
  Q_EMIT viewChanged();
}

void SpaceTimeCanvas::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
    m_theme = Theme::of(palette());
    m_names = QPixmap();
    m_cacheValid = false;
    m_askedValid = false;
    m_renderer.forget();
    update();
  }
  QWidget::changeEvent(event);
}

void SpaceTimeCanvas::mousePressEvent(QMouseEvent* event) {
  m_pressed = event->position();
  m_last = m_pressed;
  if (event->button() == Qt::MiddleButton) {
    m_drag = Drag::Pan;
    setCursor(Qt::ClosedHandCursor);
  } else if (event->button() == Qt::LeftButton) {
    const bool onAxis = m_pressed.y() < view().plot.top() && m_pressed.x() >= view().plot.left();
    m_drag = onAxis || (event->modifiers() & Qt::ShiftModifier) ? Drag::Band : Drag::Pending;
  } else if (event->button() == Qt::RightButton) {
    if (const EventRef hit = eventAt(m_pressed); hit.valid()) {
      select(hit, false);
    }
  }
}

void SpaceTimeCanvas::mouseMoveEvent(QMouseEvent* event) {
  const QPointF position = event->position();
  if (m_drag == Drag::Pending &&
      (position - m_pressed).manhattanLength() >= QApplication::startDragDistance()) {
    m_drag = Drag::Pan;
    setCursor(Qt::ClosedHandCursor);
  }
  if (m_drag == Drag::Pan && m_trace) {
    const double shift = (position.x() - m_last.x()) / view().scale();
    const double down = position.y() - m_last.y();
    setSpan(m_span.t0 - shift, m_span.t1 - shift);
    setScroll(m_scroll - down);
  } else if (m_drag == Drag::None) {
    const EventRef hit = eventAt(position);
    m_overlay.hovered = hit;
    const bool onAxis = position.y() < view().plot.top() && position.x() >= view().plot.left();
    setCursor(hit.valid() || alternativeAt(position) != 0 ? Qt::PointingHandCursor
              : onAxis                                    ? Qt::SplitHCursor
                                                          : Qt::ArrowCursor);
  }
  m_last = position;
  update();
}

void SpaceTimeCanvas::mouseReleaseEvent(QMouseEvent* event) {
  const Drag drag = std::exchange(m_drag, Drag::None);
  setCursor(Qt::ArrowCursor);
  if (drag == Drag::Band && std::abs(event->position().x() - m_pressed.x()) > 5) {
    const SpaceTimeGeometry g = view();
    zoomTo(g.time(m_pressed.x()), g.time(event->position().x()));
  } else if (drag == Drag::Pending) {
    if (const EventRef hit = eventAt(event->position()); hit.valid()) {
      select(hit, false);
    } else if (const int number = alternativeAt(event->position()); number != 0) {
      chooseAlternative(number);
    }
  }
  update();
}

void SpaceTimeCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const EventRef hit = eventAt(event->position());
      hit.valid() && event->button() == Qt::LeftButton) {
    select(hit, false);
    Q_EMIT activated(hit);
  }
}

void SpaceTimeCanvas::wheelEvent(QWheelEvent* event) {
  const double turns = event->angleDelta().y() / 120.0;
  const double sideways = event->angleDelta().x() / 120.0;
  if ((event->modifiers() & Qt::ControlModifier) || event->position().x() < view().plot.left()) {
    setRowHeight(view().rowHeight * std::pow(1.2, turns));
  } else if ((event->modifiers() & Qt::ShiftModifier) || std::abs(sideways) > std::abs(turns)) {
    const double shift =
        (std::abs(sideways) > std::abs(turns) ? sideways : turns) * 80 / view().scale();
    setSpan(m_span.t0 - shift, m_span.t1 - shift);
  } else if (turns != 0) {
    zoomBy(std::pow(1.25, turns), event->position().x());
  }
  event->accept();
}

void SpaceTimeCanvas::contextMenuEvent(QContextMenuEvent* event) {
  if (event->reason() == QContextMenuEvent::Keyboard) {
    showMenuOfSelection();
  } else if (event->pos().x() < view().plot.left() && event->pos().y() >= view().plot.top()) {
    Q_EMIT rowMenuRequested(view().rowAt(event->pos().y()), event->globalPos());
  } else {
    Q_EMIT menuRequested(event->globalPos());
  }
}

void SpaceTimeCanvas::showMenuOfSelection() {
  const SpaceTimeGeometry g = view();
  const bool any = m_trace && m_trace->contains(m_overlay.selected);
  if (any) {
    reveal(m_overlay.selected);
  }
  Q_EMIT menuRequested(
      mapToGlobal(any ? view().point(*m_trace, m_overlay.selected) : g.plot.center()).toPoint());
}

/// Moves what is in view, not the selection. False: another key.
bool SpaceTimeCanvas::moveView(const QKeyEvent& event) {
  constexpr double kStep = 0.1;
  constexpr double kPage = 0.8;
  const bool shift = event.modifiers().testFlag(Qt::ShiftModifier);
  const bool control = event.modifiers().testFlag(Qt::ControlModifier);
  const double row = view().rowHeight;
  switch (event.key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
      if (!shift) {
        return false;
      }
      panBy(event.key() == Qt::Key_Left ? -kStep : kStep);
      return true;
    case Qt::Key_Up:
    case Qt::Key_Down: {
      const bool up = event.key() == Qt::Key_Up;
      if (control) {
        setRowHeight(up ? row * 1.2 : row / 1.2);
      } else if (shift) {
        setScroll(m_scroll + (up ? -row : row));
      }
      return control || shift;
    }
    case Qt::Key_PageUp:
    case Qt::Key_PageDown:
      panBy(event.key() == Qt::Key_PageUp ? -kPage : kPage);
      return true;
    case Qt::Key_Menu:
      showMenuOfSelection();
      return true;
    case Qt::Key_F10:
      if (shift) {
        showMenuOfSelection();
      }
      return shift;
    default:
      return false;
  }
}

void SpaceTimeCanvas::keyPressEvent(QKeyEvent* event) {
  if (moveView(*event)) {
    return;
  }
  switch (event->key()) {
    case Qt::Key_Left:
      moveAlongRank(-1);
      break;
    case Qt::Key_Right:
      moveAlongRank(1);
      break;
    case Qt::Key_Up:
      moveAcrossRanks(-1);
      break;
    case Qt::Key_Down:
      moveAcrossRanks(1);
      break;
    case Qt::Key_Home:
      selectEnd(false);
      break;
    case Qt::Key_End:
      selectEnd(true);
      break;
    case Qt::Key_Escape:
      if (m_overlay.selected.valid()) {
        select({}, false);
      } else {
        QWidget::keyPressEvent(event);  // a dialog around it closes
      }
      break;
    default:
      QWidget::keyPressEvent(event);
  }
}

void SpaceTimeCanvas::leaveEvent(QEvent* event) {
  m_overlay.hovered = {};
  update();
  QWidget::leaveEvent(event);
}

bool SpaceTimeCanvas::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip && m_trace) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const EventRef hit = eventAt(help->pos());
    if (hit.valid()) {
      QToolTip::showText(help->globalPos(), plainToolTip(eventDetails(*m_trace, hit)), this);
    } else if (const int number = alternativeAt(help->pos()); number != 0) {
      QToolTip::showText(help->globalPos(),
                         plainToolTip(alternativeText(*m_trace, m_overlay.selected, number)), this);
    } else {
      QToolTip::hideText();
    }
    return true;
  }
  return QWidget::event(event);
}

}  // namespace pf::views

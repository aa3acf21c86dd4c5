// Painting and input of the canvas.
#include "space_time_canvas.h"

#include <algorithm>
#include <cmath>

#include <QApplication>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include "views/text.h"
#include "views/trace_text.h"

namespace pf::views {

namespace {
constexpr double kOverscan =
    0.5;  // of the width, rendered on each side so that panning only copies pixels
}

void SpaceTimeCanvas::renewCache(const SpaceTimeGeometry& g) {
  const double ratio = devicePixelRatioF();
  const SpaceTimeGeometry& c = m_cacheGeometry;
  const bool sameRows = m_cacheValid && c.rowHeight == g.rowHeight && c.scroll == g.scroll &&
                        c.plot.height() == g.plot.height() &&
                        std::abs(c.scale() - g.scale()) < 1e-9 * g.scale() &&
                        m_cache.devicePixelRatio() == ratio;
  if (sameRows && g.t0 >= c.t0 && g.t1 <= c.t1) {
    return;
  }
  const double extra = (g.t1 - g.t0) * kOverscan;
  m_cacheGeometry = g;
  m_cacheGeometry.t0 = g.t0 - extra;
  m_cacheGeometry.t1 = g.t1 + extra;
  m_cacheGeometry.plot = QRectF(0, 0, g.plot.width() * (1 + 2 * kOverscan), g.plot.height());
  m_cache = QPixmap((m_cacheGeometry.plot.size() * ratio).toSize().expandedTo({1, 1}));
  m_cache.setDevicePixelRatio(ratio);
  m_cache.fill(m_theme.base);
  QPainter painter(&m_cache);
  painter.setFont(font());
  const SceneStats before = m_stats;
  m_stats = SpaceTimePainter(*m_trace, m_cacheGeometry, m_theme).paintScene(painter);
  m_cacheValid = true;
  if (before.exact != m_stats.exact || before.events != m_stats.events) {
    QMetaObject::invokeMethod(this, &SpaceTimeCanvas::regimeChanged, Qt::QueuedConnection);
  }
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
  painter.save();
  painter.setClipRect(g.plot);
  painter.drawPixmap(QPointF(g.plot.left() + (m_cacheGeometry.t0 - g.t0) * g.scale(), g.plot.top()),
                     m_cache);
  painter.restore();
  const SpaceTimePainter over(*m_trace, g, m_theme);
  over.paintOverlay(painter, m_overlay);
  over.paintHeaders(painter, QRectF(0, g.plot.top(), g.plot.left(), g.plot.height()), m_headers);
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
  const SpaceTimePainter all(*m_trace, g, m_theme);
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
    if (scale >= widest * 0.99 || (m_span.t1 - m_span.t0) * 1.0 < width / 260.0) {
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
    m_cacheValid = false;
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
    m_drag = (event->modifiers() & Qt::ShiftModifier) ? Drag::Band : Drag::Pending;
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
    if (!(hit == m_overlay.hovered)) {
      m_overlay.hovered = hit;
      setCursor(hit.valid() ? Qt::PointingHandCursor : Qt::ArrowCursor);
    }
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
  if (event->modifiers() & Qt::ControlModifier) {
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
  Q_EMIT menuRequested(event->globalPos());
}

void SpaceTimeCanvas::keyPressEvent(QKeyEvent* event) {
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
      select({}, false);
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
    } else {
      QToolTip::hideText();
    }
    return true;
  }
  return QWidget::event(event);
}

}  // namespace pf::views

// SPDX-License-Identifier: GPL-3.0-or-later
// The canvas: what mouse and keys do.
#include <cmath>
#include <utility>

#include <QApplication>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>

#include "views/diagram/canvas/space_time_canvas.h"
#include "views/diagram/canvas/space_time_hits.h"
#include "views/diagram/canvas/space_time_keys.h"
#include "views/trace/analyses/trace_text.h"
#include "views/values/text.h"

namespace pf::views {

EventRef SpaceTimeCanvas::eventBelow(QPointF position) const {
  return trace() ? eventAt(*trace(), view(), position) : EventRef();
}

int SpaceTimeCanvas::alternativeBelow(QPointF position) const {
  return trace() ? alternativeAt(*trace(), view(), m_cursor.selected(), position) : 0;
}

bool SpaceTimeCanvas::isOnAxis(QPointF position) const {
  const QRectF plot = view().plot;
  return position.y() < plot.top() && position.x() >= plot.left();
}

void SpaceTimeCanvas::mousePressEvent(QMouseEvent* event) {
  m_pressed = event->position();
  m_last = m_pressed;
  if (event->button() == Qt::MiddleButton) {
    startPan();
  } else if (event->button() == Qt::LeftButton) {
    const bool band = isOnAxis(m_pressed) || event->modifiers().testFlag(Qt::ShiftModifier);
    m_drag = band ? Drag::Band : Drag::Pending;
  } else if (event->button() == Qt::RightButton) {
    if (const EventRef hit = eventBelow(m_pressed); hit.valid()) {
      m_cursor.select(hit, false);
    }
  }
}

void SpaceTimeCanvas::mouseMoveEvent(QMouseEvent* event) {
  const QPointF position = event->position();
  if (m_drag == Drag::Pending &&
      (position - m_pressed).manhattanLength() >= QApplication::startDragDistance()) {
    startPan();
  }
  if (m_drag == Drag::Pan && trace()) {
    pan(position.x() - m_last.x(), position.y() - m_last.y());
  } else if (m_drag == Drag::None) {
    hover(position);
  }
  m_last = position;
  update();
}

void SpaceTimeCanvas::startPan() {
  m_drag = Drag::Pan;
  setCursor(Qt::ClosedHandCursor);
}

void SpaceTimeCanvas::pan(double right, double down) {
  const SpaceTimeGeometry g = view();
  const double shift = right / g.scale();
  m_viewport.setSpan(g.t0 - shift, g.t1 - shift);
  m_viewport.setScroll(g.scroll - down);
}

void SpaceTimeCanvas::hover(QPointF position) {
  m_overlay.hovered = eventBelow(position);
  setCursor(m_overlay.hovered.valid() || alternativeBelow(position) != 0 ? Qt::PointingHandCursor
            : isOnAxis(position)                                         ? Qt::SplitHCursor
                                                                         : Qt::ArrowCursor);
}

void SpaceTimeCanvas::mouseReleaseEvent(QMouseEvent* event) {
  const QPointF position = event->position();
  const Drag drag = std::exchange(m_drag, Drag::None);
  setCursor(Qt::ArrowCursor);
  if (drag == Drag::Band && std::abs(position.x() - m_pressed.x()) > 5) {
    const SpaceTimeGeometry g = view();
    m_viewport.zoomTo(g.time(m_pressed.x()), g.time(position.x()));
  } else if (drag == Drag::Pending) {
    click(position);
  }
  update();
}

void SpaceTimeCanvas::click(QPointF position) {
  if (const EventRef hit = eventBelow(position); hit.valid()) {
    m_cursor.select(hit, false);
  } else if (const int number = alternativeBelow(position); number != 0) {
    m_cursor.chooseAlternative(number);
  }
}

void SpaceTimeCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const EventRef hit = eventBelow(event->position());
      hit.valid() && event->button() == Qt::LeftButton) {
    m_cursor.select(hit, false);
    Q_EMIT activated(hit);
  }
}

void SpaceTimeCanvas::wheelEvent(QWheelEvent* event) {
  const double turns = event->angleDelta().y() / 120.0;
  const double sideways = event->angleDelta().x() / 120.0;
  const bool isSideways = std::abs(sideways) > std::abs(turns);
  const SpaceTimeGeometry g = view();
  if (event->modifiers().testFlag(Qt::ControlModifier) || event->position().x() < g.plot.left()) {
    m_viewport.zoomRowsBy(std::pow(1.2, turns), event->position().y());
  } else if (event->modifiers().testFlag(Qt::ShiftModifier) || isSideways) {
    const double shift = (isSideways ? sideways : turns) * 80 / g.scale();
    m_viewport.setSpan(g.t0 - shift, g.t1 - shift);
  } else if (turns != 0) {
    m_viewport.zoomBy(std::pow(1.25, turns), event->position().x());
  }
  event->accept();
}

void SpaceTimeCanvas::contextMenuEvent(QContextMenuEvent* event) {
  const QRectF plot = view().plot;
  if (event->reason() == QContextMenuEvent::Keyboard) {
    showMenuOfSelection();
  } else if (event->pos().x() < plot.left() && event->pos().y() >= plot.top()) {
    Q_EMIT rowMenuRequested(view().rowAt(event->pos().y()), event->globalPos());
  } else {
    Q_EMIT menuRequested(event->globalPos());
  }
}

void SpaceTimeCanvas::showMenuOfSelection() {
  QPointF at = view().plot.center();
  if (const EventRef selected = m_cursor.selected(); trace() && trace()->contains(selected)) {
    m_viewport.reveal(selected);
    at = view().point(*trace(), selected);
  }
  Q_EMIT menuRequested(mapToGlobal(at).toPoint());
}

void SpaceTimeCanvas::keyPressEvent(QKeyEvent* event) {
  if (asksForMenu(*event)) {
    showMenuOfSelection();
  } else if (!moveView(m_viewport, *event) && !moveSelection(m_cursor, *event)) {
    QWidget::keyPressEvent(event);
  }
}

void SpaceTimeCanvas::leaveEvent(QEvent* event) {
  m_overlay.hovered = {};
  update();
  QWidget::leaveEvent(event);
}

bool SpaceTimeCanvas::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip && trace()) {
    showToolTip(*static_cast<QHelpEvent*>(event));
    return true;
  }
  return QWidget::event(event);
}

void SpaceTimeCanvas::showToolTip(const QHelpEvent& event) {
  QString text;
  if (const EventRef hit = eventBelow(event.pos()); hit.valid()) {
    text = eventDetails(*trace(), hit);
  } else if (const int number = alternativeBelow(event.pos()); number != 0) {
    text = alternativeText(*trace(), m_cursor.selected(), number);
  } else {
    QToolTip::hideText();
    return;
  }
  QToolTip::showText(event.globalPos(), plainToolTip(text), this);
}

}  // namespace pf::views

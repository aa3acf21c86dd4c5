// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/canvas/space_time_keys.h"

#include <QKeyEvent>

#include "views/diagram/canvas/event_cursor.h"
#include "views/diagram/canvas/space_time_viewport.h"

namespace pf::views {

namespace {

/// `share`: of the width in view.
void pan(SpaceTimeViewport& viewport, double share) {
  const SpaceTimeGeometry g = viewport.geometry();
  const double shift = (g.t1 - g.t0) * share;
  viewport.setSpan(g.t0 + shift, g.t1 + shift);
}

bool moveRows(SpaceTimeViewport& viewport, const QKeyEvent& event) {
  constexpr double kZoom = 1.2;
  const SpaceTimeGeometry g = viewport.geometry();
  const bool up = event.key() == Qt::Key_Up;
  if (event.modifiers().testFlag(Qt::ControlModifier)) {
    viewport.zoomRowsBy(up ? kZoom : 1 / kZoom, g.plot.center().y());
    return true;
  }
  if (event.modifiers().testFlag(Qt::ShiftModifier)) {
    viewport.setScroll(g.scroll + (up ? -g.rowHeight : g.rowHeight));
    return true;
  }
  return false;
}

}  // namespace

bool moveView(SpaceTimeViewport& viewport, const QKeyEvent& event) {
  constexpr double kStep = 0.1;
  constexpr double kPage = 0.8;
  switch (event.key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
      if (!event.modifiers().testFlag(Qt::ShiftModifier)) {
        return false;
      }
      pan(viewport, event.key() == Qt::Key_Left ? -kStep : kStep);
      return true;
    case Qt::Key_Up:
    case Qt::Key_Down:
      return moveRows(viewport, event);
    case Qt::Key_PageUp:
    case Qt::Key_PageDown:
      pan(viewport, event.key() == Qt::Key_PageUp ? -kPage : kPage);
      return true;
    default:
      return false;
  }
}

bool moveSelection(EventCursor& cursor, const QKeyEvent& event) {
  switch (event.key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
      cursor.moveAlongRank(event.key() == Qt::Key_Left ? -1 : 1);
      return true;
    case Qt::Key_Up:
    case Qt::Key_Down:
      cursor.moveAcrossRanks(event.key() == Qt::Key_Up ? -1 : 1);
      return true;
    case Qt::Key_Home:
    case Qt::Key_End:
      cursor.selectEnd(event.key() == Qt::Key_End);
      return true;
    case Qt::Key_Escape:
      if (!cursor.selected().valid()) {
        return false;  // a dialog around it closes
      }
      cursor.select({}, false);
      return true;
    default:
      return false;
  }
}

bool asksForMenu(const QKeyEvent& event) {
  return event.key() == Qt::Key_Menu || event.keyCombination() == (Qt::SHIFT | Qt::Key_F10);
}

}  // namespace pf::views

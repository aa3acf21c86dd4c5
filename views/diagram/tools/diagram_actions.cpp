// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/tools/diagram_actions.h"

#include <QAction>
#include <QWidget>

#include "views/diagram/canvas/space_time_canvas.h"
#include "views/panes/icons.h"
#include "views/trace/analyses/trace_causality.h"
#include "views/trace/analyses/trace_text.h"
#include "views/values/text.h"

namespace pf::views {

DiagramActions::DiagramActions(SpaceTimeCanvas& canvas, QWidget& owner)
    : QObject(&owner), m_canvas(canvas), m_owner(owner) {
  makeEventActions();
  makeMoves();
  makeSearches();
  makeZooms();
  makeChoices();
  connect(&m_canvas.viewport(), &SpaceTimeViewport::changed, this, &DiagramActions::refreshHistory);
}

QAction* DiagramActions::action(DiagramAction which) const {
  return m_actions.at(static_cast<qsizetype>(which));
}

QList<QAction*> DiagramActions::actions(std::initializer_list<DiagramAction> which) const {
  QList<QAction*> all;
  for (const DiagramAction one : which) {
    all.append(action(one));
  }
  return all;
}

QAction* DiagramActions::add(DiagramAction which, const QString& text, const QString& tip,
                             const QIcon& icon, const QList<QKeySequence>& keys) {
  Q_ASSERT(m_actions.size() == static_cast<qsizetype>(which));
  auto* action = new QAction(icon, text, &m_owner);
  action->setShortcuts(keys);
  action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  action->setToolTip(u"%1 (%2)"_s.arg(tip, keys.first().toString(QKeySequence::NativeText)));
  m_owner.addAction(action);
  m_actions.append(action);
  return action;
}

void DiagramActions::makeEventActions() {
  const auto ofSelection = [this](QAction* action, auto signal) {
    connect(action, &QAction::triggered, this, [this, signal] {
      if (const EventRef selected = m_canvas.eventCursor().selected(); selected.valid()) {
        Q_EMIT(this->*signal)(selected);
      }
    });
  };
  ofSelection(add(DiagramAction::ReplayHere, tr("Replay to here"),
                  tr("Re-execute and stop this rank just before the selected event"),
                  icon(Icon::ReplayHere), {Qt::Key_Return, Qt::Key_Enter}),
              &DiagramActions::replayToRequested);
  ofSelection(
      add(DiagramAction::BreakHere, tr("Break at this event"),
          tr("Stop at the selected event in every cycle"), icon(Icon::Breakpoint), {Qt::Key_B}),
      &DiagramActions::breakHereRequested);
  ofSelection(add(DiagramAction::Bookmark, tr("Bookmark"), tr("Bookmark the selected event"),
                  icon(Icon::Bookmark), {Qt::Key_M}),
              &DiagramActions::bookmarkRequested);
  ofSelection(add(DiagramAction::Contents, tr("Contents"),
                  tr("What was in the messages of the selected event"), {}, {Qt::Key_D}),
              &DiagramActions::contentsRequested);
  QAction* cone = add(DiagramAction::Cone, tr("Causal past and future"),
                      tr("Show only what happens before and after the selected event"),
                      icon(Icon::Cone), {Qt::Key_C});
  cone->setCheckable(true);
  connect(cone, &QAction::toggled, &m_canvas, &SpaceTimeCanvas::setCone);
}

void DiagramActions::makeMoves() {
  EventCursor& cursor = m_canvas.eventCursor();
  connect(add(DiagramAction::PreviousRace, tr("Previous racing receive"),
              tr("Previous racing receive"), icon(Icon::PreviousRace), {Qt::SHIFT | Qt::Key_R}),
          &QAction::triggered, &cursor, [&cursor] { cursor.selectRace(-1); });
  connect(add(DiagramAction::NextRace, tr("Next racing receive"), tr("Next racing receive"),
              icon(Icon::NextRace), {Qt::Key_R}),
          &QAction::triggered, &cursor, [&cursor] { cursor.selectRace(1); });
  connect(add(DiagramAction::Partner, tr("Go to partner"), tr("Go to the other end of the message"),
              icon(Icon::Partner), {Qt::Key_P}),
          &QAction::triggered, &cursor, &EventCursor::selectPartner);
  connect(
      add(DiagramAction::NextAlternative, tr("Next alternative"),
          tr("Next message that the selected receive could have taken instead"), {}, {Qt::Key_A}),
      &QAction::triggered, &cursor, [&cursor] { cursor.stepAlternative(1); });
  connect(add(DiagramAction::PreviousAlternative, tr("Previous alternative"),
              tr("Previous message that the selected receive could have taken instead"), {},
              {Qt::SHIFT | Qt::Key_A}),
          &QAction::triggered, &cursor, [&cursor] { cursor.stepAlternative(-1); });
}

void DiagramActions::makeSearches() {
  connect(add(DiagramAction::SameSite, tr("Find all of this call site"),
              tr("Find all events of the selected one's source line"), {}, {Qt::Key_S}),
          &QAction::triggered, this, &DiagramActions::findSameSite);
  connect(add(DiagramAction::SameTag, tr("Find all of this tag"),
              tr("Find all events of the selected one's tag"), {}, {Qt::Key_T}),
          &QAction::triggered, this, &DiagramActions::findSameTag);
}

void DiagramActions::makeZooms() {
  SpaceTimeViewport& viewport = m_canvas.viewport();
  connect(add(DiagramAction::ZoomToSelection, tr("Zoom to selection"),
              tr("Show the selected event with its partners"), {}, {Qt::Key_Z}),
          &QAction::triggered, &m_canvas.eventCursor(), &EventCursor::zoomToSelection);
  add(DiagramAction::Overview, tr("Overview"),
      tr("Move the visible window in the overview by the arrow keys"), {}, {Qt::Key_O});
  connect(add(DiagramAction::ZoomIn, tr("Zoom in"), tr("Zoom in"), icon(Icon::ZoomIn),
              {Qt::Key_Plus, Qt::Key_Equal}),
          &QAction::triggered, this, [this] { zoomBy(1.5); });
  connect(add(DiagramAction::ZoomOut, tr("Zoom out"), tr("Zoom out"), icon(Icon::ZoomOut),
              {Qt::Key_Minus}),
          &QAction::triggered, this, [this] { zoomBy(1 / 1.5); });
  connect(add(DiagramAction::Fit, tr("Fit"), tr("Show the whole run"), icon(Icon::ZoomFit),
              {Qt::Key_F}),
          &QAction::triggered, &viewport, &SpaceTimeViewport::fit);
  connect(add(DiagramAction::ZoomBack, tr("Zoom back"), tr("Back to the view before"),
              icon(Icon::ZoomBack), {Qt::ALT | Qt::Key_Left}),
          &QAction::triggered, &viewport, &SpaceTimeViewport::undo);
  connect(add(DiagramAction::ZoomForward, tr("Zoom forward"), tr("Forward again"),
              icon(Icon::ZoomForward), {Qt::ALT | Qt::Key_Right}),
          &QAction::triggered, &viewport, &SpaceTimeViewport::redo);
}

void DiagramActions::makeChoices() {
  add(DiagramAction::PhysicalAxis, tr("Physical time"), {}, icon(Icon::Clock), {Qt::Key_X})
      ->setCheckable(true);
  QAction* legend = add(DiagramAction::Legend, tr("Legend"), tr("Show what the signs mean"),
                        icon(Icon::Legend), {Qt::Key_L});
  legend->setCheckable(true);
  legend->setChecked(true);
}

/// Around the selected event if it is in view.
void DiagramActions::zoomBy(double factor) {
  const SpaceTimeGeometry g = m_canvas.view();
  const EventRef selected = m_canvas.eventCursor().selected();
  double around = g.plot.center().x();
  if (selected.valid() && m_canvas.trace()) {
    const double x = g.x(m_canvas.trace()->time(selected));
    around = x >= g.plot.left() && x <= g.plot.right() ? x : around;
  }
  m_canvas.viewport().zoomBy(factor, around);
}

void DiagramActions::findSameSite() {
  const CallSite* site = siteOf(*m_canvas.trace(), m_canvas.eventCursor().selected());
  if (site != nullptr && !site->file.empty()) {
    Q_EMIT searchRequested(
        u"file:%1 line:%2"_s.arg(fromUtf8(site->file).section(u'/', -1)).arg(site->line));
  }
}

void DiagramActions::findSameTag() {
  const Event event = m_canvas.trace()->event(m_canvas.eventCursor().selected());
  Q_EMIT searchRequested(u"tag:%1"_s.arg(event.tag));
}

void DiagramActions::refresh() {
  const TraceIndexPtr& trace = m_canvas.trace();
  const EventRef event = m_canvas.eventCursor().selected();
  const bool any = trace && trace->contains(event);
  const auto enable = [this](std::initializer_list<DiagramAction> which, bool can) {
    for (QAction* one : actions(which)) {
      one->setEnabled(can);
    }
  };
  enable({DiagramAction::ReplayHere, DiagramAction::BreakHere, DiagramAction::Bookmark,
          DiagramAction::Contents, DiagramAction::ZoomToSelection},
         any);
  enable({DiagramAction::Partner}, any && !partnersOf(*trace, event).empty());
  const CallSite* site = any ? siteOf(*trace, event) : nullptr;
  enable({DiagramAction::SameSite}, site != nullptr && !site->file.empty());
  enable({DiagramAction::SameTag}, any && trace->event(event).tag != kAnyTag);
  enable({DiagramAction::NextAlternative, DiagramAction::PreviousAlternative},
         any && !trace->races().at(event).empty());
  enable({DiagramAction::NextRace, DiagramAction::PreviousRace}, trace && !trace->racing().empty());
}

void DiagramActions::refreshHistory() {
  const ZoomHistory& history = m_canvas.viewport().history();
  action(DiagramAction::ZoomBack)->setEnabled(history.canUndo());
  action(DiagramAction::ZoomForward)->setEnabled(history.canRedo());
}

}  // namespace pf::views

#include "moc_diagram_actions.cpp"

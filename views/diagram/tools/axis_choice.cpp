// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/tools/axis_choice.h"

#include <QAction>

#include "views/diagram/canvas/space_time_canvas.h"
#include "views/trace/analyses/trace_text.h"

namespace pf::views {

AxisChoice::AxisChoice(SpaceTimeCanvas& canvas, QAction& action)
    : QObject(&action), m_canvas(canvas), m_action(action) {
  connect(&m_action, &QAction::triggered, this,
          [this](bool on) { choose(on ? TimeAxis::Physical : TimeAxis::Logical); });
  connect(&m_canvas.viewport(), &SpaceTimeViewport::axisChanged, this, [this] {
    m_wanted = m_canvas.viewport().axis();  // the zoom history goes over the switch, too
    refresh();
  });
}

void AxisChoice::choose(TimeAxis axis) {
  m_wanted = axis;
  const AxisTraces& traces = m_canvas.viewport().traces();
  if (axis == TimeAxis::Logical || !traces.logical || !traces.logical->hasPhysicalTimes()) {
    m_work.forget();
    show(TimeAxis::Logical);
  } else if (traces.physical) {
    show(TimeAxis::Physical);
  } else if (!m_work.isBusy()) {
    workOut();
  }
  refresh();
}

void AxisChoice::show(TimeAxis axis) {
  m_canvas.viewport().setAxis(axis, m_canvas.eventCursor().selected());
}

void AxisChoice::workOut() {
  const TraceIndexPtr trace = m_canvas.viewport().traces().logical;
  if (trace->eventCount() <= kFewEvents) {
    m_canvas.viewport().setPhysical(TraceIndex::onPhysicalAxis(*trace, m_pyramidMaker));
    show(TimeAxis::Physical);
    return;
  }
  m_work.run([trace, maker = m_pyramidMaker] { return TraceIndex::onPhysicalAxis(*trace, maker); },
             [this](TraceIndexPtr physical) {
               m_canvas.viewport().setPhysical(std::move(physical));
               show(TimeAxis::Physical);
               refresh();
             });
}

void AxisChoice::refresh() {
  const TraceIndexPtr& trace = m_canvas.trace();
  const bool possible = trace && trace->hasPhysicalTimes();
  m_action.setEnabled(possible);
  m_action.setChecked(possible && m_wanted == TimeAxis::Physical);
  const QString tip = !trace || !trace->hasEvents() ? tr("Physical time: no events are there yet")
                      : possible ? tr("Physical instead of logical time across: %1 (%2)")
                                       .arg(timeOriginText(trace->execution().timeOrigin),
                                            m_action.shortcut().toString(QKeySequence::NativeText))
                                 : tr("This trace has no times. Record with --mode all, or run "
                                      "'photofinish replay --survey' "
                                      "on it, which gives it those of a re-execution");
  m_action.setToolTip(tip);
  m_action.setStatusTip(tip);
  Q_EMIT changed();
}

}  // namespace pf::views

#include "moc_axis_choice.cpp"

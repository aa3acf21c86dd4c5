// SPDX-License-Identifier: GPL-3.0-or-later
// The diagram's switch between the logical and the physical axis.
#include <QAction>

#include "views/diagram/minimap.h"
#include "views/diagram/space_time_canvas.h"
#include "views/diagram/space_time_view.h"
#include "views/panes/icons.h"
#include "views/trace/trace_text.h"

namespace pf::views {

void SpaceTimeView::makeAxisAction() {
  m_physicalAxis = addTool(tr("Physical time"), {}, icon(Icon::Clock), QKeySequence(Qt::Key_X));
  m_physicalAxis->setCheckable(true);
  connect(m_physicalAxis, &QAction::triggered, this,
          [this](bool on) { setAxis(on ? TimeAxis::Physical : TimeAxis::Logical); });
}

TimeAxis SpaceTimeView::axis() const {
  return m_canvas->viewport().axis();
}

void SpaceTimeView::setAxis(TimeAxis axis) {
  m_wantedAxis = axis;
  const TraceIndexPtr& trace = m_canvas->viewport().traces().logical;
  const bool wanted = axis == TimeAxis::Physical && trace && trace->hasPhysicalTimes();
  if (!wanted) {
    m_axisWork.forget();
    m_canvas->viewport().setAxis(TimeAxis::Logical, selectedEvent());
  } else if (m_canvas->viewport().traces().physical) {
    m_canvas->viewport().setAxis(TimeAxis::Physical, selectedEvent());
  } else if (!m_axisWork.isBusy()) {
    workOutPhysicalAxis();
  }
  onAxis();
}

/// Until it is there the logical axis is shown.
void SpaceTimeView::workOutPhysicalAxis() {
  const TraceIndexPtr trace = m_canvas->viewport().traces().logical;
  if (trace->eventCount() <= kFewEvents) {
    m_canvas->viewport().setPhysical(TraceIndex::onPhysicalAxis(*trace, m_pyramidMaker));
    m_canvas->viewport().setAxis(TimeAxis::Physical, selectedEvent());
    return;
  }
  m_axisWork.run(
      [trace, maker = m_pyramidMaker] { return TraceIndex::onPhysicalAxis(*trace, maker); },
      [this](TraceIndexPtr physical) {
        m_canvas->viewport().setPhysical(std::move(physical));
        m_canvas->viewport().setAxis(TimeAxis::Physical, selectedEvent());
        onAxis();
      });
}

/// Brings what is beside the canvas to its axis.
void SpaceTimeView::onAxis() {
  const TraceIndexPtr& trace = m_canvas->trace();
  const bool possible = trace && trace->hasPhysicalTimes();
  m_physicalAxis->setEnabled(possible);
  m_physicalAxis->setChecked(possible && m_wantedAxis == TimeAxis::Physical);
  const QString tip = !trace || !trace->hasEvents() ? tr("Physical time: no events are there yet")
                      : possible
                          ? tr("Physical instead of logical time across: %1 (%2)")
                                .arg(timeOriginText(trace->execution().timeOrigin),
                                     m_physicalAxis->shortcut().toString(QKeySequence::NativeText))
                          : tr("This trace has no times. Record with --mode all, or run "
                               "'photofinish replay --survey' "
                               "on it, which gives it those of a re-execution");
  m_physicalAxis->setToolTip(tip);
  m_physicalAxis->setStatusTip(tip);
  m_minimap->showOn(trace);
  m_minimap->setFound(m_canvas->found());
  m_legend->setAxis(axis(), trace ? trace->execution().timeOrigin : TimeOrigin::None);
  syncBars();
  updateInfo();
}

}  // namespace pf::views

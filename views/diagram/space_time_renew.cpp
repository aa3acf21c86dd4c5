// SPDX-License-Identifier: GPL-3.0-or-later
// The canvas takes a newer version of the run that it shows.
#include <algorithm>

#include "views/diagram/space_time_canvas.h"
#include "views/values/text.h"

namespace pf::views {

/// The number that the chosen alternative of the selected event has in `newer`; 0: none is chosen,
/// or it is none there.
int SpaceTimeCanvas::sameAlternative(const TraceIndex& newer) const {
  const EventRef selected = m_overlay.selected;
  const auto races = m_trace->racesAt(selected);
  if (m_overlay.alternative == 0 || races.empty() || newer.racesAt(selected).empty()) {
    return 0;
  }
  const auto messageOf = [](const TraceIndex& trace, std::uint32_t message) {
    return message < trace.messageCount() ? trace.execution().messages[message] : Message();
  };
  const Message chosen = messageOf(
      *m_trace, m_trace->data().races[races.front()].alternatives[at(m_overlay.alternative - 1)]);
  const std::vector<std::uint32_t> all =
      newer.data().races[newer.racesAt(selected).front()].alternatives;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Message other = messageOf(newer, all[i]);
    if (other.send == chosen.send && other.dest == chosen.dest && other.tag == chosen.tag) {
      return toInt(i) + 1;
    }
  }
  return 0;
}

void SpaceTimeCanvas::renewTrace(const TraceIndexPtr& trace, const TraceIndexPtr& physical) {
  constexpr double kFitStep = 96;
  if (axis() == TimeAxis::Physical && !physical) {
    setAxis(TimeAxis::Logical);
  }
  const bool onPhysical = axis() == TimeAxis::Physical;
  const TraceIndexPtr& newer = onPhysical ? physical : trace;
  m_overlay.alternative = sameAlternative(*newer);
  // Physical times count in other units when a run has become long.
  const double units = m_physical && physical
                           ? m_physical->nanoseconds(2) / std::max(physical->nanoseconds(2), 1.0)
                           : 1;
  const auto scaled = [units](double& time) { time = 1 + (time - 1) * units; };
  for (std::vector<Span>* history : {&m_back, &m_forward}) {
    std::erase_if(*history,
                  [&](const Span& span) { return span.axis == TimeAxis::Physical && !physical; });
    for (Span& span : *history) {
      if (span.axis == TimeAxis::Physical) {
        scaled(span.t0);
        scaled(span.t1);
      }
    }
  }
  const bool fromStart = m_span.t0 <= 1;
  const bool toEnd = m_span.t1 >= m_trace->lastTime();
  double grown = newer->lastTime();
  double last = m_trace->lastTime();
  if (onPhysical) {
    for (double* time : {&m_span.t0, &m_span.t1, &m_cacheGeometry.t0, &m_cacheGeometry.t1, &last}) {
      scaled(*time);
    }
  }
  grown -= last;
  m_names = QPixmap();
  m_logical = trace;
  m_physical = physical;
  m_trace = newer;
  drawSceneAgain();
  if (toEnd && fromStart && m_trace->lastTime() + margin() > m_span.t1) {
    const double least = onPhysical ? 0 : view().plot.width() / kFitStep;
    m_span.t0 = 1 - margin();
    m_span.t1 = std::max(m_trace->lastTime() + margin(), m_span.t0 + least);
  } else if (toEnd && !fromStart) {
    m_span.t0 += grown;
    m_span.t1 += grown;
  }
  arrangeFound();
  refreshCone();
  Q_EMIT viewChanged();
  update();
}

}  // namespace pf::views

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/canvas/zoom_history.h"

namespace pf::views {

namespace {

constexpr std::size_t kMostSteps = 100;
constexpr qint64 kOneStepMs = 400;

}  // namespace

void ZoomHistory::remember(const ViewStep& present) {
  const bool sameStep =
      m_sinceChange.isValid() && m_sinceChange.elapsed() < kOneStepMs && !m_back.empty();
  m_sinceChange.restart();
  if (sameStep) {
    return;
  }
  m_back.push_back(present);
  if (m_back.size() > kMostSteps) {
    m_back.erase(m_back.begin());
  }
  m_forward.clear();
}

std::optional<ViewStep> ZoomHistory::undo(const ViewStep& present) {
  return take(m_back, m_forward, present);
}

std::optional<ViewStep> ZoomHistory::redo(const ViewStep& present) {
  return take(m_forward, m_back, present);
}

std::optional<ViewStep> ZoomHistory::take(std::vector<ViewStep>& from, std::vector<ViewStep>& to,
                                          const ViewStep& present) {
  if (from.empty()) {
    return std::nullopt;
  }
  to.push_back(present);
  const ViewStep step = from.back();
  from.pop_back();
  beginStep();
  return step;
}

void ZoomHistory::clear() {
  m_back.clear();
  m_forward.clear();
}

void ZoomHistory::remove(TimeAxis axis) {
  for (std::vector<ViewStep>* steps : {&m_back, &m_forward}) {
    std::erase_if(*steps, [axis](const ViewStep& step) { return step.axis == axis; });
  }
}

void ZoomHistory::renewTimes(TimeAxis axis, const std::function<double(double)>& renewed) {
  for (std::vector<ViewStep>* steps : {&m_back, &m_forward}) {
    for (ViewStep& step : *steps) {
      if (step.axis == axis) {
        step.time = {renewed(step.time.t0), renewed(step.time.t1)};
      }
    }
  }
}

}  // namespace pf::views

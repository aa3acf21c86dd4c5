// SPDX-License-Identifier: MIT
#include "plugins/bundled/view_pane.h"

#include "plugins/bundled/index_trace.h"
#include "plugins/host/facts.h"

namespace pf::plugins {

ViewPane::ViewPane(photofinish::Window& window, ViewWidget* widget)
    : m_window(window),
      m_widget(widget),
      m_selecting(
          QObject::connect(widget, &ViewWidget::eventSelected, widget,
                           [this](const EventRef& event) { m_window.select(shownRef(event)); })) {}

ViewPane::~ViewPane() {
  QObject::disconnect(m_selecting);
}

void ViewPane::traceChanged(bool newer) {
  const auto* const trace = dynamic_cast<const IndexTrace*>(m_window.trace());
  const views::TraceIndexPtr index = trace != nullptr ? trace->index() : nullptr;
  if (newer && index != nullptr) {
    m_widget->renewTrace(index);
  } else {
    m_widget->setTrace(index);
  }
}

void ViewPane::selectionChanged() {
  m_widget->setSelectedEvent(eventOf(m_window.selected()));
}

void ViewPane::cutChanged() {
  std::vector<values::ReplayPosition> positions;
  const photofinish::Trace* const trace = m_window.trace();
  for (Rank rank = 0; trace != nullptr && rank < trace->ranks(); ++rank) {
    if (const std::uint64_t next = m_window.next(rank); next != 0) {
      positions.push_back({rank, next, true, m_window.inside(rank)});
    }
  }
  m_widget->setPositions(positions);
}

}  // namespace pf::plugins

#include "moc_view_pane.cpp"

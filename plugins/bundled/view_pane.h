// SPDX-License-Identifier: MIT
// Bundled panes. The window calls them as it calls those of others; the trace that it gives them is an IndexTrace, and they look
// at the index behind it, which has what only a view of millions of events needs.
#pragma once

#include <vector>

#include <QPointer>
#include <QWidget>

#include "plugins/api/plugin.h"
#include "plugins/host/bundled_panes.h"
#include "views/trace/trace_index.h"
#include "views/values/space_time_types.h"

namespace pf::plugins {

/// What a bundled pane shows.
class ViewWidget : public QWidget {
  Q_OBJECT
 public:
  using QWidget::QWidget;
  /// Null when no trace is open. What is behind it never changes.
  virtual void setTrace(const views::TraceIndexPtr& trace) = 0;
  /// A newer version of the run that is shown, of a recording that goes on: what was chosen here stays.
  /// setSelectedEvent() follows.
  virtual void renewTrace(const views::TraceIndexPtr& trace) { setTrace(trace); }
  /// The event selected elsewhere; invalid when none.
  virtual void setSelectedEvent(const EventRef& event) = 0;
  /// Where the ranks of the replay are; empty when none runs.
  virtual void setPositions(const std::vector<values::ReplayPosition>& /*positions*/) {}

 Q_SIGNALS:
  void eventSelected(const pf::EventRef& event);
};

/// A widget as a pane of the interface.
class ViewPane : public photofinish::Pane {
 public:
  /// `widget` is its parent's.
  ViewPane(photofinish::Window& window, ViewWidget* widget);
  ~ViewPane() override;
  ViewPane(const ViewPane&) = delete;
  ViewPane& operator=(const ViewPane&) = delete;

  [[nodiscard]] QWidget* widget() override { return m_widget; }
  void traceChanged(bool newer) override;
  void selectionChanged() override;
  void cutChanged() override;

 private:
  photofinish::Window& m_window;
  QPointer<ViewWidget> m_widget;
  QMetaObject::Connection m_selecting;
};

template <typename Widget>
photofinish::Pane* makeViewPane(photofinish::Window& window, QWidget* parent) {
  return new ViewPane(window, new Widget(parent));
}

/// The entry of a bundled pane, as PHOTOFINISH_PLUGIN makes those of others.
template <const photofinish::Description& kDescription, typename Widget>
const PhotofinishPlugin* bundledPane() {
  static const PhotofinishPlugin plugin = {
      PHOTOFINISH_PLUGIN_INTERFACE,
      PHOTOFINISH_PLUGIN_REVISION,
      kDescription.id,
      PF_VERSION,
      kDescription.title,
      [](photofinish::Parts* parts) { parts->pane(kDescription, makeViewPane<Widget>); }};
  return &plugin;
}

}  // namespace pf::plugins

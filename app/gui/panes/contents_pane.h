// SPDX-License-Identifier: GPL-3.0-or-later
// The pane Contents: of the event that is selected in the diagram. It reads on another thread, and only while it can be seen.
#pragma once

#include <QObject>
#include <QString>

#include "replay_engine/base/result.h"
#include "replay_engine/execution/execution.h"
#include "views/trace/chunks/background.h"
#include "views/trace/trace_index.h"

class QDockWidget;

namespace pf::session {
struct EventContents;
}
namespace pf::views {
class ContentsView;
}

namespace pf::gui {

class ContentsPane : public QObject {
  Q_OBJECT
 public:
  ContentsPane(views::ContentsView& view, QDockWidget& dock);

  /// `path` empty: what is shown has no trace.
  void setTrace(const QString& path, const views::TraceIndexPtr& trace);
  void select(const EventRef& event);
  /// Brings the pane into view, with this event.
  void open(const EventRef& event);
  [[nodiscard]] bool isReading() const { return m_reading.isBusy(); }

 private:
  void refresh();
  void show(const Result<session::EventContents>& found);
  [[nodiscard]] QString title() const;

  views::ContentsView& m_view;
  QDockWidget& m_dock;
  bool m_seen = false;  ///< a tab behind others counts as visible for Qt; here it does not
  QString m_path;
  views::TraceIndexPtr m_trace;
  EventRef m_event;
  EventRef m_shown;
  views::Background<Result<session::EventContents>> m_reading;
};

}  // namespace pf::gui

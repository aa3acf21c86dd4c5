// SPDX-License-Identifier: GPL-3.0-or-later
// Breakpoints in the window: set and changed in the source, in their pane and in a dialog.
#pragma once

#include <functional>

#include <QObject>

#include "app/gui/panes/window_views.h"
#include "views/values/debug_values.h"

class QAction;

namespace pf::session {
class DebugSession;
}

namespace pf::gui {

class ShownTrace;

class BreakpointActions : public QObject {
  Q_OBJECT
 public:
  BreakpointActions(QWidget& window, const WindowViews& views, ShownTrace& shown,
                    session::DebugSession& session);

  /// "New breakpoint …".
  [[nodiscard]] QAction* newBreakpoint() const { return m_new; }

 private:
  void connectSource();
  void connectPane();
  void change(int id, const std::function<void(values::Breakpoint&)>& edit);
  void edit(const values::Breakpoint& breakpoint);
  void showMenu(const QString& file, int line, const QPoint& at);
  void askCondition(const QString& file, int line);

  QWidget& m_window;
  const WindowViews m_views;
  ShownTrace& m_shown;
  session::DebugSession& m_session;
  QAction* m_new;
};

}  // namespace pf::gui

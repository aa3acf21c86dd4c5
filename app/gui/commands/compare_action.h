// SPDX-License-Identifier: GPL-3.0-or-later
// "Compare with …": another recording beside the one that is open.
#pragma once

#include <QObject>

class QAction;

namespace pf::session {
class DebugSession;
}

namespace pf::gui {

class CompareWindow;
class ShownTrace;
class StatusLine;

class CompareAction : public QObject {
  Q_OBJECT
 public:
  CompareAction(QWidget& window, ShownTrace& shown, StatusLine& status,
                session::DebugSession& session);

  [[nodiscard]] QAction* action() const { return m_action; }
  /// compared() follows.
  void compareWith(const QString& path);

 Q_SIGNALS:
  void compared(pf::gui::CompareWindow* window);  ///< null: that failed, and was said

 private:
  void ask();
  void show(CompareWindow* window, const QString& own);

  QWidget& m_window;
  ShownTrace& m_shown;
  StatusLine& m_status;
  session::DebugSession& m_session;
  QAction* m_action;
};

}  // namespace pf::gui

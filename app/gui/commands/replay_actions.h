// SPDX-License-Identifier: GPL-3.0-or-later
// The commands that move a replay, and those that ask it: menus Replay and Debug, and the tool bar.
#pragma once

#include <QHash>
#include <QList>
#include <QObject>
#include <QTimer>

#include "app/gui/panes/time_travel_bar.h"
#include "app/gui/panes/window_views.h"
#include "app/session/destinations.h"

class QAction;
class QMenu;
class QToolBar;

namespace pf::session {
class DebugSession;
}

namespace pf::gui {

class ShownTrace;

class ReplayActions : public QObject {
  Q_OBJECT
 public:
  ReplayActions(QWidget& window, const WindowViews& views, ShownTrace& shown,
                session::DebugSession& session);

  void addTo(QMenu& replay, QMenu& debug);
  void addTo(QToolBar& bar);
  /// What the time-travel bar is made of.
  [[nodiscard]] const TimeTravelBar::Ways& ways() const { return m_ofTravel; }
  /// It makes sense only while a recording is open.
  void needsRecording(QAction* action) { m_needRecording.append(action); }
  /// What can be done now; what cannot says why.
  void refresh();
  /// The same before long: ranks tell of each event.
  void refreshSoon() { m_soon.start(); }

 Q_SIGNALS:
  void said(const QString& text, bool problem);

 private:
  void makeMoves();
  void makeCycles();
  void makeWaysOn();
  void makeWaysBack();
  QAction* move(const char* name, const QString& text, const QString& tip, const QKeySequence& keys,
                session::Move where);
  void makeQuestions();
  void refreshEnd();
  void tellSnapshots();
  QAction* make(const char* name, const QString& text, const QString& tip, const QKeySequence& keys,
                const std::function<void()>& does);
  QAction* makeSwitch(const char* name, const QString& text, const QString& tip);
  void askLastChange();
  void askWhichMessage();
  void showWhichMessage(const QString& expression);
  void compareCycles();
  void markFailing();

  QWidget& m_window;
  const WindowViews m_views;
  ShownTrace& m_shown;
  session::DebugSession& m_session;
  QList<QAction*> m_goals;     ///< of menu Replay: where to
  QList<QAction*> m_steps;     ///< a delivery or an event at a time
  QList<QAction*> m_cycles;    ///< runs of the replay
  QList<QAction*> m_ways;      ///< further ways, forth and back
  QList<QAction*> m_switches;  ///< of menu Replay: what holds for cycles
  QList<QAction*> m_ofDebug;   ///< of menu Debug
  QList<QAction*> m_ofBar;
  TimeTravelBar::Ways m_ofTravel;
  QHash<QAction*, session::Move> m_moves;  ///< what goes somewhere
  QAction* m_previousHit = nullptr;
  QList<QAction*> m_lines;  ///< back by lines
  QAction* m_lastChange = nullptr;
  QTimer m_soon;
  QList<QAction*> m_needRecording;
  QAction* m_end = nullptr;
  QHash<QAction*, QString> m_back;  ///< that go back, each with its tip
};

}  // namespace pf::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/commands/replay_actions.h"

#include <algorithm>

#include <QAction>
#include <QInputDialog>
#include <QMenu>
#include <QToolBar>
#include <QTreeView>

#include "app/gui/commands/command.h"
#include "app/gui/commands/cycle_comparison_dialog.h"
#include "app/gui/panes/shown_trace.h"
#include "app/session/debug_session.h"
#include "views/diagram/space_time_view.h"
#include "views/models/session_models.h"
#include "views/panes/debug_views.h"
#include "views/panes/icons.h"
#include "views/panes/session_views.h"

namespace pf::gui {

using session::DebugSession;
using session::Move;
using views::Icon;
using views::icon;

ReplayActions::ReplayActions(QWidget& window, const WindowViews& views, ShownTrace& shown,
                             DebugSession& session)
    : QObject(&window), m_window(window), m_views(views), m_shown(shown), m_session(session) {
  makeMoves();
  makeQuestions();
  connect(&m_session, &DebugSession::snapshotsChanged, this, &ReplayActions::tellSnapshots);
  connect(m_views.variables, &views::VariablesView::messageRequested, this,
          &ReplayActions::showWhichMessage);
}

QAction* ReplayActions::make(const char* name, const QString& text, const QString& tip,
                             const QKeySequence& keys, const std::function<void()>& does) {
  QAction* action = makeCommand(m_window, text, tip, {}, keys, does);
  action->setObjectName(QString::fromLatin1(name));
  return action;
}

QAction* ReplayActions::makeSwitch(const char* name, const QString& text, const QString& tip) {
  QAction* action = make(name, text, tip, {}, {});
  action->setCheckable(true);
  return action;
}

void ReplayActions::makeMoves() {
  const auto to = [this](Move move) { return [this, move] { m_session.go(move); }; };
  QAction* restart =
      makeCommand(m_window, tr("Re&start cycle"),
                  tr("Run the recording again from the start; breakpoints and watches come back"),
                  icon(Icon::RestartCycle), QKeySequence(tr("Ctrl+Shift+F5")),
                  [this] { m_session.restartCycle(); });
  QAction* repeat = makeCommand(
      m_window, tr("Re&peat cycle"), tr("Run the recording again to where the last cycle was sent"),
      icon(Icon::RestartCycle), QKeySequence(tr("Ctrl+F5")), [this] { m_session.repeatCycle(); });
  QAction* nextReceive =
      makeCommand(m_window, tr("Next &receive"), tr("Run the current rank to its next receive"),
                  icon(Icon::NextReceive), QKeySequence(tr("F8")), to(Move::NextReceive));
  QAction* failing = makeCommand(
      m_window, tr("&Failing receive"), tr("Replay to the last receive of the rank that failed"),
      icon(Icon::RunToFailure), QKeySequence(tr("F4")), to(Move::Failure));
  QAction* mark = makeCommand(m_window, tr("&Mark as failing receive"),
                              tr("The selected event is what Failing receive goes to"),
                              icon(Icon::Bookmark), {}, [this] { markFailing(); });
  m_end =
      makeCommand(m_window, tr("&End replay"), tr("End the ranks of this cycle"), icon(Icon::Stop),
                  QKeySequence(tr("Shift+F5")), [this] { m_session.endReplay(); });
  m_goals = {failing, nextReceive, m_views.diagram->action(views::DiagramAction::ReplayHere), mark};
  m_steps = {makeCommand(m_window, tr("&Deliver next message"),
                         tr("Let the next message of all ranks be taken, and no other"), {},
                         QKeySequence(tr("F7")), to(Move::NextDeliveryAnywhere)),
             makeCommand(m_window, tr("Deliver next message &here"),
                         tr("Let the current rank take its next message"), {},
                         QKeySequence(tr("Shift+F7")), to(Move::NextDelivery)),
             make("previousEvent", tr("&Previous event"),
                  tr("Take the current rank one event back, by running the recording again"),
                  QKeySequence(tr("Shift+F8")), to(Move::PreviousEvent))};
  m_cycles = {restart, repeat, m_end};
  m_ways = {make("nextEvent", tr("Next e&vent"), tr("Run the current rank to its next event"),
                 QKeySequence(tr("Ctrl+F8")), to(Move::NextEvent)),
            make("nextRacing", tr("Next racin&g receive"),
                 tr("Run to the next receive of any rank that could have taken another message"),
                 QKeySequence(tr("F6")), to(Move::NextRace)),
            make("previousReceive", tr("Previous receive"),
                 tr("Take the current rank back to its receive before, by running the recording "
                    "again"),
                 QKeySequence(tr("Ctrl+Shift+F8")), to(Move::PreviousReceive)),
            make("previousHit", tr("Previous &hit"),
                 tr("Back to the hit of a breakpoint before this place, on the current rank"),
                 QKeySequence(tr("Shift+F6")), [this] { m_session.previousHit(); }),
            make("lastChange", tr("Back to the &last change …"),
                 tr("Back to where a variable was changed last, by running the recording again "
                    "twice"),
                 QKeySequence(tr("Ctrl+F6")), [this] { askLastChange(); })};
  const auto named = [this](const char* name, const QString& text) {
    const QList<QAction*> all = m_steps + m_ways;
    const auto found = std::find_if(all.begin(), all.end(), [name](const QAction* action) {
      return action->objectName() == QLatin1String(name);
    });
    (*found)->setIconText(text);
    return *found;
  };
  m_ofBar = {failing,
             named("previousReceive", tr("◀ Receive")),
             named("previousEvent", tr("◀ Event")),
             named("nextEvent", tr("Event ▶")),
             nextReceive,
             restart,
             m_end};
  m_needRecording = {restart, repeat, nextReceive, failing, mark};
  m_needRecording += m_steps;
  for (QAction* action : m_steps + m_ways) {
    if (const QString name = action->objectName();
        name.startsWith(QLatin1String("previous")) || name == QLatin1String("lastChange")) {
      m_back[action] = action->statusTip();
    }
  }
}

/// What goes back says what it goes back to, and what that costs.
void ReplayActions::tellSnapshots() {
  const QString snapshots = m_session.snapshotsText();
  for (auto back = m_back.begin(); back != m_back.end(); ++back) {
    back.key()->setStatusTip(snapshots.isEmpty() ? back.value()
                                                 : tr("%1. %2").arg(back.value(), snapshots));
  }
}

void ReplayActions::makeQuestions() {
  QAction* message =
      make("whichMessage", tr("Which &message filled …"),
           tr("The message that was written last to a variable or an address, and who sent it"),
           QKeySequence(tr("Ctrl+M")), [this] { askWhichMessage(); });
  QAction* threads = makeSwitch(
      "stepOneThread", tr("Other threads &wait during a step"),
      tr("A step moves only the thread that is stepped; the rank's other threads stand meanwhile. "
         "A step over what waits for one of them does not end: pause it"));
  connect(threads, &QAction::toggled, &m_session.control(), &session::RunControl::stepOneThread);
  QAction* rebuilt =
      makeSwitch("", tr("Allow a re&built program"),
                 tr("Replay a program that was changed and rebuilt since it was recorded; where it "
                    "calls MPI otherwise, that is a divergence"));
  connect(rebuilt, &QAction::toggled, &m_session, &DebugSession::allowRebuilt);
  QAction* compare = make("compareCycles", tr("&Compare cycles …"),
                          tr("Two cycles side by side: which hits and values differ"),
                          QKeySequence(tr("Ctrl+Shift+C")), [this] { compareCycles(); });
  m_views.cycles->tree()->setContextMenuPolicy(Qt::ActionsContextMenu);
  m_views.cycles->tree()->addAction(compare);
  m_switches = {compare, rebuilt};
  m_ofDebug = {message, threads};
}

void ReplayActions::addTo(QMenu& replay, QMenu& debug) {
  bool first = true;
  for (const QList<QAction*>& part : {m_goals, m_steps, m_cycles, m_ways, m_switches}) {
    if (!first) {
      replay.addSeparator();
    }
    first = false;
    replay.addActions(part);
  }
  debug.addActions(m_ofDebug);
}

void ReplayActions::addTo(QToolBar& bar) {
  bar.addActions(m_ofBar);
}

void ReplayActions::refresh() {
  const bool open = m_session.isOpen() && m_session.source() == session::Source::Recording;
  for (QAction* action : m_needRecording) {
    action->setEnabled(open);
  }
  m_end->setEnabled(m_session.isReplaying());
}

void ReplayActions::markFailing() {
  if (m_views.diagram->selectedEvent().valid()) {
    m_session.bookmarks().markFailing(m_views.diagram->selectedEvent());
  }
}

void ReplayActions::askLastChange() {
  const QStringList& watches = m_views.watches->model()->expressions();
  bool ok = false;
  const QString expression = QInputDialog::getItem(
      &m_window, tr("Back to the last change"),
      tr("Expression (of globals and statics), on rank %1:").arg(m_session.currentRank()), watches,
      0, true, &ok);
  if (ok) {
    m_session.lastChange(expression);
  }
}

void ReplayActions::askWhichMessage() {
  bool ok = false;
  const QString expression = QInputDialog::getText(
      &m_window, tr("Which message filled this"),
      tr("Variable, expression or address, on rank %1:").arg(m_session.currentRank()),
      QLineEdit::Normal, {}, &ok);
  if (ok) {
    showWhichMessage(expression);
  }
}

void ReplayActions::showWhichMessage(const QString& expression) {
  m_session.buffers().ask(expression, [this](const session::WhichMessage& answer) {
    if (answer.event.valid()) {
      m_shown.selectEvent(answer.event);
    }
    Q_EMIT said(answer.text, answer.problem);
  });
}

void ReplayActions::compareCycles() {
  const QList<values::Cycle>& cycles = m_session.cycles().all();
  if (cycles.size() < 2) {
    Q_EMIT said(tr("There are no two cycles yet. Restart cycle (Ctrl+Shift+F5) makes one."), false);
    return;
  }
  auto* dialog = new CycleComparisonDialog(cycles, m_views.cycles->selectedCycle(), 0, &m_window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &CycleComparisonDialog::eventActivated, &m_shown, &ShownTrace::selectEvent);
  dialog->open();
}

}  // namespace pf::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/commands/replay_actions.h"

#include <QAction>
#include <QInputDialog>
#include <QMenu>
#include <QToolBar>
#include <QTreeView>

#include "app/gui/commands/command.h"
#include "app/gui/commands/cycle_comparison_dialog.h"
#include "app/gui/panes/shown_trace.h"
#include "app/session/debug_session.h"
#include "app/session/line_search.h"
#include "views/diagram/space_time_view.h"
#include "views/models/session_models.h"
#include "views/models/watches_model.h"
#include "views/panes/action_tips.h"
#include "views/panes/debug_views.h"
#include "views/panes/icons.h"
#include "views/panes/rank_strip.h"
#include "views/panes/session_views.h"

namespace pf::gui {

using session::DebugSession;
using session::Move;
using views::Icon;
using views::icon;

namespace {

/// The action, with this text on buttons.
QAction* named(QAction* action, const QString& text) {
  action->setIconText(text);
  return action;
}

}  // namespace

ReplayActions::ReplayActions(QWidget& window, const WindowViews& views, ShownTrace& shown,
                             DebugSession& session)
    : QObject(&window), m_window(window), m_views(views), m_shown(shown), m_session(session) {
  makeMoves();
  makeQuestions();
  constexpr int kSoonMs = 50;
  m_soon.setSingleShot(true);
  m_soon.setInterval(kSoonMs);
  connect(&m_soon, &QTimer::timeout, this, &ReplayActions::refresh);
  connect(&m_session.inspector(), &session::Inspector::currentRankChanged, this,
          &ReplayActions::refresh);
  connect(&m_session, &DebugSession::marksChanged, this, &ReplayActions::refresh);
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

QAction* ReplayActions::move(const char* name, const QString& text, const QString& tip,
                             const QKeySequence& keys, Move where) {
  QAction* action = make(name, text, tip, keys, [this, where] { m_session.go(where); });
  m_moves[action] = where;
  return action;
}

void ReplayActions::makeMoves() {
  makeCycles();
  makeWaysOn();
  makeWaysBack();
}

void ReplayActions::makeCycles() {
  QAction* restart =
      makeCommand(m_window, tr("Re&start cycle"),
                  tr("Run the recording again from the start; breakpoints and watches come back"),
                  icon(Icon::RestartCycle), QKeySequence(tr("Ctrl+Shift+F5")),
                  [this] { m_session.restartCycle(); });
  QAction* repeat = makeCommand(
      m_window, tr("Re&peat cycle"), tr("Run the recording again to where the last cycle was sent"),
      icon(Icon::RestartCycle), QKeySequence(tr("Ctrl+F5")), [this] { m_session.repeatCycle(); });
  m_end =
      makeCommand(m_window, tr("&End replay"), tr("End the ranks of this cycle"), icon(Icon::Stop),
                  QKeySequence(tr("Shift+F5")), [this] { m_session.endReplay(); });
  m_end->setObjectName(QStringLiteral("endReplay"));
  m_cycles = {restart, repeat, m_end};
  m_ofBar = {restart, m_end};
  m_needRecording = {restart, repeat};
}

void ReplayActions::makeWaysOn() {
  QAction* nextReceive =
      move("nextReceive", tr("Next &receive"), tr("Run the current rank to its next receive"),
           QKeySequence(tr("F8")), Move::NextReceive);
  nextReceive->setIcon(icon(Icon::NextReceive));
  QAction* failing = move("failingReceive", tr("&Failing receive"),
                          tr("Replay to the last receive of the rank that failed"),
                          QKeySequence(tr("F4")), Move::Failure);
  failing->setIcon(icon(Icon::RunToFailure));
  QAction* mark = makeCommand(m_window, tr("&Mark as failing receive"),
                              tr("The selected event is what Failing receive goes to"),
                              icon(Icon::Bookmark), {}, [this] { markFailing(); });
  QAction* nextEvent =
      move("nextEvent", tr("Next e&vent"), tr("Run the current rank to its next event"),
           QKeySequence(tr("Ctrl+F8")), Move::NextEvent);
  QAction* nextRacing =
      move("nextRacing", tr("Next racin&g receive"),
           tr("Run to the next receive of any rank that could have taken another message"),
           QKeySequence(tr("F12")), Move::NextRace);
  m_steps = {move("deliverNext", tr("&Deliver next message"),
                  tr("Let the next message of all ranks be taken, and no other"),
                  QKeySequence(tr("F7")), Move::NextDeliveryAnywhere),
             move("deliverHere", tr("Deliver next message &here"),
                  tr("Let the current rank take its next message"), QKeySequence(tr("Shift+F7")),
                  Move::NextDelivery)};
  m_goals = {failing, nextReceive, m_views.diagram->action(views::DiagramAction::ReplayHere), mark};
  m_ways = {nextEvent, nextRacing};
  m_needRecording.append(mark);
  m_views.diagram->addToMenuOfEvents(mark);
  using values::RankAction;
  const auto ofRanks = [this](RankAction action, const QString& text) {
    return named(m_views.ranks->action(action), text);
  };
  m_ofTravel.on = {ofRanks(RankAction::Continue, tr("Continue")),
                   ofRanks(RankAction::Next, tr("Line ▶")),
                   ofRanks(RankAction::Step, tr("Step ▶")),
                   ofRanks(RankAction::Finish, tr("Out ▶")),
                   named(nextEvent, tr("Event ▶")),
                   named(nextReceive, tr("Receive ▶")),
                   named(nextRacing, tr("Racing ▶"))};
  m_ofTravel.failing = named(failing, tr("To the failure"));
}

void ReplayActions::makeWaysBack() {
  QAction* previousEvent =
      move("previousEvent", tr("&Previous event"),
           tr("Take the current rank one event back, by running the recording again"),
           QKeySequence(tr("Shift+F8")), Move::PreviousEvent);
  QAction* previousReceive =
      move("previousReceive", tr("Previous receive"),
           tr("Take the current rank back to its receive before, by running the recording again"),
           QKeySequence(tr("Ctrl+Shift+F8")), Move::PreviousReceive);
  m_previousHit = make("previousHit", tr("Previous &hit"),
                       tr("Back to the hit of a breakpoint before this place, on the current rank"),
                       QKeySequence(tr("Shift+F6")), [this] { m_session.previousHit(); });
  m_lastChange =
      make("lastChange", tr("Back to the &last change …"),
           tr("Back to where a variable was changed last, by running the recording again twice"),
           QKeySequence(tr("Ctrl+F6")), [this] { askLastChange(); });
  using session::LineMove;
  m_lines = {
      make("reverseNext", tr("Line bac&k"),
           tr("Back to the line before, over what was called, by running the recording again"),
           QKeySequence(tr("Ctrl+Shift+F10")), [this] { m_session.lineBack(LineMove::Next); }),
      make("reverseStep", tr("Step back"),
           tr("Back to the line before, into what was called, by running the recording again"),
           QKeySequence(tr("Ctrl+Shift+F11")), [this] { m_session.lineBack(LineMove::Step); }),
      make("reverseFinish", tr("Back &out"),
           tr("Back to the line that called this function, by running the recording again"),
           QKeySequence(tr("Ctrl+Alt+F11")), [this] { m_session.lineBack(LineMove::Finish); })};
  m_steps.append(previousEvent);
  const QList<QAction*> further =
      QList<QAction*>{previousReceive, m_previousHit, m_lastChange} + m_lines;
  m_ways += further;
  for (QAction* action : QList<QAction*>{previousEvent} + further) {
    m_back[action] = action->statusTip();
  }
  m_ofTravel.back = {named(previousReceive, tr("◀ Receive")), named(previousEvent, tr("◀ Event")),
                     named(m_previousHit, tr("◀ Hit")),       named(m_lines[2], tr("◀ Out")),
                     named(m_lines[1], tr("◀ Step")),         named(m_lines[0], tr("◀ Line"))};
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
      makeSwitch("", tr("Allow a program that was re&built or is started otherwise"),
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
  m_soon.stop();
  const bool open = m_session.isOpen() && m_session.source() == session::Source::Recording;
  for (QAction* action : m_needRecording) {
    views::setWhyNot(*action, open ? QString() : tr("No recording is open."));
  }
  for (auto each = m_moves.begin(); each != m_moves.end(); ++each) {
    views::setWhyNot(*each.key(), m_session.whyNot(each.value()));
  }
  views::setWhyNot(*m_previousHit, m_session.whyNoPreviousHit());
  for (QAction* const line : std::as_const(m_lines)) {
    views::setWhyNot(*line, m_session.whyNoLineBack());
  }
  views::setWhyNot(*m_lastChange,
                   m_session.isRunning() ? QString() : tr("No replay runs, or it is starting."));
  refreshEnd();
}

/// What was not started from here is let go.
void ReplayActions::refreshEnd() {
  const auto say = [this](const QString& text, const QString& tip, const QString& whyNot) {
    m_end->setText(text);
    m_end->setStatusTip(tip);
    views::setFirstLineOfTip(
        *m_end, tr("%1 (%2)").arg(tip, m_end->shortcut().toString(QKeySequence::NativeText)));
    views::setWhyNot(*m_end, m_session.isReplaying() ? QString() : whyNot);
  };
  switch (m_session.source()) {
    case session::Source::Recording:
      return say(tr("&End replay"), tr("End the ranks of this cycle"), tr("No replay runs."));
    case session::Source::Job:
      return say(tr("&Detach"), tr("Let go of the job, which goes on"),
                 tr("The job was let go of."));
    case session::Source::Cores:
      return say(tr("&Close the core files"), tr("End the debuggers of the core files"),
                 tr("The core files are closed."));
  }
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
      tr("Expression, on rank %1:").arg(m_session.currentRank()), watches, 0, true, &ok);
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

#include "moc_replay_actions.cpp"

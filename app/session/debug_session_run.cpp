// SPDX-License-Identifier: GPL-3.0-or-later
// From where a user wants to go to a cycle that goes there, and what is said when it is there.
#include <utility>

#include "app/session/debug_session.h"
#include "app/session/line_search.h"
#include "app/session/state/frame_values.h"

namespace pf::session {

/// The ranks are at the gate, and those of the focus set have their GDBs.
void DebugSession::begin() {
  if (m_state.phase != Phase::Attaching) {
    return;
  }
  m_state.phase = Phase::Running;
  m_control.plan();
  const Goal& goal = m_control.goal();
  Q_EMIT progress(goal.event.valid() ? tr("Replaying to %1 …").arg(goal.text) : tr("Replaying …"));
  for (const mi::Rank rank : m_fleet.ranks()) {
    if (!m_lines->holdsAtGate(rank)) {
      goOn(rank);
    }
  }
  order(protocol::OpenGate{});
  m_lines->atGate();
}

void DebugSession::goTo(Goal goal) {
  if (!canReplay() || (goal.event.valid() && refuses(goal.event.rank)) ||
      m_state.events.readsFirst([this, goal] { goTo(goal); })) {
    return;
  }
  if (goal.event.valid() && isGoing() && m_state.phase != Phase::Running) {  // there instead
    m_cycles.last().summary = goal.text;
    m_control.setGoal(std::move(goal));
    return;
  }
  if (!goal.event.valid() || !m_control.canReach(goal)) {
    startCycle(std::move(goal));
    return;
  }
  m_times.movesOn();
  m_control.goOnTo(std::move(goal));
}

/// Whether the ranks are on their way to an event, and GDB has not stopped the one that is looked at.
bool DebugSession::isGoing() const {
  if (!m_control.goal().event.valid() || m_next) {
    return false;
  }
  const bool starts = m_state.phase == Phase::Starting || m_state.phase == Phase::Gating ||
                      m_state.phase == Phase::Attaching;
  return starts || (m_state.phase == Phase::Running && m_control.awaitsCut() &&
                    m_state.stoppedDebugger(m_state.current) == nullptr);
}

void DebugSession::replayTo(const EventRef& event) {
  if (isOpen() && event.valid()) {
    m_lines->cancel();
    goTo({event, tr("rank %1 before its event %2").arg(event.rank).arg(event.serial)});
  }
}

void DebugSession::restartCycle() {
  m_lines->cancel();
  startCycle({{}, tr("to the end")});
}

void DebugSession::repeatCycle() {
  m_lines->cancel();
  const Goal& goal = m_control.goal();
  startCycle(goal.text.isEmpty() ? Goal{{}, tr("to the end")} : goal);
}

void DebugSession::go(Move move) {
  // Which receive has failed is known without the other events.
  if (!canReplay() ||
      (move != Move::Failure && m_state.events.readsFirst([this, move] { go(move); }))) {
    return;
  }
  const Destinations from =
      isGoing() ? Destinations(m_state, m_control.goal()) : Destinations(m_state);
  Result<Goal> goal = from.of(move, m_bookmarks.failing());
  if (!goal) {
    Q_EMIT message(QString::fromStdString(goal.error().message), false);
    return;
  }
  if (move == Move::Failure) {
    m_debuggers.join({goal->event.rank});
  }
  m_lines->cancel();
  m_inspector.selectRank(goal->event.rank);
  goTo(std::move(*goal));
}

QString DebugSession::whyNot(Move move) const {
  if (const QString why = whyNoReplay(); !why.isEmpty()) {
    return why;
  }
  if (!isOpen()) {
    return tr("No trace is open.");
  }
  const bool back = move == Move::PreviousEvent || move == Move::PreviousReceive;
  if (back && m_state.now.empty() && !isGoing()) {
    return tr("No replay runs that could go back. Replay to an event first.");
  }
  if (isGoing() || (move != Move::Failure && !m_state.events.areRead())) {
    return {};
  }
  return Destinations(m_state).whyNot(move, m_bookmarks.failing());
}

QString DebugSession::whyNoPreviousHit() const {
  if (const QString why = whyNoReplay(); !why.isEmpty()) {
    return why;
  }
  if (!isOpen()) {
    return tr("No trace is open.");
  }
  return m_state.runs(m_state.current) ? m_search.whyNoPreviousHit()
                                       : m_state.notInReplay(m_state.current);
}

QString DebugSession::whyNoLineBack() const {
  if (const QString why = whyNoReplay(); !why.isEmpty()) {
    return why;
  }
  if (!isOpen()) {
    return tr("No trace is open.");
  }
  if (!m_state.runs(m_state.current)) {
    return m_state.notInReplay(m_state.current);
  }
  const QString why = m_lines->whyNot();
  // Out of a call of MPI it is gone by events.
  const bool byLines = why.isEmpty() && !m_state.now.at(m_state.current).inside();
  return byLines && m_inspector.standsInPython() ? LineSearch::whyNotInPython() : why;
}

bool DebugSession::goesBackByLines() const {
  return m_lines->isUnderWay();
}

void DebugSession::lineBack(LineMove move) {
  if (canReplay() && !refuses(m_state.current) &&
      !m_state.events.readsFirst([this, move] { lineBack(move); })) {
    m_lines->go(move);
  }
}

void DebugSession::previousHit() {
  if (!canReplay() || refuses(m_state.current)) {
    return;
  }
  m_lines->cancel();
  const QString watched = m_state.phase == Phase::Running ? m_search.previousWatch() : QString();
  if (watched.isEmpty()) {
    m_search.toPreviousHit();
    return;
  }
  askWhere(watched, [this, watched](const Result<std::optional<ExpressionPlace>>& place) {
    if (place && (!*place || !(*place)->belowEnd)) {  // not of the stack
      m_search.toPreviousHit();
    } else {
      Q_EMIT message(tr("%1 is known in its frame only: from MPI_Init on GDB cannot count how "
                        "often it changes. 'Last change' of it goes by where it lies.")
                         .arg(watched),
                     true);
    }
  });
}

void DebugSession::lastChange(const QString& expression) {
  if (!canReplay() || refuses(m_state.current)) {
    return;
  }
  m_lines->cancel();
  m_debuggers.join({m_state.current});
  if (m_state.phase != Phase::Running) {
    m_search.toLastChange(expression, {});
    return;
  }
  askWhere(expression.trimmed(), [this,
                                  expression](const Result<std::optional<ExpressionPlace>>& place) {
    if (place) {
      m_search.toLastChange(expression, *place);
    } else {
      Q_EMIT message(
          tr("%1 cannot be watched: %2").arg(expression.trimmed(), toText(place.error().message)),
          true);
    }
  });
}

/// `then` sends the ranks somewhere, or says why not.
void DebugSession::askWhere(const QString& expression, const PlaceOrWhyNot& then) {
  Q_EMIT progress(tr("Looking where %1 lies …").arg(expression));
  m_asked.begin();
  askPlace(m_state, m_state.current, m_inspector.valueRef(), expression.toStdString(),
           [this, rank = m_state.current, then,
            guard = m_asked.guard()](const Result<std::optional<ExpressionPlace>>& place) {
             if (!guard || m_state.current != rank) {
               return;
             }
             then(place);
             if (!m_state.searching) {  // the ranks stay where they are
               Q_EMIT progress({});
               Q_EMIT settled();
             }
           });
}

void DebugSession::act(values::RankAction action, const QList<int>& ranks, const QString& who) {
  m_lines->cancel();
  if (m_state.phase != Phase::Running) {
    if (action == values::RankAction::Continue) {
      restartCycle();
    }
    return;
  }
  if (m_state.source == Source::Recording || !actUnrecorded(action, ranks, who)) {
    if (action == values::RankAction::Continue) {
      m_times.movesOn();
    }
    m_control.act(action, ranks, who);
  }
}

/// The ranks are where they were sent, and GDB knows it.
void DebugSession::arrived(const QString& why) {
  if (m_lines->cutCame()) {
    return;
  }
  const QString& inputs = m_cycles.last().inputs;
  const QString known = inputs.isEmpty() ? QString() : QStringLiteral("; ") + inputs;
  const QString standing = why.isEmpty() ? m_cycles.standingText() : why;
  const QString where = standing.isEmpty() ? aborting() : standing;
  Q_EMIT message(where.isEmpty() ? tr("The ranks have stopped%1.").arg(known)
                                 : tr("Stopped: %1%2.").arg(where, known),
                 false);
  settle(standing.isEmpty() ? where : why);
}

/// "rank 2 is about to call MPI_Abort": that rank is looked at.
QString DebugSession::aborting() {
  for (const auto& [rank, now] : m_state.now) {
    if (m_state.standsBeforeEvent(rank) &&
        m_breakpoints.isAbort({rank, m_state.serialOf(rank) + 1})) {
      m_inspector.selectRank(rank);
      return tr("rank %1 is about to call MPI_Abort").arg(rank);
    }
  }
  return {};
}

void DebugSession::settle(const QString& why) {
  if (m_cycles.none() || m_search.counted()) {
    return;
  }
  Q_EMIT progress({});
  if (!m_cycles.standing().isEmpty()) {
    m_inspector.selectRank(m_cycles.standing().first().rank);
  }
  m_cycles.settled(why);
  tellPositions();
  Q_EMIT settled();
}

void DebugSession::tellPositions() {
  Q_EMIT positionsChanged(m_state.positions());
}

void DebugSession::finishCycle(const QString& why, bool ranToEnd) {
  if (m_cycles.none() || !m_cycles.last().running) {
    return;
  }
  if (!m_next) {
    m_search.notFound(ranToEnd);
    m_lines->cycleEnded(ranToEnd);
  }
  m_cycles.end(why, ranToEnd);
}

}  // namespace pf::session

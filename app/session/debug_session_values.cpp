// SPDX-License-Identifier: GPL-3.0-or-later
// What the GDBs say: states and stops of ranks, stacks, variables, consoles.
#include <csignal>

#include "app/session/debug_session.h"
#include "app/session/line_search.h"
#include "app/session/state/frame_values.h"

namespace pf::session {
namespace {

QString text(std::string_view s) {
  return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size()));
}

}  // namespace

void DebugSession::onRankState(mi::Rank rank, mi::SessionState state) {
  RankNow& now = m_state.now[rank];
  if (state == mi::SessionState::Running) {
    m_lines->goesOn(rank);
    m_watches.goesOn(rank);
    now.why.clear();
    now.broughtBack = false;
    now.broughtTo = 0;
    now.where.clear();
    if (rank == m_state.current) {
      m_inspector.goesOn();
    }
  }
  Q_EMIT ranksChanged();
}

/// Whether nobody is to know of the stop but the parts of the session, as they use it, or as the rank has ended.
bool DebugSession::isOurStop(int rank, const mi::StopEvent& stop) {
  if (m_state.source == Source::Cores) {
    return true;  // the file has been opened, which is dealt with there
  }
  if (m_state.source == Source::Job && stop.exited()) {
    rankEnded(rank, text(stop.describe()));
  }
  if (m_state.phase == Phase::Attaching || m_state.phase == Phase::GoingBack || stop.exited()) {
    return true;
  }
  if (m_stopFilter && stop.reason == mi::StopReason::Breakpoint && !m_control.isStepping(rank)) {
    if (const int id = breakpointAt(rank); id != 0 && m_stopFilter(rank, id)) {
      return true;
    }
  }
  return m_lines->takes(rank, stop);
}

/// Keeps why the rank has stopped, and what it hit.
void DebugSession::noteStop(int rank, const mi::StopEvent& stop) {
  RankNow& now = m_state.now[rank];
  const QString standing =
      stop.reason == mi::StopReason::Event ? m_breakpoints.standingText(rank) : QString();
  now.why = standing.isEmpty() ? text(stop.describe()) : standing;
  if (const QString back = m_lines->takeWords(); !back.isEmpty()) {
    now.why = back;
    now.broughtBack = true;
    now.broughtTo = m_lines->takeBreakpoint();
  }
  QString change;
  const bool found = m_search.isFound(rank, stop, &change);
  if (!change.isEmpty()) {
    now.why = change;
    m_cycles.standsBecause(tr("stopped: %1").arg(change));
    Q_EMIT message(change, false);
  }
  if (const int id = m_cycles.hitBy(rank, stop); id != 0 && !m_cycles.none()) {
    onBreakpointHit(id, rank, stop);
  } else if (stop.reason == mi::StopReason::Signal && !m_cycles.none()) {
    m_cycles.standsBecause(tr("rank %1: %2").arg(rank).arg(now.why));
  }
  m_cycles.completeHits(rank, m_watches.all());
  if (found) {
    m_search.end();
  }
}

void DebugSession::onRankStopped(mi::Rank rank, const mi::StopEvent& stop) {
  if (isOurStop(rank, stop)) {
    return;
  }
  const bool searched = m_search.isAsFar(rank, stop);  // what it has found is said
  if (passesOver(rank, stop) || (searched && m_search.counted())) {
    return;
  }
  if (stop.reason == mi::StopReason::Event && m_control.mayGoOn(rank)) {
    m_control.sendOn(rank);  // sent on before GDB had told of this stop
    return;
  }
  m_watches.stops(rank);
  noteStop(rank, stop);
  const bool paused = m_control.noLongerMoves(rank, stop);
  Q_EMIT ranksChanged();
  if (!searched && !m_state.searching) {
    tellStop(rank, stop);
  }
  Q_EMIT rankStopped(rank);
  const bool asked =
      stop.reason == mi::StopReason::Step || stop.reason == mi::StopReason::Finished ||
      stop.reason == mi::StopReason::Location || stop.reason == mi::StopReason::Paused;
  const bool together =
      asked && m_groupRun.takesPart(m_state.current);  // the current rank stays it
  m_groupRun.arrived(rank);
  if (rank == m_state.current) {
    m_inspector.stopped();
  } else if (stop.reason != mi::StopReason::Event && !together && !paused) {
    m_inspector.selectRank(rank);
  }
  if (stop.reason != mi::StopReason::Event) {
    Q_EMIT progress({});
    m_cycles.save();
    Q_EMIT settled();
  }
  m_control.stopNoted(rank);
}

/// GDB has stopped a rank somewhere between its events: where the others are has not been told by the daemon.
void DebugSession::tellStop(int rank, const mi::StopEvent& stop) {
  if (stop.reason == mi::StopReason::Event) {
    return;
  }
  tellPositions();
  const bool wanted = stop.reason == mi::StopReason::Breakpoint ||
                      stop.reason == mi::StopReason::Watchpoint ||
                      stop.reason == mi::StopReason::Signal;
  if (wanted) {
    m_groupRun.end();  // who else still runs is in the ranks' list
    Q_EMIT stopTold(tr("Rank %1: %2, after event %3.")
                        .arg(rank)
                        .arg(m_state.now[rank].why)
                        .arg(m_state.serialOf(rank)));
  }
}

void DebugSession::onWatch(const mi::WatchValue& value) {
  m_watches.answered(value, m_inspector.function());
}

void DebugSession::onRankConsole(mi::Rank rank, mi::StreamKind kind, std::string_view words) {
  if (!m_consoles.takes(rank, text(words))) {
    Q_EMIT consoleText(rank, text(words), kind == mi::StreamKind::Log);
  }
}

void DebugSession::onRankLost(mi::Rank rank, const std::string& words) {
  m_state.now[rank].attached = false;
  m_groupRun.arrived(rank);
  if (m_state.phase == Phase::Running || m_state.phase == Phase::Attaching) {
    Q_EMIT consoleText(rank, text(words) + QLatin1Char('\n'), true);
  }
  Q_EMIT ranksChanged();
}

void DebugSession::onRankEscalate(mi::Rank rank, mi::Escalation escalation) {
  switch (escalation) {
    case mi::Escalation::InterruptGdb:
      order(protocol::GdbSignal{rank, protocol::SignalTarget::Gdb, SIGINT});
      break;
    case mi::Escalation::InterruptProgram:
    case mi::Escalation::StopProgram:
      order(protocol::GdbSignal{rank, protocol::SignalTarget::Program, SIGINT});
      break;
    case mi::Escalation::TerminateGdb:
      order(protocol::GdbSignal{rank, protocol::SignalTarget::Gdb, SIGTERM});
      break;
  }
}

/// Of what goes back, on the current rank. Empty: it goes, as far as that is known.
QString DebugSession::whyNot(mi::ToolAction action) const {
  return action == mi::ToolAction::Back     ? whyNoPreviousHit()
         : action == mi::ToolAction::Before ? whyNot(Move::PreviousEvent)
                                            : whyNoLineBack();
}

void DebugSession::refuseConsole(int rank, const QString& why) {
  const QString line = why + QLatin1Char('\n');
  if (!m_consoles.takes(rank, line)) {
    Q_EMIT consoleText(rank, line, true);
  }
  Q_EMIT consoleRefused(rank);
}

void DebugSession::onRankToolAction(mi::Rank rank, mi::ToolAction action, std::string_view) {
  const bool back = action == mi::ToolAction::Back || action == mi::ToolAction::Before ||
                    action == mi::ToolAction::LineStep || action == mi::ToolAction::LineNext ||
                    action == mi::ToolAction::LineFinish;
  if (back) {
    m_inspector.selectRank(rank);
    if (const QString why = whyNot(action); !why.isEmpty()) {
      refuseConsole(rank, why);
      return;
    }
  }
  switch (action) {
    case mi::ToolAction::Run:
      restartCycle();
      break;
    case mi::ToolAction::Kill:
      if (m_state.source == Source::Job) {
        Q_EMIT consoleText(rank,
                           tr("Ranks of a running job are not ended from here. Replay, End lets "
                              "all of them go on.\n"),
                           true);
        break;
      }
      endReplay();
      break;
    case mi::ToolAction::Detach:
      m_debuggers.setFocus([this, rank] {
        QList<int> rest = m_debuggers.focus();
        rest.removeAll(rank);
        return rest;
      }());
      break;
    case mi::ToolAction::Back:
      previousHit();
      break;
    case mi::ToolAction::Before:
      go(Move::PreviousEvent);
      break;
    case mi::ToolAction::LineStep:
      lineBack(LineMove::Step);
      break;
    case mi::ToolAction::LineNext:
      lineBack(LineMove::Next);
      break;
    case mi::ToolAction::LineFinish:
      lineBack(LineMove::Finish);
      break;
    case mi::ToolAction::Quit:
    case mi::ToolAction::Attach:
      Q_EMIT consoleText(rank, tr("That is Photofinish's business: use the Replay menu.\n"), true);
      break;
  }
}

void DebugSession::onRankSlow(mi::Rank rank, const std::string& command, bool givenUp) {
  Q_EMIT message(
      givenUp
          ? tr("Rank %1: GDB did not answer '%2'; it was given up.").arg(rank).arg(text(command))
          : tr("Rank %1: GDB is slow with '%2' …").arg(rank).arg(text(command)),
      givenUp);
}

void DebugSession::onRankValuesChanged(mi::Rank rank) {
  m_inspector.valuesChanged(rank);
}

void DebugSession::onGroupProgress(const mi::GroupResult& result) {
  for (const mi::RankFailure& failure : result.failed) {
    m_groupRun.arrived(failure.rank);
  }
  if (result.complete() && !result.failed.empty()) {
    Q_EMIT message(text(result.summary()), true);
    Q_EMIT ranksChanged();  // who was sent on, and stays
  }
}

}  // namespace pf::session

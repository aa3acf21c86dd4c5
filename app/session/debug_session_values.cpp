// SPDX-License-Identifier: GPL-3.0-or-later
// What the GDBs say: states and stops of ranks, stacks, variables, consoles.
#include <csignal>

#include "app/session/debug_session.h"
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
    now.why.clear();
    now.where.clear();
    if (rank == m_state.current) {
      m_inspector.goesOn();
    }
  }
  Q_EMIT ranksChanged();
}

void DebugSession::onRankStopped(mi::Rank rank, const mi::StopEvent& stop) {
  RankNow& now = m_state.now[rank];
  if (m_state.source == Source::Cores) {
    return;  // the file has been opened, which is dealt with there
  }
  if (m_state.source == Source::Job && stop.exited()) {
    rankEnded(rank, text(stop.describe()));
  }
  if (m_state.phase == Phase::Attaching || stop.exited()) {
    return;
  }
  if (m_stopFilter && stop.reason == mi::StopReason::Breakpoint && !m_stepping.contains(rank)) {
    if (const int id = breakpointAt(rank); id != 0 && m_stopFilter(rank, id)) {
      return;
    }
  }
  if (stop.reason == mi::StopReason::Event && mayGoOn(rank)) {
    sendOn(rank);  // sent on before GDB had told of this stop
    return;
  }
  const QString standing =
      stop.reason == mi::StopReason::Event ? m_breakpoints.standingText(rank) : QString();
  now.why = standing.isEmpty() ? text(stop.describe()) : standing;
  const bool found = m_search && m_search->last && rank == m_search->rank &&
                     stop.breakpointNumber > 0 &&
                     m_fleet.specOf(rank, stop.breakpointNumber) == m_search->spec;
  if (found && m_search->own) {
    now.why = tr("%1: was %2, is %3").arg(m_search->text, text(stop.oldValue), text(stop.newValue));
    m_cycles.last().summary = tr("stopped: %1").arg(now.why);
    Q_EMIT message(now.why, false);
  }
  if (const int id = breakpointOf(rank, stop); id != 0 && !m_cycles.isEmpty()) {
    onBreakpointHit(id, rank);
  } else if (stop.reason == mi::StopReason::Signal && !m_cycles.isEmpty()) {
    m_cycles.last().summary = tr("rank %1: %2").arg(rank).arg(now.why);
  }
  completeHits(rank);
  if (found) {
    endSearch();
  }
  m_stepping.remove(rank);
  const bool paused = m_pausing.remove(rank) && stop.reason == mi::StopReason::Paused;
  Q_EMIT ranksChanged();
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
    saveCycle();
    Q_EMIT settled();
  }
  if (m_settling.ranks.remove(rank) && m_settling.ranks.isEmpty()) {
    endSettling();
  }
}

void DebugSession::setFocus(const QList<int>& ranks) {
  const QSet<int> wanted(ranks.begin(), ranks.end());
  if (m_state.source != Source::Recording) {
    setOutsideFocus(wanted);
    return;
  }
  protocol::AttachGdb attach;
  protocol::DetachGdb detach;
  for (const int rank : wanted) {
    if (!m_focus.contains(rank) && m_state.phase == Phase::Running && !m_state.now[rank].attached) {
      attach.ranks.push_back(rank);
    }
  }
  std::vector<mi::Rank> leaving;
  for (const int rank : std::as_const(m_focus)) {
    if (!wanted.contains(rank) && m_state.phase == Phase::Running && m_state.now[rank].attached) {
      leaving.push_back(rank);
    }
  }
  m_focus = wanted;
  if (!attach.ranks.empty()) {
    order(attach);
  }
  if (!leaving.empty()) {
    m_fleet.detach(leaving, [this](const mi::GroupResult& result) {
      if (result.complete()) {
        protocol::DetachGdb ended;
        ended.ranks = {result.done.begin(), result.done.end()};
        order(ended);
      }
    });
  }
}

void DebugSession::mapSource(const QString& from, const QString& to) {
  for (const mi::Rank rank : m_fleet.ranks()) {
    m_fleet.session(rank)->inspect().substitutePath(from.toStdString(), to.toStdString(),
                                                    [](const Status&) {});
  }
}

void DebugSession::onWatch(const mi::WatchValue& value) {
  views::WatchValue out;
  out.rank = value.rank;
  (value.ok ? out.value : out.error) = text(value.text);
  Q_EMIT watchArrived(text(value.expression), {out});
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

void DebugSession::onRankToolAction(mi::Rank rank, mi::ToolAction action, std::string_view) {
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
      setFocus([this, rank] {
        QList<int> rest = m_focus.values();
        rest.removeAll(rank);
        return rest;
      }());
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
  }
}

}  // namespace pf::session

// SPDX-License-Identifier: GPL-3.0-or-later
// Breakpoints that stop ranks: what follows from a hit.
#include "app/session/debug_session.h"
#include "app/session/inspection/mpi_error.h"
#include "app/session/state/frame_values.h"

namespace pf::session {

void DebugSession::onBreakpointStatus(const mi::BreakpointStatus& status) {
  m_breakpoints.onStatus(status, m_cycles.lastNumber());
}

void DebugSession::onForeignBreakpoint(mi::Rank rank, mi::BreakpointChange change,
                                       const mi::Breakpoint& bp) {
  if (change == mi::BreakpointChange::Created) {
    Q_EMIT consoleText(
        rank,
        tr("(breakpoint %1 is this GDB's own: it does not come back in the next cycle)\n")
            .arg(bp.number),
        false);
  }
}

void DebugSession::onRankLog(mi::Rank rank, int spec, std::uint64_t serial,
                             const std::string& words) {
  if (const int id = m_breakpoints.idOf(spec); id != 0 && !m_cycles.none()) {
    Q_EMIT logged({m_cycles.lastNumber(), rank, serial != 0 ? serial : m_state.serialOf(rank), id,
                   toText(words)});
  }
}

/// A rank stands before an event: hits of logical breakpoints.
void DebugSession::noteStanding(int rank) {
  const EventRef next{rank, m_state.serialOf(rank) + 1};
  for (const int id : m_breakpoints.before(next)) {
    addHit(id, rank, next.serial);
  }
}

void DebugSession::noteDivergence(const EventRef& at) {
  for (const int id : m_breakpoints.onDivergence()) {
    addHit(id, at.rank, at.serial);
  }
}

void DebugSession::publishMarks() {
  std::vector<values::EventMark> marks = m_bookmarks.all();
  const std::vector<values::EventMark> stops = m_breakpoints.marks();
  marks.insert(marks.end(), stops.begin(), stops.end());
  Q_EMIT marksChanged(marks);
}

/// GDB has stopped the rank where its MPI library begins to handle an error.
void DebugSession::describeMpiError(int rank) {
  askMpiError(m_fleet, rank, [this, rank](const QString& error) {
    m_state.now[rank].why = error;
    m_cycles.last().summary = tr("rank %1: %2").arg(rank).arg(error);
    Q_EMIT message(tr("Rank %1: an MPI error, %2. It is handled as the program has it "
                      "once the rank goes on.")
                       .arg(rank)
                       .arg(error),
                   false);
    Q_EMIT ranksChanged();
    m_cycles.save();
  });
}

/// On the way back to an event: the hit is counted, as in every cycle, and the rank goes on.
bool DebugSession::passesOver(int rank, const mi::StopEvent& stop) {
  const int id = m_control.goal().straight && m_control.awaitsCut() && !m_state.searching
                     ? m_cycles.hitBy(rank, stop)
                     : 0;
  if (id == 0 || m_cycles.none()) {
    return false;
  }
  addHit(id, rank, m_state.serialOf(rank));
  m_control.sendOn(rank);
  m_cycles.sentOn();
  return true;
}

void DebugSession::onBreakpointHit(int id, int rank, const mi::StopEvent& stop) {
  RankNow& now = m_state.now[rank];
  const bool changed = stop.reason == mi::StopReason::Watchpoint && !stop.newValue.empty();
  now.why = changed ? tr("breakpoint %1 (%2: was %3, is %4)")
                          .arg(QString::number(id), toText(stop.watchExpression),
                               toText(stop.oldValue), toText(stop.newValue))
                    : tr("breakpoint %1").arg(id);
  m_cycles.standsBecause(
      tr("stopped at %1, rank %2 after event %3").arg(now.why).arg(rank).arg(now.state.serial));
  addHit(id, rank, now.state.serial);
  if (const values::Breakpoint* breakpoint = m_breakpoints.find(id); breakpoint != nullptr) {
    m_control.stopOthers(*breakpoint, rank);
    if (breakpoint->kind == values::BreakpointKind::Catch &&
        breakpoint->expression == QLatin1String("mpi error")) {
      describeMpiError(rank);
    }
  }
}

void DebugSession::addHit(int id, int rank, Serial serial) {
  m_cycles.addHit(id, rank, serial);
  m_cycles.completeHits(rank, m_watches.all());
}

}  // namespace pf::session

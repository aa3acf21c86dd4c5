// What front ends without a window need of a session: the ranks' GDBs themselves, and stops that
// are none for the user.
#include "debug_session.h"

#include <algorithm>

namespace pf::session {

mi::GdbSession* DebugSession::debugger(int rank) {
  const auto now = m_now.find(rank);
  return now != m_now.end() && now->second.attached ? m_fleet.session(rank) : nullptr;
}

int DebugSession::breakpointAt(int rank) {
  mi::GdbSession* gdb = debugger(rank);
  if (gdb == nullptr || gdb->stop().reason != mi::StopReason::Breakpoint) {
    return 0;
  }
  const int spec = m_fleet.specOf(rank, gdb->stop().breakpointNumber);
  const auto found = std::find_if(m_specOf.begin(), m_specOf.end(),
                                  [spec](const auto& entry) { return entry.second == spec; });
  return spec == 0 || found == m_specOf.end() ? 0 : found->first;
}

void DebugSession::setAsideBreakpoints() {
  for (const auto& [id, spec] : std::exchange(m_specOf, {})) {
    m_fleet.removeBreakpoint(spec);
  }
  m_breakpoints.clear();
  Q_EMIT breakpointsChanged();
  publishMarks();
}

int DebugSession::addPassingBreakpoint(views::Breakpoint breakpoint) {
  breakpoint.id = -1;
  for (const views::Breakpoint& other : std::as_const(m_breakpoints)) {
    breakpoint.id = std::min(breakpoint.id, other.id - 1);
  }
  m_breakpoints.append(breakpoint);
  resolve(m_breakpoints.last());
  addToFleet(m_breakpoints.last());
  replan();
  Q_EMIT breakpointsChanged();
  return breakpoint.id;
}

void DebugSession::goOn(int rank) {
  if (mi::GdbSession* gdb = debugger(rank);
      gdb != nullptr && gdb->state() == mi::SessionState::Stopped) {
    gdb->run({}, [](const Status&) {});
  }
}

}  // namespace pf::session

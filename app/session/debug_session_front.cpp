// SPDX-License-Identifier: GPL-3.0-or-later
// What front ends without a window need of a session: the ranks' GDBs themselves, and stops that
// are none for the user.
#include "app/session/debug_session.h"

namespace pf::session {

int DebugSession::breakpointAt(int rank) {
  mi::GdbSession* gdb = debugger(rank);
  if (gdb == nullptr || gdb->stop().reason != mi::StopReason::Breakpoint) {
    return 0;
  }
  const int id = m_cycles.hitBy(rank, gdb->stop());
  return id != 0 ? id : m_state.now[rank].broughtTo;
}

std::string DebugSession::stopWords(int rank) {
  const RankNow& now = m_state.now[rank];
  const mi::StopEvent& stop = debugger(rank)->stop();
  return now.broughtBack && stop.reason == mi::StopReason::Breakpoint ? now.why.toStdString()
                                                                      : stop.describe();
}

void DebugSession::goOn(int rank) {
  if (mi::GdbSession* gdb = debugger(rank);
      gdb != nullptr && gdb->state() == mi::SessionState::Stopped) {
    gdb->run({}, [](const Status&) {});
  }
}

}  // namespace pf::session

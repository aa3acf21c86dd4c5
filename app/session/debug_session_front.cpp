// SPDX-License-Identifier: GPL-3.0-or-later
// What front ends without a window need of a session: the ranks' GDBs themselves, and stops that
// are none for the user.
#include "app/session/debug_session.h"

namespace pf::session {

int DebugSession::breakpointAt(int rank) {
  mi::GdbSession* gdb = debugger(rank);
  return gdb != nullptr && gdb->stop().reason == mi::StopReason::Breakpoint
             ? m_cycles.hitBy(rank, gdb->stop())
             : 0;
}

void DebugSession::goOn(int rank) {
  if (mi::GdbSession* gdb = debugger(rank);
      gdb != nullptr && gdb->state() == mi::SessionState::Stopped) {
    gdb->run({}, [](const Status&) {});
  }
}

}  // namespace pf::session

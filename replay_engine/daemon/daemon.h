// SPDX-License-Identifier: GPL-3.0-or-later
// The control daemon of one session: SessionLogic behind a unix socket.
//
// One thread, one epoll loop. Only our own uid gets in (SO_PEERCRED), and only with the session
// key, told within 2 s and 96 bytes; at most 128 peers may be in that state. Bounds: 8 MiB queued
// for an agent, 64 MiB for a client (beyond 8 MiB a client's program output is cut, with a count);
// who does not read more than that is closed. SIGTERM ends it and leaves the ranks running; SIGINT,
// SIGQUIT and SIGHUP of the terminal are ignored, so that Ctrl-C goes to the program.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "replay_engine/daemon/schedule_source.h"
#include "replay_engine/daemon/session_logic.h"

namespace pf::daemon {

struct DaemonOptions {
  std::string sessionDirectory;  ///< made by SessionDirectory::create(); mode and seed are in its
                                 ///< session.json
  LogicOptions logic;            ///< mode and jitterSeed are taken from the session
  int readyFd = -1;  ///< one byte is written to it, and it is closed, once peers can connect
};

/// Runs until the session is over. Returns a process exit status; errors are said on stderr.
[[nodiscard]] int runDaemon(const DaemonOptions& options, ScheduleSource& source);

}  // namespace pf::daemon

// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/daemon/daemon.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "replay_engine/base/unique_fd.h"
#include "replay_engine/daemon/server.h"

namespace pf::daemon {
namespace {

/// A core file would hold the session key.
void leaveNoCore() {
  rlimit limit{};
  ::getrlimit(RLIMIT_CORE, &limit);
  limit.rlim_cur = 0;
  ::setrlimit(RLIMIT_CORE, &limit);
}

UniqueFd takeSignals() {
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGPIPE}) {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(number, &ignore, nullptr);
  }
  sigset_t terminate{};
  ::sigemptyset(&terminate);
  ::sigaddset(&terminate, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &terminate, nullptr);
  return UniqueFd(::signalfd(-1, &terminate, SFD_CLOEXEC | SFD_NONBLOCK));
}

int fail(const Error& error) {
  std::fprintf(stderr, "photofinish: %s\n", error.text().c_str());
  return exitStatus(error.code);
}

}  // namespace

int runDaemon(const DaemonOptions& options, ScheduleSource& source) {
  UniqueFd ready(options.readyFd);
  leaveNoCore();
  const UniqueFd signals = takeSignals();
  if (!signals.valid()) {
    return fail(systemError("the control daemon cannot watch signals", errno));
  }
  Result<protocol::SessionDirectory> session =
      protocol::SessionDirectory::open(options.sessionDirectory);
  if (!session) {
    return fail(session.error());
  }
  LogicOptions logic = options.logic;
  logic.mode = session->config().mode;
  logic.jitterSeed = session->config().jitterSeed;
  Server server(std::move(*session), std::move(logic), source);
  if (Status status = server.listen(); !status) {
    return fail(status.error());
  }
  if (ready.valid()) {
    const char byte = '1';
    static_cast<void>(::write(ready.get(), &byte, 1) == 1);
    ready.reset();
  }
  server.run(signals.get());
  return 0;
}

}  // namespace pf::daemon

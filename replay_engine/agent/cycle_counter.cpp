// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/cycle_counter.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace pf::agent {
namespace {

bool trapOnChild() {
#if defined(__x86_64__)
  const pid_t child = ::fork();
  if (child < 0) {
    return true;
  }
  if (child == 0) {
    const rlimit none{};
    (void)::setrlimit(RLIMIT_CORE, &none);
    (void)std::signal(SIGSEGV, SIG_DFL);
    sigset_t open;
    sigemptyset(&open);
    sigaddset(&open, SIGSEGV);
    (void)::sigprocmask(SIG_UNBLOCK, &open, nullptr);
    if (::prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0) {
      (void)__builtin_ia32_rdtsc();
    }
    ::_exit(0);
  }
  int state = 0;
  pid_t waited = -1;
  do {
    waited = ::waitpid(child, &state, 0);
  } while (waited < 0 && errno == EINTR);
  return waited != child || (WIFSIGNALED(state) && WTERMSIG(state) == SIGSEGV);
#else
  return false;
#endif
}

}  // namespace

bool cycleCounterTraps() {
  static const bool kTraps = trapOnChild();
  return kTraps;
}

}  // namespace pf::agent

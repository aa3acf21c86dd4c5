// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/watchpoints.h"

#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>

namespace pf::agent {
namespace {

#if defined(__x86_64__)

volatile int g_watched = 0;

/// -1: it is gone, or cannot be waited for.
int nextState(pid_t child) {
  int state = 0;
  pid_t waited = -1;
  do {
    waited = ::waitpid(child, &state, 0);
  } while (waited < 0 && errno == EINTR);
  return waited == child ? state : -1;
}

bool poke(pid_t child, std::size_t number, unsigned long value) {
  return ::ptrace(PTRACE_POKEUSER, child, offsetof(user, u_debugreg) + number * sizeof value,
                  value) == 0;
}

bool tryOnChild() {
  constexpr unsigned long kFirstOn = 1;  // bit 0 of DR7
  constexpr unsigned long kOnWrites = 1UL << 16U;
  constexpr unsigned long kFourBytes = 3UL << 18U;
  const pid_t child = ::fork();
  if (child < 0) {
    return true;
  }
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) {
      ::raise(SIGSTOP);
      g_watched = 1;
    }
    ::_exit(0);
  }
  int state = nextState(child);
  if (state < 0 || !WIFSTOPPED(state)) {
    return true;
  }
  bool works = true;
  if (poke(child, 0, reinterpret_cast<unsigned long>(&g_watched)) &&
      poke(child, 7, kFirstOn | kOnWrites | kFourBytes) &&
      ::ptrace(PTRACE_CONT, child, nullptr, nullptr) == 0) {
    state = nextState(child);
    works = state >= 0 && WIFSTOPPED(state) && WSTOPSIG(state) == SIGTRAP;
  }
  if (state >= 0 && WIFSTOPPED(state)) {
    ::kill(child, SIGKILL);
    (void)nextState(child);
  }
  return works;
}

#else

bool tryOnChild() {
  return true;
}

#endif

}  // namespace

bool watchpointsWork() {
  static const bool kWork = tryOnChild();
  return kWork;
}

}  // namespace pf::agent

// SPDX-License-Identifier: MIT
#include "replay_engine/rank/inputs/external_signals.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "replay_engine/rank/inputs/system_values.h"

namespace pf {
namespace {

struct sigaction g_wanted[NSIG] = {};  ///< by the program, of signals that come through onSignal

bool isFromOutside(const siginfo_t& info) {
  const bool sent = info.si_code == SI_USER || info.si_code == SI_QUEUE || info.si_code == SI_TKILL;
  return sent && info.si_pid != static_cast<pid_t>(syscall(SYS_getpid));
}

void onSignal(int number, siginfo_t* info, void* context) {
  const struct sigaction wanted = g_wanted[number];
  if (info != nullptr && isFromOutside(*info)) {
    // Places are of calls, one byte before where they return to.
    noteUncovered(NotGuaranteedKind::SignalGot, reinterpret_cast<char*>(wanted.sa_handler) + 1);
  }
  if ((wanted.sa_flags & SA_SIGINFO) != 0) {
    wanted.sa_sigaction(number, info, context);
  } else {
    wanted.sa_handler(number);
  }
}

bool isOurs(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == onSignal;
}

}  // namespace

bool isWatched(int number) {
  switch (number) {
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
    case SIGSYS:
    case SIGABRT:
    case SIGKILL:
    case SIGSTOP:
      return false;
    default:
      return (number > 0 && number < 32) || (number >= SIGRTMIN && number <= SIGRTMAX);
  }
}

int programsAction(SigAction next, int number, const struct sigaction* action,
                   struct sigaction* before) {
  const struct sigaction former = g_wanted[number];
  struct sigaction ours {};
  const struct sigaction* given = action;
  if (action != nullptr && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN &&
      !isOurs(*action)) {
    ours = *action;
    ours.sa_flags |= SA_SIGINFO;
    ours.sa_sigaction = onSignal;
    g_wanted[number] = *action;  // before it may come
    given = &ours;
  }
  struct sigaction was {};
  const int result = next(number, given, &was);
  if (result != 0) {
    g_wanted[number] = former;
  } else if (before != nullptr) {
    *before = isOurs(was) ? former : was;
  }
  return result;
}

}  // namespace pf

using namespace pf;

// -- older ways to handle one

namespace pf {
namespace {

/// The program's handler has been set by `before`, which an older routine has returned: ours comes before it.
sighandler_t wasHandled(int number, sighandler_t handler, sighandler_t before) {
  const sighandler_t former = g_wanted[number].sa_handler;
  struct sigaction now {};
  if (before != SIG_ERR && handler != SIG_DFL && handler != SIG_IGN &&
      ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == handler) {
    const auto next = [](int of, const struct sigaction* action, struct sigaction* was) {
      return ::sigaction(of, action, was);
    };
    programsAction(next, number, &now, nullptr);
  }
  const bool ours =
      reinterpret_cast<std::uintptr_t>(before) == reinterpret_cast<std::uintptr_t>(onSignal);
  return ours ? former : before;
}

}  // namespace
}  // namespace pf

PF_LIBC(sighandler_t, __sysv_signal, int number, sighandler_t handler) {
  const bool programs = isWatched(number) && PF_PROGRAMS_CALL();
  const sighandler_t before = PF_NEXT(__sysv_signal)(number, handler);
  return programs ? wasHandled(number, handler, before) : before;
}

PF_LIBC(sighandler_t, sigset, int number, sighandler_t handler) {
  const bool programs = isWatched(number) && PF_PROGRAMS_CALL();
  const sighandler_t before = PF_NEXT(sigset)(number, handler);
  return programs ? wasHandled(number, handler, before) : before;
}

// -- those that are waited for

PF_LIBC(int, sigwait, const sigset_t* set, int* number) {
  const bool programs = PF_PROGRAMS_CALL();
  const int result = PF_NEXT(sigwait)(set, number);
  if (programs && result == 0) {
    noteUncovered(NotGuaranteedKind::SignalGot, __builtin_return_address(0));
  }
  return result;
}

PF_LIBC(int, sigwaitinfo, const sigset_t* set, siginfo_t* info) {
  siginfo_t own{};
  siginfo_t* const to = info != nullptr ? info : &own;
  const bool programs = PF_PROGRAMS_CALL();
  const int number = PF_NEXT(sigwaitinfo)(set, to);
  if (programs && number > 0 && isFromOutside(*to)) {
    noteUncovered(NotGuaranteedKind::SignalGot, __builtin_return_address(0));
  }
  return number;
}

PF_LIBC(int, sigtimedwait, const sigset_t* set, siginfo_t* info, const timespec* most) {
  siginfo_t own{};
  siginfo_t* const to = info != nullptr ? info : &own;
  const bool programs = PF_PROGRAMS_CALL();
  const int number = PF_NEXT(sigtimedwait)(set, to, most);
  if (programs && (number <= 0 || isFromOutside(*to))) {
    noteUncovered(number > 0 ? NotGuaranteedKind::SignalGot : NotGuaranteedKind::TimeLimit,
                  __builtin_return_address(0));
  }
  return number;
}

// SPDX-License-Identifier: MIT
// rdtsc and rdtscp, by option: they trap (SIGSEGV), and the program's are recorded and given back.
// A trap takes microseconds, and programs that this process starts must not inherit it.
#include <pthread.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "replay_engine/rank/inputs/external_signals.h"
#include "replay_engine/rank/inputs/system_values.h"

namespace pf {

bool g_tscTraps = false;

}  // namespace pf

#if defined(__x86_64__)
namespace pf {
namespace {

struct sigaction g_programs {};  ///< what the program wants done at SIGSEGV

void setTrap(bool on) {
  syscall(SYS_prctl, PR_SET_TSC, on ? PR_TSC_SIGSEGV : PR_TSC_ENABLE, 0, 0, 0);
}

/// Without the trap, for what is started meanwhile.
class NoTrap {
 public:
  NoTrap() {
    if (g_tscTraps) {
      setTrap(false);
    }
  }
  ~NoTrap() {
    if (g_tscTraps) {
      const int before = errno;
      setTrap(true);
      errno = before;
    }
  }
  NoTrap(const NoTrap&) = delete;
  NoTrap& operator=(const NoTrap&) = delete;
};

/// Of rdtsc or rdtscp at `at`; else 0.
int lengthOf(const unsigned char* at) {
  if (at[0] != 0x0F) {
    return 0;
  }
  return at[1] == 0x31 ? 2 : at[1] == 0x01 && at[2] == 0xF9 ? 3 : 0;
}

/// SIGSEGV stays open: the kernel ends who reads the counter while it is blocked.
const sigset_t* withoutTrap(int how, const sigset_t* set, sigset_t* room) {
  if (!g_tscTraps || set == nullptr || how == SIG_UNBLOCK) {
    return set;
  }
  *room = *set;
  sigdelset(room, SIGSEGV);
  return room;
}

}  // namespace
}  // namespace pf

using namespace pf;

PF_LIBC(int, sigaction, int number, const struct sigaction* action, struct sigaction* before) {
  const bool watched = isWatched(number) && PF_PROGRAMS_CALL();
  if (!g_tscTraps) {
    return watched ? programsAction(PF_NEXT(sigaction), number, action, before)
                   : PF_NEXT(sigaction)(number, action, before);
  }
  if (number == SIGSEGV) {
    const struct sigaction old = g_programs;
    g_programs = action != nullptr ? *action : old;
    if (before != nullptr) {
      *before = old;
    }
    return 0;
  }
  struct sigaction open {};
  if (action != nullptr) {
    open = *action;
    sigdelset(&open.sa_mask, SIGSEGV);
    action = &open;
  }
  return watched ? programsAction(PF_NEXT(sigaction), number, action, before)
                 : PF_NEXT(sigaction)(number, action, before);
}

PF_LIBC(sighandler_t, signal, int number, sighandler_t handler) {
  if (isWatched(number) && PF_PROGRAMS_CALL()) {  // as BSD has it, and glibc
    struct sigaction action {};
    struct sigaction before {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, number);
    return programsAction(PF_NEXT(sigaction), number, &action, &before) == 0 ? before.sa_handler
                                                                             : SIG_ERR;
  }
  if (!g_tscTraps || number != SIGSEGV) {
    return PF_NEXT(signal)(number, handler);
  }
  const sighandler_t old = g_programs.sa_handler;
  g_programs = {};
  g_programs.sa_handler = handler;
  return old;
}

PF_LIBC(int, sigprocmask, int how, const sigset_t* set, sigset_t* before) {
  sigset_t room;
  return PF_NEXT(sigprocmask)(how, withoutTrap(how, set, &room), before);
}

PF_LIBC(int, pthread_sigmask, int how, const sigset_t* set, sigset_t* before) {
  sigset_t room;
  return PF_NEXT(pthread_sigmask)(how, withoutTrap(how, set, &room), before);
}

PF_LIBC(int, system, const char* command) {
  const NoTrap noTrap;
  return PF_NEXT(system)(command);
}

PF_LIBC(std::FILE*, popen, const char* command, const char* mode) {
  if (PF_PROGRAMS_CALL()) {
    noteUncovered(NotGuaranteedKind::Child, __builtin_return_address(0));
  }
  const NoTrap noTrap;
  return PF_NEXT(popen)(command, mode);
}

PF_LIBC(int, posix_spawn, pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
        const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  if (PF_PROGRAMS_CALL()) {
    noteUncovered(NotGuaranteedKind::Child, __builtin_return_address(0));
  }
  const NoTrap noTrap;
  return PF_NEXT(posix_spawn)(pid, path, actions, attributes, arguments, environment);
}

PF_LIBC(int, posix_spawnp, pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
        const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  if (PF_PROGRAMS_CALL()) {
    noteUncovered(NotGuaranteedKind::Child, __builtin_return_address(0));
  }
  const NoTrap noTrap;
  return PF_NEXT(posix_spawnp)(pid, file, actions, attributes, arguments, environment);
}

PF_LIBC(int, execve, const char* path, char* const* arguments, char* const* environment) {
  const NoTrap noTrap;
  return PF_NEXT(execve)(path, arguments, environment);
}

PF_LIBC(int, execv, const char* path, char* const* arguments) {
  const NoTrap noTrap;
  return PF_NEXT(execv)(path, arguments);
}

PF_LIBC(int, execvp, const char* file, char* const* arguments) {
  const NoTrap noTrap;
  return PF_NEXT(execvp)(file, arguments);
}

namespace pf {
namespace {

/// A fault that is not ours.
void passOn(int number, siginfo_t* info, void* context) {
  const struct sigaction wanted = g_programs;
  if (wanted.sa_handler == SIG_IGN && info->si_code <= 0) {
    return;
  }
  if (wanted.sa_handler == SIG_DFL || wanted.sa_handler == SIG_IGN) {
    struct sigaction end {};
    end.sa_handler = SIG_DFL;
    PF_NEXT(sigaction)(number, &end, nullptr);
    if (info->si_code <= 0) {  // somebody sent it; else the instruction fails again
      syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), number);
    }
    return;
  }
  if ((static_cast<unsigned>(wanted.sa_flags) & SA_RESETHAND) != 0) {
    g_programs = {};
  }
  if ((wanted.sa_flags & SA_SIGINFO) != 0) {
    wanted.sa_sigaction(number, info, context);
  } else {
    wanted.sa_handler(number);
  }
}

void onFault(int number, siginfo_t* info, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  auto* at = reinterpret_cast<unsigned char*>(registers[REG_RIP]);
  // A general protection fault: the instruction was fetched, so it can be read.
  const int length = info->si_code == SI_KERNEL ? lengthOf(at) : 0;
  if (length == 0) {
    passOn(number, info, context);
    return;
  }
  const int before = errno;
  unsigned core = 0;
  setTrap(false);
  auto now = static_cast<std::int64_t>(__builtin_ia32_rdtscp(&core));
  setTrap(true);
  if (isProgramsCall(at, reinterpret_cast<const void*>(registers[REG_RSP]))) {
    const InsideLibc inside;
    std::int64_t value = 0;
    now = recallNumber(ValueKind::Cycles, &value) ? value : liveClock(ValueKind::Cycles, now);
    keepNumber(ValueKind::Cycles, now);
  }
  registers[REG_RAX] = now & 0xFFFFFFFF;
  registers[REG_RDX] = static_cast<std::int64_t>(static_cast<std::uint64_t>(now) >> 32);
  if (length == 3) {
    registers[REG_RCX] = core;
  }
  registers[REG_RIP] += length;
  errno = before;
}

extern "C" void pf_cycles_in_child() {
  if (g_tscTraps && !g_engine.copying) {
    setTrap(false);
    g_tscTraps = false;
    PF_NEXT(sigaction)(SIGSEGV, &g_programs, nullptr);
  }
}

__attribute__((constructor)) void trapCycles() {
  const RankPage* page = mapLaunchPage();
  if (page == nullptr) {
    return;
  }
  const bool wanted = (page->launchMode & kTrapTsc) != 0;
  unmapLaunchPage(page);
  if (!wanted) {
    return;
  }
  struct sigaction ours {};
  ours.sa_sigaction = onFault;
  ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  if (PF_NEXT(sigaction)(SIGSEGV, &ours, &g_programs) == 0) {
    sigset_t open;
    sigemptyset(&open);
    sigaddset(&open, SIGSEGV);
    PF_NEXT(pthread_sigmask)(SIG_UNBLOCK, &open, nullptr);
    pthread_atfork(nullptr, nullptr, pf_cycles_in_child);
    g_tscTraps = true;
    setTrap(true);
  }
}

}  // namespace
}  // namespace pf
#endif

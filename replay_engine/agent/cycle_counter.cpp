// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/cycle_counter.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "replay_engine/agent/child_output.h"

namespace pf::agent {
namespace {

bool trapOnChild() {
#if defined(__x86_64__)
  const std::string read = outputOfChild([](int out) {
    const rlimit none{};
    (void)::setrlimit(RLIMIT_CORE, &none);
    (void)std::signal(SIGSEGV, SIG_DFL);  // blocked, it ends the child as well
    if (::prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0) {
      (void)__builtin_ia32_rdtsc();
    }
    static_cast<void>(::write(out, "1", 1) == 1);
  });
  return read.empty();
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

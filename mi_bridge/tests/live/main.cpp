// SPDX-License-Identifier: GPL-3.0-or-later
#include <csignal>
#include <cstdio>

#include <gtest/gtest.h>

#include "mi_bridge/tests/live/live_rank.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  ::testing::InitGoogleTest(&argc, argv);
  if (!pf::mi::test::ptraceWorks()) {
    std::puts("skipped: this machine does not let a process be traced (ptrace)");
    return 77;
  }
  return RUN_ALL_TESTS();
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Programs and values that a debugger stumbles over: each leaves a session that goes on.
#include <cstdlib>

#include <gtest/gtest.h>

#include "mi_bridge/tests/live/live_rank.h"

namespace pf::mi::test {
namespace {

TEST(BadInputLive, PrinterThatLoops) {
  LiveRank rank;
  ASSERT_TRUE(rank.attach().ok());
  const auto type = [&rank](const std::string& line) {
    return rank.wait([&](Done done) { rank.session.console(line, std::move(done)); });
  };
  for (const char* line :
       {"python", "class Endless:", "  def to_string(self):", "    while True: pass",
        "gdb.pretty_printers.append(lambda v: Endless() if str(v.type) == 'volatile int' else "
        "None)",
        "end"}) {
    ASSERT_TRUE(type(line).ok()) << line;
  }
  const std::string value = rank.evaluate("g_exitWith");
  EXPECT_NE(value, "-1");
  EXPECT_FALSE(rank.slow.empty()) << "it is said that GDB is slow with it: " << value;
  EXPECT_EQ(rank.evaluate("2+3"), "5");
  EXPECT_TRUE(rank.program.alive());
}

/// Children, one that becomes another program, and SIGINT that is ignored.
TEST(BadInputLive, ProgramThatForksExecutesAndIgnoresSignals) {
  LiveRank rank("forks");
  ASSERT_TRUE(rank.attach().ok());
  BreakpointRequest request;
  request.function = "add";
  ASSERT_TRUE(rank.insert(request).ok());
  for (int hit = 0; hit < 3; ++hit) {
    ASSERT_TRUE(rank.runToStop({}).ok());
    EXPECT_EQ(rank.lastStop().reason, StopReason::Breakpoint);
    EXPECT_EQ(rank.session.pid(), rank.program.pid());
  }
  ASSERT_TRUE(rank.wait([&](Done done) {
                    rank.session.breakpoints().remove(rank.lastStop().breakpointNumber,
                                                      std::move(done));
                  })
                  .ok());
  ASSERT_TRUE(rank.wait([&](Done done) { rank.session.run({}, std::move(done)); }).ok());
  ASSERT_TRUE(rank.until([&] { return rank.session.state() == SessionState::Running; }));
  ASSERT_TRUE(rank.wait([&](Done done) { rank.session.pause(std::move(done)); }).ok());
  EXPECT_EQ(rank.lastStop().reason, StopReason::Paused);
}

TEST(BadInputLive, StrippedProgram) {
  const std::string command = "strip -o '" PF_MI_RANK_PROGRAM ".stripped' '" PF_MI_RANK_PROGRAM "'";
  if (std::system(command.c_str()) != 0) {
    GTEST_SKIP() << "no strip";
  }
  LiveRank rank("stripped");
  ASSERT_TRUE(rank.attach().ok());
  const Status run = rank.wait([&](Done done) {
    rank.session.run({RunKind::RunTo, 0, "rank_program.cpp", markedLine("call")}, std::move(done));
  });
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.error().text().find("there is no code at line"), std::string::npos)
      << run.error().text();
  const std::string value = rank.evaluate("numbers");
  EXPECT_NE(value.find("No symbol"), std::string::npos) << value;
  const auto frames = rank.ask<std::vector<Frame>>([&](Callback<std::vector<Frame>> done) {
    rank.session.inspect().frames(0, 0, 10, std::move(done));
  });
  ASSERT_TRUE(frames.ok());
  EXPECT_FALSE(frames->empty());
}

}  // namespace
}  // namespace pf::mi::test

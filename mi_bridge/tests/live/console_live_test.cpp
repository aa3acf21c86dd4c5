// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include "mi_bridge/tests/live/live_rank.h"

namespace pf::mi::test {
namespace {

class ConsoleLive : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(rank.attach().ok()); }
  Status type(const std::string& line) {
    return rank.wait([&](Done done) { rank.session.console(line, std::move(done)); });
  }
  LiveRank rank;
};

TEST_F(ConsoleLive, BreakAndContinueTypedByTheUser) {
  ASSERT_TRUE(type("break add").ok());
  ASSERT_EQ(rank.changes.size(), 1U);
  EXPECT_EQ(rank.changes[0], BreakpointChange::Created);
  const std::size_t before = rank.stops.size();
  ASSERT_TRUE(type("continue").ok());
  ASSERT_TRUE(rank.until([&] { return rank.stops.size() > before; }));
  EXPECT_EQ(rank.lastStop().reason, StopReason::Breakpoint);
  EXPECT_EQ(rank.states.back(), SessionState::Stopped);
  ASSERT_TRUE(type("print left * 0 + 5").ok());
  EXPECT_NE(rank.consoleText.find("= 5\n"), std::string::npos);
  ASSERT_TRUE(type("set var left = 3").ok());
  EXPECT_GT(rank.valueChanges, 0);
  ASSERT_TRUE(type("delete 1").ok());
  EXPECT_EQ(rank.changes.back(), BreakpointChange::Deleted);
}

TEST_F(ConsoleLive, CommandsWithSilent) {
  ASSERT_TRUE(type("break add").ok());
  ASSERT_TRUE(type("commands 1").ok());
  ASSERT_TRUE(type("silent").ok());
  ASSERT_TRUE(type("print right + 100").ok());
  const Status ended = type("end");
  ASSERT_TRUE(ended.ok()) << ended.error().text();
  ASSERT_TRUE(rank.runToStop({}).ok());  // GDB's *stopped is bare here
  EXPECT_EQ(rank.lastStop().frame.function, "add");
  EXPECT_TRUE(rank.until([&] { return rank.consoleText.find("= 102") != std::string::npos; }));
}

TEST_F(ConsoleLive, PythonBlock) {
  ASSERT_TRUE(type("python").ok());
  ASSERT_TRUE(type("for i in range(3):").ok());
  ASSERT_TRUE(type("\tprint(\"it's\", i * 7)").ok());
  const Status ended = type("end");
  ASSERT_TRUE(ended.ok()) << ended.error().text();
  EXPECT_NE(rank.consoleText.find("it's 14\n"), std::string::npos);
}

TEST_F(ConsoleLive, DefineBlock) {
  ASSERT_TRUE(type("define answer").ok());
  ASSERT_TRUE(type("if 1").ok());
  ASSERT_TRUE(type("print 42").ok());
  ASSERT_TRUE(type("end").ok());
  ASSERT_TRUE(type("end").ok());
  ASSERT_TRUE(type("answer").ok());
  EXPECT_NE(rank.consoleText.find("= 42\n"), std::string::npos);
}

TEST_F(ConsoleLive, DangerousLinesDoNotReachGdb) {
  for (const char* line : {"quit", "q", "kill", "run", "attach 1"}) {
    EXPECT_TRUE(type(line).ok());
  }
  EXPECT_EQ(rank.actions.size(), 5U);
  EXPECT_FALSE(type("shell cat").ok());
  EXPECT_FALSE(type("set mi-async off").ok());
  EXPECT_EQ(rank.evaluate("2+2"), "4");
  EXPECT_TRUE(rank.program.alive());
}

TEST_F(ConsoleLive, SecondaryPromptIsEnded) {
  // `compile code` reads lines of its own, and is not among the blocks that the console knows.
  (void)type("compile code");
  EXPECT_EQ(rank.evaluate("2+3"), "5");
}

TEST_F(ConsoleLive, EndlessLineIsInterruptedByPause) {
  std::optional<Status> answer;
  rank.session.console("python while True: pass", [&](Status status) { answer = status; });
  rank.until([] { return false; }, 300);
  ASSERT_FALSE(answer.has_value());
  ASSERT_TRUE(rank.wait([&](Done done) { rank.session.pause(std::move(done)); }).ok());
  ASSERT_TRUE(rank.until([&] { return answer.has_value(); }));
  EXPECT_EQ(rank.evaluate("2+3"), "5");
}

}  // namespace
}  // namespace pf::mi::test

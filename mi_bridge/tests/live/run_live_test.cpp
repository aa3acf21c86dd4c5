// SPDX-License-Identifier: GPL-3.0-or-later
#include <csignal>

#include <gtest/gtest.h>

#include "mi_bridge/tests/live/live_rank.h"

namespace pf::mi::test {
namespace {

BreakpointRequest atMark(const std::string& mark) {
  BreakpointRequest request;
  request.source = PF_MI_RANK_SOURCE;  // a path with a blank and an é
  request.line = markedLine(mark);
  return request;
}

TEST(RunLive, BreakpointWithConditionStepNextFinish) {
  LiveRank rank;
  ASSERT_TRUE(rank.attach().ok());
  BreakpointRequest request = atMark("call");
  request.condition = "round % 7 == 0 && \"a\"[0] == 'a'";
  Breakpoint breakpoint;
  const Status inserted = rank.insert(request, &breakpoint);
  ASSERT_TRUE(inserted.ok()) << inserted.error().text();
  EXPECT_EQ(breakpoint.fullname, PF_MI_RANK_SOURCE);  // octal escapes undone
  ASSERT_TRUE(rank.runToStop({}).ok());
  EXPECT_EQ(rank.lastStop().reason, StopReason::Breakpoint);
  EXPECT_EQ(rank.lastStop().breakpointNumber, breakpoint.number);
  EXPECT_EQ(rank.evaluate("round % 7"), "0");

  ASSERT_TRUE(rank.runToStop({RunKind::Step, 0, {}, 0}).ok());
  EXPECT_EQ(rank.lastStop().frame.function, "add");
  ASSERT_TRUE(rank.runToStop({RunKind::Next, 0, {}, 0}).ok());
  EXPECT_EQ(rank.lastStop().frame.line, markedLine("add") + 1);
  ASSERT_TRUE(rank.runToStop({RunKind::Finish, 0, {}, 0}).ok());
  EXPECT_EQ(rank.lastStop().reason, StopReason::Finished);
  EXPECT_EQ(rank.lastStop().frame.function, "main");
  ASSERT_TRUE(rank.runToStop({RunKind::Next, 0, {}, 0}).ok());
  ASSERT_TRUE(rank.runToStop({RunKind::NextInstruction, 0, {}, 0}).ok());
  EXPECT_EQ(rank.lastStop().reason, StopReason::Step);
}

TEST(RunLive, BadConditionIsRefused) {
  LiveRank rank;
  ASSERT_TRUE(rank.attach().ok());
  BreakpointRequest request = atMark("call");
  request.condition = "nosuch == 1";
  const Status inserted = rank.insert(request);
  ASSERT_FALSE(inserted.ok());
  EXPECT_NE(inserted.error().message.find("nosuch"), std::string::npos);
}

TEST(RunLive, PauseAndBreakpointWhileRunning) {
  LiveRank rank;
  ASSERT_TRUE(rank.attach().ok());
  ASSERT_TRUE(rank.wait([&](Done done) { rank.session.run({}, std::move(done)); }).ok());
  ASSERT_TRUE(rank.wait([&](Done done) { rank.session.pause(std::move(done)); }).ok());
  EXPECT_EQ(rank.lastStop().reason, StopReason::Paused);
  EXPECT_TRUE(rank.escalations.empty());
  ASSERT_TRUE(rank.wait([&](Done done) { rank.session.run({}, std::move(done)); }).ok());
  ASSERT_TRUE(rank.insert(atMark("after")).ok());
  ASSERT_TRUE(rank.until([&] { return rank.session.state() == SessionState::Stopped; }));
  EXPECT_EQ(rank.lastStop().reason, StopReason::Breakpoint);
}

TEST(RunLive, PauseClimbsTheLadderWhenSigintIsBlocked) {
  LiveRank rank("deaf");
  ASSERT_TRUE(rank.attach().ok());
  ASSERT_TRUE(rank.wait([&](Done done) { rank.session.run({}, std::move(done)); }).ok());
  const Status paused = rank.wait([&](Done done) { rank.session.pause(std::move(done)); });
  ASSERT_TRUE(paused.ok()) << paused.error().text();
  EXPECT_EQ(rank.lastStop().reason, StopReason::Paused);
  EXPECT_FALSE(rank.escalations.empty());
  // And the program goes on as if nothing had been.
  ASSERT_TRUE(rank.insert(atMark("after")).ok());
  ASSERT_TRUE(rank.runToStop({}).ok());
  EXPECT_EQ(rank.lastStop().reason, StopReason::Breakpoint);
}

TEST(RunLive, RunToLine) {
  LiveRank rank;
  ASSERT_TRUE(rank.attach().ok());
  RunCommand command{RunKind::RunTo, 0, "rank_program.cpp", markedLine("after")};
  ASSERT_TRUE(rank.runToStop(command).ok());
  EXPECT_EQ(rank.lastStop().reason, StopReason::Location);
  EXPECT_EQ(rank.lastStop().frame.line, markedLine("after"));
  EXPECT_TRUE(rank.changes.empty());
  command.line = 1000;
  const Status none = rank.runToStop(command);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("no code at line 1000"), std::string::npos);
}

/// The thread that a step is for, and what the others do meanwhile.
TEST(RunLive, StepsOfAThread) {
  LiveRank rank("threads");
  ASSERT_TRUE(rank.attach().ok());
  BreakpointRequest request = atMark("count");
  request.condition = "$_thread == 2";
  Breakpoint breakpoint;
  ASSERT_TRUE(rank.insert(request, &breakpoint).ok());
  ASSERT_TRUE(rank.runToStop({}).ok());
  ASSERT_EQ(rank.lastStop().thread, 2);
  const auto sum = [&rank](const char* counter) { return std::stol(rank.evaluate(counter)); };
  ASSERT_TRUE(
      rank.wait([&](Done done) { rank.session.breakpoints().remove(breakpoint.number, done); })
          .ok());
  // GDB 16 need not number the threads of a process that it finds in the order in which they were made.
  const bool inOrder = rank.evaluate("counter == &g_first") == "true";
  const char* const ofSecond = inOrder ? "g_first" : "g_second";
  const char* const ofThird = inOrder ? "g_second" : "g_first";
  // Alone: the thread that has stopped, and another one. The others stand, however long it takes.
  RunCommand next{RunKind::Next, 0, {}, 0, 0, true};
  for (const int thread : {2, 3}) {
    const char* const own = thread == 2 ? ofSecond : ofThird;
    const char* const other = thread == 2 ? ofThird : ofSecond;
    next.thread = thread;
    const long ownBefore = sum(own);
    const long otherBefore = sum(other);
    for (int i = 0; i < 6; ++i) {
      ASSERT_TRUE(rank.runToStop(next).ok());
      EXPECT_EQ(rank.lastStop().thread, thread);
      EXPECT_EQ(rank.lastStop().reason, StopReason::Step);
    }
    EXPECT_GT(sum(own), ownBefore);
    EXPECT_EQ(sum(other), otherBefore);
  }
  // All go on during a step that is not for one alone; still that thread is stepped.
  const long before = sum(ofSecond);
  next = {RunKind::Next, 0, {}, 0, 3, false};
  for (int i = 0; i < 60 && sum(ofSecond) == before; ++i) {
    ASSERT_TRUE(rank.runToStop(next).ok());
    EXPECT_EQ(rank.lastStop().thread, 3);
  }
  EXPECT_GT(sum(ofSecond), before);
}

class EventLive : public ::testing::TestWithParam<RunKind> {};

TEST_P(EventLive, LeavesTheMpiCallFirst) {
  LiveRank rank;
  ASSERT_TRUE(rank.attach().ok());
  ASSERT_EQ(rank.evaluate("g_stopAtEvent = 1"), "1");
  ASSERT_TRUE(rank.runToStop({}).ok());
  EXPECT_EQ(rank.lastStop().reason, StopReason::Event);
  EXPECT_TRUE(rank.lastStop().stoppedAtEvent());
  const auto frames = rank.ask<std::vector<Frame>>([&](Callback<std::vector<Frame>> done) {
    rank.session.inspect().frames(rank.lastStop().thread, 0, 20, std::move(done));
  });
  ASSERT_TRUE(frames.ok());
  const auto user = firstUserFrame(*frames);
  ASSERT_TRUE(user.has_value());
  EXPECT_EQ((*frames)[*user].function, "main");
  EXPECT_EQ((*frames)[*user].line, markedLine("event"));

  const std::size_t before = rank.stops.size();
  ASSERT_TRUE(rank.runToStop({GetParam(), 0, {}, 0}).ok());
  EXPECT_EQ(rank.stops.size(), before + 1);  // one stop, however many GDB made
  EXPECT_EQ(rank.lastStop().frame.function, "main");
  EXPECT_EQ(rank.lastStop().frame.line, markedLine("after event"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, EventLive, ::testing::Values(RunKind::Next, RunKind::Step));

TEST(RunLive, StepDoesNotEnterMpi) {
  LiveRank rank;
  ASSERT_TRUE(rank.attach().ok());
  ASSERT_TRUE(rank.insert(atMark("test")).ok());
  ASSERT_TRUE(rank.runToStop({}).ok());
  ASSERT_TRUE(rank.runToStop({RunKind::Step, 0, {}, 0}).ok());
  EXPECT_EQ(rank.lastStop().frame.line, markedLine("sleep"));
}

TEST(RunLive, ImpossibleBreakpointDoesNotLeaveItRunning) {
  LiveRank rank;
  ASSERT_TRUE(rank.attach().ok());
  BreakpointRequest request;
  request.address = 0x1234;
  ASSERT_TRUE(rank.insert(request).ok());
  // GDB says ^running and then ^error with the same token, and no *stopped.
  ASSERT_TRUE(rank.wait([&](Done done) { rank.session.run({}, std::move(done)); }).ok());
  ASSERT_TRUE(rank.until([&] { return rank.stops.size() == 2; }));
  EXPECT_EQ(rank.session.state(), SessionState::Stopped);
  EXPECT_NE(rank.logText.find("Command aborted"), std::string::npos);
  EXPECT_EQ(rank.evaluate("1+1"), "2");
}

}  // namespace
}  // namespace pf::mi::test

// SPDX-License-Identifier: GPL-3.0-or-later
#include <csignal>

#include <gtest/gtest.h>

#include "mi_bridge/tests/live/live_rank.h"

namespace pf::mi::test {
namespace {

TEST(AttachLive, AttachStopsAndDetachLetsGo) {
  LiveRank rank;
  const Status attached = rank.attach();
  ASSERT_TRUE(attached.ok()) << attached.error().text();
  EXPECT_EQ(rank.session.state(), SessionState::Stopped);
  EXPECT_EQ(rank.lastStop().reason, StopReason::Attached);
  ASSERT_TRUE(rank.wait([&](Done done) { rank.session.detach(std::move(done)); }).ok());
  EXPECT_EQ(rank.session.state(), SessionState::NotStarted);
  EXPECT_TRUE(rank.program.alive());
}

TEST(AttachLive, DetachWhileItRuns) {
  LiveRank rank;
  ASSERT_TRUE(rank.attach().ok());
  ASSERT_TRUE(rank.wait([&](Done done) { rank.session.run({}, std::move(done)); }).ok());
  ASSERT_TRUE(rank.until([&] { return rank.session.state() == SessionState::Running; }));
  const Status detached = rank.wait([&](Done done) { rank.session.detach(std::move(done)); });
  ASSERT_TRUE(detached.ok()) << detached.error().text();
  EXPECT_EQ(rank.stops.size(), 1U);  // the stop for it was not shown
  rank.until([] { return false; }, 100);
  EXPECT_TRUE(rank.program.alive());
}

TEST(AttachLive, NoSuchProcess) {
  LiveRank rank;
  ASSERT_TRUE(rank.wait([&](Done done) { rank.session.start(std::move(done)); }).ok());
  const Status attached =
      rank.wait([&](Done done) { rank.session.attach(0x3fffff, std::move(done)); });
  ASSERT_FALSE(attached.ok());
  EXPECT_NE(attached.error().message.find("cannot attach to process"), std::string::npos);
  EXPECT_FALSE(attached.error().advice.empty());
  EXPECT_EQ(rank.session.state(), SessionState::NotStarted);
}

TEST(AttachLive, GdbKilledWhileStopped) {
  LiveRank rank;
  ASSERT_TRUE(rank.attach().ok());
  rank.gdb.child().signal(SIGKILL);
  ASSERT_TRUE(rank.until([&] { return !rank.lost.empty(); }));
  EXPECT_EQ(rank.session.state(), SessionState::Lost);
  EXPECT_NE(rank.lost.find("attach a new GDB"), std::string::npos);
  rank.until([] { return false; }, 100);
  EXPECT_TRUE(rank.program.alive());
  EXPECT_NE(rank.evaluate("1").find("GDB has ended"), std::string::npos);
}

TEST(AttachLive, ProgramKilledWhileRunning) {
  LiveRank rank;
  ASSERT_TRUE(rank.attach().ok());
  ASSERT_TRUE(rank.wait([&](Done done) { rank.session.run({}, std::move(done)); }).ok());
  rank.program.signal(SIGKILL);
  ASSERT_TRUE(rank.until([&] { return rank.session.state() == SessionState::Exited; }));
  EXPECT_EQ(rank.lastStop().reason, StopReason::ExitedBySignal);
  EXPECT_EQ(rank.lastStop().signalName, "SIGKILL");
}

TEST(AttachLive, ExitStatus) {
  LiveRank rank;
  ASSERT_TRUE(rank.attach().ok());
  ASSERT_EQ(rank.evaluate("g_exitWith = 42"), "42");
  ASSERT_TRUE(rank.runToStop({}).ok());
  EXPECT_EQ(rank.session.state(), SessionState::Exited);
  EXPECT_EQ(rank.lastStop().exitCode, 42);
}

TEST(AttachLive, OutputThatLooksLikeMi) {
  LiveRank rank("noise", true);
  const Status attached = rank.attach();
  ASSERT_TRUE(attached.ok()) << attached.error().text();
  BreakpointRequest request;
  request.source = "rank_program.cpp";
  request.line = markedLine("after");
  ASSERT_TRUE(rank.insert(request).ok());
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(rank.runToStop({}).ok()) << i;
    EXPECT_EQ(rank.evaluate("1+1"), "2");
  }
  EXPECT_NE(rank.targetText.find("partial line"), std::string::npos);
}

}  // namespace
}  // namespace pf::mi::test

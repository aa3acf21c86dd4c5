// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include "mi_bridge/tests/support/fakes.h"

namespace pf::mi::test {
namespace {

using Log = std::vector<std::string>;

const std::string kSigint = std::string(FakeSession::kStop) +
                            R"(reason="signal-received",signal-name="SIGINT",thread-id="1")";
const std::string kBreakpoint =
    std::string(FakeSession::kStop) + R"(reason="breakpoint-hit",bkptno="1",thread-id="1")";
const std::string kEvent =
    R"(*stopped,reason="signal-received",signal-name="SIGTRAP",frame={addr="0x150",func="pf_stop_at_event",args=[]},thread-id="1")";

class RunTest : public ::testing::Test {
 protected:
  RunTest() {
    gdb.attached();
    gdb.observer.log.clear();
  }
  FakeSession gdb;
};

TEST_F(RunTest, OnlyWhenStopped) {
  gdb.runs();
  gdb.session.run({}, [this](const Status& status) { gdb.runStatus = status; });
  ASSERT_FALSE(gdb.runStatus.ok());
  EXPECT_NE(gdb.runStatus.error().message.find("cannot continue: the program is running"),
            std::string::npos);
}

TEST_F(RunTest, PauseLadder) {
  gdb.runs();
  Status status = Error{};
  gdb.session.pause([&status](const Status& s) { status = s; });
  gdb.answer("-exec-interrupt", "^done");
  gdb.session.tick(at(900));
  EXPECT_TRUE(gdb.observer.escalations.empty());
  for (const int time : {1000, 1100, 2000, 4000, 4100}) {
    gdb.session.tick(at(time));
  }
  EXPECT_EQ(gdb.observer.escalations,
            (std::vector<Escalation>{Escalation::InterruptGdb, Escalation::InterruptProgram,
                                     Escalation::StopProgram}));
  gdb.line(kSigint);
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(gdb.observer.log, (Log{"state running", "state stopped", "stopped paused"}));
}

TEST_F(RunTest, PauseBeforeGdbHasStartedTheProgram) {
  int paused = 0;
  gdb.session.run({}, [](const Status&) {});
  gdb.session.pause([&paused](const Status& status) { paused += status.ok() ? 1 : 100; });
  gdb.answer("-exec-continue", "^running");
  EXPECT_EQ(paused, 0);
  gdb.line("*running,thread-id=\"all\"");
  ASSERT_TRUE(gdb.wasSent("-exec-interrupt"));
  gdb.line(kSigint);
  EXPECT_EQ(paused, 1);
  gdb.session.run({}, [](const Status&) {});
  gdb.session.pause([&paused](const Status& status) { paused += status.ok() ? 1 : 100; });
  gdb.answer("-exec-continue", "^error,msg=\"no\"");
  EXPECT_EQ(paused, 2);
}

TEST_F(RunTest, PauseGivenUp) {
  gdb.runs();
  Status status;
  gdb.session.pause([&status](const Status& s) { status = s; });
  for (int time = 1000; time <= 10000; time += 1000) {
    gdb.session.tick(at(time));
  }
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("has not stopped within 10 s"), std::string::npos);
}

TEST_F(RunTest, ABreakpointOvertakesThePauseAndItsSigintComesLate) {
  gdb.runs();
  gdb.session.pause([](const Status&) {});
  gdb.answer("-exec-interrupt", "^done");
  gdb.line(kBreakpoint);
  EXPECT_EQ(gdb.observer.log.back(), "stopped breakpoint");
  gdb.observer.log.clear();
  gdb.runs();
  const int continues = gdb.countSent("-exec-continue");
  gdb.line(kSigint);  // ours, late: not shown
  EXPECT_EQ(gdb.countSent("-exec-continue"), continues + 1);
  gdb.answer("-exec-continue", "^running");
  gdb.line("*running,thread-id=\"all\"");
  EXPECT_EQ(gdb.observer.log, (Log{"state running"}));
  gdb.line(kSigint);  // this one is not ours
  EXPECT_EQ(gdb.observer.log.back(), "stopped signal");
}

TEST_F(RunTest, DetachTakesTheLateSigintFirst) {
  gdb.runs();
  gdb.session.pause([](const Status&) {});
  gdb.answer("-exec-interrupt", "^done");
  gdb.line(kBreakpoint);
  Status status = Error{};
  gdb.session.detach([&status](const Status& s) { status = s; });
  EXPECT_FALSE(gdb.wasSent("-target-detach"));
  gdb.answer("-exec-step-instruction", "^running");
  gdb.line("*running,thread-id=\"all\"");
  gdb.line(kSigint);
  gdb.answer("-target-detach", "^done");
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(gdb.observer.log.back(), "state not started");
}

TEST_F(RunTest, EventThenNextLeavesTheLibrary) {
  gdb.line(
      R"(=library-loaded,target-name="/l/libphotofinish_mpi.so",ranges=[{from="0x100",to="0x200"}])");
  gdb.runs();
  gdb.line(kEvent);
  EXPECT_EQ(gdb.observer.log.back(), "stopped event");
  gdb.observer.log.clear();
  gdb.session.run({RunKind::Next, 0, {}, 0}, [](const Status&) {});
  gdb.answer(
      "-stack-list-frames --thread 1 0",
      R"(^done,stack=[frame={level="0",addr="0x150",func="pf_stop_at_event"},frame={level="1",addr="0x160",func="MPI_Recv"},frame={level="2",addr="0x10",func="main"}])");
  gdb.answer("-exec-finish --thread 1 --frame 1", "^running");
  gdb.line("*running,thread-id=\"all\"");
  gdb.line(std::string(FakeSession::kStop) + R"(reason="function-finished",thread-id="1")");
  EXPECT_EQ(gdb.observer.log, (Log{"state running"}));
  gdb.answer("-exec-next --thread 1", "^running");
  gdb.line("*running,thread-id=\"all\"");
  gdb.line(std::string(FakeSession::kStop) + R"(reason="end-stepping-range",thread-id="1")");
  EXPECT_EQ(gdb.observer.log, (Log{"state running", "state stopped", "stopped step"}));
}

/// Whoever is asked between two ranks' stops where this one is: on its way, not at rest.
TEST_F(RunTest, IsAboutToRunWhileGdbIsAskedHow) {
  gdb.line(
      R"(=library-loaded,target-name="/l/libphotofinish_mpi.so",ranges=[{from="0x100",to="0x200"}])");
  gdb.runs();
  gdb.line(kEvent);
  EXPECT_FALSE(gdb.session.isAboutToRun());
  gdb.session.run({RunKind::Next, 0, {}, 0}, [](const Status&) {});
  EXPECT_TRUE(gdb.session.isAboutToRun()) << "the stack is asked for first";
  Status paused = Error{};
  gdb.session.pause([&paused](const Status& status) { paused = status; });
  EXPECT_FALSE(paused.ok()) << "it would run on all the same";
  gdb.answer("-stack-list-frames --thread 1 0", "^error,msg=\"no\"");
  EXPECT_FALSE(gdb.session.isAboutToRun()) << "it stays where it is";
  EXPECT_TRUE(paused.ok());
  RunCommand there{RunKind::RunTo, 0, "m.c", 12};
  gdb.session.run(there, [](const Status&) {});
  EXPECT_TRUE(gdb.session.isAboutToRun()) << "the breakpoint is made first";
  gdb.answer("-break-insert", "^error,msg=\"no\"");
  EXPECT_FALSE(gdb.session.isAboutToRun());
}

TEST_F(RunTest, AnotherStopOnTheWayOutIsShown) {
  gdb.line(
      R"(=library-loaded,target-name="/l/libphotofinish_mpi.so",ranges=[{from="0x100",to="0x200"}])");
  gdb.runs();
  gdb.line(kEvent);
  gdb.session.run({RunKind::Step, 0, {}, 0}, [](const Status&) {});
  gdb.answer(
      "-stack-list-frames",
      R"(^done,stack=[frame={level="0",addr="0x150",func="pf_stop_at_event"},frame={level="1",addr="0x10",func="main"}])");
  gdb.answer("-exec-finish", "^running");
  gdb.line("*running,thread-id=\"all\"");
  gdb.line(kBreakpoint);
  EXPECT_EQ(gdb.observer.log.back(), "stopped breakpoint");
  EXPECT_FALSE(gdb.wasSent("-exec-step"));
}

/// What is passed nothing on the stack returns to the begin of the next line.
TEST_F(RunTest, AStepOutOfACallThatEndsItsLineEndsAtTheNext) {
  const auto leaveTo = [this](const std::string& line) {
    gdb.runs();
    gdb.line(kEvent);
    gdb.session.run({RunKind::Step, 0, {}, 0}, [](const Status&) {});
    gdb.answer(
        "-stack-list-frames",
        R"(^done,stack=[frame={level="0",addr="0x150",func="pf_stop_at_event"},frame={level="1",addr="0x10",func="main",line="15"}])");
    gdb.answer("-exec-finish", "^running");
    gdb.line("*running,thread-id=\"all\"");
    gdb.line(
        R"(*stopped,reason="function-finished",thread-id="1",frame={addr="0x10",func="main",line=")" +
        line + "\"}");
  };
  gdb.line(
      R"(=library-loaded,target-name="/l/libphotofinish_mpi.so",ranges=[{from="0x100",to="0x200"}])");
  leaveTo("16");
  EXPECT_EQ(gdb.observer.log.back(), "stopped step");
  EXPECT_EQ(gdb.session.stop().frame.line, 16);
  EXPECT_FALSE(gdb.wasSent("-exec-step"));
  leaveTo("15");
  EXPECT_TRUE(gdb.wasSent("-exec-step"));
}

TEST_F(RunTest, FinishAtAnEventReturnsFromTheUsersFunction) {
  gdb.line(
      R"(=library-loaded,target-name="/l/libphotofinish_mpi.so",ranges=[{from="0x100",to="0x200"}])");
  gdb.runs();
  gdb.line(kEvent);
  gdb.session.run({RunKind::Finish, 0, {}, 0}, [](const Status&) {});
  gdb.answer(
      "-stack-list-frames",
      R"(^done,stack=[frame={level="0",addr="0x150",func="pf_stop_at_event"},frame={level="1",addr="0x10",func="worker"},frame={level="2",addr="0x20",func="main"}])");
  EXPECT_TRUE(gdb.wasSent("-exec-finish --thread 1 --frame 1"));
}

TEST_F(RunTest, RunningThenErrorWithTheSameToken) {
  gdb.runs();
  gdb.answer("-exec-continue", "^error,msg=\"Command aborted.\"");
  gdb.answer(
      "-thread-info",
      R"(^done,threads=[{id="1",frame={level="0",addr="0x10",func="main"},state="stopped"}],current-thread-id="1")");
  EXPECT_EQ(gdb.session.state(), SessionState::Stopped);
  EXPECT_EQ(gdb.session.stop().frame.function, "main");
}

TEST_F(RunTest, BareStopIsCompleted) {
  gdb.runs();
  gdb.line("*stopped");
  EXPECT_EQ(gdb.session.state(), SessionState::Running);
  gdb.answer(
      "-thread-info",
      R"(^done,threads=[{id="2",frame={level="0",addr="0x10",func="f"},state="stopped"}],current-thread-id="2")");
  EXPECT_EQ(gdb.session.stop().thread, 2);
  EXPECT_EQ(gdb.session.stop().frame.function, "f");
}

TEST_F(RunTest, RunToIsHiddenAndCleanedUp) {
  gdb.session.run({RunKind::RunTo, 0, "m.c", 9}, [](const Status&) {});
  gdb.answer("-break-insert -f -t --source \"m.c\" --line 9", R"(^done,bkpt={number="7"})");
  gdb.answer("-exec-continue", "^running");
  gdb.line("*running,thread-id=\"all\"");
  gdb.line(R"(=breakpoint-modified,bkpt={number="7",times="1"})");
  gdb.line(kBreakpoint);  // another one first
  EXPECT_TRUE(gdb.wasSent("-break-delete 7"));
  EXPECT_EQ(gdb.observer.log, (Log{"state running", "state stopped", "stopped breakpoint"}));
}

}  // namespace
}  // namespace pf::mi::test

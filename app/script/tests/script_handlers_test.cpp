// SPDX-License-Identifier: GPL-3.0-or-later
// Commands of a script on a session whose replays, ranks and GDBs are made up: no process is started.
#include "app/script/script_handlers.h"

#include "app/script/tests/script_fixture.h"

namespace pf::headless {
namespace {

using ScriptHandlersTest = ScriptFixture;

TEST_F(ScriptHandlersTest, ALineIsAnsweredByItsHandler) {
  EXPECT_EQ(
      ask("break main"),
      PlainLines(
          {"[all] breakpoint 1: start of main; behind MPI_Init: a replay cannot stop before"}));
  EXPECT_EQ(ask("break event 1:9"), PlainLines({"[all] breakpoint 2: event 1:9; rank 1, event 9"}));
  EXPECT_EQ(ask("disable 2"),
            PlainLines({"[all] breakpoint 2: event 1:9; disabled; rank 1, event 9"}));
  EXPECT_EQ(ask("delete 1"), PlainLines());
  EXPECT_EQ(ask("breakpoints"),
            PlainLines({"[all] breakpoint 2: event 1:9; disabled; rank 1, event 9"}));
  EXPECT_EQ(failure("delete 1"), "there is no breakpoint 1: 'breakpoints' lists them");
}

TEST_F(ScriptHandlersTest, WhatNeedsAReplayFailsWithoutOne) {
  EXPECT_EQ(failure("print 1").substr(0, 15), "no replay runs:");
  EXPECT_EQ(failure("replay-to 4:1"), "the recording has ranks 0 to 3");
  EXPECT_EQ(failure("rank 4"), "the recording has ranks 0 to 3");
  EXPECT_FALSE(failure("where @nobody").empty());
}

TEST_F(ScriptHandlersTest, AMoveIsDoneOnceItsRanksStand) {
  session().debuggers().setFocus({});
  begin("replay-to 2:40");
  EXPECT_FALSE(m_handlers.look(100));
  EXPECT_EQ(plain(m_handlers.lateText(1.5)),
            "not done within 1.5 s: the ranks are still being started");
  pump();
  target().allGated();
  pump();
  target().comeToTheirStops();
  pump();
  EXPECT_TRUE(m_handlers.look(1000));
  EXPECT_FALSE(m_answer.isOpen());
  EXPECT_FALSE(m_failure.has_value());
  EXPECT_EQ(session().currentRank(), 2);
  EXPECT_TRUE(says("[2] before event 40: ")) << plain(m_answer.lines().join(QLatin1Char('\n')));
  ask("cycles");
  EXPECT_TRUE(says("[all] cycle 1: rank 2: before event 40: "));
}

TEST_F(ScriptHandlersTest, AMoveThatTheSessionRefusesFailsWithItsWords) {
  EXPECT_NE(failure("to-failure").find("No rank failed"), std::string::npos);
}

TEST_F(ScriptHandlersTest, ValuesAreAskedOfTheGdbsAndALateOneIsForNothing) {
  session().debuggers().setFocus({1});
  goTo("1:20");
  m_handlers.look(1000);
  pump();
  ASSERT_FALSE(m_answer.isOpen());
  begin("print total @1");
  ASSERT_TRUE(m_answer.isOpen());
  EXPECT_EQ(plain(m_handlers.lateText(2)), "no answer within 2 s from the GDB of rank 1");
  m_answer.fail(QStringLiteral("late"));
  pump();
  EXPECT_EQ(plain(m_answer.lines()), PlainLines());
  EXPECT_EQ(failure("print total @0"),
            "no rank has a value: error: no debugger, 'focus RANKS' gives one");
}

}  // namespace
}  // namespace pf::headless

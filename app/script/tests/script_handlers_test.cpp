// SPDX-License-Identifier: GPL-3.0-or-later
// Commands of a script on a session whose replays, ranks and GDBs are made up: no process is started.
#include "app/script/script_handlers.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "app/script/tests/plain_lines.h"
#include "app/session/tests/session_fixture.h"

namespace pf::headless {
namespace {

class ScriptHandlersTest : public session::test::SessionFixture {
 protected:
  ScriptHandlersTest() { m_handlers.begin(); }

  void begin(const std::string& line) {
    m_failure.reset();
    m_answer.begin();
    m_handlers.carryOut(**parseScriptLine(line));
  }
  /// The answer to a command that is done at once.
  PlainLines ask(const std::string& line) {
    begin(line);
    EXPECT_FALSE(m_answer.isOpen()) << line;
    return plain(m_answer.lines());
  }
  std::string failure(const std::string& line) {
    ask(line);
    return plain(m_failure.value_or(QStringLiteral("it has not failed")));
  }
  /// A line of the answer begins so.
  bool says(const std::string& beginning) const {
    const PlainLines lines = plain(m_answer.lines());
    return std::any_of(lines.begin(), lines.end(), [&beginning](const std::string& line) {
      return line.starts_with(beginning);
    });
  }
  void goTo(const std::string& event) {
    begin("replay-to " + event);
    pump();
    target().allGated();
    pump();
    target().comeToTheirStops();
    pump();
  }

  std::optional<QString> m_failure;
  ScriptAnswer m_answer{[this](const std::optional<QString>& failure) {
    m_failure = failure;
    m_handlers.drop();
  }};
  ScriptHandlers m_handlers{session(), m_answer};
};

TEST_F(ScriptHandlersTest, ALineIsAnsweredByItsHandler) {
  EXPECT_EQ(ask("break main"), PlainLines({"[all] breakpoint 1: main"}));
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
  // The session's words are handed on by ScriptRun.
  QObject::connect(&session(), &session::DebugSession::message,
                   [this](const QString& text, bool problem) { m_handlers.hear(text, problem); });
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

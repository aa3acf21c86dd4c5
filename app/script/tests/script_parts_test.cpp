// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of a script that need no session: its lines, its answers, what is waited for, and words.
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "app/script/language/script_answer.h"
#include "app/script/language/script_lines.h"
#include "app/script/ranks/awaited_answers.h"
#include "app/script/ranks/rank_text.h"
#include "app/script/ranks/rank_values.h"
#include "app/script/tests/plain_lines.h"

namespace pf::headless {
namespace {

TEST(ScriptLines, AreTakenInTheirOrderAndNumbered) {
  ScriptLines lines("walk.txt", false);
  EXPECT_FALSE(lines.take().has_value());
  lines.add("run");
  lines.add("where");
  lines.noMore();
  EXPECT_EQ(lines.take(), "run");
  EXPECT_EQ(lines.place(), "walk.txt:1: ");
  EXPECT_FALSE(lines.isOver());
  EXPECT_EQ(lines.take(), "where");
  EXPECT_EQ(lines.place(), "walk.txt:2: ");
  EXPECT_TRUE(lines.isOver());
}

TEST(ScriptLines, AfterTheEndNoneIsLeft) {
  ScriptLines lines("walk.txt", true);
  lines.add("run");
  lines.end();
  EXPECT_TRUE(lines.isOver());
  EXPECT_EQ(lines.place(), "") << "somebody types";
}

TEST(ScriptAnswer, EachLineHasItsRanks) {
  ScriptAnswer answer([](const auto&) {});
  answer.begin();
  answer.say({0, 2, 1}, QStringLiteral("a\nb"));
  answer.sayForAll(QStringLiteral("c"));
  answer.sayEqualOnes(
      {{0, QStringLiteral("x")}, {1, QStringLiteral("y")}, {3, QStringLiteral("x")}});
  EXPECT_EQ(plain(answer.lines()),
            PlainLines({"[0-2] a", "[0-2] b", "[all] c", "[0, 3] x", "[1] y"}));
}

TEST(ScriptAnswer, EndsOnce) {
  std::vector<std::optional<QString>> ends;
  ScriptAnswer answer([&ends](const auto& failure) { ends.push_back(failure); });
  answer.done();
  EXPECT_TRUE(ends.empty()) << "none has begun";
  answer.begin();
  answer.fail({});
  answer.done();
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0], QString()) << "a failure without a word is one";
  answer.begin();
  answer.drop();
  answer.fail(QStringLiteral("late"));
  EXPECT_EQ(ends.size(), 1U);
}

TEST(ScriptAnswer, OnlyACommandThatReplacesTheLastAnswerDoes) {
  ScriptAnswer answer([](const auto&) {});
  const auto command = [&answer](const QString& text, bool replaces) {
    answer.begin();
    if (replaces) {
      answer.replaceLast();
    }
    answer.sayPlain(text);
    answer.done();
  };
  command(QStringLiteral("first"), true);
  command(QStringLiteral("second"), false);
  EXPECT_EQ(plain(answer.last()), PlainLines({"first"}));
  command(QStringLiteral("third"), true);
  EXPECT_EQ(plain(answer.last()), PlainLines({"third"}));
}

TEST(AwaitedAnswers, AreCompleteOnceEachRankHasAnswered) {
  AwaitedAnswers awaited;
  int completed = 0;
  awaited.ask(
      {0, 1, 2},
      [&awaited](int rank) {
        if (rank == 0) {
          awaited.answered(rank);  // at once
        }
      },
      [&completed] { ++completed; });
  EXPECT_EQ(awaited.silent(), QList({1, 2}));
  awaited.answered(2);
  EXPECT_EQ(completed, 0);
  awaited.answered(1);
  awaited.answered(1);
  EXPECT_EQ(completed, 1);
}

TEST(AwaitedAnswers, NoneIsAskedForIsCompleteAtOnce) {
  AwaitedAnswers awaited;
  bool completed = false;
  awaited.ask(
      {}, [](int) { FAIL(); }, [&completed] { completed = true; });
  EXPECT_TRUE(completed);
}

TEST(AwaitedAnswers, ThatAllAnswerAtOnceIsNotCompleteBeforeAllAreAsked) {
  AwaitedAnswers awaited;
  std::vector<int> asked;
  awaited.ask(
      {0, 1},
      [&](int rank) {
        asked.push_back(rank);
        awaited.answered(rank);
      },
      [&asked] { asked.push_back(-1); });
  EXPECT_EQ(asked, std::vector({0, 1, -1}));
}

TEST(AwaitedAnswers, ALateOneDoesNothing) {
  AwaitedAnswers awaited;
  std::vector<int> taken;
  awaited.begin();
  const auto first = awaited.inTime([&taken](int value) { taken.push_back(value); });
  first(1);
  awaited.begin();
  first(2);
  const auto second = awaited.inTime([&taken](int value) { taken.push_back(value); });
  second(3);
  awaited.drop();
  second(4);
  EXPECT_EQ(taken, std::vector({1, 3}));
}

TEST(AwaitedAnswers, OfTheirEndToo) {
  auto awaited = std::make_unique<AwaitedAnswers>();
  const auto take = awaited->inTime([] { FAIL() << "what it would use is gone"; });
  awaited.reset();
  take();
}

TEST(RankValues, FailOnlyWhereNoRankHasOne) {
  RankValues values;
  values.addError(2, QStringLiteral("runs"));
  EXPECT_FALSE(values.some());
  EXPECT_EQ(plain(values.first()), "error: runs");
  values.add(0, QStringLiteral("7"));
  EXPECT_TRUE(values.some());
  ScriptAnswer answer([](const auto&) {});
  values.sayIn(answer);
  EXPECT_EQ(plain(answer.lines()), PlainLines({"[0] 7", "[2] error: runs"}));
}

TEST(RankText, ReasonsToStopAreWordsInALine) {
  mi::StopEvent watch;
  watch.reason = mi::StopReason::Watchpoint;
  watch.watchExpression = "total";
  watch.oldValue = "1";
  watch.newValue = "3";
  EXPECT_EQ(plain(stopReasonText(watch, watch.describe())), "watch total: was 1, is 3");
  mi::StopEvent step;
  step.reason = mi::StopReason::Step;
  EXPECT_EQ(plain(stopReasonText(step, step.describe())), "end of step");
}

TEST(RankText, ACatchpointSaysWhatItHasCaught) {
  values::Breakpoint breakpoint;
  breakpoint.file = QStringLiteral("sum.c");
  breakpoint.line = 18;
  const QString detail = QStringLiteral("MPI_Send has failed");
  EXPECT_EQ(plain(breakpointStopText(1, breakpoint, detail)), "breakpoint 1 (sum.c:18)");
  breakpoint = {};
  breakpoint.kind = values::BreakpointKind::Catch;
  breakpoint.expression = QStringLiteral("throw");
  EXPECT_TRUE(
      breakpointStopText(2, breakpoint, detail).endsWith(QLatin1String(": MPI_Send has failed")));
  EXPECT_EQ(breakpointStopText(2, breakpoint, QStringLiteral("breakpoint -2")),
            QStringLiteral("breakpoint 2 (%1)").arg(values::breakpointPlace(breakpoint)));
}

TEST(RankText, StatesOfRanksWithoutAGdb) {
  using values::RankActivity;
  values::RankState state;
  state.rank = 2;
  state.activity = RankActivity::InCall;
  state.serial = 4;
  state.detail = QStringLiteral("in MPI_Recv");
  EXPECT_EQ(plain(rankStateText(state, false, {})), "in MPI_Recv, event 4");
  state.activity = RankActivity::Finished;
  state.detail = QString();
  EXPECT_EQ(plain(rankStateText(state, false, {})), "in MPI_Finalize, event 4");
  state.detail = QStringLiteral("rank 2 ended with status 0");
  EXPECT_EQ(plain(rankStateText(state, true, {})), "ended with status 0");
}

TEST(RankText, AFrameIsNamedByItsFunctionFileAndLine) {
  values::StackFrame frame;
  frame.level = 1;
  frame.function = QStringLiteral("MPI_Recv");
  EXPECT_EQ(plain(frameText(frame, true)), "#1 MPI_Recv");
  frame.function = QStringLiteral("main");
  frame.file = QStringLiteral("/home/me/sum.c");
  frame.line = 18;
  EXPECT_EQ(plain(frameText(frame, false)), "main() at sum.c:18");
}

TEST(RankText, ThePlaceIsTheInnermostOfTheProgram) {
  mi::Frame call;
  call.function = "MPI_Recv";
  call.from = "/usr/lib/libmpi.so.40";
  mi::Frame main;
  main.function = "main";
  main.fullname = "/home/me/sum.c";
  main.line = 18;
  EXPECT_EQ(plain(userPlaceText({call, main})), "main() at sum.c:18");
  EXPECT_EQ(plain(userPlaceText({mi::Frame()})),
            "?"
            "?()");
}

}  // namespace
}  // namespace pf::headless

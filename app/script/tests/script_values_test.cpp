// SPDX-License-Identifier: GPL-3.0-or-later
// Commands that look: values, stacks, frames, lines for GDB, states of ranks; of ranks that stand,
// run, have ended, or whose GDB fails or comes too late.
#include "app/script/tests/script_fixture.h"

namespace pf::headless {
namespace {

constexpr const char* kNoSymbol = R"(^error,msg="No symbol \"n\" in current context.")";

class ScriptValuesTest : public ScriptFixture {
 protected:
  void letRun(int rank) {
    session().act(values::RankAction::Continue, {rank});
    pump();
  }
};

// -- print

TEST_F(ScriptValuesTest, EqualValuesAreToldTogether) {
  standAll({{"-data-evaluate-expression", R"(^done,value="5")"},
            {"-data-evaluate-expression", R"(^done,value="6")", {}, 1}});
  EXPECT_EQ(answer("print n @all"), PlainLines({"[0, 2-3] 5", "[1] 6"}));
  EXPECT_EQ(answer("print n"), PlainLines({"[2] 5"})) << "of the current rank";
}

TEST_F(ScriptValuesTest, ValuesAreOfTheProgramsFrame) {
  standAll({{"-data-evaluate-expression", R"(^done,value="5")"}});
  answer("print n @0");
  EXPECT_TRUE(target().wasTold(0, "--frame 1")) << "not that of MPI_Recv: " << target().toGdb[0];
}

TEST_F(ScriptValuesTest, OtherRanksAreAskedInTheFrameOfTheSameFunction) {
  standAll({{"-data-evaluate-expression", R"(^done,value="5")"}});
  answer("frame 2");
  target().forgetOrders();
  answer("print argc @1,2");
  EXPECT_TRUE(target().wasTold(2, "--frame 2")) << target().toGdb[2];
  EXPECT_TRUE(target().wasTold(1, "--frame 2")) << "its main, too: " << target().toGdb[1];
}

TEST_F(ScriptValuesTest, OneValueIsEnoughForAnAnswer) {
  standAll({{"-data-evaluate-expression", R"(^done,value="5")"},
            {"-data-evaluate-expression", kNoSymbol, {}, 3}});
  EXPECT_EQ(answer("print n @2,3"),
            PlainLines({"[2] 5", "[3] error: No symbol \"n\" in current context."}));
}

TEST_F(ScriptValuesTest, NoneIsAFailureWithItsReason) {
  standAll({{"-data-evaluate-expression", kNoSymbol}});
  EXPECT_EQ(failureOf("print n @all"),
            "no rank has a value: error: No symbol \"n\" in current context.");
}

TEST_F(ScriptValuesTest, WhoRunsOrHasNoGdbHasNoValue) {
  standBefore("2:40", {1, 2}, {{"-data-evaluate-expression", R"(^done,value="5")"}});
  letRun(1);
  EXPECT_EQ(answer("print n @0-2"), PlainLines({"[0] error: no debugger, 'focus RANKS' gives one",
                                                "[1] error: runs, 'pause' stops it", "[2] 5"}));
}

TEST_F(ScriptValuesTest, AGdbThatDiesWhileItIsAskedHoldsUpNobody) {
  standAll({{"-data-evaluate-expression", R"(^done,value="5")"}});
  begin("print n @all");
  target().gdbIs(1, protocol::GdbCondition::Died, "gdb ended");
  await();
  EXPECT_FALSE(m_failure.has_value());
  EXPECT_TRUE(says("[0, 2-3] 5")) << all();
  EXPECT_TRUE(says("[1] error: ")) << all();
}

TEST_F(ScriptValuesTest, AStackThatCannotBeReadIsTheReason) {
  standAll({{"-data-evaluate-expression", R"(^done,value="5")"}});
  target().replies.push_back(
      {"-stack-list-frames", R"(^error,msg="Cannot access memory at address 0x8")", {}, 1});
  EXPECT_EQ(answer("print n @1,2"),
            PlainLines({"[1] error: Cannot access memory at address 0x8", "[2] 5"}));
}

// -- stacks and frames

TEST_F(ScriptValuesTest, FramesOfTheProgramAreNumberedAndEqualStacksAreOne) {
  standAll();
  EXPECT_EQ(answer("stack"),
            PlainLines({"[2] MPI_Recv", "[2] #1 collect() at m.c:12", "[2] #2 main() at m.c:40"}));
  EXPECT_EQ(answer("stack @all").front(), "[0-3] MPI_Recv");
}

TEST_F(ScriptValuesTest, AllStacksAreOneTree) {
  standAll();
  target().replies.push_back(
      {"-stack-list-frames",
       R"(^done,stack=[frame={level="0",addr="0x9",func="report",fullname="/src/m.c",line="30"},)"
       R"(frame={level="1",addr="0x3",func="main",fullname="/src/m.c",line="41"}])",
       {},
       3});
  answer("stacks");
  EXPECT_TRUE(says("[0-2] main() at m.c:40")) << all();
  EXPECT_TRUE(says("[0-2]   collect() at m.c:12")) << all();
  EXPECT_TRUE(says("[3] main() at m.c:41")) << all();
  EXPECT_TRUE(says("[3]   report() at m.c:30")) << all();
}

TEST_F(ScriptValuesTest, FramesAreChosenUpAndDown) {
  standAll();
  EXPECT_EQ(answer("up"), PlainLines({"[2] #2 main() at m.c:40"}));
  EXPECT_EQ(failure("up"), "rank 2 has no such frame: 'stack' lists those of the program");
  EXPECT_EQ(answer("down"), PlainLines({"[2] #1 collect() at m.c:12"}));
  EXPECT_EQ(failure("down"), "rank 2 has no such frame: 'stack' lists those of the program")
      << "MPI_Recv is not the program's";
  EXPECT_EQ(answer("frame 2"), PlainLines({"[2] #2 main() at m.c:40"}));
  EXPECT_NE(failure("frame 0"), "it has not failed");
  EXPECT_NE(failure("frame 7"), "it has not failed");
}

TEST_F(ScriptValuesTest, FramesOfTheFormerRankAreNotThoseOfTheNext) {
  standBefore("2:40", {2});
  answer("up");
  answer("rank 1");
  for (const char* line : {"frame 1", "up", "down"}) {
    EXPECT_EQ(failure(line), "rank 1 has no such frame: 'stack' lists those of the program")
        << line;
  }
}

// -- lines for GDB

TEST_F(ScriptValuesTest, WhatGdbsSayIsToldTogether) {
  standAll({{"info locals", "^done", "n = 3"}, {"info locals", "^done", "n = 4", 1}});
  EXPECT_EQ(answer("gdb @all info locals"), PlainLines({"[0, 2-3] n = 3", "[1] n = 4"}));
  EXPECT_EQ(answer("gdb set var n = 4"), PlainLines({"[2] done"}));
}

TEST_F(ScriptValuesTest, NumbersOfGdbsHistoryAreNoNews) {
  standAll({{"print n", "^done", "$1 = 3"}, {"print n", "^done", "$12 = 3", 1}});
  EXPECT_EQ(answer("gdb @all print n"), PlainLines({"[0-3] 3"}));
}

TEST_F(ScriptValuesTest, ALineThatNoGdbTakesIsAFailure) {
  standBefore("2:40", {1, 2}, {{"frobnicate", R"(^error,msg="Undefined command.")"}});
  EXPECT_EQ(failureOf("gdb frobnicate"), "no GDB did that: error: Undefined command.");
  EXPECT_EQ(failureOf("gdb @0 info locals"), "no GDB did that: error: no debugger");
  target().replies.push_back({"frobnicate", "^done", {}, 1});
  EXPECT_EQ(answer("gdb @all frobnicate"),
            PlainLines({"[0, 3] error: no debugger", "[1] done", "[2] error: Undefined command."}));
}

TEST_F(ScriptValuesTest, AGdbThatKnowsNoFrameIsGivenTheLineAllTheSame) {
  standAll({{"info threads", "^done", "1 Thread"}});
  target().replies.push_back({"-stack-list-frames", R"(^error,msg="No stack.")", {}, 1});
  EXPECT_EQ(answer("gdb @1 info threads"), PlainLines({"[1] 1 Thread"}));
}

TEST_F(ScriptValuesTest, AGdbThatIsLostAtALineIsAnAnswer) {
  standAll({{"info locals", "^done", "n = 3"}});
  begin("gdb @0,1 info locals");
  target().gdbIs(1, protocol::GdbCondition::Died, "gdb ended");
  await();
  EXPECT_TRUE(says("[0] n = 3")) << all();
  EXPECT_TRUE(says("[1] error: ")) << all();
}

TEST_F(ScriptValuesTest, ALineThatWouldLeaveTheProgramIsRefused) {
  standAll();
  EXPECT_NE(failureOf("gdb shell rm x"), "it has not failed");
  EXPECT_FALSE(target().wasTold(2, "shell"));
}

// -- where ranks are

TEST_F(ScriptValuesTest, WhereIsEachRanksEventAndCall) {
  standAll();
  answer("where");
  EXPECT_TRUE(says("[2] before event 40: ")) << all();
  EXPECT_EQ(answer("where @2").size(), 1U);
  EXPECT_NE(failure("where @9"), "it has not failed");
  EXPECT_NE(failure("where @nobody"), "it has not failed");
}

TEST_F(ScriptValuesTest, WhoHasEndedIsSaidWithItsEnd) {
  standBefore("2:40", {2});
  target().exits(1, "rank 1 ended with status 7");
  pump();
  EXPECT_EQ(answer("where @1"), PlainLines({"[1] ended with status 7"}));
}

TEST_F(ScriptValuesTest, BeforeAReplayNobodyIsAnywhereElse) {
  EXPECT_EQ(answer("where").size(), 1U) << all();
  EXPECT_EQ(answer("rank 3").size(), 1U);
  EXPECT_EQ(session().currentRank(), 3);
}

TEST_F(ScriptValuesTest, ARankIsMadeTheCurrentOneByItsNumber) {
  standAll({{"-data-evaluate-expression", R"(^done,value="5")"}});
  answer("rank 1");
  EXPECT_EQ(answer("print n"), PlainLines({"[1] 5"}));
  EXPECT_EQ(failure("rank 4"), "the recording has ranks 0 to 3");
  EXPECT_EQ(session().currentRank(), 1);
}

// -- groups, races, cycles, output

TEST_F(ScriptValuesTest, GroupsAreNamedOnce) {
  EXPECT_EQ(ask("group home 0,2-3"), PlainLines({"[0, 2-3] home"}));
  EXPECT_EQ(ask("group edge all-home"), PlainLines({"[1] edge"}));
  EXPECT_EQ(ask("group home 1"), PlainLines({"[1] home"}));
  ask("groups");
  EXPECT_TRUE(says("[1] home")) << all();
  EXPECT_FALSE(says("[0, 2-3] home")) << all();
  EXPECT_TRUE(says("[0-3] ")) << "communicators, too: " << all();
}

TEST_F(ScriptValuesTest, AGroupNeedsRanksThatThereAre) {
  for (const char* line : {"group home", "group home 9", "group home 2-1", "group home nobody"}) {
    EXPECT_TRUE(failure(line).ends_with(". Write: group NAME RANKS")) << line;
  }
}

TEST_F(ScriptValuesTest, RacesAreNumberedAndSayWhatElseCouldHaveBeen) {
  const std::size_t count = session().trace()->races.size();
  ASSERT_GT(count, 0U);
  const PlainLines lines = ask("races");
  EXPECT_EQ(lines.size(), count);
  EXPECT_NE(lines[0].find("] race 1, event "), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find("; took rank "), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find("; or could rank "), std::string::npos) << lines[0];
}

TEST_F(ScriptValuesTest, CyclesAreThoseOfTheScript) {
  EXPECT_EQ(ask("cycles"), PlainLines());
  standAll();
  ask("cycles");
  EXPECT_TRUE(says("[all] cycle 1: rank 2: before event 40")) << all();
}

TEST_F(ScriptValuesTest, OutputIsOfThePresentCycleAndByRank) {
  standAll();
  testing::internal::CaptureStderr();
  Q_EMIT session().output(1, values::OutputStream::Out, "a\nb");
  Q_EMIT session().output(2, values::OutputStream::Err, "x\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "[rank 1] a\n[rank 2] x\n");
  EXPECT_EQ(answer("output"), PlainLines({"[1] a", "[2] x"}));
  EXPECT_EQ(answer("output @0,1"), PlainLines({"[1] a"}));
  begin("run");
  EXPECT_TRUE(QTest::qWaitFor([this] { return pump(), m_targets.size() == 2; }, kPatienceMs));
  m_answer.fail(QStringLiteral("late"));
  EXPECT_EQ(answer("output"), PlainLines());
}

TEST_F(ScriptValuesTest, WhichMessageSaysWhyThereIsNone) {
  standAll({{"(unsigned long)", R"(^error,msg="No symbol \"buf\" in current context.")"}});
  EXPECT_NE(failureOf("which-message buf"), "it has not failed");
}

// -- expectations

TEST_F(ScriptValuesTest, AnExpectationIsOfTheLastAnswer) {
  ask("group home 0");
  EXPECT_EQ(failure("expect ^\\[0\\] home$"), "it has not failed");
  ask("echo something else");
  EXPECT_EQ(failure("expect home"), "it has not failed") << "an echo is no answer";
  EXPECT_EQ(failure("expect-not away"), "it has not failed");
  EXPECT_EQ(failure("expect-not home"), "did not expect /home/, got:\n[0] home");
  EXPECT_EQ(failure("expect ([").substr(0, 29), "'([' is no regular expression");
  EXPECT_EQ(failure("expect home"), "it has not failed") << "the answer is still there";
}

}  // namespace
}  // namespace pf::headless

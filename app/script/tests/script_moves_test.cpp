// SPDX-License-Identifier: GPL-3.0-or-later
// Commands that move ranks, and breakpoints on their way: what is told of the stops, and what fails.
#include "app/script/tests/script_fixture.h"

namespace pf::headless {
namespace {

using session::test::kMade;

class ScriptMovesTest : public ScriptFixture {
 protected:
  /// A step of the rank that ends so, after which its command has ended.
  void endStep(int rank, const std::string& how) {
    pump();
    target().gdbStops(rank, how);
    await();
  }
};

// -- steps

TEST_F(ScriptMovesTest, AStepTellsWhereItsRankIsNow) {
  standAll();
  for (const char* line : {"next @1", "step @1", "finish @1"}) {
    begin(line);
    EXPECT_TRUE(m_answer.isOpen());
    endStep(1, R"(reason="end-stepping-range")");
    EXPECT_FALSE(m_failure.has_value()) << line;
    EXPECT_TRUE(says("[1] end of step, after event ")) << line << ": " << all();
    EXPECT_NE(all().find(": collect() at m.c:12"), std::string::npos) << all();
    EXPECT_FALSE(says("[0")) << "it has not moved: " << all();
  }
  EXPECT_EQ(session().currentRank(), 1);
}

TEST_F(ScriptMovesTest, WhoCannotBeSteppedIsToldWhatToDo) {
  standBefore("2:40", {1, 2});
  EXPECT_EQ(failure("next @0"), "rank 0 has no debugger: 'focus 0' gives it one");
  session().act(values::RankAction::Continue, {1});
  pump();
  EXPECT_EQ(failure("step @1"), "rank 1 runs: 'pause @1' stops it");
  EXPECT_EQ(failure("until m.c:40 @1"), "rank 1 runs: 'pause @1' stops it");
  target().exits(3, "rank 3 ended with status 0");
  pump();
  EXPECT_EQ(failure("finish @3"), "rank 3 has ended");
}

TEST_F(ScriptMovesTest, ABreakpointOnTheWayIsTheReason) {
  session().debuggers().setFocus({0, 1, 2, 3});
  ask("break /src/m.c:12");
  standAll({{"-break-insert", kMade}});
  begin("next @1");
  endStep(1, R"(reason="breakpoint-hit",bkptno="2")");
  EXPECT_TRUE(says("[1] breakpoint 1 (m.c:12), after event ")) << all();
  EXPECT_EQ(answer("breakpoints"), PlainLines({"[all] breakpoint 1: /src/m.c:12"}));
}

TEST_F(ScriptMovesTest, OnlyRanksThatRunAreMovedAndTold) {
  ASSERT_TRUE(session().debugOnly({{}, {2}}).ok());
  standBefore("2:40", {2});
  const std::string outside =
      "Rank 0 is not in this replay, which runs rank 2 alone. To debug it too, debug ranks 0-2.";
  for (const char* line : {"next @0", "print n @0-3", "continue @0", "break collect @0",
                           "break event 0:60", "replay-to 0:5", "focus 0,2"}) {
    EXPECT_EQ(failure(line), outside) << line;
  }
  EXPECT_TRUE(ask("breakpoints").empty()) << "none is kept";
  EXPECT_EQ(answer("where").size(), 1U) << all();
  EXPECT_TRUE(says("[2] before event 40")) << all();
  answer("where @0-3");
  EXPECT_TRUE(says("[0-1, 3] not in this replay")) << all();
  begin("continue");
  pump();
  EXPECT_TRUE(target().wasTold(2, "-exec-continue"));
  m_handlers.drop();
  m_answer.done();
}

TEST_F(ScriptMovesTest, ASignalIsNamed) {
  standAll();
  begin("next @1");
  endStep(1,
          R"(reason="signal-received",signal-name="SIGSEGV",signal-meaning="Segmentation fault")");
  EXPECT_TRUE(says("[1] signal SIGSEGV: Segmentation fault")) << all();
}

TEST_F(ScriptMovesTest, AStepThatDoesNotEndIsSaidWithItsRank) {
  standAll();
  begin("next @1");
  pump();
  EXPECT_FALSE(m_handlers.look(1000));
  EXPECT_EQ(plain(m_handlers.lateText(2)).substr(0, 33), "not done within 2 s: rank 1 runs ");
  m_answer.fail(QStringLiteral("late"));
  EXPECT_EQ(failure("next @1"), "rank 1 runs: 'pause @1' stops it");
}

TEST_F(ScriptMovesTest, APauseOfWhoStandsIsDoneAtOnce) {
  standAll();
  answer("pause");
  EXPECT_FALSE(m_failure.has_value());
  EXPECT_EQ(target().toGdb[0].find("-exec-"), std::string::npos);
}

// -- to events

TEST_F(ScriptMovesTest, OnlyEventsOfTheRecordingCanBeGoneTo) {
  const std::size_t events = session().trace()->execution.ranks[1].events.size();
  EXPECT_EQ(failure("replay-to 1:" + std::to_string(events + 1)),
            "rank 1 has " + std::to_string(events) + " events in the recording");
  EXPECT_EQ(failure("replay-to 4:1"), "the recording has ranks 0 to 3");
  EXPECT_TRUE(m_targets.isEmpty());
}

TEST_F(ScriptMovesTest, AnEventIsGoneToInTheSameCycle) {
  standAll();
  begin("replay-to 2:60");
  pump();
  target().comeToTheirStops();
  await();
  EXPECT_TRUE(says("[2] before event 60: ")) << all();
  EXPECT_EQ(m_targets.size(), 1);
}

TEST_F(ScriptMovesTest, BackIsANewCycle) {
  standAll();
  begin("previous-event");
  EXPECT_TRUE(QTest::qWaitFor([this] { return pump(), m_targets.size() == 2; }, kPatienceMs));
  gate();
  target().comeToTheirStops();
  await();
  EXPECT_TRUE(says("[2] before event 39: ")) << all();
  ask("cycles");
  EXPECT_TRUE(says("[all] cycle 2: rank 2: before event 39")) << all();
}

TEST_F(ScriptMovesTest, WhatTheSessionRefusesFailsWithItsWords) {
  EXPECT_EQ(failure("to-failure").substr(0, 14), "No rank failed");
  EXPECT_EQ(failure("previous-hit"), "there is nothing to go to from here") << "it said nothing";
}

TEST_F(ScriptMovesTest, WithoutAReplayThereIsNothingToEnd) {
  EXPECT_EQ(ask("end-replay"), PlainLines());
  EXPECT_FALSE(m_failure.has_value());
}

TEST_F(ScriptMovesTest, TheEndOfTheProgramIsAResult) {
  standAll();
  begin("continue");
  pump();
  Q_EMIT target().ended(3, {});
  await();
  EXPECT_FALSE(m_failure.has_value());
  EXPECT_TRUE(says("[all] the replay has ended, exit status 3")) << all();
  ask("cycles");
  EXPECT_TRUE(says("[all] cycle 1: ended, exit status 3")) << all();
  EXPECT_EQ(failure("next").substr(0, 15), "no replay runs:");
}

TEST_F(ScriptMovesTest, ACycleThatCannotBeginIsAFailure) {
  session().setReplays([](const session::ReplayRequest&) {
    return Result<std::unique_ptr<session::Target>>(
        Error{ErrorCode::System, "no ranks to be had", "Buy some."});
  });
  EXPECT_NE(failureOf("run").find("no ranks to be had"), std::string::npos);
}

TEST_F(ScriptMovesTest, ADivergenceFailsTheMove) {
  standAll();
  begin("continue");
  pump();
  protocol::RankDiverged diverged;
  diverged.rank = 1;
  diverged.serial = 45;
  Q_EMIT target().said(diverged);
  await();
  EXPECT_NE(plain(m_failure.value_or(QStringLiteral("it has not failed"))).find("iverge"),
            std::string::npos)
      << plain(m_failure.value_or(QString())) << all();
}

// -- who has a GDB

TEST_F(ScriptMovesTest, FocusIsOfRanksThatThereAre) {
  EXPECT_EQ(ask("focus 0-1"), PlainLines({"[0-1] will have a GDB"}));
  EXPECT_NE(failure("focus 9"), "it has not failed");
  EXPECT_NE(failure("focus some"), "it has not failed");
  EXPECT_EQ(session().debuggers().focus().size(), 2);
}

// -- breakpoints

TEST_F(ScriptMovesTest, BreakpointsAreNumberedFromOne) {
  EXPECT_EQ(ask("break m.c:12 if n > 3 @0-1"), PlainLines({"[0-1] breakpoint 1: m.c:12 if n > 3"}));
  EXPECT_EQ(ask("tbreak collect"), PlainLines({"[all] breakpoint 2: collect; temporary"}));
  ask("delete 1");
  EXPECT_EQ(ask("break serve"), PlainLines({"[all] breakpoint 3: serve"})) << "not used again";
  EXPECT_EQ(ask("breakpoints"),
            PlainLines({"[all] breakpoint 2: collect; temporary", "[all] breakpoint 3: serve"}));
}

TEST_F(ScriptMovesTest, WhatIsNoBreakpointSaysWhatItCouldBe) {
  EXPECT_EQ(failure("break event 1:9 if n"), "an event of the recording takes no condition");
  EXPECT_NE(failure("break event 9:9"), "it has not failed");
  EXPECT_EQ(ask("break collect").front().substr(0, 20), "[all] breakpoint 1: ")
      << "what has failed has no number";
}

TEST_F(ScriptMovesTest, ABreakpointIsChangedByItsNumber) {
  ask("break collect");
  EXPECT_EQ(ask("ignore 1 3"), PlainLines({"[all] breakpoint 1: collect; ignores 3 hits"}));
  EXPECT_EQ(ask("ignore 1 0"), PlainLines({"[all] breakpoint 1: collect"}));
  EXPECT_EQ(ask("stops 1 all"), PlainLines({"[all] breakpoint 1: collect; stops all"}));
  EXPECT_EQ(ask("disable 1"), PlainLines({"[all] breakpoint 1: collect; stops all; disabled"}));
  EXPECT_EQ(ask("enable 1"), PlainLines({"[all] breakpoint 1: collect; stops all"}));
  for (const char* line : {"ignore 1 -1", "ignore 1 some", "ignore 1 99999999999", "stops 1 9-"}) {
    EXPECT_NE(failure(line).find("is not understood. Write: "), std::string::npos) << line;
  }
  for (const char* line :
       {"ignore 2 1", "stops 0 all", "enable 7", "disable 0", "delete 2147483647"}) {
    EXPECT_TRUE(failure(line).ends_with(": 'breakpoints' lists them")) << line;
  }
  EXPECT_EQ(ask("breakpoints"), PlainLines({"[all] breakpoint 1: collect; stops all"}));
}

TEST_F(ScriptMovesTest, ABreakpointHasNothingOfADeletedOne) {
  standAll({{"-break-insert", kMade}});
  answer("break m.c:12");
  begin("next @1");
  endStep(1, R"(reason="end-stepping-range")");
  EXPECT_TRUE(m_handlers.neverSet().isEmpty());
  answer("delete 1");
  target().replies.push_back({"-break-insert", R"(^error,msg="No line 99 in file \"m.c\".")"});
  answer("break m.c:99");
  begin("next @1");
  endStep(1, R"(reason="end-stepping-range")");
  EXPECT_EQ(plain(m_handlers.neverSet()),
            PlainLines({"breakpoint 2 (m.c:99) was never set: no code has been found for it"}))
      << "the session has given it the id of the first";
}

TEST_F(ScriptMovesTest, InAReplayGdbsAreWaitedFor) {
  standAll({{"-break-insert", R"(^error,msg="No line 99 in file \"m.c\".")"}});
  begin("break /src/m.c:99");
  EXPECT_TRUE(m_answer.isOpen());
  await();
  EXPECT_NE(all().find("No line 99 in file"), std::string::npos) << all();
  EXPECT_EQ(answer("delete 1"), PlainLines()) << "it is no more";
}

TEST_F(ScriptMovesTest, AGdbThatIsSlowDoesNotHoldUpABreakpointForEver) {
  standAll();
  begin("break /src/m.c:12");
  EXPECT_FALSE(m_handlers.look(5000));
  EXPECT_TRUE(m_handlers.look(5001));
  EXPECT_FALSE(m_answer.isOpen());
  EXPECT_TRUE(says("[all] breakpoint 1: /src/m.c:12")) << all();
}

TEST_F(ScriptMovesTest, AnEventOfARankIsABreakpoint) {
  session().debuggers().setFocus({3});
  ask("break event 3:15");
  begin("run");
  gate();
  EXPECT_EQ(target().last<protocol::Plan>()->stops[3], 15U);
  target().comeToTheirStops();
  EXPECT_TRUE(QTest::qWaitFor([this] { return pump(), session().serialOf(3) == 14; }, kPatienceMs));
  for (int rank = 0; rank < 3; ++rank) {
    target().exits(rank, "rank " + std::to_string(rank) + " ended with status 0");
  }
  await();
  EXPECT_TRUE(says("[3] breakpoint 1 (event 3:15), before event 15: MPI_")) << all();
}

TEST_F(ScriptMovesTest, LinesOfALogAreNumberedAsTheScriptDoes) {
  EXPECT_EQ(ask("log m.c:12 n is {n}"), PlainLines({"[all] breakpoint 1: m.c:12; log: n is {n}"}));
  standAll();
  begin("next @1");
  values::LogEntry entry;
  entry.rank = 1;
  entry.breakpoint = session().breakpoints().all().first().id;
  entry.serial = 30;
  entry.text = QStringLiteral("n is 3");
  Q_EMIT session().logged(entry);
  endStep(1, R"(reason="end-stepping-range")");
  EXPECT_TRUE(says("[1] log 1, after event 30: n is 3")) << all();
}

}  // namespace
}  // namespace pf::headless

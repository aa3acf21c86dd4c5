// SPDX-License-Identifier: GPL-3.0-or-later
// Back by lines: what GDBs are told on the way, and what is left behind where there is no way.
#include "app/session/line_search.h"

#include <unistd.h>

#include <utility>

#include <gtest/gtest.h>

#include <QTest>

#include "app/session/state/frame_values.h"
#include "app/session/tests/session_fixture.h"

namespace pf::session {
namespace {

constexpr int kRank = 2;

/// Code that a file has: an address of it is found in each cycle.
void someCode() {}

class LineSearchTest : public test::SessionFixture {
 protected:
  static test::FakeTarget::Reply deep(int frames) {
    return {"-stack-info-depth", "^done,depth=\"" + std::to_string(frames) + "\""};
  }
  /// It stands before event 40, in what collect() has called, and goes back: the cycle to walk in has come before event 39.
  void walkFromBeforeAnEvent(LineMove move) {
    stand({deep(3)});
    session().setCurrentRank(kRank);
    pump();
    session().lineBack(move);
    gate({deep(3)});
  }
  void comesTo(int line, int depth, const std::string& reason = "end-stepping-range") {
    target().replies.push_back(deep(depth));
    target().forgetOrders();
    target().gdbSays(kRank,
                     "*stopped,reason=\"" + reason +
                         "\",frame={addr=\"0x2\",func=\"collect\",args=[],file=\"m.c\",line=\"" +
                         std::to_string(line) + "\"},thread-id=\"1\"");
    pump();
  }
  /// Out of the call of MPI, which was the last of its line.
  void leavesEventTo(int line, int depth) {
    EXPECT_TRUE(target().wasTold(kRank, "-exec-finish")) << target().toGdb[kRank];
    comesTo(line, depth, "function-finished");
  }

  // -- behind an event, at code that is found

  static std::string address() {
    return QStringLiteral("0x%1")
        .arg(reinterpret_cast<std::uintptr_t>(&someCode), 0, 16)  // NOLINT: as a debugger sees it
        .toStdString();
  }
  static std::vector<test::FakeTarget::Reply> insideOfCollect() {
    return {{"-break-insert", test::kMade},
            deep(2),
            {"-stack-list-frames",
             "^done,stack=[frame={level=\"0\",addr=\"" + address() +
                 R"(",func="collect",file="m.c",fullname="/src/m.c",line="12"},)"
                 R"(frame={level="1",addr="0x3",func="main",file="m.c",line="40"}])"}};
  }
  void isThisProcess() {
    protocol::RankHello hello;
    hello.rank = kRank;
    hello.pid = ::getpid();
    Q_EMIT target().said(hello);
  }
  void nextCycle(const std::vector<test::FakeTarget::Reply>& replies = insideOfCollect()) {
    pump();
    isThisProcess();
    gate(replies);
    comesToItsStop();
  }
  /// The next step will be out of the call of MPI.
  void nextCycleFromTheCall() { nextCycle({{"-break-insert", test::kMade}, deep(3)}); }
  void comesToItsStop() {
    target().comeToTheirStops();
    pump();
  }
  void counts(int times) {
    target().gdbSays(kRank, "=breakpoint-modified,bkpt={number=\"2\",type=\"breakpoint\",times=\"" +
                                std::to_string(times) + "\"}");
  }
  /// It stands behind event 39, and goes back; its line comes so often until event 40. It is before event 39 then, in another cycle.
  void countsForward(LineMove move, int again) {
    standsBehindAnEvent();
    session().lineBack(move);
    pump();
    counts(again);
    comesToItsStop();
    nextCycleFromTheCall();
  }
  void standsBehindAnEvent() {
    stand(insideOfCollect());
    isThisProcess();
    session().setCurrentRank(kRank);
    session().act(values::RankAction::Continue, {kRank});
    pump();
    target().runs(kRank, 40);
    target().gdbStops(kRank, R"(reason="end-stepping-range")");
    pump();
  }
  /// To the line that the search began at.
  void comesThere(int times) {
    counts(times);
    comesTo(12, 2, "breakpoint-hit");
  }
  void hitsTheMark() {
    target().gdbStops(kRank, R"(reason="breakpoint-hit",bkptno="2")");
    pump();
  }
};

TEST_F(LineSearchTest, WhatIsGoneBackOverIsSteppedOver) {
  walkFromBeforeAnEvent(LineMove::Next);
  comesToItsStop();
  leavesEventTo(13, 2);
  EXPECT_TRUE(target().wasTold(kRank, "-exec-next")) << target().toGdb[kRank];
  comesTo(30, 3);
  EXPECT_TRUE(target().wasTold(kRank, "-exec-finish")) << "it is out of that soon";
  comesTo(3, 1);
  EXPECT_TRUE(target().wasTold(kRank, "-exec-step")) << "into what it is gone back from";
}

TEST_F(LineSearchTest, AStepBackGoesIntoIt) {
  walkFromBeforeAnEvent(LineMove::Step);
  comesToItsStop();
  leavesEventTo(13, 2);
  EXPECT_TRUE(target().wasTold(kRank, "-exec-step")) << target().toGdb[kRank];
}

/// A machine that has more to do.
TEST_F(LineSearchTest, AGdbThatTellsLateOfItsStopIsWaitedFor) {
  walkFromBeforeAnEvent(LineMove::Next);
  protocol::RankState state;
  state.rank = kRank;
  state.phase = RankPhase::Stopped;
  state.serial = 38;
  Q_EMIT target().said(state);
  protocol::Verdict verdict;
  verdict.kind = protocol::VerdictKind::CutReached;
  Q_EMIT target().said(verdict);
  QTest::qWait(1200);
  EXPECT_FALSE(wasSaid("has no debugger any more")) << said().toStdString();
  EXPECT_EQ(m_targets.size(), 2);
  target().stops(kRank, 38);
  pump();
  EXPECT_TRUE(target().wasTold(kRank, "-exec-finish")) << target().toGdb[kRank];
}

/// It stands before event 40, in line 12, and the user steps it from there.
class LineTrailTest : public LineSearchTest {
 protected:
  LineTrailTest() {
    stand({deep(3)});
    isThisProcess();
    session().setCurrentRank(kRank);
    pump();
  }
  /// The first one is out of the call of MPI.
  void userSteps(values::RankAction action, int line, int depth, Serial event = 40) {
    session().act(action, {kRank});
    pump();
    target().runs(kRank, event);
    if (std::exchange(m_inCall, false)) {
      comesTo(12, 2, "function-finished");
    }
    comesTo(line, depth, action == values::RankAction::Finish ? "function-finished" : kStepped);
  }
  /// From this line: another cycle.
  void goesBack(LineMove move, int line, int depth = 2) {
    target().replies.push_back(
        {"-stack-list-frames", R"(^done,stack=[frame={level="0",addr=")" + address() +
                                   R"(",func="collect",file="m.c",fullname="/src/m.c",line=")" +
                                   std::to_string(line) + "\"}]"});
    target().replies.push_back(deep(depth));
    session().lineBack(move);
    pump();
    if (m_targets.size() > 1) {
      gate({deep(3)});
      comesToItsStop();
    }
  }
  /// To where the user has come by one step, or more: nothing is counted.
  void isSteppedTo(int line, const std::string& by = {}) {
    EXPECT_EQ(m_targets.size(), 2) << said().toStdString();
    EXPECT_FALSE(target().wasTold(kRank, "-break-insert")) << target().toGdb[kRank];
    if (!by.empty()) {
      comesTo(12, 2, "function-finished");
      EXPECT_TRUE(target().wasTold(kRank, by)) << target().toGdb[kRank];
      comesTo(line, 2);
    }
    EXPECT_FALSE(session().goesBackByLines());
    EXPECT_TRUE(m_problems.isEmpty()) << said().toStdString();
  }
  /// On to the next event, counting: no cycle has begun.
  [[nodiscard]] bool isSearchedFor() {
    pump();
    return session().goesBackByLines() && m_targets.size() == 1;
  }
  static constexpr const char* kStepped = "end-stepping-range";
  bool m_inCall = true;
};

TEST_F(LineTrailTest, LinesThatTheUserHasSteppedThroughNeedNoSearch) {
  userSteps(values::RankAction::Next, 13, 2);
  userSteps(values::RankAction::Next, 14, 2);
  goesBack(LineMove::Next, 14);
  isSteppedTo(13, "-exec-next");
  EXPECT_EQ(session().cycles().last().stops.at(kRank).why, QStringLiteral("back over a line"));
}

TEST_F(LineTrailTest, TheLineBeforeTheFirstIsTheEvent) {
  userSteps(values::RankAction::Step, 13, 2);
  goesBack(LineMove::Step, 13);
  isSteppedTo(12);
}

TEST_F(LineTrailTest, WhatWasSteppedOverIsNotKnownToAStep) {
  userSteps(values::RankAction::Next, 13, 2);
  userSteps(values::RankAction::Next, 14, 2);
  goesBack(LineMove::Step, 14);
  EXPECT_TRUE(isSearchedFor());
}

TEST_F(LineTrailTest, OnlyTheLastStepNeedBeOne) {
  userSteps(values::RankAction::Next, 13, 2);
  userSteps(values::RankAction::Step, 14, 2);
  goesBack(LineMove::Step, 14);
  isSteppedTo(13, "-exec-next");
}

TEST_F(LineTrailTest, NothingIsKnownBehindABreakpointOnTheWay) {
  userSteps(values::RankAction::Next, 13, 2);
  session().act(values::RankAction::Next, {kRank});
  pump();
  comesTo(14, 2, "breakpoint-hit");
  goesBack(LineMove::Next, 14);
  EXPECT_TRUE(isSearchedFor());
}

TEST_F(LineTrailTest, NothingIsKnownWhereItHasRunOn) {
  userSteps(values::RankAction::Next, 13, 2);
  session().act(values::RankAction::Continue, {kRank});
  pump();
  comesTo(13, 2);
  goesBack(LineMove::Next, 13);
  EXPECT_TRUE(isSearchedFor());
}

TEST_F(LineTrailTest, AnEventThatWasSteppedOverIsTheLineBefore) {
  userSteps(values::RankAction::Next, 13, 2);
  userSteps(values::RankAction::Next, 14, 2, 41);
  goesBack(LineMove::Next, 14);
  isSteppedTo(13);
}

TEST_F(LineTrailTest, WhereAFunctionHasDoneEventsItsCallerIsNotComeToFromThem) {
  userSteps(values::RankAction::Next, 13, 2);
  userSteps(values::RankAction::Next, 14, 2, 41);
  userSteps(values::RankAction::Next, 15, 2, 41);
  goesBack(LineMove::Next, 15);
  EXPECT_TRUE(isSearchedFor());
}

TEST_F(LineSearchTest, AFewLinesAreSteppedThroughWhileTheyAreCounted) {
  countsForward(LineMove::Next, 1);
  leavesEventTo(10, 2);
  comesTo(11, 2);
  comesThere(1);
  comesTo(13, 2);
  comesThere(2);
  target().stops(kRank, 39);  // of two times the first was it
  nextCycleFromTheCall();
  ASSERT_EQ(m_targets.size(), 3);
  leavesEventTo(10, 2);
  EXPECT_TRUE(target().wasTold(kRank, "-exec-next")) << target().toGdb[kRank];
  comesTo(11, 2);
  EXPECT_FALSE(session().goesBackByLines());
  EXPECT_EQ(session().cycles().last().stops.at(kRank).why, QStringLiteral("back over a line"));
  EXPECT_TRUE(m_problems.isEmpty()) << said().toStdString();
}

TEST_F(LineSearchTest, StepsAreTakenFromTheTimeBefore) {
  countsForward(LineMove::Next, 1);
  leavesEventTo(10, 2);
  comesThere(1);
  comesTo(13, 2);
  comesThere(2);
  comesThere(3);
  target().stops(kRank, 39);  // of three times the second was it
  nextCycle();
  ASSERT_EQ(m_targets.size(), 3);
  EXPECT_TRUE(target().wasTold(kRank, "-exec-continue")) << target().toGdb[kRank];
  hitsTheMark();
  EXPECT_TRUE(target().wasTold(kRank, "-exec-next")) << target().toGdb[kRank];
  comesTo(13, 2);
  EXPECT_FALSE(session().goesBackByLines());
  EXPECT_TRUE(m_problems.isEmpty()) << said().toStdString();
}

TEST_F(LineSearchTest, ManyLinesAreCountedOnly) {
  countsForward(LineMove::Next, 1);
  leavesEventTo(10, 2);
  comesThere(1);
  for (int line = 0; line < 100 && !target().wasTold(kRank, "-exec-continue"); ++line) {
    comesTo(13 + line, 2);
  }
  EXPECT_TRUE(target().wasTold(kRank, "-break-after 2 1000000000")) << target().toGdb[kRank];
  counts(6);
  comesToItsStop();
  nextCycle();
  ASSERT_EQ(m_targets.size(), 3);
  EXPECT_TRUE(target().wasTold(kRank, "-i 3 "))
      << "the fifth time it was: the walk begins at the one before";
  EXPECT_TRUE(session().goesBackByLines());
}

/// A loop in one line is stepped round by round.
TEST_F(LineSearchTest, AStepThatTakesLongIsNotWaitedFor) {
  countsForward(LineMove::Next, 1);
  leavesEventTo(10, 2);
  comesThere(1);
  QTRY_VERIFY_WITH_TIMEOUT(target().wasTold(kRank, "-exec-interrupt"), 10000);
  comesTo(13, 2, R"(signal-received",signal-name="SIGINT)");
  EXPECT_TRUE(target().wasTold(kRank, "-exec-continue")) << target().toGdb[kRank];
  counts(2);
  comesToItsStop();
  nextCycleFromTheCall();
  ASSERT_EQ(m_targets.size(), 3);
  EXPECT_TRUE(session().goesBackByLines());
  EXPECT_TRUE(target().wasTold(kRank, "-exec-finish")) << "the walk begins at the event";
}

TEST_F(LineSearchTest, WhoIsBroughtBackStandsThereForTheReasonOfBefore) {
  standsBehindAnEvent();
  const QString words = session().cycles().last().stops.at(kRank).why;
  session().lineBack(LineMove::Next);
  pump();
  counts(2);
  comesToItsStop();  // to the next event: twice from here
  nextCycle();
  counts(5);
  comesToItsStop();  // and five times from the event before: this is the third
  nextCycle();
  EXPECT_TRUE(target().wasTold(kRank, "-i 1 ")) << target().toGdb[kRank];
  hitsTheMark();
  target().gdbStops(kRank, R"(reason="signal-received",signal-name="SIGUSR1")");
  nextCycle();
  EXPECT_TRUE(target().wasTold(kRank, "-i 2 ")) << target().toGdb[kRank];
  hitsTheMark();
  EXPECT_TRUE(wasSaid("does not come to this place again")) << said().toStdString();
  EXPECT_EQ(session().cycles().last().stops.at(kRank).why, words);
  EXPECT_EQ(toText(session().stopWords(kRank)), words);
}

}  // namespace
}  // namespace pf::session

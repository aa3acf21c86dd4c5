// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks that are moved: what is ordered of the daemon and of GDBs, and when they count as having arrived.
#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>

#include "app/session/tests/session_fixture.h"
#include "replay_engine/causality/cut_check.h"

namespace pf::session {
namespace {

using test::kMade;
using test::kRanks;
using values::RankAction;

class RunControlTest : public test::SessionFixture {
 protected:
  /// A cycle with GDBs at some ranks only.
  void standWithGdbs(const QList<int>& ranks) {
    session().debuggers().setFocus(ranks);
    session().replayTo({2, 40});
    gate();
    target().comeToTheirStops();
    pump();
    target().forgetOrders();
  }
  template <typename Order>
  [[nodiscard]] int count() {
    int found = 0;
    for (const protocol::Message& order : target().orders) {
      found += std::holds_alternative<Order>(order) ? 1 : 0;
    }
    return found;
  }
  void verdictCutReached() {
    protocol::Verdict verdict;
    verdict.kind = protocol::VerdictKind::CutReached;
    Q_EMIT target().said(verdict);
  }
  /// The daemon says that the rank stands; its GDB has not said so yet.
  void daemonSaysStopped(int rank, Serial events) {
    protocol::RankState state;
    state.rank = rank;
    state.phase = RankPhase::Stopped;
    state.serial = events;
    Q_EMIT target().said(state);
  }
  void gdbSaysAtEvent(int rank) {
    target().gdbSays(
        rank, R"(*stopped,reason="signal-received",signal-name="SIGTRAP",frame={addr="0x20",)"
              R"(func="pf_stop_trap",args=[]},thread-id="1",stopped-threads="all")");
  }
  void isInCall(int rank, Serial events) {
    protocol::RankState state;
    state.rank = rank;
    state.phase = RankPhase::Running;
    state.serial = events;
    state.inCall = 5;
    Q_EMIT target().said(state);
  }
  Serial eventsOf(int rank) { return session().serialOf(rank); }
};

// -- going on

TEST_F(RunControlTest, ContinueOfAllIsOnePlanOfSomeAStopEach) {
  standWithGdbs({0, 1});
  session().act(RankAction::Continue, {0, 2});
  pump();
  EXPECT_EQ(count<protocol::Plan>(), 0);
  EXPECT_EQ(count<protocol::SetStop>(), 2);
  EXPECT_TRUE(target().wasTold(0, "-exec-continue"));
  EXPECT_FALSE(target().wasTold(1, "-exec-"));
  session().act(RankAction::Continue, {0, 1, 2, 3});
  pump();
  EXPECT_EQ(count<protocol::Plan>(), 1);
  EXPECT_TRUE(target().wasTold(1, "-exec-continue"));
}

TEST_F(RunControlTest, ContinueStopsAtTheNextLogicalBreakpoint) {
  standWithGdbs({0});
  session().breakpoints().breakAt({2, 60});
  session().act(RankAction::Continue, {2});
  const auto* stop = target().last<protocol::SetStop>();
  ASSERT_NE(stop, nullptr);
  EXPECT_EQ(stop->rank, 2);
  EXPECT_EQ(stop->serial, 60U);
}

TEST_F(RunControlTest, ContinueBeginsACycleWhereNoneRuns) {
  session().act(RankAction::Step, {0});
  EXPECT_FALSE(session().isReplaying());
  session().act(RankAction::Continue, {0});
  EXPECT_TRUE(session().isReplaying());
}

// -- pausing

TEST_F(RunControlTest, ARankWithoutGdbIsPausedAtItsNextEvent) {
  standWithGdbs({0});
  target().runs(3, 70);
  session().act(RankAction::Pause, {3});
  const auto* stop = target().last<protocol::SetStop>();
  ASSERT_NE(stop, nullptr);
  EXPECT_EQ(stop->rank, 3);
  EXPECT_EQ(stop->serial, 71U);
}

TEST_F(RunControlTest, APausedRankIsShownOnlyIfItIsTheOneThatIsLookedAt) {
  standWithGdbs({0, 1});
  session().setCurrentRank(1);
  session().act(RankAction::Continue, {0, 1});
  pump();
  session().act(RankAction::Pause, {0, 1});
  pump();
  EXPECT_TRUE(target().wasTold(0, "-exec-interrupt"));
  for (const int rank : {1, 0}) {
    target().gdbStops(rank, R"(reason="signal-received",signal-name="SIGINT")");
    pump();
  }
  EXPECT_EQ(session().currentRank(), 1);
  EXPECT_EQ(session().rankStates()[0].activity, values::RankActivity::Stopped);
}

TEST_F(RunControlTest, WhoStandsIsNotInterrupted) {
  standWithGdbs({0, 1});
  session().act(RankAction::Pause, {0, 1});
  pump();
  EXPECT_FALSE(target().wasTold(0, "-exec-interrupt"));
}

// -- steps

TEST_F(RunControlTest, AStepNeedsADebugger) {
  standWithGdbs({0});
  session().act(RankAction::Next, {3});
  EXPECT_TRUE(wasSaid("Stepping needs a debugger on the rank"));
  EXPECT_EQ(count<protocol::SetStop>(), 0);
}

TEST_F(RunControlTest, ARankThatHasEndedIsNotStepped) {
  standWithGdbs({0, 1});
  target().exits(1, "exited with 0");
  session().act(RankAction::Next, {1});
  pump();
  EXPECT_FALSE(target().wasTold(1, "-exec-"));
}

TEST_F(RunControlTest, OthersFollowAsFarAsASteppedRankNeedsThem) {
  standWithGdbs({2});
  session().act(RankAction::Next, {2});
  pump();
  EXPECT_EQ(target().last<protocol::SetStop>()->serial, 0U) << "it may pass events";
  target().forgetOrders();
  isInCall(2, 80);
  const auto* plan = target().last<protocol::Plan>();
  ASSERT_NE(plan, nullptr);
  const std::vector<Serial> cut = cutBefore(session().trace()->execution, {2, 81});
  EXPECT_EQ(plan->stops[2], 0U);
  bool somebodyHasTo = false;
  for (const std::size_t rank : {0U, 1U, 3U}) {
    EXPECT_GE(plan->stops[rank], cut[rank] + 1) << rank;
    somebodyHasTo = somebodyHasTo || plan->stops[rank] == cut[rank] + 1;
  }
  EXPECT_TRUE(somebodyHasTo);
  target().forgetOrders();
  isInCall(2, 80);
  EXPECT_EQ(count<protocol::Plan>(), 0) << "nothing new";
}

TEST_F(RunControlTest, AStepEndsAtALogicalBreakpoint) {
  standWithGdbs({2});
  session().breakpoints().breakAt({2, 60});
  session().act(RankAction::Next, {2});
  EXPECT_EQ(target().last<protocol::SetStop>()->serial, 60U);
}

TEST_F(RunControlTest, OtherThreadsWaitForAStepWhereThatIsWanted) {
  standWithGdbs({2});
  session().control().stepOneThread(true);
  session().setCurrentRank(2);
  session().act(RankAction::Continue, {2});
  pump();
  target().gdbStops(2, R"(reason="breakpoint-hit",bkptno="9")");
  pump();
  session().act(RankAction::Next, {2});
  pump();
  EXPECT_TRUE(target().wasTold(2, "scheduler-locking on"));
  target().gdbStops(2, R"(reason="end-stepping-range")");
  pump();
  EXPECT_TRUE(target().wasTold(2, "scheduler-locking replay")) << "not longer than the step";
}

TEST_F(RunControlTest, RunToLineIsForRanksThatStandUnderAGdb) {
  standWithGdbs({1});
  session().control().runToLine(QStringLiteral("/src/m.c"), 30, {0});
  EXPECT_TRUE(wasSaid("Run to line needs a stopped rank with a debugger"));
  target().replies.push_back({"-break-insert -f -t", kMade});
  session().control().runToLine(QStringLiteral("/src/m.c"), 30, {0, 1}, QStringLiteral("pair"));
  pump();
  EXPECT_TRUE(target().wasTold(1, "--line 30"));
  EXPECT_TRUE(target().wasTold(1, "-exec-continue"));
  QSignalSpy stopped(&session(), &DebugSession::rankStopped);
  target().gdbStops(1, R"(reason="breakpoint-hit",disp="del",bkptno="2")");
  pump();
  EXPECT_EQ(stopped.size(), 1);
  EXPECT_EQ(session().cycles().last().hits, 0) << "it is no breakpoint of the user's";
}

TEST_F(RunControlTest, RunToALineWithoutCodeIsToldOf) {
  standWithGdbs({1});
  target().replies.push_back(
      {"-break-insert -f -t", R"(^done,bkpt={number="2",pending="m.c:31"})"});
  session().control().runToLine(QStringLiteral("/src/m.c"), 31, {1});
  pump();
  EXPECT_TRUE(wasSaid("there is no code at line 31")) << said().toStdString();
  EXPECT_FALSE(target().wasTold(1, "-exec-continue"));
}

// -- where they were sent

TEST_F(RunControlTest, ACutIsReachedOnceTheGdbsKnowIt) {
  standWithGdbs({1, 2});
  session().replayTo({2, 60});
  pump();
  const int before = m_settled;
  const auto stops = target().last<protocol::Plan>()->stops;
  for (const int rank : {1, 2}) {
    daemonSaysStopped(rank, stops[static_cast<std::size_t>(rank)] - 1);
  }
  verdictCutReached();
  EXPECT_EQ(m_settled, before);
  gdbSaysAtEvent(1);
  EXPECT_EQ(m_settled, before);
  gdbSaysAtEvent(2);
  pump();
  EXPECT_EQ(m_settled, before + 1);
  EXPECT_TRUE(wasSaid("Stopped: rank 2 before its event 60."));
}

TEST_F(RunControlTest, WhatIsAskedBeforeTheGdbsKnowItIsDoneThen) {
  standWithGdbs({2});
  session().replayTo({2, 60});
  pump();
  daemonSaysStopped(2, 59);
  verdictCutReached();
  target().forgetOrders();
  session().act(RankAction::Step, {2});
  session().act(RankAction::Next, {2});  // the last one counts
  pump();
  EXPECT_FALSE(target().wasTold(2, "-stack-list-frames 0"));
  EXPECT_EQ(count<protocol::SetStop>(), 0);
  gdbSaysAtEvent(2);
  pump();
  EXPECT_EQ(count<protocol::SetStop>(), 1);
  EXPECT_TRUE(target().wasTold(2, "-exec-finish")) << "out of MPI first: " << target().toGdb[2];
}

TEST_F(RunControlTest, AGdbThatNeverTellsOfItsStopIsNotWaitedForForever) {
  standWithGdbs({2});
  session().replayTo({2, 60});
  pump();
  const int before = m_settled;
  daemonSaysStopped(2, 59);
  verdictCutReached();
  EXPECT_EQ(m_settled, before);
  EXPECT_TRUE(QTest::qWaitFor([&] { return m_settled > before; }, 5000));
}

TEST_F(RunControlTest, ACycleThatEndsMeanwhileHasNotArrived) {
  standWithGdbs({2});
  session().replayTo({2, 60});
  pump();
  daemonSaysStopped(2, 59);
  verdictCutReached();
  session().act(RankAction::Next, {2});
  session().endReplay();
  pump();
  EXPECT_FALSE(wasSaid("Stopped: rank 2 before its event 60."));
  EXPECT_FALSE(session().isReplaying());
}

TEST_F(RunControlTest, AStopThatTheNextPlanHasBehindItIsPassed) {
  standWithGdbs({2});
  session().replayTo({2, 60});
  pump();
  daemonSaysStopped(2, 50);  // of the plan before
  target().forgetOrders();
  gdbSaysAtEvent(2);
  pump();
  EXPECT_TRUE(target().wasTold(2, "-exec-continue"));
}

TEST_F(RunControlTest, ARankThatHasEndedCannotBeSentOn) {
  standWithGdbs({});
  target().exits(1, "exited with 0");
  session().replayTo({2, 60});
  pump();
  EXPECT_EQ(m_targets.size(), 2) << "a new cycle";
}

TEST_F(RunControlTest, MovesGoFromWhereTheRanksAre) {
  standWithGdbs({});
  session().setCurrentRank(2);
  session().go(Move::NextEvent);
  pump();
  EXPECT_EQ(m_targets.size(), 1);
  EXPECT_EQ(target().last<protocol::Plan>()->stops[2], 41U);
  target().comeToTheirStops();
  session().go(Move::PreviousEvent);
  gate();
  EXPECT_EQ(m_targets.size(), 2);
  EXPECT_EQ(target().last<protocol::Plan>()->stops[2], 40U);
}

TEST_F(RunControlTest, AMoveToNowhereIsASentence) {
  session().go(Move::PreviousEvent);
  EXPECT_TRUE(wasSaid("Rank 0 has done no event yet."));
  EXPECT_FALSE(session().isReplaying());
}

// -- stops that are for the front end

TEST_F(RunControlTest, AStopThatTheFrontEndTakesNobodyElseHearsOf) {
  values::Breakpoint breakpoint;
  breakpoint.function = QStringLiteral("collect");
  session().breakpoints().add(breakpoint);
  stand({{"-break-insert", kMade}});
  QList<int> asked;
  session().setStopFilter([&asked](int rank, int) {
    asked << rank;
    return rank == 1;
  });
  session().act(RankAction::Continue, {1, 3});
  pump();
  for (const int rank : {1, 3}) {
    target().gdbStops(rank, R"(reason="breakpoint-hit",bkptno="2")");
    pump();
  }
  EXPECT_EQ(asked, (QList<int>{1, 3}));
  EXPECT_EQ(session().cycles().last().hits, 1);
  EXPECT_EQ(session().breakpointAt(1), session().breakpoints().all().first().id);
  target().forgetOrders();
  session().goOn(1);
  pump();
  EXPECT_TRUE(target().wasTold(1, "-exec-continue"));
  EXPECT_EQ(session().breakpointAt(0), 0);
}

TEST_F(RunControlTest, RanksOutputIsPassedOnWithItsStream) {
  standWithGdbs({});
  QList<values::OutputStream> streams;
  QByteArray text;
  QObject::connect(&session(), &DebugSession::output,
                   [&](int, values::OutputStream stream, const QByteArray& bytes) {
                     streams << stream;
                     text += bytes;
                   });
  protocol::Output output;
  output.rank = 1;
  for (const int stream : {1, 2}) {
    output.stream = static_cast<decltype(output.stream)>(stream);
    output.bytes = stream == 1 ? "out\n" : "err\n";
    Q_EMIT target().said(output);
  }
  EXPECT_EQ(text, "out\nerr\n");
  EXPECT_EQ(streams,
            (QList<values::OutputStream>{values::OutputStream::Out, values::OutputStream::Err}));
}

}  // namespace
}  // namespace pf::session

// SPDX-License-Identifier: GPL-3.0-or-later
// Cycles of a session on a fake: what is ordered, what is signalled, and in which order.
#include <tuple>

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "app/session/tests/session_fixture.h"

namespace pf::session {
namespace {

using test::kRanks;

class DebugSessionTest : public test::SessionFixture {};

TEST_F(DebugSessionTest, ACycleGoesToTheCutThatItsGoalNeeds) {
  QElapsedTimer since;
  since.start();
  run({2, 40});
  std::cout << "a cycle: " << since.elapsed() << " ms\n";
  ASSERT_EQ(m_targets.size(), 1);
  const auto* plan = target().last<protocol::Plan>();
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->stops.size(), static_cast<std::size_t>(kRanks));
  EXPECT_EQ(plan->stops[2], 40U);
  EXPECT_EQ(plan->targetRank, 2);
  EXPECT_NE(target().last<protocol::OpenGate>(), nullptr);
  EXPECT_EQ(m_settled, 1);
  EXPECT_EQ(session().serialOf(2), 39U);
  ASSERT_EQ(session().cycles().all().size(), 1);
  EXPECT_EQ(session().cycles().all().first().match, values::CycleMatch::Matches);
  EXPECT_TRUE(m_problems.isEmpty()) << said().toStdString();
}

TEST_F(DebugSessionTest, TheGoalsRankGetsItsGdbBeforeTheGateOpens) {
  session().debuggers().setFocus({1});
  run({1, 20});
  const auto* attach = target().last<protocol::AttachGdb>();
  ASSERT_NE(attach, nullptr);
  EXPECT_EQ(attach->ranks, std::vector<std::int32_t>{1});
  EXPECT_NE(session().debugger(1), nullptr);
  EXPECT_EQ(session().debugger(0), nullptr);
  EXPECT_NE(target().toGdb[1].find("-target-attach 101"), std::string::npos);
  EXPECT_NE(target().toGdb[1].find("-exec-continue"), std::string::npos);
}

TEST_F(DebugSessionTest, ARankWithoutGdbGoesOnWithoutIt) {
  session().debuggers().setFocus({0});
  session().replayTo({0, 20});
  pump();
  target().gdbs = protocol::GdbCondition::Failed;
  target().allGated();
  pump();
  EXPECT_NE(target().last<protocol::OpenGate>(), nullptr);
  EXPECT_TRUE(said().contains(QLatin1String("Rank 0 has no debugger: there is no gdb")));
  target().comeToTheirStops();
  EXPECT_EQ(m_settled, 1);
}

TEST_F(DebugSessionTest, FurtherOnTheSameRanksGoBackNewOnes) {
  run({2, 40});
  session().replayTo({2, 60});
  pump();
  EXPECT_EQ(m_targets.size(), 1);
  EXPECT_EQ(target().last<protocol::Plan>()->stops[2], 60U);
  target().comeToTheirStops();
  session().replayTo({2, 20});
  pump();
  EXPECT_EQ(m_targets.size(), 2);
  EXPECT_TRUE(m_targets.first().isNull());  // closed, and gone
  EXPECT_EQ(session().cycles().all().size(), 2);
}

TEST_F(DebugSessionTest, TheNextCycleDoesNotWaitForTheEndOfRanksThatHaveBegun) {
  run({2, 40});
  session().restartCycle();
  EXPECT_EQ(m_targets.size(), 2);
  EXPECT_TRUE(m_targets.first()->closing);
  pump();
  EXPECT_TRUE(m_targets.first().isNull());
}

TEST_F(DebugSessionTest, ACycleThatStartsGoesToWhatIsAskedLast) {
  session().replayTo({2, 40});
  session().replayTo({1, 30});
  session().replayTo({3, 25});
  pump();
  ASSERT_EQ(m_targets.size(), 1);
  target().allGated();
  pump();
  EXPECT_EQ(target().last<protocol::Plan>()->stops[3], 25U);
  EXPECT_EQ(session().cycles().all().size(), 1);
}

TEST_F(DebugSessionTest, MovesThatAreAskedWhileACycleStartsAddUp) {
  session().setCurrentRank(2);
  run({2, 40});
  for (int i = 0; i < 3; ++i) {
    session().go(Move::NextReceive);
    target().comeToTheirStops();
    pump();
  }
  const Serial third = session().serialOf(2);
  session().endReplay();
  pump();
  session().replayTo({2, 40});
  for (int i = 0; i < 3; ++i) {
    session().go(Move::NextReceive);
    pump();
  }
  target().allGated();
  pump();
  target().comeToTheirStops();
  pump();
  EXPECT_EQ(session().serialOf(2), third);
  EXPECT_EQ(session().cycles().all().size(), 2);
  session().go(Move::NextReceive);  // on the way, too
  session().go(Move::NextReceive);
  target().comeToTheirStops();
  pump();
  const Serial fifth = session().serialOf(2);
  session().go(Move::PreviousReceive);
  pump();
  target().allGated();
  pump();
  target().comeToTheirStops();
  pump();
  EXPECT_GT(session().serialOf(2), third);
  EXPECT_LT(session().serialOf(2), fifth);
}

TEST_F(DebugSessionTest, WhereRanksAreIsToldWhenGdbStopsOneOnItsWay) {
  std::vector<values::ReplayPosition> positions;
  QObject::connect(&session(), &DebugSession::positionsChanged,
                   [&positions](const auto& now) { positions = now; });
  QSignalSpy told(&session(), &DebugSession::stopTold);
  session().debuggers().setFocus({2});
  session().replayTo({2, 40});
  gate();
  protocol::RankState state;
  state.rank = 2;
  state.phase = RankPhase::Running;
  state.serial = 11;
  Q_EMIT target().said(state);
  EXPECT_TRUE(positions.empty());
  target().gdbStops(2, R"(reason="signal-received",signal-name="SIGSEGV",signal-meaning="x")");
  pump();
  const auto two = std::find_if(positions.begin(), positions.end(),
                                [](const auto& each) { return each.rank == 2; });
  ASSERT_NE(two, positions.end());
  EXPECT_EQ(two->next, 12U);
  EXPECT_TRUE(two->stopped);
  ASSERT_EQ(told.size(), 1);
  EXPECT_TRUE(told.first().first().toString().endsWith(QLatin1String("after event 11.")));
}

TEST_F(DebugSessionTest, NothingIsShownOfRanksThatWereEnded) {
  std::vector<values::ReplayPosition> positions;
  QObject::connect(&session(), &DebugSession::positionsChanged,
                   [&positions](const auto& now) { positions = now; });
  stand();
  EXPECT_EQ(positions.size(), static_cast<std::size_t>(kRanks));
  QSignalSpy stack(&session().inspector(), &Inspector::stackChanged);
  session().endReplay();
  pump();
  EXPECT_TRUE(positions.empty());
  ASSERT_FALSE(stack.isEmpty());
  EXPECT_TRUE(stack.last().at(1).value<QList<values::StackFrame>>().isEmpty());
  for (const values::RankState& rank : session().rankStates()) {
    EXPECT_EQ(rank.activity, values::RankActivity::NotStarted);
  }
}

TEST_F(DebugSessionTest, AnEndWhileACycleStartsIsAnEnd) {
  session().replayTo({2, 40});
  session().endReplay();
  EXPECT_TRUE(session().isReplaying());  // still ending
  pump();
  EXPECT_FALSE(session().isReplaying());
  EXPECT_EQ(m_targets.size(), 1);
  EXPECT_TRUE(m_targets.first().isNull());
  EXPECT_EQ(session().cycles().all().first().summary, QLatin1String("ended by the user"));
  EXPECT_EQ(m_settled, 1);
}

TEST_F(DebugSessionTest, AFailedStartIsTold) {
  session().replayTo({2, 40});
  Q_EMIT target().failed(QStringLiteral("no mpirun here"));
  pump();
  EXPECT_FALSE(session().isReplaying());
  EXPECT_TRUE(m_problems.contains(QLatin1String("no mpirun here")));
  EXPECT_EQ(m_settled, 1);
  run({2, 40});  // and the next one starts
  EXPECT_EQ(m_settled, 2);
}

TEST_F(DebugSessionTest, ALostDaemonEndsTheCycle) {
  run({2, 40});
  Q_EMIT target().lost();
  pump();
  EXPECT_FALSE(session().isReplaying());
  EXPECT_TRUE(said().contains(QLatin1String("The control daemon is gone")));
  EXPECT_EQ(session().cycles().all().first().running, false);
}

TEST_F(DebugSessionTest, ALauncherThatEndsTooEarlyIsQuoted) {
  session().replayTo({2, 40});
  pump();
  Q_EMIT target().ended(3, QStringLiteral("no slots"));
  pump();
  EXPECT_TRUE(said().contains(QLatin1String("status 3 before all ranks had called MPI_Init")));
  EXPECT_TRUE(said().contains(QLatin1String("It said: no slots")));
  EXPECT_FALSE(session().isReplaying());
}

TEST_F(DebugSessionTest, ARunToTheEndMatches) {
  session().restartCycle();
  pump();
  target().allGated();
  pump();
  Q_EMIT target().ended(0, {});
  pump();
  EXPECT_EQ(session().cycles().all().first().match, values::CycleMatch::Matches);
  EXPECT_EQ(session().cycles().all().first().summary,
            QLatin1String("ran to the end, exit status 0"));
}

TEST_F(DebugSessionTest, ADivergenceSaysWhereAndWhatElseDiffers) {
  run({2, 40});
  target().besides = QStringLiteral(" The input a.txt is another one");
  protocol::RankDiverged diverged;
  diverged.rank = 1;
  diverged.serial = 12;
  diverged.expected = "MPI_Recv";
  diverged.got = "MPI_Send";
  Q_EMIT target().said(diverged);
  EXPECT_EQ(session().cycles().all().first().match, values::CycleMatch::Diverged);
  const QString& text = session().cycles().all().first().divergence;
  EXPECT_TRUE(text.contains(QLatin1String("rank 1, event 12"))) << text.toStdString();
  EXPECT_TRUE(text.contains(QLatin1String("got MPI_Send. The input a.txt is another one")));
  session().replayTo({2, 60});  // never further on with ranks that are elsewhere
  pump();
  EXPECT_EQ(m_targets.size(), 2);
}

/// No cut is reached then.
TEST_F(DebugSessionTest, WhereRanksAreIsToldOnceOneHasDiverged) {
  Serial shown = 0;
  QObject::connect(&session(), &DebugSession::positionsChanged, [&shown](const auto& positions) {
    for (const values::ReplayPosition& each : positions) {
      shown = each.rank == 2 ? each.next : shown;
    }
  });
  QSignalSpy told(&session(), &DebugSession::diverged);
  session().restartCycle();
  gate();
  protocol::RankDiverged diverged;
  diverged.rank = 1;
  diverged.serial = 12;
  Q_EMIT target().said(diverged);
  ASSERT_EQ(told.size(), 1);
  EXPECT_EQ(told.first().first().value<EventRef>(), (EventRef{1, 12}));
  target().runs(2, 17);
  EXPECT_EQ(shown, 18U);
}

TEST_F(DebugSessionTest, OtherContentsAreNotAsRecordedThoughTheRanksGoOn) {
  session().replayTo({2, 40});
  pump();
  target().allGated();
  pump();
  QSignalSpy told(&session(), &DebugSession::diverged);
  protocol::RankDiverged differs;
  differs.goesOn = true;
  differs.expected = "64 bytes";
  differs.got = "other contents";
  for (const auto& [rank, serial, time] : {std::tuple{1, 20, 500}, std::tuple{3, 9, 400}}) {
    differs.rank = rank;
    differs.serial = static_cast<Serial>(serial);
    differs.time = time;
    Q_EMIT target().said(differs);
  }
  target().comeToTheirStops();
  pump();
  const values::Cycle& cycle = session().cycles().last();
  EXPECT_EQ(cycle.match, values::CycleMatch::Diverged);
  EXPECT_TRUE(cycle.divergence.contains(QLatin1String("first at rank 3, event 9")))
      << cycle.divergence.toStdString();
  EXPECT_TRUE(m_problems.isEmpty()) << "nothing has failed";
  EXPECT_TRUE(wasSaid("Other contents than recorded at rank 1, event 20"));
  EXPECT_EQ(told.size(), 1);
  session().replayTo({2, 60});  // the same cycle goes on
  pump();
  EXPECT_EQ(m_targets.size(), 1);
}

TEST_F(DebugSessionTest, OnlyAProvenStallEndsTheWait) {
  session().replayTo({2, 40});
  pump();
  target().allGated();
  pump();
  QSignalSpy stalled(&session(), &DebugSession::stalled);
  protocol::Verdict verdict;
  verdict.kind = protocol::VerdictKind::Deadlock;
  verdict.text = "rank 0 waits for rank 1";
  Q_EMIT target().said(verdict);
  EXPECT_EQ(stalled.size(), 0);
  EXPECT_EQ(m_settled, 0);
  EXPECT_TRUE(said().contains(QLatin1String("which may be right")));
  verdict.proven = true;
  Q_EMIT target().said(verdict);
  EXPECT_EQ(stalled.size(), 1);
  EXPECT_EQ(m_settled, 1);
}

TEST_F(DebugSessionTest, ALogicalBreakpointStopsTheCycle) {
  session().breakpoints().breakAt({3, 15});
  session().restartCycle();
  pump();
  target().allGated();
  pump();
  EXPECT_EQ(target().last<protocol::Plan>()->stops[3], 15U);
  target().comeToTheirStops();
  pump();
  ASSERT_EQ(session().cycles().all().first().hits, 1);
  EXPECT_EQ(session().cycles().all().first().recorded.first().serial, 15U);
  EXPECT_EQ(session().currentRank(), 3);
  EXPECT_TRUE(wasSaid("Stopped: breakpoint 1 (event 3:15), rank 3 before event 15."))
      << said().toStdString();
  EXPECT_FALSE(wasSaid("Stopped: stopped"));
  const values::Cycle& cycle = session().cycles().last();
  EXPECT_TRUE(cycle.running && cycle.stands) << "it is not told as running";
  session().act(values::RankAction::Continue, {0, 1, 2, 3});
  pump();
  EXPECT_FALSE(session().cycles().last().stands);
}

/// What has stopped a rank is said last: how many of the others go on is not written over it.
TEST_F(DebugSessionTest, WhyARankHasStoppedIsNotOverwritten) {
  stand();
  QStringList told;
  QObject::connect(&session().groupRun(), &GroupRun::changed,
                   [&told](const QString& text) { told << text; });
  QObject::connect(&session(), &DebugSession::stopTold,
                   [&told](const QString& text) { told << text; });
  session().act(values::RankAction::Continue, {0, 1, 2, 3});
  pump();
  QTest::qWait(300);
  ASSERT_FALSE(told.isEmpty());
  target().gdbStops(2, R"(reason="signal-received",signal-name="SIGSEGV",signal-meaning="Segv")");
  pump();
  EXPECT_TRUE(told.last().startsWith(QLatin1String("Rank 2: ")) &&
              told.last().contains(QLatin1String("SIGSEGV")))
      << told.join(QLatin1Char('|')).toStdString();
}

/// Of a watchpoint that is the user's own, what it was and is.
TEST_F(DebugSessionTest, AStopAtAWatchSaysWhatHasChanged) {
  values::Breakpoint watch;
  watch.kind = values::BreakpointKind::Watch;
  watch.expression = QStringLiteral("n");
  session().breakpoints().add(watch);
  stand({{"-break-watch", R"(^done,wpt={number="7",exp="n"})"}});
  QSignalSpy told(&session(), &DebugSession::stopTold);
  target().gdbStops(
      1, R"(reason="watchpoint-trigger",wpt={number="7",exp="n"},value={old="3",new="5"})");
  pump();
  ASSERT_FALSE(told.isEmpty());
  EXPECT_TRUE(
      told.last().first().toString().contains(QLatin1String("breakpoint 1 (n: was 3, is 5)")))
      << told.last().first().toString().toStdString();
}

TEST_F(DebugSessionTest, AChangedInputIsToldOnceAndKeptWithTheCycle) {
  session().replayTo({2, 40});
  pump();
  for (int i = 0; i < 2; ++i) {
    Q_EMIT target().inputsChanged({QStringLiteral("the file a.txt is another one")},
                                  QStringLiteral("inputs differ: a.txt"));
  }
  EXPECT_EQ(m_messages.count(QStringLiteral("The file a.txt is another one.")), 1);
  target().allGated();
  pump();
  target().comeToTheirStops();
  pump();
  EXPECT_TRUE(said().contains(QLatin1String("; inputs differ: a.txt.")));
}

TEST_F(DebugSessionTest, CyclesAreInTheTraceWhenItIsOpenedAgain) {
  run({2, 40});
  QTRY_VERIFY_WITH_TIMEOUT(session().cycles().isKept(), 5000);
  session().endReplay();
  pump();
  m_session.reset();
  DebugSession again;
  auto loaded = loadTrace(m_trace);
  ASSERT_TRUE(loaded.ok());
  again.open(m_trace, std::move(*loaded));
  ASSERT_EQ(again.cycles().all().size(), 1);
  EXPECT_EQ(again.cycles().all().first().match, values::CycleMatch::Matches);
}

TEST_F(DebugSessionTest, EndsInAnyPhase) {
  session().replayTo({2, 40});  // starting
  m_session.reset();
  pump();
  EXPECT_TRUE(m_targets.first().isNull());
}

TEST_F(DebugSessionTest, AnotherTraceWhileACycleEnds) {
  run({2, 40});
  session().endReplay();
  auto loaded = loadTrace(m_trace);
  ASSERT_TRUE(loaded.ok());
  session().open(m_trace, std::move(*loaded));
  session().replayTo({1, 10});
  pump();
  ASSERT_EQ(m_targets.size(), 2);
  target().allGated();
  pump();
  EXPECT_EQ(target().last<protocol::Plan>()->stops[1], 10U);
}

}  // namespace
}  // namespace pf::session

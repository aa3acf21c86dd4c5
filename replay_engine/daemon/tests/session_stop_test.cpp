// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include "replay_engine/daemon/tests/simulated_session.h"

namespace pf::daemon {
namespace {

using namespace protocol;  // NOLINT(google-build-using-namespace): messages
using Stops = std::vector<std::uint64_t>;

TEST(Plan, GoesToEveryRank) {
  SimulatedSession s(3);
  s.start();
  s.order(Plan{{4, 0, 9}, 2, false});
  EXPECT_EQ(s.stops(0), Stops{4});
  EXPECT_EQ(s.stops(1), Stops{0});
  EXPECT_EQ(s.stops(2), Stops{9});
}

TEST(Plan, NeverMovesAStopBack) {
  SimulatedSession s(2);
  s.start();
  s.at(0, RankPhase::Running, 20);
  s.order(Plan{{4, 9}, 1, false});
  EXPECT_EQ(s.stops(0), Stops{21}) << "it stops at its next event";
  s.at(0, RankPhase::Stopped, 20);
  s.all.clear();
  s.order(Plan{{4, 9}, 1, false});
  EXPECT_EQ(s.stops(0), Stops{}) << "it is there";
}

TEST(Plan, StoppedRanksGoOnToTheNextPlan) {
  SimulatedSession s(1);
  s.start();
  s.order(Plan{{4}, 0, false});
  s.at(0, RankPhase::Stopped, 3);
  s.order(Plan{{8}, 0, false});
  EXPECT_EQ(s.stops(0), (Stops{4, 8}));
  s.at(0, RankPhase::Stopped, 7);
  s.order(SetStop{0, 0});
  EXPECT_EQ(s.stops(0), (Stops{4, 8, 0}));
}

TEST(Cut, IsToldAtOnce) {
  SimulatedSession s(2);
  s.start();
  s.order(Plan{{4, 9}, 0, false});
  s.at(1, RankPhase::Stopped, 8);
  EXPECT_EQ(s.verdicts().size(), 0U);
  s.at(0, RankPhase::Stopped, 3);
  ASSERT_EQ(s.verdicts().size(), 1U) << "no time has passed";
  EXPECT_EQ(s.verdicts()[0].kind, VerdictKind::CutReached);
  s.order(Plan{{4, 9}, 0, false});
  EXPECT_EQ(s.verdicts().size(), 2U) << "they stand there";
}

TEST(Cut, OneThatStandsBeforeItsNewStopIsOnItsWay) {
  SimulatedSession s(2);
  s.start();
  s.order(Plan{{4, 9}, -1, false});
  s.at(0, RankPhase::Stopped, 3);
  s.at(1, RankPhase::Stopped, 8);
  s.pass(100);
  ASSERT_EQ(s.verdicts().size(), 1U);
  s.order(Plan{{6, 9}, -1, false});
  s.pass(100);
  EXPECT_EQ(s.verdicts().size(), 1U) << "its GDB has not let it go on yet";
  s.at(0, RankPhase::Stopped, 5);
  s.pass(100);
  EXPECT_EQ(s.verdicts().size(), 2U);
}

TEST(Cut, IsReachedWhenTheOthersAreThereToo) {
  SimulatedSession s(3);
  s.start();
  s.order(Plan{{4, 6, 9}, 2, false});
  s.at(2, RankPhase::Stopped, 8);
  s.at(0, RankPhase::Stopped, 3);
  s.pass(500);
  EXPECT_TRUE(s.verdicts().empty()) << "rank 1 is on its way";
  s.at(1, RankPhase::Running, 5, 1, 0);
  s.pass(100);
  EXPECT_TRUE(s.verdicts().empty()) << "it may be in the call for a moment";
  s.pass(100);
  ASSERT_EQ(s.verdicts().size(), 1U);
  EXPECT_EQ(s.verdicts()[0].kind, VerdictKind::CutReached);
  EXPECT_EQ(s.verdicts()[0].rank, 2);
  EXPECT_EQ(s.verdicts()[0].serial, 9U);
  EXPECT_NE(s.verdicts()[0].text.find("rank 1 waits in MPI_Recv (event 5) for rank 0"),
            std::string::npos);
  s.pass(10'000);
  EXPECT_EQ(s.verdicts().size(), 1U);
}

TEST(Cut, FreeAndFinishedRanksAreNotWaitedFor) {
  SimulatedSession s(3);
  s.start();
  s.order(Plan{{0, 6, 9}, 2, false});
  s.at(1, RankPhase::Finalized, 5);
  s.at(2, RankPhase::Stopped, 8);
  s.pass(50);
  EXPECT_EQ(s.verdicts().size(), 1U);
}

TEST(Cut, MayHoldRanksBeforeTheGate) {
  SimulatedSession s(2);
  s.client();
  s.order(Plan{{1, 9}, 1, true});
  s.agent(0);
  s.agent(1);
  s.at(0, RankPhase::Stopped, 0);
  s.at(1, RankPhase::Gated, 1);
  EXPECT_TRUE(s.logic.state().gateOpen) << "rank 0 is stopped before MPI_Init";
  s.at(1, RankPhase::Running, 5, 1, 0);
  s.pass(160);
  EXPECT_EQ(s.stops(0), Stops{2}) << "it can be nudged through the gate";
  s.at(1, RankPhase::Stopped, 8);
  s.pass(50);
  EXPECT_EQ(s.verdicts().at(0).kind, VerdictKind::CutReached);
}

TEST(Cut, IsNotReachedBeforeAllRanksHaveCome) {
  SimulatedSession s(2);
  s.client();
  s.order(Plan{{1, 30}, 1, true});
  s.agent(0);
  s.at(0, RankPhase::Stopped, 0);
  EXPECT_EQ(s.verdicts().size(), 0U);
  s.agent(1);
  s.at(1, RankPhase::Stopped, 29);
  ASSERT_EQ(s.verdicts().size(), 1U);
  EXPECT_EQ(s.verdicts()[0].serial, 30U);
}

TEST(Cut, RankThatNeverComesIsReportedAfterAWhile) {
  SimulatedSession s(2);
  s.start();
  s.order(Plan{{4, 6}, 1, false});
  s.at(1, RankPhase::Stopped, 5);
  s.pass(4'000);
  EXPECT_TRUE(s.verdicts().empty());
  s.pass(1'500);
  ASSERT_EQ(s.verdicts().size(), 1U);
  EXPECT_NE(s.verdicts()[0].text.find("rank 0 computes after event 1"), std::string::npos);
}

TEST(Cut, TargetThatEndsBeforeItsStopIsSaid) {
  SimulatedSession s(2);
  s.start();
  s.order(Plan{{4, 60}, 1, false});
  s.at(1, RankPhase::Finalized, 20);
  s.pass(50);
  ASSERT_EQ(s.verdicts().size(), 1U);
  EXPECT_EQ(s.verdicts()[0].kind, VerdictKind::Ended);
  EXPECT_NE(s.verdicts()[0].text.find("before its event 60"), std::string::npos);
}

TEST(Nudge, TheRankThatTheTargetWaitsFor) {
  SimulatedSession s(3);
  s.start();
  s.order(Plan{{4, 6, 9}, 2, false});
  s.at(0, RankPhase::Stopped, 3);
  s.at(1, RankPhase::Stopped, 5);
  s.at(2, RankPhase::Running, 7, 1, 1);
  s.all.clear();
  s.pass(140);
  EXPECT_EQ(s.stops(1), Stops{});
  s.pass(20);
  EXPECT_EQ(s.stops(1), Stops{7});
  EXPECT_EQ(s.stops(0), Stops{});
  ASSERT_EQ(s.sent<Nudged>().size(), 1U);
  EXPECT_EQ(s.sent<Nudged>()[0], (Nudged{1, 7}));
  s.at(1, RankPhase::Stopped, 6);
  s.pass(160);
  EXPECT_EQ(s.stops(1), (Stops{7, 8}));
}

TEST(Nudge, GoesThroughOthers) {
  SimulatedSession s(3);
  s.start();
  s.order(Plan{{4, 6, 9}, 2, false});
  s.at(0, RankPhase::Stopped, 3);
  s.at(1, RankPhase::Running, 5, 1, 0);
  s.at(2, RankPhase::Running, 7, 1, 1);
  s.all.clear();
  s.pass(160);
  EXPECT_EQ(s.stops(0), Stops{5});
}

TEST(Nudge, AllIfNobodyIsNamed) {
  SimulatedSession s(3);
  s.start();
  s.order(Plan{{4, 6, 9}, 2, false});
  s.at(0, RankPhase::Stopped, 3);
  s.at(1, RankPhase::Stopped, 5);
  s.at(2, RankPhase::Running, 7, 1, -2);
  s.all.clear();
  s.pass(160);
  EXPECT_EQ(s.stops(0), Stops{5});
  EXPECT_EQ(s.stops(1), Stops{7});
  EXPECT_EQ(s.stops(2), Stops{});
}

TEST(Nudge, NotWhileSomethingGetsOn) {
  SimulatedSession s(3);
  s.start();
  s.order(Plan{{4, 0, 9}, 2, false});
  s.at(0, RankPhase::Stopped, 3);
  s.at(2, RankPhase::Running, 7, 1, 0);
  s.all.clear();
  for (std::uint64_t serial = 2; serial < 12; ++serial) {
    s.at(1, RankPhase::Running, serial);
    s.pass(100);
  }
  EXPECT_EQ(s.stops(0), Stops{});
}

TEST(Nudge, LaterWhileARankComputes) {
  SimulatedSession s(2);
  s.start();
  s.order(Plan{{4, 9}, 1, false});
  s.at(0, RankPhase::Stopped, 3);
  s.at(1, RankPhase::Running, 7);
  s.all.clear();
  s.pass(2'400);
  EXPECT_EQ(s.stops(0), Stops{});
  s.pass(200);
  EXPECT_EQ(s.stops(0), Stops{5});
}

TEST(Nudge, NotWhileARankIsInTheHandsOfGdb) {
  SimulatedSession s(2);
  s.start();
  s.order(Plan{{4, 9}, 1, false});
  s.at(0, RankPhase::Stopped, 3);
  RankState held;
  held.phase = RankPhase::Running;
  held.serial = 7;
  held.held = true;
  s.says(1, held);
  s.all.clear();
  s.pass(20'000);
  EXPECT_EQ(s.stops(0), Stops{});
  EXPECT_TRUE(s.verdicts().empty());
}

TEST(Nudge, EndsWithTheCut) {
  SimulatedSession s(2);
  s.start();
  s.order(Plan{{4, 9}, 1, false});
  s.at(0, RankPhase::Stopped, 3);
  s.at(1, RankPhase::Running, 7, 1, 0);
  s.pass(160);
  s.at(0, RankPhase::Running, 4, 2, 1);
  s.at(1, RankPhase::Stopped, 8);
  s.all.clear();
  s.pass(200);
  ASSERT_EQ(s.verdicts().size(), 1U);
  EXPECT_EQ(s.verdicts()[0].kind, VerdictKind::CutReached);
  EXPECT_EQ(s.stops(0), Stops{});
}

TEST(GoBack, TheRankIsWhereItsSnapshotWas) {
  SimulatedSession s(1);
  s.start();
  s.order(Plan{{40}, 0, false});
  s.at(0, RankPhase::Stopped, 39);
  s.pass(100);
  ASSERT_EQ(s.verdicts().size(), 1U);
  s.order(GoBack{0, 20});
  ASSERT_EQ(s.sent<GoBack>(s.agentOf(0)).size(), 1U);
  s.pass(100);
  EXPECT_EQ(s.verdicts().size(), 1U) << "nothing is planned for it on its way";
  s.says(0, WentBack{77, 17, 4711, false, {}});
  ASSERT_EQ(s.sent<WentBack>().size(), 1U);
  EXPECT_EQ(s.sent<WentBack>()[0].rank, 0);
  EXPECT_EQ(s.logic.ranks().at(0).hello.pid, 4711);
  s.all.clear();
  s.order(Plan{{20}, 0, false});
  EXPECT_EQ(s.stops(0), Stops{20}) << "it is before that again";
  s.at(0, RankPhase::Stopped, 19);
  s.pass(100);
  EXPECT_EQ(s.verdicts().size(), 1U);
}

TEST(GoBack, WithoutAProcessIsAnsweredAtOnce) {
  SimulatedSession s(1);
  s.start();
  s.order(GoBack{5, 20});
  ASSERT_EQ(s.sent<WentBack>().size(), 1U);
  EXPECT_EQ(s.sent<WentBack>()[0].pid, 0);
  EXPECT_FALSE(s.sent<WentBack>()[0].text.empty());
}

}  // namespace
}  // namespace pf::daemon

// SPDX-License-Identifier: GPL-3.0-or-later
// When a move is done, and whom a person looks at then: on made-up states and times.
#include "app/script/ranks/move_wait.h"

#include <gtest/gtest.h>

namespace pf::headless {
namespace {

using values::RankActivity;

constexpr MoveTimes kSoon{.now = 1000, .sinceCommand = 100};

RankWhereabouts doing(int rank, RankActivity activity) {
  RankWhereabouts made;
  made.state.rank = rank;
  made.state.activity = activity;
  made.state.debugger = true;
  return made;
}

RankWhereabouts stoppedRank(int rank, mi::StopReason reason = mi::StopReason::Breakpoint) {
  RankWhereabouts made = doing(rank, RankActivity::Stopped);
  made.rests = true;
  made.reason = reason;
  return made;
}

RankWhereabouts endedRank(int rank) {
  RankWhereabouts made = doing(rank, RankActivity::Finished);
  made.gone = true;
  return made;
}

/// Times `ms` after kSoon.
MoveTimes after(qint64 ms) {
  return {.now = kSoon.now + ms, .sinceCommand = kSoon.sinceCommand + ms};
}

TEST(MoveWait, IsDoneOnceAllRestAndTheSessionSaysSo) {
  MoveWait wait;
  wait.begin(Move::thereTo());
  const QList ranks{stoppedRank(0), stoppedRank(1)};
  EXPECT_FALSE(wait.arrived(ranks, kSoon));
  wait.settled();
  EXPECT_TRUE(wait.arrived(ranks, kSoon));
}

TEST(MoveWait, AnotherCycleHasToSettleAnew) {
  MoveWait wait;
  wait.begin(Move::thereTo());
  wait.settled();
  wait.newCycle();
  EXPECT_FALSE(wait.arrived({stoppedRank(0)}, kSoon));
}

TEST(MoveWait, ARankThatHasToStopIsWaitedFor) {
  MoveWait wait;
  wait.begin(Move::stopOf({1}));
  const QList before{stoppedRank(0), stoppedRank(1)};  // it rests where it was
  EXPECT_FALSE(wait.arrived(before, kSoon));
  wait.stopped(1);
  EXPECT_FALSE(wait.arrived({stoppedRank(0), doing(1, RankActivity::Running)}, kSoon));
  EXPECT_TRUE(wait.arrived(before, kSoon));
}

TEST(MoveWait, ARankThatHasEndedNeedNotStop) {
  MoveWait wait;
  wait.begin(Move::stopOf({1}));
  EXPECT_TRUE(wait.arrived({stoppedRank(0), endedRank(1)}, kSoon));
}

TEST(MoveWait, WhoWaitsInACallHasToDoSoForAWhile) {
  MoveWait wait;
  wait.begin(Move::stopOf({}));
  const QList ranks{stoppedRank(0), doing(1, RankActivity::InCall)};
  EXPECT_FALSE(wait.arrived(ranks, kSoon));
  EXPECT_FALSE(wait.arrived(ranks, after(430)));  // 400, and 15 for each rank
  EXPECT_TRUE(wait.arrived(ranks, after(431)));
}

TEST(MoveWait, NewsOfARankBeginTheWhileAgain) {
  MoveWait wait;
  wait.begin(Move::stopOf({}));
  QList ranks{stoppedRank(0), doing(1, RankActivity::InCall)};
  EXPECT_FALSE(wait.arrived(ranks, kSoon));
  ranks[1].state.serial = 7;
  EXPECT_FALSE(wait.arrived(ranks, after(500)));
  EXPECT_FALSE(wait.arrived(ranks, after(900)));
  EXPECT_TRUE(wait.arrived(ranks, after(931)));
}

TEST(MoveWait, ACommandThatHasJustBegunMayNotHaveShown) {
  MoveWait wait;
  const QList ranks{stoppedRank(0), doing(1, RankActivity::InCall)};
  wait.begin(Move::stopOf({}));
  EXPECT_FALSE(wait.arrived(ranks, {.now = 0, .sinceCommand = 0}));
  wait.begin(Move::stopOf({}));  // another command, to the same ranks in the same states
  EXPECT_FALSE(wait.arrived(ranks, {.now = 5000, .sinceCommand = 150}));
  EXPECT_TRUE(wait.arrived(ranks, {.now = 5001, .sinceCommand = 151}));
}

TEST(MoveWait, WhoComputesIsWaitedForSomeSecondsOnceOneHasStopped) {
  MoveWait wait;
  wait.begin(Move::onward());
  const QList ranks{stoppedRank(0), doing(1, RankActivity::Running)};
  EXPECT_FALSE(wait.arrived(ranks, after(60000))) << "none has stopped, as far as is known";
  wait.settled();
  EXPECT_FALSE(wait.arrived(ranks, after(70000)));
  EXPECT_FALSE(wait.arrived(ranks, after(80000)));
  EXPECT_TRUE(wait.arrived(ranks, after(80001)));
}

TEST(MoveWait, ThatAllWaitIsAResultOfAMoveOnward) {
  const QList ranks{doing(0, RankActivity::InCall), doing(1, RankActivity::InCall)};
  for (const bool onward : {true, false}) {
    MoveWait wait;
    wait.begin(onward ? Move::onward() : Move::thereTo());
    EXPECT_FALSE(wait.arrived(ranks, kSoon));
    EXPECT_FALSE(wait.arrived(ranks, after(12000)));
    EXPECT_EQ(wait.arrived(ranks, after(12001)), onward);
  }
}

TEST(MoveWait, WhenAllHaveEndedTheLauncherHasSomeSeconds) {
  MoveWait wait;
  wait.begin(Move::onward());
  wait.settled();
  const QList ranks{endedRank(0), endedRank(1)};
  EXPECT_FALSE(wait.arrived(ranks, kSoon));
  EXPECT_FALSE(wait.arrived(ranks, after(8000)));
  EXPECT_TRUE(wait.arrived(ranks, after(8001)));
}

TEST(MoveWait, WhoStopsWithABreakpointIsOnItsWayEvenInACall) {
  using values::StopsWho;
  struct Case {
    StopsWho stops;
    const char* group;
    bool heldUp;
  };
  for (const Case& each : {Case{StopsWho::Alone, "1", false}, Case{StopsWho::Group, "2", false},
                           Case{StopsWho::Group, "1", true}, Case{StopsWho::All, "", true}}) {
    values::Breakpoint breakpoint;
    breakpoint.stops = each.stops;
    breakpoint.group = QString::fromLatin1(each.group);
    MoveWait wait;
    wait.begin(Move::stopOf({}));
    wait.stopped(0);
    QList ranks{stoppedRank(0), doing(1, RankActivity::InCall), stoppedRank(2)};
    ranks[0].at = &breakpoint;
    EXPECT_FALSE(wait.arrived(ranks, kSoon));
    EXPECT_EQ(wait.arrived(ranks, after(1000)), !each.heldUp) << each.group;
    ranks[1].state.debugger = false;  // nothing can stop it
    EXPECT_TRUE(wait.arrived(ranks, after(2000))) << each.group;
  }
}

TEST(MoveWait, ABreakpointOfAnEarlierStopHoldsNobody) {
  values::Breakpoint breakpoint;
  breakpoint.stops = values::StopsWho::All;
  MoveWait wait;
  wait.begin(Move::stopOf({}));
  QList ranks{stoppedRank(0), doing(1, RankActivity::InCall)};
  ranks[0].at = &breakpoint;
  EXPECT_FALSE(wait.arrived(ranks, kSoon));
  EXPECT_TRUE(wait.arrived(ranks, after(1000)));
}

TEST(MoveWait, ASignalIsLookedAtBeforeABreakpointBeforeAStep) {
  MoveWait wait;
  wait.begin(Move::onward());
  for (const int rank : {0, 1, 2}) {
    wait.stopped(rank);
  }
  QList ranks{stoppedRank(0, mi::StopReason::Step), stoppedRank(1, mi::StopReason::Breakpoint),
              stoppedRank(2, mi::StopReason::Signal)};
  EXPECT_EQ(wait.firstToLookAt(ranks, 0), 2);
  ranks[2].rests = false;
  EXPECT_EQ(wait.firstToLookAt(ranks, 0), 1);
  ranks[1].rests = false;
  EXPECT_EQ(wait.firstToLookAt(ranks, 1), 0);
  ranks[0].rests = false;
  EXPECT_EQ(wait.firstToLookAt(ranks, 1), -1);
}

TEST(MoveWait, OfEqualsTheWantedRankElseTheFirst) {
  MoveWait wait;
  wait.begin(Move::onward());
  const QList ranks{stoppedRank(0), stoppedRank(1), stoppedRank(2)};  // none has stopped just now
  EXPECT_EQ(wait.firstToLookAt(ranks, 2), 2);
  EXPECT_EQ(wait.firstToLookAt(ranks, 9), 0);
}

TEST(MoveWait, AnEventWithABreakpointCountsLikeABreakpoint) {
  MoveWait wait;
  wait.begin(Move::onward());
  wait.stopped(0);
  wait.stopped(1);
  QList ranks{stoppedRank(0, mi::StopReason::Event), stoppedRank(1, mi::StopReason::Event)};
  EXPECT_EQ(wait.firstToLookAt(ranks, 0), 0);
  ranks[1].beforeBreakpoint = true;
  EXPECT_EQ(wait.firstToLookAt(ranks, 0), 1);
}

}  // namespace
}  // namespace pf::headless

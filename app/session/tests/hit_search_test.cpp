// SPDX-License-Identifier: GPL-3.0-or-later
// Ways back: to the hit before, and to the last change of an expression.
#include <gtest/gtest.h>

#include <QTest>

#include "app/session/tests/session_fixture.h"

namespace pf::session {
namespace {

using test::FakeTarget;

class HitSearchTest : public test::SessionFixture {
 protected:
  static constexpr const char* kWatched = R"(^done,wpt={number="7",exp="n"})";

  /// 0x7ffe1000, where the first thread's stack ends.
  static constexpr const char* kStackEnd =
      R"(^done,memory=[{begin="0x7f00",offset="0x0",end="0x7f08",contents="0010fe7f00000000"}])";

  /// A breakpoint in collect(), which each GDB knows as number 2, and a cycle that stands.
  void standWithBreakpoint() {
    values::Breakpoint breakpoint;
    breakpoint.function = QStringLiteral("collect");
    session().breakpoints().add(breakpoint);
    stand({{"-break-insert", test::kMade}});
    session().setCurrentRank(1);
    pump();
  }
  void hit(int rank) {
    session().act(values::RankAction::Continue, {rank});
    pump();
    target().gdbStops(rank, R"(reason="breakpoint-hit",bkptno="2")");
    pump();
  }
  /// Looks for the last change of n on rank 1. The cycle that counts has begun.
  void lookForChange() {
    stand({{"-break-watch", kWatched}});
    session().setCurrentRank(1);
    session().lastChange(QStringLiteral(" n "));
    gate({{"-break-watch", kWatched}});
  }
  /// What GDB answers of a variable of a frame.
  static std::vector<FakeTarget::Reply> localAt(const std::string& address,
                                                const std::string& size) {
    return {
        {"&(local)", "^done,value=\"(double *) " + address + "\""},
        {"sizeof(local)", "^done,value=\"" + size + "\""},
        {"-var-create", R"(^done,name="v1",numchild="0",value="5",type="double",has_more="0")"}};
  }
  /// Rank 1 has been stopped twice by a breakpoint on a change.
  void standAtSecondChange(const std::string& expression, const std::string& address) {
    values::Breakpoint watch;
    watch.kind = values::BreakpointKind::Watch;
    watch.expression = QString::fromStdString(expression);
    session().breakpoints().add(watch);
    stand({{"-break-watch", kWatched},
           {"&(" + expression + ")", "^done,value=\"(int *) " + address + "\""},
           {"__libc_stack_end", kStackEnd},
           {"sizeof(" + expression + ")", "^done,value=\"4\""}});
    session().setCurrentRank(1);
    pump();
    for (int time = 0; time < 2; ++time) {
      session().act(values::RankAction::Continue, {1});
      pump();
      target().gdbStops(
          1, R"(reason="watchpoint-trigger",wpt={number="7",exp="x"},value={old="3",new="5"})");
      pump();
    }
  }
  /// `later`: its address in the cycle that counts.
  void standAndLookForLocal(const std::string& later = "0x7ffe0010") {
    stand(localAt("0x7ffe0010", "8"));
    session().setCurrentRank(1);
    pump();
    session().lastChange(QStringLiteral("local"));
    std::vector<FakeTarget::Reply> replies = localAt(later, "8");
    replies.push_back({"-break-watch", kWatched});
    gate(replies);
  }
  /// Rank 1 has left its event, and stands between two.
  void stepBehindItsEvent() {
    stand();
    session().setCurrentRank(1);
    session().act(values::RankAction::Next, {1});
    pump();
    target().runs(1, 41);
    target().gdbStops(1, R"(reason="end-stepping-range")");
    pump();
  }
  void countsSo(int hits) {
    target().gdbSays(1, "=breakpoint-modified,bkpt={number=\"7\",type=\"watchpoint\",times=\"" +
                            std::to_string(hits) + "\"}");
    target().comeToTheirStops();
    pump();
  }
};

// -- the hit before

TEST_F(HitSearchTest, WithoutAHitThereIsNoneBefore) {
  session().previousHit();
  EXPECT_FALSE(session().isReplaying()) << "there is no cycle";
  run({2, 40});
  session().previousHit();
  EXPECT_TRUE(wasSaid("Rank 0 has hit no breakpoint before this place in this cycle."));
  EXPECT_EQ(m_targets.size(), 1);
}

TEST_F(HitSearchTest, TheHitBeforeIsTheSameCountInANewCycle) {
  standWithBreakpoint();
  hit(1);
  hit(1);
  hit(3);
  session().setCurrentRank(1);
  hit(1);  // its third one, where it stands
  session().previousHit();
  EXPECT_EQ(m_targets.size(), 2);
  gate({{"-break-insert", test::kMade}});
  EXPECT_TRUE(target().wasTold(1, "-i 1 ")) << target().toGdb[1];
  target().gdbStops(1, R"(reason="breakpoint-hit",bkptno="2")");
  pump();
  EXPECT_EQ(session().cycles().last().hits, 1);
  session().previousHit();  // and the one before that
  gate({{"-break-insert", test::kMade}});
  EXPECT_FALSE(target().wasTold(1, "-i ")) << target().toGdb[1];
  target().gdbStops(1, R"(reason="breakpoint-hit",bkptno="2")");
  pump();
  session().previousHit();
  EXPECT_TRUE(wasSaid("Rank 1 has hit no breakpoint before this place"));
}

TEST_F(HitSearchTest, OtherBreakpointsDoNotStopOnTheWay) {
  standWithBreakpoint();
  session().breakpoints().breakAt({1, 45});
  hit(1);
  hit(1);
  session().previousHit();
  gate({{"-break-insert", test::kMade}});
  EXPECT_EQ(target().last<protocol::Plan>()->stops[1], 0U);
  target().gdbStops(1, R"(reason="breakpoint-hit",bkptno="2")");
  pump();
  EXPECT_TRUE(target().wasTold(1, "-break-after 2 0")) << "it stops at each hit again";
}

TEST_F(HitSearchTest, OnTheWayBackToAnEventHitsAreCountedAndDoNotStop) {
  standWithBreakpoint();
  session().breakpoints().breakAt({1, 15});
  session().go(Move::PreviousEvent);
  gate({{"-break-insert", test::kMade}});
  const std::uint64_t stop = target().last<protocol::Plan>()->stops[1];
  EXPECT_GT(stop, 15U) << "nor do logical ones";
  target().toGdb[1].clear();
  const int before = m_settled;
  target().gdbStops(1, R"(reason="breakpoint-hit",bkptno="2")");
  pump();
  EXPECT_TRUE(target().wasTold(1, "-exec-continue"));
  EXPECT_EQ(m_settled, before);
  EXPECT_EQ(session().cycles().last().hits, 1);
  target().comeToTheirStops();
  pump();
  EXPECT_EQ(session().rankStates()[1].serial + 1, stop);
  hit(1);
  EXPECT_EQ(session().rankStates()[1].activity, values::RankActivity::Stopped)
      << "and then they do";
  EXPECT_EQ(session().cycles().last().hits, 2);
}

TEST_F(HitSearchTest, ALogicalHitIsAnEventToGoTo) {
  session().breakpoints().breakAt({0, 15});
  session().breakpoints().breakAt({0, 30});
  session().restartCycle();
  gate();
  target().comeToTheirStops();
  session().act(values::RankAction::Continue, {0, 1, 2, 3});
  pump();
  target().comeToTheirStops();
  ASSERT_EQ(session().cycles().last().hits, 2);
  session().previousHit();
  gate();
  EXPECT_EQ(m_targets.size(), 2);
  EXPECT_EQ(target().last<protocol::Plan>()->stops[0], 15U);
}

TEST_F(HitSearchTest, AHitOfABreakpointThatIsGoneIsNone) {
  standWithBreakpoint();
  hit(1);
  hit(1);
  session().breakpoints().remove({session().breakpoints().all().first().id});
  session().previousHit();
  EXPECT_TRUE(wasSaid("Rank 1 has hit no breakpoint before this place"));
}

// -- the last change

TEST_F(HitSearchTest, AChangeIsCountedFirstAndThenStoppedAt) {
  lookForChange();
  EXPECT_EQ(m_targets.size(), 2);
  EXPECT_TRUE(target().wasTold(1, R"(-break-watch "n")"));
  EXPECT_TRUE(target().wasTold(1, "-break-after 7 1000000000"));
  EXPECT_FALSE(target().wasTold(0, "-break-watch"));
  const int before = m_settled;
  countsSo(4);
  EXPECT_EQ(m_settled, before) << "the user is not where he wants to be";
  EXPECT_EQ(m_targets.size(), 3);
  gate({{"-break-watch", kWatched}});
  EXPECT_TRUE(target().wasTold(1, "-break-after 7 3"));
  target().gdbStops(
      1, R"(reason="watchpoint-trigger",wpt={number="7",exp="n"},value={old="3",new="5"})");
  pump();
  EXPECT_TRUE(wasSaid("last change of n on rank 1: was 3, is 5")) << said().toStdString();
  EXPECT_TRUE(target().wasTold(1, "-break-delete 7"));
  EXPECT_GT(m_settled, before);
}

TEST_F(HitSearchTest, AtAHitChangesAreCountedUpToThisHit) {
  standWithBreakpoint();
  session().breakpoints().breakAt({1, 45});
  hit(1);
  target().runs(1, 41);  // it has left its event
  hit(1);
  session().lastChange(QStringLiteral("n"));
  gate({{"-break-insert", test::kMade}, {"-break-watch", kWatched}});
  EXPECT_TRUE(target().wasTold(1, "-i 1 ")) << target().toGdb[1];
  EXPECT_FALSE(target().wasTold(0, "-break-insert")) << "others go on";
  ASSERT_NE(target().last<protocol::Plan>(), nullptr);
  EXPECT_EQ(target().last<protocol::Plan>()->stops[1], 0U) << "no event is before the hit";
  target().gdbSays(1, "=breakpoint-modified,bkpt={number=\"7\",type=\"watchpoint\",times=\"6\"}");
  target().gdbStops(1, R"(reason="breakpoint-hit",bkptno="2")");
  pump();
  EXPECT_EQ(m_targets.size(), 3);
  gate({{"-break-watch", kWatched}});
  EXPECT_TRUE(target().wasTold(1, "-break-after 7 5"));
  EXPECT_TRUE(target().wasTold(1, "-break-insert -f -d")) << target().toGdb[1];
  target().gdbStops(
      1, R"(reason="watchpoint-trigger",wpt={number="7",exp="n"},value={old="3",new="5"})");
  pump();
  EXPECT_TRUE(wasSaid("last change of n on rank 1: was 3, is 5")) << said().toStdString();
  EXPECT_FALSE(wasSaid("is not looked at"));
}

TEST_F(HitSearchTest, BetweenTwoEventsItIsSaidWhatIsNotLookedAt) {
  stepBehindItsEvent();
  session().lastChange(QStringLiteral("n"));
  gate({{"-break-watch", kWatched}});
  const std::uint64_t stop = target().last<protocol::Plan>()->stops[1];
  countsSo(2);
  gate({{"-break-watch", kWatched}});
  target().gdbStops(
      1, R"(reason="watchpoint-trigger",wpt={number="7",exp="n"},value={old="3",new="5"})");
  pump();
  EXPECT_TRUE(wasSaid(("was 3, is 5 (what changed it since event " + std::to_string(stop) +
                       " began is not looked at: 'next event' first looks there, too)")
                          .c_str()))
      << said().toStdString();
}

TEST_F(HitSearchTest, WhatHasNotChangedIsSaidSo) {
  lookForChange();
  countsSo(0);
  EXPECT_EQ(m_targets.size(), 2);
  EXPECT_TRUE(wasSaid("n has not changed since MPI_Init."));
  EXPECT_TRUE(target().wasTold(1, "-break-delete 7"));
}

TEST_F(HitSearchTest, WhatCannotBeWatchedIsSaidWhy) {
  stand();
  session().setCurrentRank(1);
  session().lastChange(QStringLiteral("local"));
  gate({{"-break-watch", R"(^error,msg="No symbol \"local\" in current context.")"}});
  target().comeToTheirStops();
  pump();
  EXPECT_TRUE(m_problems.join(QLatin1Char('\n'))
                  .contains(QLatin1String("local cannot be watched from MPI_Init on: No symbol")))
      << said().toStdString();
  EXPECT_FALSE(wasSaid(".."));
}

/// What its frame knows is watched by its address, as long as it lies there again.
TEST_F(HitSearchTest, ALocalVariableIsWatchedWhereItLies) {
  standAndLookForLocal();
  EXPECT_TRUE(target().wasTold(1, R"(-break-watch "*(double *)0x7ffe0010")")) << target().toGdb[1];
  countsSo(4);
  EXPECT_EQ(m_targets.size(), 3) << said().toStdString();
  gate({{"-break-watch", kWatched}});
  EXPECT_TRUE(target().wasTold(1, "-break-after 7 3"));
  target().gdbStops(
      1, R"(reason="watchpoint-trigger",wpt={number="7",exp="x"},value={old="3",new="5"})");
  pump();
  EXPECT_TRUE(
      wasSaid("last change of local on rank 1: was 3, is 5 (its memory, *(double *)0x7ffe0010)"))
      << said().toStdString();
}

TEST_F(HitSearchTest, WhatLiesElsewhereIsNotLookedFor) {
  standAndLookForLocal("0x7ffe0020");
  const int before = m_settled;
  countsSo(4);
  EXPECT_EQ(m_targets.size(), 2);
  EXPECT_TRUE(wasSaid("local lies elsewhere in each run")) << said().toStdString();
  EXPECT_TRUE(wasSaid("'record --same-addresses'")) << said().toStdString();
  EXPECT_TRUE(wasSaid("'Keep memory at the same addresses'")) << said().toStdString();
  EXPECT_GT(m_settled, before) << "it stands where it stood";
  EXPECT_TRUE(target().wasTold(1, "-break-delete 7"));
}

/// Where it means nothing in the frame, no rank is moved.
TEST_F(HitSearchTest, WhatMeansNothingIsRefusedAtOnce) {
  stand({{"&(nothing)", R"(^error,msg="No symbol \"nothing\" in current context.")"},
         {"evaluate-expression", R"(^error,msg="No symbol \"nothing\" in current context.")"}});
  session().setCurrentRank(1);
  pump();
  session().lastChange(QStringLiteral("nothing"));
  pump();
  EXPECT_EQ(m_targets.size(), 1);
  EXPECT_TRUE(wasSaid("nothing cannot be watched: No symbol")) << said().toStdString();
}

/// Between two events there is no place to come back to: where the rank stands then is said.
TEST_F(HitSearchTest, ARankThatWasMovedForNothingIsToldSo) {
  stepBehindItsEvent();
  session().lastChange(QStringLiteral("n"));
  gate({{"-break-watch", R"(^error,msg="No symbol \"n\" in current context.")"}});
  target().comeToTheirStops();
  pump();
  EXPECT_TRUE(wasSaid("Rank 1 stands before event 41 now.")) << said().toStdString();
}

TEST_F(HitSearchTest, WhatIsTooLargeIsNotWatched) {
  stand(localAt("0x7ffe0010", "33"));
  session().setCurrentRank(1);
  session().lastChange(QStringLiteral("local"));
  pump();
  EXPECT_EQ(m_targets.size(), 1);
  EXPECT_TRUE(wasSaid("local has 33 bytes: at most 32 can be watched. Name a part of it."));
}

TEST(ExpressionPlaceTest, IsReadFromGdbsWords) {
  EXPECT_FALSE(placeIn(""));
  EXPECT_FALSE(placeIn("0x"));
  EXPECT_TRUE(placeIn("(int *) 0x404010 <total>")->isStatic);
  EXPECT_TRUE(placeIn("(int *) 0x404018 <all+8>")->isStatic);
  EXPECT_FALSE(placeIn("0x7ffe0010 \"a <b>\"")->isStatic);
  EXPECT_EQ(placeIn("(PTR TO -> ( real(kind=8) )) 0x7ffe0010")->address, 0x7ffe0010U);
}

TEST(ExpressionPlaceTest, TypesAreThoseOfC) {
  EXPECT_EQ(typeInC("struct item *", 8), "struct item *");
  EXPECT_EQ(typeInC("integer(kind=4)", 4), "int");
  EXPECT_EQ(typeInC("real(kind=8)", 8), "double");
  EXPECT_EQ(typeInC("logical(kind=1)", 1), "signed char");
  EXPECT_EQ(typeInC("character*5", 5), "char [5]");
  EXPECT_EQ(typeInC("struct {...}", 12), "char [12]");
  EXPECT_EQ(typeInC("", 3), "char [3]");
}

TEST_F(HitSearchTest, ACycleThatEndsWithoutItHasNotFoundIt) {
  lookForChange();
  countsSo(4);
  gate({{"-break-watch", kWatched}});
  Q_EMIT target().ended(0, {});
  pump();
  EXPECT_TRUE(wasSaid("last change of n on rank 1: not found; back to event"))
      << "no reason of GDB's, which has gone with the cycle: " << said().toStdString();
}

/// It lay where it lay while its changes were counted, and then it did not.
TEST_F(HitSearchTest, WhatLiesElsewhereInTheLastCycleIsSaidSo) {
  standAndLookForLocal();
  countsSo(4);
  gate({{"-break-watch", kWatched}});
  Q_EMIT target().ended(0, {});
  pump();
  EXPECT_TRUE(
      wasSaid("local lies elsewhere in each run, so its last change cannot be found; back "
              "to event 40 of rank 1, as before. 'record --same-addresses'"))
      << said().toStdString();
}

/// What only its frame knows is not looked for from MPI_Init on.
TEST_F(HitSearchTest, TheHitBeforeOfALocalsWatchIsRefusedAtOnce) {
  standAtSecondChange("local", "0x7ffe0010");
  session().previousHit();
  pump();
  EXPECT_EQ(m_targets.size(), 1);
  EXPECT_TRUE(wasSaid("local is known in its frame only")) << said().toStdString();
  EXPECT_TRUE(session().isReplaying());
}

TEST_F(HitSearchTest, TheHitBeforeOfAGlobalsWatchIsGoneTo) {
  standAtSecondChange("n", "0x404010 <n>");
  session().previousHit();
  pump();
  EXPECT_EQ(m_targets.size(), 2) << said().toStdString();
  gate({{"-break-watch", kWatched}});
  EXPECT_FALSE(target().wasTold(1, "-break-after 7")) << "the first one: nothing is passed over";
}

/// Nor is it asked for where a frame does not tell: a run without it comes back.
TEST_F(HitSearchTest, AFailedWayBackEndsWhereItBegan) {
  standWithBreakpoint();
  hit(1);
  hit(1);
  const Serial next = session().rankStates()[1].serial + 1;
  session().previousHit();
  EXPECT_EQ(m_targets.size(), 2);
  gate({{"-break-insert", R"(^error,msg="No symbol \"local\" in current context.")"}});
  Q_EMIT target().ended(0, {});
  pump();
  EXPECT_TRUE(m_problems.join(QLatin1Char('\n'))
                  .contains(QLatin1String("not found, as it cannot be set from MPI_Init on (No "
                                          "symbol")))
      << said().toStdString();
  EXPECT_TRUE(
      wasSaid(("; back to event " + std::to_string(next) + " of rank 1, as before.").c_str()))
      << said().toStdString();
  EXPECT_EQ(m_targets.size(), 3) << "it goes back to where it was";
  gate({{"-break-insert", test::kMade}});
  ASSERT_NE(target().last<protocol::Plan>(), nullptr);
  EXPECT_EQ(target().last<protocol::Plan>()->stops[1], next);
  target().comeToTheirStops();
  pump();
  EXPECT_EQ(session().rankStates()[1].serial + 1, next);
}

TEST_F(HitSearchTest, AnEndCancelsIt) {
  values::Breakpoint breakpoint;
  breakpoint.function = QStringLiteral("collect");
  session().breakpoints().add(breakpoint);
  lookForChange();
  session().endReplay();
  pump();
  EXPECT_FALSE(session().isReplaying());
  EXPECT_FALSE(wasSaid("not found"));
  session().restartCycle();
  gate({{"-break-insert", test::kMade}});
  EXPECT_TRUE(target().wasTold(1, "-break-insert -f --function"))
      << "enabled again: " << target().toGdb[1];
  EXPECT_FALSE(target().wasTold(1, "-break-watch"));
}

TEST_F(HitSearchTest, ItNeedsAReplayAndAnExpression) {
  session().lastChange(QStringLiteral("n"));
  EXPECT_TRUE(wasSaid("Back to the last change needs a replay that has stopped"));
  run({2, 40});
  session().lastChange(QStringLiteral("  "));
  EXPECT_EQ(m_targets.size(), 1);
}

}  // namespace
}  // namespace pf::session

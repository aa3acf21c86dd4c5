// SPDX-License-Identifier: GPL-3.0-or-later
// Which ways there are from where the ranks stand, why there is none, and what a way back costs.
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "app/session/cycle_times.h"
#include "app/session/tests/session_fixture.h"

namespace pf::session {
namespace {

using std::chrono::milliseconds;

class WayWordsTest : public test::SessionFixture {
 protected:
  [[nodiscard]] std::string why(Move move) { return session().whyNot(move).toStdString(); }
  [[nodiscard]] Serial eventsOf(int rank) {
    return session().trace()->execution.ranks[static_cast<std::size_t>(rank)].events.size();
  }
  static constexpr Move kAll[] = {Move::NextEvent,       Move::PreviousEvent, Move::NextReceive,
                                  Move::PreviousReceive, Move::NextRace,      Move::Failure};
};

TEST_F(WayWordsTest, WithoutAReplayThereIsNoWayBack) {
  for (const Move back : {Move::PreviousEvent, Move::PreviousReceive}) {
    EXPECT_NE(why(back).find("No replay runs"), std::string::npos) << why(back);
  }
  EXPECT_EQ(why(Move::NextEvent), "");
  EXPECT_EQ(why(Move::NextReceive), "");
  EXPECT_NE(session().whyNoPreviousHit().toStdString().find("hit no breakpoint"),
            std::string::npos);
  EXPECT_FALSE(session().backCost());
}

/// What is said to be impossible is refused with these words, and nothing else is.
TEST_F(WayWordsTest, TheyAreThoseOfGoing) {
  session().setCurrentRank(2);
  for (const Serial at : {Serial{1}, Serial{40}, eventsOf(2)}) {
    run({2, at});
    for (const Move move : kAll) {
      const QString expected = session().whyNot(move);
      m_messages.clear();
      m_problems.clear();
      session().setCurrentRank(2);
      session().go(move);
      pump();
      EXPECT_EQ(m_messages.contains(expected), !expected.isEmpty())
          << static_cast<int>(move) << " at " << at << ": " << expected.toStdString() << " / "
          << said().toStdString();
      session().endReplay();
      pump();
      session().setCurrentRank(2);
      run({2, at});
    }
  }
}

TEST_F(WayWordsTest, AnEndedReplayLeavesNone) {
  run({2, 40});
  session().setCurrentRank(2);
  EXPECT_EQ(why(Move::PreviousEvent), "");
  ASSERT_TRUE(session().backCost());
  EXPECT_FALSE(session().backCost()->snapshot);
  session().endReplay();
  pump();
  EXPECT_NE(why(Move::PreviousEvent), "");
  EXPECT_FALSE(session().backCost());
}

TEST_F(WayWordsTest, AnotherTraceHasMeasuredNothing) {
  run({2, 40});
  session().setCurrentRank(2);
  ASSERT_TRUE(session().backCost());
  reopen();
  EXPECT_FALSE(session().backCost());
}

TEST(CycleTimes, WhatAUserThinksIsNotCounted) {
  CycleTimes times;
  EXPECT_FALSE(times.anew());
  times.begin(CycleTimes::Begin::Anew);
  EXPECT_FALSE(times.anew()) << "it is on its way";
  std::this_thread::sleep_for(milliseconds(40));
  times.stands();
  ASSERT_TRUE(times.anew());
  EXPECT_GE(*times.anew(), 40);
  const qint64 first = *times.anew();
  std::this_thread::sleep_for(milliseconds(60));
  times.stands();  // a step by a line
  EXPECT_EQ(*times.anew(), first);
  times.movesOn();
  std::this_thread::sleep_for(milliseconds(30));
  times.stands();
  EXPECT_GE(*times.anew(), first + 30);
  EXPECT_LT(*times.anew(), first + 60) << "the pause is in it";
}

TEST(CycleTimes, FromASnapshotItIsAnotherTime) {
  CycleTimes times;
  times.begin(CycleTimes::Begin::Anew);
  std::this_thread::sleep_for(milliseconds(30));
  times.stands();
  times.begin(CycleTimes::Begin::Snapshot);
  EXPECT_FALSE(times.anew()) << "of another place";
  times.stands();
  EXPECT_FALSE(times.anew()) << "nobody has begun it anew";
  ASSERT_TRUE(times.fromSnapshot());
  EXPECT_LT(*times.fromSnapshot(), 30);
  times.movesOn();
  std::this_thread::sleep_for(milliseconds(30));
  times.stands();
  EXPECT_LT(*times.fromSnapshot(), 30) << "the way on is none back";
  times.forget();
  EXPECT_FALSE(times.fromSnapshot());
}

}  // namespace
}  // namespace pf::session

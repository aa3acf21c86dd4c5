// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/ranks/dap_told_ranks.h"

#include <gtest/gtest.h>

namespace pf::headless {
namespace {

using News = ToldRanks::News;
using Ranks = std::vector<int>;
using Changes = std::vector<ToldRanks::Change>;

RankStanding resting(int rank) {
  return {rank, true, false};
}
RankStanding running(int rank) {
  return {rank, false, false};
}
RankStanding ended(int rank) {
  return {rank, false, true};
}

TEST(DapToldRanks, AllThatRestAreTheOneEventOfTheCurrentRank) {
  ToldRanks told;
  const News news = told.update({resting(0), resting(1), resting(2)}, 1);
  EXPECT_EQ(news.stopped, (Ranks{1, 0, 2}));
  EXPECT_TRUE(news.allStopped);
  EXPECT_FALSE(news.othersWere);
  EXPECT_TRUE(news.changes.empty());
}

TEST(DapToldRanks, NothingIsToldTwice) {
  ToldRanks told;
  (void)told.update({resting(0), running(1)}, 0);
  const News again = told.update({resting(0), running(1)}, 0);
  EXPECT_TRUE(again.stopped.empty());
  EXPECT_TRUE(again.changes.empty());
}

TEST(DapToldRanks, OneThatRunsKeepsTheStopFromBeingOfAll) {
  ToldRanks told;
  EXPECT_FALSE(told.update({resting(0), running(1)}, 0).allStopped);
  const News second = told.update({resting(0), resting(1)}, 0);
  EXPECT_EQ(second.stopped, Ranks{1});
  EXPECT_TRUE(second.allStopped);
  EXPECT_TRUE(second.othersWere);
}

TEST(DapToldRanks, WhoGoesOnByItselfIsAChange) {
  ToldRanks told;
  (void)told.update({resting(0), resting(1)}, 0);
  const News news = told.update({running(0), resting(1)}, 0);
  EXPECT_EQ(news.changes, (Changes{{0, false}}));
  EXPECT_FALSE(told.knowsStopped(0));
  EXPECT_TRUE(told.knowsStopped(1));
  EXPECT_EQ(told.update({resting(0), resting(1)}, 0).stopped, Ranks{0});
}

TEST(DapToldRanks, WhomTheClientSendsOnIsNoChange) {
  ToldRanks told;
  (void)told.update({resting(0)}, 0);
  told.resumed(0);
  EXPECT_TRUE(told.update({running(0)}, 0).changes.empty());
  EXPECT_EQ(told.update({resting(0)}, 0).stopped, Ranks{0});
}

TEST(DapToldRanks, WhoIsGoneIsToldOnceAndDoesNotCount) {
  ToldRanks told;
  (void)told.update({resting(0), resting(1)}, 0);
  told.resumed(1);
  const News news = told.update({ended(0), resting(1)}, 0);
  EXPECT_EQ(news.changes, (Changes{{0, true}}));
  EXPECT_EQ(news.stopped, Ranks{1});
  EXPECT_TRUE(news.allStopped);
  EXPECT_FALSE(news.othersWere);
  EXPECT_TRUE(told.update({ended(0), resting(1)}, 0).changes.empty());
}

TEST(DapToldRanks, InAnotherCycleItMayGoAgain) {
  ToldRanks told;
  (void)told.update({ended(0)}, 0);
  told.forgetGone();
  EXPECT_EQ(told.update({ended(0)}, 0).changes, (Changes{{0, true}}));
}

TEST(DapToldRanks, ACrashedRankThatRestsIsStopped) {
  ToldRanks told;
  const News news = told.update({{0, true, true}}, 0);
  EXPECT_EQ(news.stopped, Ranks{0});
  EXPECT_TRUE(news.changes.empty());
}

TEST(DapToldRanks, ChangesComeInTheOrderOfRanks) {
  ToldRanks told;
  (void)told.update({resting(0), resting(1), resting(2)}, 0);
  const News news = told.update({running(0), ended(1), running(2)}, 0);
  EXPECT_EQ(news.changes, (Changes{{0, false}, {1, true}, {2, false}}));
  EXPECT_FALSE(news.allStopped);
}

}  // namespace
}  // namespace pf::headless

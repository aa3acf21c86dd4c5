// SPDX-License-Identifier: GPL-3.0-or-later
// Who failed, in words; and the lines of many ranks whose records are cut.
#include "app/collation/failure.h"

#include <csignal>

#include <gtest/gtest.h>

namespace pf::app {
namespace {

db::RankInfo rankOf(Rank number) {
  db::RankInfo rank;
  rank.rank = number;
  rank.lastSerial = 9;
  rank.complete = true;
  rank.state = "finished";
  rank.exitStatus = 0;
  return rank;
}

db::RankInfo cut(Rank number, const std::string& state) {
  db::RankInfo rank = rankOf(number);
  rank.complete = false;
  rank.state = state;
  rank.cutReason = "the rank ended without MPI_Finalize, after event 9";
  rank.exitStatus = std::nullopt;
  rank.exitSignal = SIGTERM;
  return rank;
}

std::string sentenceOf(const std::vector<db::RankInfo>& ranks, int status = 1) {
  const std::optional<WhatFailed> failed = whatFailed(ranks, status);
  return failed ? failed->sentence : "";
}

TEST(WhatFailed, NobodyDid) {
  EXPECT_EQ(sentenceOf({rankOf(0), rankOf(1)}, 0), "");
  EXPECT_FALSE(whatFailed({rankOf(0)}, std::nullopt));
}

TEST(WhatFailed, AnExitStatusBehindMpiFinalize) {
  std::vector<db::RankInfo> ranks{rankOf(0), rankOf(1)};
  ranks[1].exitStatus = 3;
  EXPECT_EQ(sentenceOf(ranks), "rank 1 ended with exit status 3 after event 9");
  EXPECT_EQ(whatFailed(ranks, 3)->rank, 1);
  ranks[0].exitSignal = SIGSEGV;  // in a destructor, for example
  EXPECT_EQ(sentenceOf(ranks), "rank 0 was ended by SIGSEGV after event 9");
}

TEST(WhatFailed, TheOthersAreEndedByTheLauncher) {
  std::vector<db::RankInfo> ranks{cut(0, "ended inside MPI_Recv (event 9)"),
                                  cut(1, "ended inside MPI_Abort (event 9)"),
                                  cut(2, "ended inside MPI_Recv (event 9)")};
  ranks[1].exitSignal = std::nullopt;
  ranks[1].exitStatus = 7;
  EXPECT_EQ(sentenceOf(ranks),
            "rank 1 called MPI_Abort, its event 9, and ended with exit status 7");
  ranks[2].exitSignal = SIGABRT;
  EXPECT_EQ(sentenceOf(ranks), "rank 2 was ended by SIGABRT after event 9");
}

TEST(WhatFailed, OneThatWasEndedAsItDidNotGetOn) {
  EXPECT_EQ(sentenceOf({rankOf(0), cut(1, "ended inside MPI_Recv (event 9)")}),
            "rank 1 ended inside MPI_Recv (event 9), by SIGTERM");
  std::vector<db::RankInfo> killed{rankOf(0), cut(1, "ended after event 9")};
  killed[1].exitSignal = SIGKILL;
  EXPECT_EQ(sentenceOf(killed), "rank 1 was killed (SIGKILL) after event 9");
}

TEST(WhatFailed, NoRankButTheLauncher) {
  const std::optional<WhatFailed> failed = whatFailed({rankOf(0)}, 5);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->rank, kUnknownRank);
  EXPECT_EQ(failed->sentence, "the run ended with exit status 5, though each rank ended well");
}

TEST(WhatFailed, ARecordingThatGoesOnHasNotFailed) {
  db::RankInfo runs = cut(0, "was inside MPI_Recv (event 9)");
  runs.exitSignal = std::nullopt;
  EXPECT_FALSE(whatFailed({runs}, std::nullopt));
}

TEST(CutLines, ManyRanksHaveOneForEachReason) {
  std::vector<db::RankInfo> ranks{rankOf(0), cut(1, ""), cut(2, ""), cut(3, ""), cut(4, "")};
  EXPECT_EQ(cutLines(ranks).size(), 4U);
  EXPECT_EQ(cutLines(ranks)[0], "rank 1: the rank ended without MPI_Finalize, after event 9");
  ranks.push_back(cut(5, ""));
  ranks.push_back(cut(6, ""));
  ranks[6].cutReason = "it never came out of MPI_Init";
  EXPECT_EQ(cutLines(ranks),
            (std::vector<std::string>{"rank 6: it never came out of MPI_Init",
                                      "ranks 1-5: the rank ended without MPI_Finalize"}));
}

}  // namespace
}  // namespace pf::app

// SPDX-License-Identifier: GPL-3.0-or-later
// Who failed, in words; and the lines of many ranks whose records are cut.
#include "app/collation/failure.h"

#include <csignal>

#include <gtest/gtest.h>

#include "app/collation/collate.h"

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

TEST(EndedByLauncher, OnlyBehindOneThatFailed) {
  std::vector<db::RankInfo> ranks{rankOf(0), rankOf(1)};
  ranks[1].exitStatus = std::nullopt;
  ranks[1].exitSignal = SIGTERM;
  EXPECT_FALSE(mayBeEndedByLauncher(ranks[1], ranks)) << "nobody failed: somebody else did that";
  ranks[0].exitStatus = 1;
  EXPECT_TRUE(mayBeEndedByLauncher(ranks[1], ranks));
  EXPECT_FALSE(mayBeEndedByLauncher(ranks[0], ranks));
  ranks[1].exitSignal = SIGSEGV;
  EXPECT_FALSE(mayBeEndedByLauncher(ranks[1], ranks)) << "its own";
  ranks[1].exitSignal = SIGKILL;
  ranks[0].exitStatus = std::nullopt;
  ranks[0].exitSignal = SIGABRT;
  EXPECT_TRUE(mayBeEndedByLauncher(ranks[1], ranks));
}

/// An error of MPI's that is fatal, most likely.
TEST(WhatFailed, AnExitStatusInsideACallNamesIt) {
  std::vector<db::RankInfo> ranks{rankOf(0),
                                  cut(1, "ended inside MPI_Send (event 9); core file: c")};
  ranks[1].exitStatus = 6;
  EXPECT_EQ(sentenceOf(ranks), "rank 1 ended with exit status 6 inside MPI_Send (event 9)");
  EXPECT_FALSE(whatFailed(ranks, 6)->hangs);
}

TEST(WhatFailed, AnExitStatusBehindMpiFinalize) {
  std::vector<db::RankInfo> ranks{rankOf(0), rankOf(1)};
  ranks[1].exitStatus = 3;
  EXPECT_EQ(sentenceOf(ranks), "rank 1 ended with exit status 3 after event 9");
  EXPECT_EQ(whatFailed(ranks, 3)->rank, 1);
  ranks[0].exitSignal = SIGSEGV;  // in a destructor, for example
  EXPECT_EQ(sentenceOf(ranks),
            "rank 0 was ended by SIGSEGV in MPI_Finalize or after it, its event 9");
}

TEST(WhatFailed, AHangIsToldFromWhatFailedByItself) {
  std::vector<db::RankInfo> ranks{rankOf(0), cut(1, "ended inside MPI_Recv (event 9)"),
                                  cut(2, "ended inside MPI_Barrier (event 9)")};
  EXPECT_TRUE(whatFailed(ranks, 1)->hangs) << "somebody ended it";
  ranks[1].exitSignal = SIGKILL;
  EXPECT_TRUE(whatFailed(ranks, 1)->hangs) << "by force";
  ranks[2] = cut(2, "was in the program after event 9");
  EXPECT_FALSE(whatFailed(ranks, 1)->hangs) << "one computed";
  ranks[2] = cut(2, "ended inside MPI_Recv (event 9)");
  ranks[0].exitStatus = 3;
  EXPECT_FALSE(whatFailed(ranks, 1)->hangs) << "one was wrong";
  EXPECT_FALSE(whatFailed({rankOf(0)}, 1)->hangs);
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
  EXPECT_EQ(sentenceOf(ranks), "rank 2 was ended by SIGABRT inside MPI_Recv (event 9)");
}

TEST(WhatFailed, OneThatWasEndedAsItDidNotGetOn) {
  EXPECT_EQ(sentenceOf({rankOf(0), cut(1, "ended inside MPI_Recv (event 9)")}),
            "rank 1 ended inside MPI_Recv (event 9), by SIGTERM");
  std::vector<db::RankInfo> killed{rankOf(0), cut(1, "ended after event 9")};
  killed[1].exitSignal = SIGKILL;
  EXPECT_EQ(sentenceOf(killed), "rank 1 was killed (SIGKILL) after event 9");
}

db::RankInfo stuck(Rank number, const std::string& call, const StuckIn& in) {
  return cut(number, stuckText(call, 9, in));
}

TEST(WhatFailed, ADeadlockIsInWords) {
  const StuckIn forOne{true, "a.c:6 (main)", 1, 0};
  const StuckIn forNobody{true, "b for rank 5.c:7 (f)", 0, StuckIn::kAny};
  std::vector<db::RankInfo> ranks{stuck(0, "MPI_Recv", forOne), stuck(1, "MPI_Ssend", forNobody),
                                  stuck(2, "MPI_Barrier", {true, "a.c:9 (main)"}),
                                  stuck(3, "MPI_Barrier", {true, "a.c:9 (main)"})};
  ranks[1].state += "; core file: /tmp/core";
  EXPECT_EQ(ranks[0].state, "stuck inside MPI_Recv (event 9) at a.c:6 (main) for rank 1, tag 0");
  EXPECT_EQ(sentenceOf(ranks),
            "deadlock: rank 0 waits in MPI_Recv at a.c:6 (main) for rank 1, tag 0, rank 1 waits in "
            "MPI_Ssend at b for rank 5.c:7 (f) for rank 0, ranks 2-3 are in MPI_Barrier at a.c:9 "
            "(main)");
  EXPECT_EQ(whatFailed(ranks, 1)->rank, 0);
  EXPECT_TRUE(whatFailed(ranks, 1)->hangs);
  ranks[0].state = stuckText("MPI_Recv", 9, {false, "", 1, StuckIn::kAny});
  EXPECT_TRUE(
      sentenceOf(ranks).starts_with("no rank could get on: rank 0 waits in MPI_Recv for rank 1, "))
      << sentenceOf(ranks);
  ranks[2] = rankOf(2);
  ranks[2].exitStatus = 4;
  EXPECT_EQ(sentenceOf(ranks), "rank 2 ended with exit status 4 after event 9");
}

TEST(WhatFailed, ACollectiveThatOneDoesNotEnter) {
  const StuckIn inSum{false, "a.c:10 (main)"};
  std::vector<db::RankInfo> ranks;
  for (Rank rank = 0; rank < 64; ++rank) {
    ranks.push_back(rank == 1 ? stuck(rank, "MPI_Bcast", {false, "b.c:7 (main)"})
                              : stuck(rank, "MPI_Allreduce", inSum));
  }
  EXPECT_EQ(sentenceOf(ranks),
            "no rank got on: ranks 0, 2-63 are in MPI_Allreduce at a.c:10 (main), rank 1 is in "
            "MPI_Bcast at b.c:7 (main)");
  EXPECT_EQ(whatFailed(ranks, 1)->rank, 1) << "the one that is elsewhere";
  ranks[1] = rankOf(1);
  EXPECT_EQ(sentenceOf(ranks),
            "no rank got on: ranks 0, 2-63 are in MPI_Allreduce at a.c:10 (main), rank 1 has "
            "finished");
  EXPECT_EQ(sentenceOf({stuck(0, "MPI_Recv", {true, "a.c:6 (main)", 1, 2}), rankOf(1)}),
            "no rank could get on: rank 0 is in MPI_Recv at a.c:6 (main) for rank 1, tag 2, rank 1 "
            "has finished");
}

/// A trace may say anything.
TEST(WhatFailed, NobodyHasToBelieveAState) {
  std::vector<db::RankInfo> ranks;
  for (const char* state :
       {"stuck inside ", "stuck inside )(event ", "waiting inside MPI_Recv (event ",
        "stuck inside MPI_Recv (event 9) for rank 99999999999999999999",
        "stuck inside MPI_Recv (event 9) for rank -4"}) {
    ranks.push_back(cut(static_cast<Rank>(ranks.size()), state));
  }
  EXPECT_FALSE(sentenceOf(ranks).empty());
  std::vector<db::RankInfo> ring;
  for (Rank rank = 0; rank < 3000; ++rank) {
    ring.push_back(stuck(rank, "MPI_Recv", {true, "", (rank + 1) % 3000, 0}));
  }
  EXPECT_EQ(sentenceOf(ring),
            "deadlock: rank 0 waits in MPI_Recv for rank 1, tag 0, rank 1 waits in MPI_Recv for "
            "rank 2, tag 0, rank 2 waits in MPI_Recv for rank 3, tag 0, rank 3 waits in MPI_Recv "
            "for rank 4, tag 0, and 2996 more");
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

TEST(CutLines, RanksThatAreAlikeHaveOne) {
  std::vector<db::RankInfo> ranks{rankOf(0), cut(1, "ended inside MPI_Recv (event 9)"),
                                  cut(2, "ended inside MPI_Barrier (event 12)"),
                                  cut(3, "ended inside MPI_Recv (event 10)")};
  ranks[3].cutReason = "the rank ended without MPI_Finalize, after event 10";
  ranks[2].cutReason = "it never came out of MPI_Init";
  EXPECT_EQ(cutLines(ranks, false),
            (std::vector<std::string>{
                "ranks 1, 3: the rank ended without MPI_Finalize, after events 9 to 10",
                "rank 2: it never came out of MPI_Init"}));
  EXPECT_EQ(cutLines(ranks, true),
            (std::vector<std::string>{
                "ranks 1, 3: the rank ended without MPI_Finalize, after events 9 to 10; ended "
                "inside MPI_Recv (events 9 to 10)",
                "rank 2: it never came out of MPI_Init; ended inside MPI_Barrier (event 12)"}));
  ranks.resize(2);
  EXPECT_EQ(cutLines(ranks, true)[0],
            "rank 1: the rank ended without MPI_Finalize, after event 9; ended inside MPI_Recv "
            "(event 9)");
}

}  // namespace
}  // namespace pf::app

// SPDX-License-Identifier: GPL-3.0-or-later
// How a run ended, in few words: equal for runs that ended alike, however long their launchers took.
#include "app/branching/outcome.h"

#include <csignal>

#include <gtest/gtest.h>

#include "app/collation/failure.h"

namespace pf::app {
namespace {

/// Rank 0 has finished, and somebody has ended rank 1 inside of a receive.
std::vector<db::RankInfo> hungRanks() {
  std::vector<db::RankInfo> ranks(2);
  for (Rank rank = 0; rank < 2; ++rank) {
    ranks[static_cast<std::size_t>(rank)].rank = rank;
    ranks[static_cast<std::size_t>(rank)].lastSerial = 9;
  }
  ranks[0].complete = true;
  ranks[0].state = "finished";
  ranks[0].exitStatus = 0;
  ranks[1].complete = false;
  ranks[1].state = "stuck inside MPI_Recv (event 9) at a.c:6 (main) for rank 0, tag 1";
  ranks[1].cutReason = "the rank ended without MPI_Finalize, after event 9";
  ranks[1].exitSignal = SIGTERM;
  return ranks;
}

RunFacts factsWith(bool proven) {
  RunFacts facts;
  facts.exitStatus = 1;
  facts.ends[1].stuck = StuckIn{proven, "a.c:6 (main)", 0, 1};
  return facts;
}

TEST(OutcomeOf, aProvenDeadlockIsOneHoweverLongItsLauncherTakes) {
  for (const bool timeIsUp : {false, true}) {
    const Outcome outcome = outcomeOf(hungRanks(), factsWith(true), timeIsUp, {});
    EXPECT_EQ(outcome.name, "deadlock");
    EXPECT_NE(outcome.sentence.find("a.c:6"), std::string::npos) << outcome.sentence;
  }
}

TEST(OutcomeOf, deadlocksAreAlikeWhereTheSameRanksWaitAlike) {
  std::vector<db::RankInfo> ranks = hungRanks();
  const Outcome one = outcomeOf(ranks, factsWith(true), false, {});
  EXPECT_EQ(one.waits, "1 MPI_Recv 0");
  ranks[1].state = "stuck inside MPI_Recv (event 12) for rank 0, tag 1";
  EXPECT_EQ(outcomeOf(ranks, factsWith(true), false, {}).waits, one.waits);
  ranks[1].state = "stuck inside MPI_Barrier (event 12) at a.c:6 (main)";
  EXPECT_EQ(outcomeOf(ranks, factsWith(true), false, {}).waits, "1 MPI_Barrier");
  EXPECT_EQ(outcomeOf(ranks, factsWith(false), false, {}).waits, "");
}

TEST(OutcomeOf, aTimeLimitSaysWhoWaited) {
  const Outcome outcome = outcomeOf(hungRanks(), factsWith(false), true, {});
  EXPECT_EQ(outcome.name, "time limit");
  EXPECT_NE(outcome.sentence.find("its time was up: no rank could get on"), std::string::npos)
      << outcome.sentence;
  EXPECT_EQ(outcomeOf(hungRanks(), factsWith(false), false, {}).name, "hang");
}

TEST(OutcomeOf, linesOfRanksMayComeInAnyOrder) {
  std::vector<db::RankInfo> ranks = hungRanks();
  ranks.pop_back();
  RunFacts facts;
  facts.exitStatus = 0;
  Printed one;
  one.beginning = "a\nb\n";
  Printed other;
  other.beginning = "b\na\n";
  EXPECT_EQ(outcomeOf(ranks, facts, false, one), outcomeOf(ranks, facts, false, other));
  EXPECT_EQ(outcomeOf(ranks, facts, false, one).name, "ok");
  other.beginning = "b\nb\n";
  EXPECT_NE(outcomeOf(ranks, facts, false, one), outcomeOf(ranks, facts, false, other));
}

}  // namespace
}  // namespace pf::app

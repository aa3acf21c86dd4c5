// SPDX-License-Identifier: GPL-3.0-or-later
// Cuts that are given: what crosses them backwards, and their largest consistent part.
#include "replay_engine/causality/cut_check.h"

#include <random>

#include <gtest/gtest.h>

#include "replay_engine/races/races.h"
#include "replay_engine/races/tests/execution_builder.h"
#include "replay_engine/races/tests/random_execution.h"

namespace pf::test {
namespace {

TEST(CutCheck, namesTheMessageThatCrosses) {
  const Execution e = parseExecution("0: recv 1; recv 2\n1: send 0; send 2\n2: recv 1; send 0");
  EXPECT_FALSE(crossing(e, {0, 0, 0}));
  EXPECT_FALSE(crossing(e, {1, 1, 0}));
  EXPECT_FALSE(crossing(e, {2, 2, 2}));
  const auto found = crossing(e, {2, 2, 1});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->from, (EventRef{2, 2}));
  EXPECT_EQ(found->to, (EventRef{0, 2}));
  EXPECT_EQ(messageText(e, found->message), "2@2");
}

TEST(CutCheck, takesOutWhatFollows) {
  const Execution e = parseExecution("0: recv 1; recv 2\n1: send 0; send 2\n2: recv 1; send 0");
  EXPECT_EQ(consistentPart(e, {2, 1, 2}), (std::vector<Serial>{1, 1, 0}));
  EXPECT_EQ(consistentPart(e, {2, 2, 2}), (std::vector<Serial>{2, 2, 2}));
}

TEST(CutCheck, smallestCutsAreConsistentAndPartsToo) {
  std::mt19937_64 random(1);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    oracle::RandomExecution made = oracle::randomExecution(seed);
    Execution& e = made.execution;
    matchMessages(e);
    std::vector<Serial> cut;
    for (const RankHistory& history : e.ranks) {
      cut.push_back(random() % (history.events.size() + 1));
    }
    const std::vector<Serial> part = consistentPart(e, cut);
    EXPECT_FALSE(crossing(e, part)) << "seed " << seed;
    for (std::size_t rank = 0; rank < cut.size(); ++rank) {
      EXPECT_LE(part[rank], cut[rank]);
    }
    EXPECT_EQ(consistentPart(e, part), part);
  }
}

}  // namespace
}  // namespace pf::test

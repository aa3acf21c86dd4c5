// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/groups/partition.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "replay_engine/groups/tests/made_up_run.h"

namespace pf {
namespace {

using Random = std::mt19937;

Traffic ofPairs(std::size_t ranks, const std::vector<PairTraffic>& pairs) {
  test::MadeUpRun run(ranks);
  for (const PairTraffic& pair : pairs) {
    run.message(pair.from, pair.to, pair.bytes);
  }
  return *run.traffic();
}

CommunicatorTraffic madeCommunicator(Random& random, std::size_t ranks) {
  CommunicatorTraffic made;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (random() % 2 == 0) {
      made.members.push_back(static_cast<Rank>(rank));
      made.toEach.push_back(random() % 3 == 0 ? random() % 100 : 0);
      made.whole.push_back(random() % 3 == 0 ? random() % 100 : 0);
      made.wholeOfLower.push_back(random() % 3 == 0 ? random() % 100 : 0);
    }
  }
  made.firstGroup = made.members.size();
  return made;
}

Traffic randomTraffic(Random& random, std::size_t ranks, std::size_t pairs) {
  std::vector<PairTraffic> all;
  for (; pairs > 0; --pairs) {
    all.push_back({static_cast<Rank>(random() % ranks), static_cast<Rank>(random() % ranks),
                   random() % (random() % 4 == 0 ? 100'000 : 100)});
  }
  return ofPairs(ranks, all);
}

/// The fewest bytes that any groups of at most `most` ranks leave.
std::uint64_t fewest(const Traffic& traffic, std::size_t most) {
  std::vector<std::uint32_t> groupOf(traffic.ranks);
  std::vector<std::size_t> sizes(traffic.ranks);
  std::uint64_t best = kNoSize;
  const std::function<void(std::size_t, std::uint32_t)> from = [&](std::size_t rank,
                                                                   std::uint32_t groups) {
    if (rank == traffic.ranks) {
      best = std::min(best, traffic.bytesToLog(ReplayGroups::of(groupOf)));
      return;
    }
    for (std::uint32_t group = 0; group <= groups; ++group) {
      if (sizes[group] < most) {
        ++sizes[group];
        groupOf[rank] = group;
        from(rank + 1, std::max(groups, group + 1));
        --sizes[group];
      }
    }
  };
  from(0, 0);
  return best;
}

TEST(PartitionTest, NumbersOfPartsAreThoseOfThePaper) {
  for (std::size_t ranks = 1; ranks < 60; ++ranks) {
    for (std::size_t most = 1; most < 70; ++most) {
      const double bound = static_cast<double>(std::min(ranks, most));
      std::vector<std::size_t> expected;
      for (std::size_t k = 1; k <= ranks; ++k) {
        const double size = static_cast<double>(ranks) / static_cast<double>(k);
        if (size > bound / 2 && size <= bound) {
          expected.push_back(k);
        }
      }
      ASSERT_EQ(partsToTry(ranks, most), expected) << ranks << " " << most;
    }
  }
  EXPECT_EQ(partsToTry(64, 12), (std::vector<std::size_t>{6, 7, 8, 9, 10}));
  EXPECT_EQ(partsToTry(100'000, 4), (std::vector<std::size_t>{25'000, 33'334}));
  EXPECT_LE(partsToTry(100'000, 1000).size(), 65U);
}

/// Pairs, with and without collectives: seldom is it not the best of all, and then it is near.
TEST(PartitionTest, NearTheBestOfAllGroups) {
  Random random(5);
  std::size_t best = 0;
  std::size_t all = 0;
  double worst = 1;
  for (int turn = 0; turn < 300; ++turn) {
    const std::size_t ranks = 2 + random() % 7;
    const std::size_t most = 1 + random() % ranks;
    Traffic traffic = randomTraffic(random, ranks, random() % 25);
    if (turn % 2 == 1) {
      traffic.communicators.push_back(madeCommunicator(random, ranks));
      if (traffic.communicators.back().members.empty()) {
        traffic.communicators.pop_back();
      }
    }
    const Result<GroupSearch> search = findGroups(traffic, most);
    ASSERT_TRUE(search.ok());
    const GroupCandidate& found = search->candidates[search->best];
    ASSERT_LE(found.groups.largest(), most);
    ASSERT_EQ(found.bytes, traffic.bytesToLog(found.groups));
    const std::uint64_t optimum = fewest(traffic, most);
    ASSERT_GE(found.bytes, optimum);
    ++all;
    best += found.bytes == optimum ? 1U : 0U;
    worst =
        std::max(worst, static_cast<double>(found.bytes + 1) / static_cast<double>(optimum + 1));
  }
  RecordProperty("best", static_cast<int>(best));
  std::printf("best of all: %zu of %zu; at worst %.2f times it\n", best, all, worst);
  EXPECT_GE(best * 100, all * 95);
}

TEST(PartitionTest, NoGroupIsTooLarge) {
  Random random(9);
  for (int turn = 0; turn < 120; ++turn) {
    const std::size_t ranks = 1 + random() % 200;
    const std::size_t most = 1 + random() % (ranks + 5);
    const Traffic traffic = randomTraffic(random, ranks, turn % 10 == 0 ? 0 : random() % 1500);
    const TrafficGraph graph = trafficGraph(traffic, most);
    for (const std::size_t parts : partsToTry(ranks, most)) {
      const Result<ReplayGroups> groups =
          partition(graph, parts, most, static_cast<std::uint32_t>(1 + turn % 9));
      ASSERT_TRUE(groups.ok()) << groups.error().text();
      ASSERT_LE(groups->largest(), most) << ranks << " ranks, " << parts << " parts";
      ASSERT_EQ(groups->ranks(), ranks);
    }
  }
}

/// Ranks that all talk with one: METIS makes its part too large, or others too small.
TEST(PartitionTest, AStarIsCutIntoGroupsThatFit) {
  std::vector<PairTraffic> pairs;
  for (Rank rank = 1; rank < 50; ++rank) {
    pairs.push_back({0, rank, 100U + static_cast<std::uint64_t>(rank)});
  }
  const Traffic traffic = ofPairs(50, pairs);
  const Result<GroupSearch> search = findGroups(traffic, 10);
  ASSERT_TRUE(search.ok());
  const GroupCandidate& best = search->candidates[search->best];
  EXPECT_LE(best.groups.largest(), 10U);
  std::uint64_t expected = 0;  // the nine who get most are with rank 0
  for (std::uint64_t rank = 1; rank < 41; ++rank) {
    expected += 100 + rank;
  }
  EXPECT_EQ(best.bytes, expected);
}

/// Of groups of eight whose ranks are anywhere.
Traffic hidden(std::size_t ranks, std::size_t size, std::vector<std::uint32_t>& groupOf) {
  Random random(21);
  groupOf.resize(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    groupOf[rank] = static_cast<std::uint32_t>(rank / size);
  }
  std::shuffle(groupOf.begin(), groupOf.end(), random);
  test::MadeUpRun run(ranks);
  for (std::size_t a = 0; a < ranks; ++a) {
    for (std::size_t b = 0; b < ranks; ++b) {
      if (a != b && groupOf[a] == groupOf[b]) {
        run.message(static_cast<Rank>(a), static_cast<Rank>(b), 1000);
      }
    }
    run.message(static_cast<Rank>(a), static_cast<Rank>((a + 1) % ranks), 10);
  }
  return *run.traffic();
}

TEST(PartitionTest, HiddenGroupsAreFound) {
  std::vector<std::uint32_t> groupOf;
  const Traffic traffic = hidden(64, 8, groupOf);
  const Result<GroupSearch> search = findGroups(traffic, 12);
  ASSERT_TRUE(search.ok());
  const GroupCandidate& best = search->candidates[search->best];
  EXPECT_EQ(best.groups, ReplayGroups::of(groupOf));
  EXPECT_EQ(search->candidates.size(), 5U);
  EXPECT_GT(traffic.bytesToLog(randomGroups(best.groups, 1)), 10 * best.bytes);
}

/// Four groups of four, which hardly talk: no rank alone would go over.
TEST(PartitionTest, GroupsThatTalkAndFitAreJoined) {
  std::vector<PairTraffic> pairs;
  for (Rank a = 0; a < 16; ++a) {
    for (Rank b = a / 4 * 4; b < a / 4 * 4 + 4; ++b) {
      pairs.push_back({a, b, 1000});
    }
  }
  pairs.push_back({0, 8, 1});
  pairs.push_back({4, 12, 1});
  const Result<ReplayGroups> groups = partition(trafficGraph(ofPairs(16, pairs), 8), 4, 8);
  ASSERT_TRUE(groups.ok());
  EXPECT_EQ(groups->text(), "0-3+8-11,4-7+12-15");
}

/// All talk with all: only how much they do tells.
TEST(PartitionTest, AllTalkWithAll) {
  constexpr std::uint64_t kMuch = std::uint64_t{1} << 40U;
  std::vector<PairTraffic> pairs;
  std::vector<std::uint32_t> groupOf;
  for (Rank a = 0; a < 128; ++a) {
    for (Rank b = 0; b < 128; ++b) {
      pairs.push_back({a, b, a % 32 == b % 32 ? 100 * kMuch : kMuch});
    }
    groupOf.push_back(static_cast<std::uint32_t>(a % 32));
  }
  const TrafficGraph graph = trafficGraph(ofPairs(128, pairs), 4);
  const Result<ReplayGroups> groups = partition(graph, 32, 4);
  ASSERT_TRUE(groups.ok());
  EXPECT_EQ(*groups, ReplayGroups::of(groupOf));
}

/// CG of 64 ranks (Figures 1 and 3): in each step a rank sums up along its row of eight, by three exchanges, and then
/// exchanges as much with the rank that has its place in the transposed matrix. 77 % stay in groups of eight.
TEST(PartitionTest, TheGroupsOfCgAreThoseOfThePaper) {
  std::vector<PairTraffic> pairs;
  for (Rank rank = 0; rank < 64; ++rank) {
    for (const Rank distance : {1, 2, 4}) {
      pairs.push_back({rank, rank ^ distance, 150'000});
    }
    pairs.push_back({rank, rank % 8 * 8 + rank / 8, rank % 8 == rank / 8 ? 0U : 150'000U});
  }
  const Traffic traffic = ofPairs(64, pairs);
  const Result<GroupSearch> search = findGroups(traffic, 12);
  ASSERT_TRUE(search.ok());
  const GroupCandidate& best = search->candidates[search->best];
  EXPECT_EQ(best.groups.text(), "0-7,8-15,16-23,24-31,32-39,40-47,48-55,56-63");
  const auto each = static_cast<double>(traffic.bytesToLog(test::groupsOf("each", 64)));
  EXPECT_NEAR(static_cast<double>(best.bytes) / each, 1 - 0.77, 0.01);
  EXPECT_GT(traffic.bytesToLog(randomGroups(best.groups, 1)), 28 * best.bytes / 10);
}

/// Eight, eight and four: no equal sizes are right.
TEST(PartitionTest, GroupsMayBeOfSeveralSizes) {
  test::MadeUpRun run(20);
  for (Rank a = 0; a < 20; ++a) {
    for (Rank b = 0; b < 20; ++b) {
      if (a != b && a % 5 / 2 == b % 5 / 2) {  // 0 and 1, 2 and 3, 4
        run.message(a, b, 100);
      }
    }
  }
  const Result<GroupSearch> search = findGroups(*run.traffic(), 8);
  ASSERT_TRUE(search.ok());
  const GroupCandidate& best = search->candidates[search->best];
  EXPECT_EQ(best.bytes, 0U);
  EXPECT_EQ(best.groups.text(), "0-1+5-6+10-11+15-16,2-3+7-8+12-13+17-18,4+9+14+19");
}

TEST(PartitionTest, BoundsThatLeaveNoChoice) {
  Random random(2);
  const Traffic traffic = randomTraffic(random, 9, 40);
  const Result<GroupSearch> each = findGroups(traffic, 1);
  ASSERT_TRUE(each.ok());
  EXPECT_EQ(each->candidates.size(), 1U);
  EXPECT_EQ(each->candidates[0].groups.text(), "each");
  for (const std::size_t most : {std::size_t{9}, std::size_t{1000}}) {
    const Result<GroupSearch> all = findGroups(traffic, most);
    ASSERT_TRUE(all.ok());
    EXPECT_EQ(all->candidates[all->best].groups.text(), "all");
    EXPECT_EQ(all->candidates[all->best].bytes, 0U);
  }
  const Result<GroupSearch> one = findGroups(ofPairs(1, {}), 4);
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->candidates[one->best].groups.count(), 1U);
  const Result<GroupSearch> silent = findGroups(ofPairs(10, {}), 4);
  ASSERT_TRUE(silent.ok());
  EXPECT_EQ(silent->candidates[silent->best].bytes, 0U);
  const Result<GroupSearch> two = findGroups(ofPairs(10, {{3, 8, 5}}), 4);
  ASSERT_TRUE(two.ok());
  EXPECT_EQ(two->candidates[two->best].bytes, 0U);
}

TEST(PartitionTest, WeightsBeyond32BitsAreWeighed) {
  const std::uint64_t much = std::uint64_t{1} << 62;
  const Traffic traffic =
      ofPairs(4, {{0, 2, much}, {2, 0, much}, {1, 3, much}, {0, 1, 7}, {2, 3, much / 4}});
  const Result<GroupSearch> search = findGroups(traffic, 2);
  ASSERT_TRUE(search.ok());
  EXPECT_EQ(search->candidates[search->best].groups.text(), "0+2,1+3");
}

TEST(PartitionTest, TheSameEachTime) {
  std::vector<std::uint32_t> groupOf;
  const Traffic traffic = hidden(96, 8, groupOf);
  const Result<GroupSearch> a = findGroups(traffic, 10);
  const Result<GroupSearch> b = findGroups(traffic, 10);
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_EQ(a->candidates.size(), b->candidates.size());
  for (std::size_t i = 0; i < a->candidates.size(); ++i) {
    EXPECT_EQ(a->candidates[i].groups, b->candidates[i].groups);
  }
  EXPECT_EQ(randomGroups(a->candidates[0].groups, 3), randomGroups(a->candidates[0].groups, 3));
}

TEST(PartitionTest, RandomGroupsHaveTheSameSizes) {
  const ReplayGroups like = test::groupsOf("0-4,5-7,8-9", 12);
  const ReplayGroups random = randomGroups(like, 1);
  const auto sizes = [](const ReplayGroups& groups) {
    std::vector<std::size_t> all;
    for (std::uint32_t group = 0; group < groups.count(); ++group) {
      all.push_back(groups.members(group).size());
    }
    std::ranges::sort(all);
    return all;
  };
  EXPECT_EQ(sizes(random), sizes(like));
  EXPECT_NE(random, like);
}

/// A graph of many ranks: a grid of 100,000, each with four neighbours.
TEST(PartitionTest, ManyRanks) {
  constexpr std::size_t kSide = 316;
  constexpr std::size_t kRanks = kSide * kSide;
  Traffic traffic;
  traffic.ranks = kRanks;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    for (const std::size_t other : {rank + 1, rank + kSide}) {
      if (other < kRanks && (other != rank + 1 || other % kSide != 0)) {
        traffic.pairs.push_back({static_cast<Rank>(rank), static_cast<Rank>(other), 10});
      }
    }
  }
  const TrafficGraph graph = trafficGraph(traffic, 16);
  const Result<ReplayGroups> groups = partition(graph, kRanks / 16 + 1, 16);
  ASSERT_TRUE(groups.ok());
  EXPECT_LE(groups->largest(), 16U);
  const std::uint64_t each = traffic.bytesToLog(test::groupsOf("each", kRanks));
  EXPECT_LT(traffic.bytesToLog(*groups), each / 3) << "squares of 16 leave a quarter";
}

}  // namespace
}  // namespace pf

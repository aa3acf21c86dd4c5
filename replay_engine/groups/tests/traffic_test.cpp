// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/groups/traffic.h"

#include <random>

#include <gtest/gtest.h>

#include "replay_engine/groups/tests/made_up_run.h"

namespace pf {
namespace {

using test::groupsOf;
using test::MadeUpRun;

std::uint64_t toLog(const MadeUpRun& run, std::string_view spec) {
  const Result<Traffic> traffic = run.traffic();
  EXPECT_TRUE(traffic.ok()) << traffic.error().text();
  return traffic->bytesToLog(groupsOf(spec, run.execution.ranks.size()));
}

TEST(TrafficTest, MessagesBetweenGroups) {
  MadeUpRun run(4);
  run.message(0, 1, 100);
  run.message(0, 1, 10);
  run.message(1, 0, 7);
  run.message(2, 3, 1000);
  run.message(1, 2, 5);
  run.message(3, 3, 50);             // to itself
  run.message(0, 3, 999999, false);  // nobody has received it
  EXPECT_EQ(toLog(run, "each"), 1122U);
  EXPECT_EQ(toLog(run, "0-1,2-3"), 5U);
  EXPECT_EQ(toLog(run, "2-3"), 122U);
  EXPECT_EQ(toLog(run, "all"), 0U);
}

TEST(TrafficTest, EachCollectiveByItsRow) {
  struct Row {
    const char* call;
    std::vector<std::uint64_t> gives;
    Rank root;
    std::uint64_t each;
    std::uint64_t pairs;   ///< of 0-1,2-3
    std::uint64_t triple;  ///< of 0-2
  };
  const std::uint64_t no = kNoSize;
  const Row rows[] = {
      {"MPI_Bcast", {8, 8, 8, 8}, 1, 24, 16, 8},
      {"MPI_Ibcast", {8, 8, 8, 8}, 1, 24, 16, 8},
      {"MPI_Bcast_c", {8, 8, 8, 8}, 1, 24, 16, 8},
      {"MPI_Scatter", {no, 40, no, no}, 1, 30, 20, 10},
      {"MPI_Scatterv", {no, 42, no, no}, 1, 30, 20, 10},
      {"MPI_Gather", {1, no, 4, 8}, 1, 13, 12, 8},
      {"MPI_Gatherv", {1, 2, 4, 8}, 1, 13, 12, 8},
      {"MPI_Allgather", {1, 2, 4, 8}, kUnknownRank, 45, 30, 31},
      {"MPI_Iallgatherv", {1, 2, 4, 8}, kUnknownRank, 45, 30, 31},
      {"MPI_Alltoall", {4, 8, 16, 32}, kUnknownRank, 45, 30, 31},
      {"MPI_Alltoallw", {4, 8, 16, 32}, kUnknownRank, 45, 30, 31},
      {"MPI_Neighbor_alltoall", {3, 6, 12, 24}, kUnknownRank, 45, 30, 31},
      {"MPI_Ineighbor_allgatherv", {3, 6, 12, 24}, kUnknownRank, 45, 30, 31},
      {"MPI_Reduce", {8, 8, 8, 8}, 1, 8, 8, 8},
      {"MPI_Allreduce", {8, 8, 8, 8}, kUnknownRank, 32, 32, 32},
      {"MPI_Reduce_scatter_block", {40, 40, 40, 40}, kUnknownRank, 40, 40, 40},
      {"MPI_Ireduce_scatter", {40, 40, 40, 40}, kUnknownRank, 40, 40, 40},
      {"MPI_Scan", {8, 8, 8, 8}, kUnknownRank, 24, 16, 8},
      {"MPI_Iexscan", {8, 8, 8, 8}, kUnknownRank, 24, 16, 8},
      {"MPI_Barrier", {no, no, no, no}, kUnknownRank, 0, 0, 0},
      {"MPI_Comm_dup", {no, no, no, no}, kUnknownRank, 0, 0, 0},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.call);
    MadeUpRun run(4);
    run.collective(row.call, 0, row.root, row.gives);
    EXPECT_EQ(toLog(run, "each"), row.each);
    EXPECT_EQ(toLog(run, "0-1,2-3"), row.pairs);
    EXPECT_EQ(toLog(run, "0-2"), row.triple);
    EXPECT_EQ(toLog(run, "all"), 0U);
  }
}

TEST(TrafficTest, AReductionWithinAGroupIsMadeAgain) {
  MadeUpRun run(4);
  const std::uint32_t half = run.communicator({3, 2});
  run.collective("MPI_Allreduce", half, kUnknownRank, {8, 8});
  run.collective("MPI_Reduce", half, 2, {100, 100});
  run.collective("MPI_Scan", half, kUnknownRank, {16, 16});  // 3 is the lower member
  EXPECT_EQ(toLog(run, "each"), 16U + 100U + 16U);
  EXPECT_EQ(toLog(run, "2-3"), 0U);
  EXPECT_EQ(toLog(run, "0-1"), 132U);
}

TEST(TrafficTest, BetweenTheGroupsOfAnInterCommunicator) {
  MadeUpRun run(5);
  const std::uint32_t inter = run.communicator({0, 1}, {2, 3, 4});
  run.collective("MPI_Bcast", inter, 1, {kNoSize, 10, 10, 10, 10});
  EXPECT_EQ(toLog(run, "each"), 30U);
  EXPECT_EQ(toLog(run, "1+2"), 20U);
  run.collective("MPI_Reduce", inter, 3, {100, 100, kNoSize, kNoSize, kNoSize});
  EXPECT_EQ(toLog(run, "0-1+3"), 30U - 10U) << "the result is of 0 and 1, and at 3";
  EXPECT_EQ(toLog(run, "2-4"), 130U);
}

TEST(TrafficTest, WhatEstimatesThereAreIsNamed) {
  MadeUpRun run(2);
  run.collective("MPI_Alltoall", 0, kUnknownRank, {8, 8});
  EXPECT_TRUE(run.traffic()->gaps.estimated.empty());
  run.collective("MPI_Alltoallv", 0, kUnknownRank, {8, 8});
  run.collective("MPI_Ineighbor_allgather", 0, kUnknownRank, {8, 8});
  EXPECT_EQ(run.traffic()->gaps.estimated,
            (std::vector<std::string>{"MPI_Alltoallv", "MPI_Ineighbor_allgather"}));
}

TEST(TrafficTest, StartsOfPersistentCollectivesAreCountedAsTheCallsThatTheyAre) {
  MadeUpRun run(3);
  const auto all = [&run](const char* call, std::uint64_t bytes, std::uint32_t number) {
    for (Rank rank = 0; rank < 3; ++rank) {
      run.part(rank, call, 0, 0, bytes);
      if (number != 0) {
        run.isStartOf(rank, number);
      }
    }
  };
  all("MPI_Bcast_init", kNoSize, 0);
  all("MPI_Barrier_init", kNoSize, 0);
  all("MPI_Allreduce_init_c", kNoSize, 0);
  all("MPI_Start", 10, 1);
  all("MPI_Startall", kNoSize, 2);
  all("MPI_Start", 8, 3);
  all("MPI_Start", 8, 3);
  all("MPI_Start", 10, 1);
  EXPECT_EQ(toLog(run, "each"), 2 * (2 * 10U) + 2 * (3 * 8U));
  EXPECT_EQ(toLog(run, "0-1"), 2 * 10U + 2 * (3 * 8U));
  EXPECT_EQ(run.traffic()->gaps.persistent, 0U);
  run.part(0, "MPI_Start", 0, 0, 10);
  run.isStartOf(0, 1);
  EXPECT_EQ(toLog(run, "each"), 2 * (2 * 10U) + 2 * (3 * 8U)) << "the others have not started it";
  EXPECT_EQ(run.traffic()->gaps.notEntered, 1U);
}

TEST(TrafficTest, StartsWithoutSizesAreToldAndNotCounted) {
  MadeUpRun run(2);
  run.collective("MPI_Bcast_init", 0, 0, {kNoSize, kNoSize});
  run.collective("MPI_Start", 0, 0, {kNoSize, kNoSize});
  run.collective("MPI_Startall", 0, 0, {kNoSize, kNoSize});
  run.collective("MPI_Bcast", 0, 0, {8, 8});
  EXPECT_EQ(toLog(run, "each"), 8U);
  EXPECT_EQ(run.traffic()->gaps.persistent, 4U);
  run.part(0, "MPI_Start", 0, 0, kNoSize);
  run.part(0, "MPI_Bcast", 0, 0, 100);
  run.part(1, "MPI_Start", 0, 0, kNoSize);
  EXPECT_EQ(toLog(run, "each"), 8U) << "rank 1 has entered something else";
  EXPECT_EQ(run.traffic()->gaps.notEntered, 1U);
}

TEST(TrafficTest, WhatNotEveryMemberEnteredIsToldAndNotCounted) {
  MadeUpRun run(3);
  run.collective("MPI_Bcast", 0, 0, {8, 8, 8});
  run.part(0, "MPI_Bcast", 0, 0, 100);
  run.part(1, "MPI_Bcast", 0, 0, 100);
  const std::uint32_t two = run.communicator({1, 2});
  run.part(1, "MPI_Allreduce", two, kUnknownRank, 8);
  EXPECT_EQ(toLog(run, "each"), 16U);
  EXPECT_EQ(run.traffic()->gaps.notEntered, 3U);
  PostedReceive receive;
  receive.state = ReceiveState::Complete;
  receive.source = 1;
  run.execution.ranks[0].receives.push_back(receive);
  EXPECT_EQ(run.traffic()->gaps.unknownSends, 1U);
}

TEST(TrafficTest, WithoutSizesIsAnError) {
  for (const char* call : {"MPI_Bcast", "MPI_Allreduce", "MPI_Alltoallv", "MPI_Scan"}) {
    MadeUpRun run(2);
    run.collective(call, 0, 0, {8, kNoSize});
    const Result<Traffic> traffic = run.traffic();
    ASSERT_FALSE(traffic.ok()) << call;
    EXPECT_EQ(traffic.error().code, ErrorCode::Version);
    EXPECT_NE(traffic.error().message.find(call), std::string::npos);
    EXPECT_NE(traffic.error().advice.find("--mode all"), std::string::npos);
  }
  MadeUpRun run(2);
  run.message(0, 1, 8);
  EXPECT_EQ(trafficOf(run.execution, {}).error().code, ErrorCode::Damaged);
  EXPECT_EQ(trafficOf(run.execution, std::vector<SizesOfRank>(2)).error().code, ErrorCode::Damaged);
}

/// As a log that lies may have them: groups that are empty, or name ranks that there are not.
TEST(TrafficTest, CommunicatorsThatCannotBeAreNotCounted) {
  for (const auto& [group, remote] : std::vector<std::pair<std::vector<Rank>, std::vector<Rank>>>{
           {{}, {0, 1}}, {{0, 1, 99}, {}}, {{0, -2}, {1}}, {{}, {}}}) {
    MadeUpRun run(2);
    const std::uint32_t comm = run.communicator(group, remote);
    for (const char* call : {"MPI_Reduce", "MPI_Alltoall", "MPI_Gather", "MPI_Bcast"}) {
      run.part(0, call, comm, 1, 8);
      run.part(1, call, comm, 0, 8);
    }
    run.part(0, "MPI_Bcast", 77, 0, 8);
    EXPECT_EQ(toLog(run, "each"), 0U);
    EXPECT_EQ(run.traffic()->gaps.notEntered, 9U);
  }
}

TEST(TrafficTest, StartsOnCommunicatorsThatCannotBeAreNotCounted) {
  for (const auto& [group, remote] : std::vector<std::pair<std::vector<Rank>, std::vector<Rank>>>{
           {{}, {0, 1}}, {{}, {0}}, {{0, 99999}, {}}, {{0, -2}, {}}, {{0, 0}, {}}}) {
    for (const bool declared : {true, false}) {
      MadeUpRun run(2);
      const std::uint32_t comm = declared ? run.communicator(group, remote) : kNone;
      for (Rank rank = 0; rank < 2; ++rank) {
        run.part(rank, "MPI_Alltoall_init", comm, 0, kNoSize);
        run.part(rank, "MPI_Start", comm, 0, 8);
        run.isStartOf(rank, 1);
        run.part(rank, "MPI_Start", comm, 0, 8);  // of none that is known
      }
      EXPECT_EQ(toLog(run, "each"), 0U);
      EXPECT_EQ(toLog(run, "0-1"), 0U);
      EXPECT_EQ(run.traffic()->gaps.notEntered, 2U);
      EXPECT_EQ(run.traffic()->gaps.persistent, 2U);
    }
  }
}

TEST(TrafficTest, SumsDoNotRunOver) {
  MadeUpRun run(3);
  run.message(0, 1, kNoSize - 1);
  run.message(0, 1, kNoSize - 1);
  run.collective("MPI_Bcast", 0, 0, {kNoSize - 1, kNoSize - 1, kNoSize - 1});
  EXPECT_EQ(toLog(run, "each"), kNoSize);
  EXPECT_EQ(toLog(run, "all"), 0U);
}

/// 10,000 ranks that gather from all: room for 10,000 numbers, not for 10^8.
TEST(TrafficTest, AnAllgatherOfManyRanksIsSmall) {
  MadeUpRun run(10'000);
  for (Rank rank = 0; rank < 10'000; ++rank) {
    run.part(rank, "MPI_Allgather", 0, kUnknownRank, 3);
  }
  const Result<Traffic> traffic = run.traffic();
  ASSERT_TRUE(traffic.ok());
  EXPECT_TRUE(traffic->pairs.empty());
  EXPECT_EQ(traffic->communicators.size(), 1U);
  EXPECT_EQ(traffic->bytesToLog(groupsOf("0-4999,5000-9999", 10'000)), 3U * 10'000U * 5'000U);
  EXPECT_EQ(traffic->matrix(2),
            (std::vector<std::uint64_t>{3U * 5'000U * 4'999U, 3U * 5'000U * 5'000U,
                                        3U * 5'000U * 5'000U, 3U * 5'000U * 4'999U}));
}

class RandomRuns {
 public:
  explicit RandomRuns(std::uint32_t seed) : m_random(seed) {}
  std::size_t upTo(std::size_t most) { return m_random() % (most + 1); }

  MadeUpRun run() {
    MadeUpRun made(1 + upTo(8));
    const std::size_t ranks = made.execution.ranks.size();
    for (std::size_t n = upTo(3); n > 0; --n) {
      addCommunicator(made, ranks);
    }
    for (std::size_t n = upTo(20); n > 0; --n) {
      if (upTo(1) == 0) {
        made.message(static_cast<Rank>(upTo(ranks - 1)), static_cast<Rank>(upTo(ranks - 1)),
                     upTo(1000), upTo(4) != 0);
      } else {
        addCollective(made);
      }
    }
    return made;
  }

  ReplayGroups groups(std::size_t ranks) {
    std::vector<std::uint32_t> groupOf;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      groupOf.push_back(static_cast<std::uint32_t>(upTo(3)));
    }
    return ReplayGroups::of(groupOf);
  }

 private:
  void addCommunicator(MadeUpRun& made, std::size_t ranks) {
    std::vector<Rank> group;
    std::vector<Rank> remote;
    const bool inter = upTo(2) == 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::size_t which = upTo(2);
      if (which != 0) {
        (which == 2 && inter ? remote : group).push_back(static_cast<Rank>(rank));
      }
    }
    std::shuffle(group.begin(), group.end(), m_random);
    if (!group.empty()) {
      made.communicator(group, remote);
    }
  }

  void addCollective(MadeUpRun& made) {
    static constexpr const char* kCalls[] = {"MPI_Bcast",
                                             "MPI_Scatter",
                                             "MPI_Scatterv",
                                             "MPI_Gather",
                                             "MPI_Gatherv",
                                             "MPI_Allgather",
                                             "MPI_Alltoall",
                                             "MPI_Alltoallv",
                                             "MPI_Reduce",
                                             "MPI_Allreduce",
                                             "MPI_Scan",
                                             "MPI_Exscan",
                                             "MPI_Reduce_scatter_block",
                                             "MPI_Ireduce",
                                             "MPI_Neighbor_alltoall"};
    const auto comm = static_cast<std::uint32_t>(upTo(made.execution.communicators.size() - 1));
    const Communicator c = made.execution.communicators[comm];
    const std::string call = kCalls[upTo(std::size(kCalls) - 1)];
    if ((!c.remote.empty() && call.find("can") != call.npos) ||
        (c.remote.empty() && c.group.size() == 1 && call.find("eighbor") != call.npos)) {
      return;  // there is none
    }
    std::vector<Rank> all = c.group;
    all.insert(all.end(), c.remote.begin(), c.remote.end());
    const Rank root = all[upTo(all.size() - 1)];
    const bool rooted = call.find("cast") != call.npos || call.find("_Scatter") != call.npos ||
                        call.find("_Gather") != call.npos || call.ends_with("educe");
    const bool hasRoot = rooted && call.find("llreduce") == call.npos;
    const bool rootsRemote = std::ranges::find(c.remote, root) != c.remote.end();
    const std::uint64_t same = 2520 * upTo(5);  // divides by all numbers of members
    std::vector<std::uint64_t> gives;
    for (std::size_t m = 0; m < all.size(); ++m) {
      const bool alike = call.find("cast") != call.npos || call.find("educe") != call.npos;
      gives.push_back(alike ? same : 2520 * upTo(5));
      const bool withRoot = (m >= c.group.size()) == rootsRemote;
      const bool givesAsRoot = call.find("cast") != call.npos || call.find("_Scatter") != call.npos;
      if (call.find("_Scatter") != call.npos && all[m] != root) {
        gives.back() = kNoSize;
      } else if (hasRoot && !c.remote.empty() && withRoot && (!givesAsRoot || all[m] != root)) {
        gives.back() = kNoSize;
      }
    }
    made.collective(call, comm, hasRoot ? root : kUnknownRank, gives);
  }

  std::mt19937 m_random;
};

TEST(TrafficTest, AsCountedMessageByMessage) {
  RandomRuns random(3);
  std::uint64_t logged = 0;
  for (int turn = 0; turn < 3000; ++turn) {
    const MadeUpRun run = random.run();
    const Result<Traffic> traffic = run.traffic();
    ASSERT_TRUE(traffic.ok()) << traffic.error().text();
    const std::size_t ranks = run.execution.ranks.size();
    for (int n = 0; n < 3; ++n) {
      const ReplayGroups groups = random.groups(ranks);
      ASSERT_EQ(traffic->bytesToLog(groups), run.bytesToLog(groups))
          << turn << " " << groups.text();
      logged += traffic->bytesToLog(groups);
    }
    const std::vector<std::uint64_t> matrix = traffic->matrix(ranks);
    for (std::size_t from = 0; from < ranks; ++from) {
      for (std::size_t to = 0; to < ranks; ++to) {
        const auto found = run.pairs.find({static_cast<Rank>(from), static_cast<Rank>(to)});
        const std::uint64_t bytes = from == to || found == run.pairs.end() ? 0 : found->second;
        ASSERT_EQ(matrix[from * ranks + to], bytes) << turn << " " << from << " " << to;
      }
    }
  }
  EXPECT_GT(logged, 0U);
}

}  // namespace
}  // namespace pf

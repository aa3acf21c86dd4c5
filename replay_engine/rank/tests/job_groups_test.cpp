// SPDX-License-Identifier: GPL-3.0-or-later
// Groups of a job of which some ranks are there: handles, and what is refused. What right calls bring
// tests/partial_job holds against the MPI libraries.
#include "replay_engine/rank/partial_job/job_groups.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/rank/engine/real_calls.h"
#include "replay_engine/rank/tests/fake_mpi.h"

namespace pf::test {
namespace {

using Ranks = std::vector<int>;

/// Rank 5 of the recorded job.
class JobGroups : public testing::Test {
 protected:
  JobGroups() {
    fake::begin({.rank = 1, .size = 3});
    installGroups(5);
    fake::programBegins();
  }

  static MPI_Group group(const Ranks& ranks) {
    return makeGroup(ranks.data(), static_cast<int>(ranks.size()));
  }
  static Ranks ranksOf(MPI_Group group) {
    int size = 0;
    const int* const ranks = membersOfGroup(group, &size);
    EXPECT_NE(ranks, nullptr);
    return ranks == nullptr ? Ranks{-1} : Ranks(ranks, ranks + size);
  }
  /// The call failed, and the error handler of MPI_COMM_WORLD was told.
  static void expectRefused(int error, int expected) {
    EXPECT_EQ(error, expected);
    EXPECT_EQ(fake::calls(kCallComm_call_errhandler), ++m_refused);
  }

  MPI_Group m_made = MPI_GROUP_NULL;
  inline static int m_refused = 0;

  void SetUp() override { m_refused = fake::calls(kCallComm_call_errhandler); }
};

TEST_F(JobGroups, HandlesAreGivenAgainAndFreedOnesAreNone) {
  MPI_Group first = group({3, 5});
  MPI_Group second = group({5, 7});
  EXPECT_NE(first, second);
  EXPECT_EQ(ranksOf(first), (Ranks{3, 5}));
  const MPI_Group before = first;
  EXPECT_EQ(PF_REAL(Group_free)(&first), MPI_SUCCESS);
  EXPECT_EQ(first, MPI_GROUP_NULL);
  int size = -1;
  EXPECT_EQ(membersOfGroup(before, &size), nullptr);
  expectRefused(PF_REAL(Group_size)(before, &size), MPI_ERR_GROUP);
  expectRefused(PF_REAL(Group_union)(before, second, &m_made), MPI_ERR_GROUP);
  MPI_Group again = before;
  expectRefused(PF_REAL(Group_free)(&again), MPI_ERR_GROUP);
  EXPECT_EQ(group({9}), before);
  EXPECT_EQ(ranksOf(second), (Ranks{5, 7}));
}

TEST_F(JobGroups, GroupsOfTheLibraryGoToTheLibrary) {
  MPI_Group world = MPI_GROUP_NULL;
  PF_REAL(Comm_group)(MPI_COMM_WORLD, &world);
  int size = -1;
  EXPECT_EQ(membersOfGroup(world, &size), nullptr);
  EXPECT_EQ(PF_REAL(Group_size)(world, &size), MPI_SUCCESS);
  EXPECT_EQ(size, 3);
  expectRefused(PF_REAL(Group_union)(group({1}), world, &m_made), MPI_ERR_GROUP);
  expectRefused(PF_REAL(Group_compare)(world, group({1}), &size), MPI_ERR_GROUP);
  EXPECT_EQ(PF_REAL(Group_free)(&world), MPI_SUCCESS);
  EXPECT_EQ(fake::calls(kCallGroup_free), 1);
}

TEST_F(JobGroups, NobodyIsTheEmptyGroup) {
  EXPECT_EQ(makeGroup(nullptr, 0), MPI_GROUP_EMPTY);
  EXPECT_EQ(makeGroup(nullptr, -1), MPI_GROUP_NULL);
  EXPECT_EQ(ranksOf(MPI_GROUP_EMPTY), Ranks{});
  int size = -1;
  EXPECT_EQ(membersOfGroup(MPI_GROUP_NULL, &size), nullptr);
  EXPECT_EQ(PF_REAL(Group_incl)(group({1, 2}), 0, nullptr, &m_made), MPI_SUCCESS);
  EXPECT_EQ(m_made, MPI_GROUP_EMPTY);
  PF_REAL(Group_difference)(group({1, 2}), group({2, 1}), &m_made);
  EXPECT_EQ(m_made, MPI_GROUP_EMPTY);
  PF_REAL(Group_union)(MPI_GROUP_EMPTY, group({4}), &m_made);
  EXPECT_EQ(ranksOf(m_made), Ranks{4});
  int result = -1;
  PF_REAL(Group_compare)(group({1}), MPI_GROUP_EMPTY, &result);
  EXPECT_EQ(result, MPI_UNEQUAL);
  // The library counts how often it has given its own.
  m_made = MPI_GROUP_EMPTY;
  EXPECT_EQ(PF_REAL(Group_free)(&m_made), MPI_SUCCESS);
  EXPECT_EQ(m_made, MPI_GROUP_NULL);
  EXPECT_EQ(fake::calls(kCallGroup_free), 0);
}

TEST_F(JobGroups, RanksOfThisProcess) {
  int rank = -1;
  PF_REAL(Group_rank)(group({1, 5, 3}), &rank);
  EXPECT_EQ(rank, 1);
  PF_REAL(Group_rank)(group({1, 3}), &rank);
  EXPECT_EQ(rank, MPI_UNDEFINED);
}

TEST_F(JobGroups, WrongRanksAreRefused) {
  const MPI_Group five = group({2, 4, 6, 8, 10});
  const Ranks twice{1, 3, 1};
  const Ranks high{0, 5};
  const Ranks low{-1};
  const Ranks many(6, 0);
  for (auto* const call : {PF_REAL(Group_incl), PF_REAL(Group_excl)}) {
    expectRefused(call(five, 3, twice.data(), &m_made), MPI_ERR_RANK);
    expectRefused(call(five, 2, high.data(), &m_made), MPI_ERR_RANK);
    expectRefused(call(five, 1, low.data(), &m_made), MPI_ERR_RANK);
    expectRefused(call(five, -1, low.data(), &m_made), MPI_ERR_ARG);
    expectRefused(call(five, 1, nullptr, &m_made), MPI_ERR_ARG);
    expectRefused(call(five, 1, high.data(), nullptr), MPI_ERR_GROUP);
  }
  expectRefused(PF_REAL(Group_incl)(five, 6, many.data(), &m_made), MPI_ERR_RANK);
  expectRefused(PF_REAL(Group_excl)(five, 6, many.data(), &m_made), MPI_ERR_GROUP);
  EXPECT_EQ(m_made, MPI_GROUP_NULL);
}

TEST_F(JobGroups, WrongRangesAreRefused) {
  const MPI_Group five = group({2, 4, 6, 8, 10});
  int wrong[][3] = {
      {0, 4, 0},       {0, 4, -1},           {4, 0, 1}, {-1, 3, 1}, {0, 6, 1},
      {5, 0, -1},      {3, -1, -1},          {5, 5, 1}, {0, 5, 1},  {0, INT_MAX, INT_MAX},
      {INT_MIN, 4, 1}, {0, INT_MIN, INT_MIN}};
  int overlap[][3] = {{0, 4, 2}, {3, 1, -1}};
  for (auto* const call : {PF_REAL(Group_range_incl), PF_REAL(Group_range_excl)}) {
    for (auto& range : wrong) {
      expectRefused(call(five, 1, &range, &m_made), MPI_ERR_RANK);
    }
    expectRefused(call(five, 2, overlap, &m_made), MPI_ERR_RANK);
    expectRefused(call(five, 1, nullptr, &m_made), MPI_ERR_ARG);
    expectRefused(call(five, -1, overlap, &m_made), MPI_ERR_ARG);
  }
  // The last one need not be reached.
  int beyond[][3] = {{1, 5, 3}, {3, 2, -5}, {0, 0, INT_MIN}};
  EXPECT_EQ(PF_REAL(Group_range_incl)(five, 3, beyond, &m_made), MPI_SUCCESS);
  EXPECT_EQ(ranksOf(m_made), (Ranks{4, 10, 8, 2}));
  EXPECT_EQ(PF_REAL(Group_range_excl)(five, 3, beyond, &m_made), MPI_SUCCESS);
  EXPECT_EQ(ranksOf(m_made), Ranks{6});
}

TEST_F(JobGroups, Translations) {
  const MPI_Group from = group({7, 5, 3});
  const MPI_Group to = group({3, 9, 7});
  const Ranks asked{0, MPI_PROC_NULL, 1, 2, 0};
  Ranks got(5, -99);
  EXPECT_EQ(PF_REAL(Group_translate_ranks)(from, 5, asked.data(), to, got.data()), MPI_SUCCESS);
  EXPECT_EQ(got, (Ranks{2, MPI_PROC_NULL, MPI_UNDEFINED, 0, 2}));
  const Ranks wrong{0, 3};
  expectRefused(PF_REAL(Group_translate_ranks)(from, 2, wrong.data(), to, got.data()),
                MPI_ERR_RANK);
  expectRefused(PF_REAL(Group_translate_ranks)(from, -1, wrong.data(), to, got.data()),
                MPI_ERR_GROUP);
  expectRefused(PF_REAL(Group_translate_ranks)(from, 2, nullptr, to, got.data()), MPI_ERR_GROUP);
  EXPECT_EQ(PF_REAL(Group_translate_ranks)(from, 0, nullptr, to, nullptr), MPI_SUCCESS);
}

/// A way and its reverse, which no group of MPI_COMM_WORLD helps with.
TEST_F(JobGroups, TranslationsOfManyRanks) {
  constexpr int kMany = 100'000;
  Ranks up(kMany);
  std::iota(up.begin(), up.end(), 17);
  Ranks down(up.rbegin(), up.rend());
  Ranks asked(kMany);
  std::iota(asked.begin(), asked.end(), 0);
  Ranks got(kMany, -1);
  PF_REAL(Group_translate_ranks)(group(up), kMany, asked.data(), group(down), got.data());
  std::reverse(asked.begin(), asked.end());
  EXPECT_EQ(got, asked);
  int result = -1;
  PF_REAL(Group_compare)(group(up), group(down), &result);
  EXPECT_EQ(result, MPI_SIMILAR);
}

#define PF_EXPECT_NUMBER(To, From)     \
  MPI_Group one = group({1});          \
  const int number = PF_REAL(To)(one); \
  EXPECT_GE(number, 1 << 20);          \
  EXPECT_EQ(PF_REAL(From)(number), one);

TEST_F(JobGroups, NumbersForOtherLanguages) {
  PF_GROUP_NUMBERS(PF_EXPECT_NUMBER)
}

}  // namespace
}  // namespace pf::test

// SPDX-License-Identifier: GPL-3.0-or-later
// Races between messages of two threads of one rank.
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/races/races.h"
#include "replay_engine/races/tests/execution_builder.h"

namespace pf::test {
namespace {

/// An execution, with the thread of each event of one rank.
Execution withThreads(std::string_view text, std::size_t rank,
                      const std::vector<std::uint32_t>& lanes,
                      const std::vector<ThreadLink>& links = {}) {
  Execution execution = parseExecution(text);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    execution.ranks[rank].events[i].lane = lanes[i];
  }
  execution.ranks[rank].threadLinks = links;
  return execution;
}

constexpr std::string_view kTwoSends = R"(
  0: recv 1 = 1; recv 1 = 1
  1: send 0; send 0
)";

TEST(ThreadRaces, OneThreadsMessagesDoNotRace) {
  EXPECT_TRUE(findRaces(withThreads(kTwoSends, 1, {1, 1})).empty());
}

TEST(ThreadRaces, TwoThreadsMessagesRaceAtAReceiveThatNamesTheRank) {
  const std::vector<Race> races = findRaces(withThreads(kTwoSends, 1, {1, 2}));
  ASSERT_EQ(races.size(), 1U);
  EXPECT_EQ(races[0].rank, 0);
  EXPECT_EQ(races[0].index, 0U);
  EXPECT_EQ(races[0].taken, 0U);
  EXPECT_EQ(races[0].alternatives, std::vector<std::uint32_t>{1});
}

TEST(ThreadRaces, NotWhereTheProgramOrdersThem) {
  EXPECT_TRUE(findRaces(withThreads(kTwoSends, 1, {1, 2}, {{1, 2}})).empty());
}

TEST(ThreadRaces, NotByWayOfAThirdThread) {
  constexpr std::string_view text = R"(
    0: recv 1 = 1; recv 1 = 1
    1: send 0; local; send 0
  )";
  EXPECT_EQ(findRaces(withThreads(text, 1, {1, 3, 2}, {{1, 2}})).size(), 1U);
  EXPECT_TRUE(findRaces(withThreads(text, 1, {1, 3, 2}, {{1, 2}, {2, 3}})).empty());
}

TEST(ThreadRaces, NotWhereAMessageOrdersThem) {
  // Thread 1 sends to 0 and then to 2; thread 2 sends to 0 when it has 2's answer.
  constexpr std::string_view text = R"(
    0: recv 1 = 1; recv 1 = 1
    1: send 0; send 2; recv 2 = 2; send 0
    2: recv 1 = 1; send 1
  )";
  EXPECT_TRUE(findRaces(withThreads(text, 1, {1, 1, 2, 2})).empty());
  EXPECT_EQ(findRaces(withThreads(text, 1, {1, 2, 2, 2})).size(), 1U);
}

TEST(ThreadRaces, OnlyTheFirstMessageOfEachThread) {
  constexpr std::string_view text = R"(
    0: recv * = 1; recv * = 1; recv * = 1; recv * = 1
    1: send 0; send 0; send 0; send 0
  )";
  const std::vector<Race> races = findRaces(withThreads(text, 1, {1, 1, 2, 2}));
  ASSERT_EQ(races.size(), 2U);
  for (const Race& race : races) {
    EXPECT_EQ(race.alternatives, std::vector<std::uint32_t>{2});
  }
}

TEST(ThreadRaces, TagsTellThemApart) {
  constexpr std::string_view text = R"(
    0: recv 1:1 = 1:1; recv 1:2 = 1:2
    1: send 0:1; send 0:2
  )";
  EXPECT_TRUE(findRaces(withThreads(text, 1, {1, 2})).empty());
}

TEST(ThreadRaces, WhatAnotherThreadOfTheReceiverDoesDoesNotFollow) {
  // Rank 0's second send is of another thread than its first receive: rank 2 need not wait for it.
  constexpr std::string_view text = R"(
    0: recv * = 1; send 2; recv * = 2
    1: send 0
    2: recv 0; send 0
  )";
  EXPECT_TRUE(findRaces(withThreads(text, 0, {0, 0, 0})).empty());
  const std::vector<Race> races = findRaces(withThreads(text, 0, {1, 2, 1}));
  ASSERT_EQ(races.size(), 1U);
  EXPECT_EQ(races[0].index, 0U);
  EXPECT_TRUE(findRaces(withThreads(text, 0, {1, 2, 1}, {{1, 2}})).empty());
}

TEST(ThreadRaces, ThreadsOneAfterAnotherAreOneStrand) {
  constexpr std::string_view text = R"(
    0: recv 1 = 1; recv 1 = 1; recv 1 = 1
    1: send 0; send 0; send 0
  )";
  EXPECT_TRUE(findRaces(withThreads(text, 1, {1, 2, 3}, {{1, 2}, {2, 3}})).empty());
  EXPECT_EQ(findRaces(withThreads(text, 1, {1, 2, 3}, {{1, 3}})).size(), 2U);
}

}  // namespace
}  // namespace pf::test

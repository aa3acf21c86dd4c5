// SPDX-License-Identifier: GPL-3.0-or-later
// Which races are said to be worth a look first.
#include "replay_engine/races/race_weight.h"

#include <string>

#include <gtest/gtest.h>

#include "replay_engine/races/tests/execution_builder.h"

namespace pf {
namespace {

/// "1@2 first; 1@3 other": by the event where each receive was posted.
std::string weightsText(const Execution& execution, EventRef failed) {
  const std::vector<Race> races = findRaces(execution);
  const std::vector<RaceWeight> weights = weighRaces(
      execution, failed, races.size(), [&races](std::size_t i) -> const Race& { return races[i]; });
  std::string text;
  for (std::size_t i = 0; i < races.size(); ++i) {
    const RankHistory& rank = execution.ranks[static_cast<std::size_t>(races[i].rank)];
    text += (text.empty() ? "" : "; ") + std::to_string(races[i].rank) + "@" +
            std::to_string(races[i].probe ? rank.probes[races[i].index].event
                                          : rank.receives[races[i].index].post) +
            " " + nameOf(weights[i]);
  }
  return text;
}

TEST(RaceWeightTest, TheLastOfTheRankThatFailedIsFirst) {
  const Execution execution = test::parseExecution(
      "0: send 2; send 2; send 2\n"
      "1: send 2; send 2; send 2\n"
      "2: recv * = 0; recv * = 1; recv * = 0; recv * = 1; local");
  EXPECT_EQ(weightsText(execution, {2, 3}),
            "2@1 before failure; 2@2 before failure; 2@3 first; 2@4 other");
}

/// Logical time says nothing: rank 3's race is early, but nothing of it ever came to rank 2.
TEST(RaceWeightTest, WhatTheFailureDoesNotDependOnIsOther) {
  const Execution execution = test::parseExecution(
      "0: send 3; send 1\n"
      "1: recv 0; send 3; send 2\n"
      "2: recv 1; local\n"
      "3: recv * = 0; recv * = 1");
  EXPECT_EQ(weightsText(execution, {2, 2}), "3@1 other");
}

TEST(RaceWeightTest, AnotherRanksRaceCountsOnceItsOutcomeCanHaveComeHere) {
  const Execution execution = test::parseExecution(
      "0: send 1\n"
      "1: recv * = 0; recv * = 2; send 3\n"
      "2: send 1\n"
      "3: recv 1; local");
  EXPECT_EQ(weightsText(execution, {3, 2}), "1@1 before failure");
}

/// What a posted receive took is known where it is observed.
TEST(RaceWeightTest, APostedReceiveCountsFromItsCompletionOn) {
  const Execution execution = test::parseExecution(
      "0: send 1\n"
      "1: irecv * a; local; wait a = 0; recv * = 2; local\n"
      "2: send 1");
  EXPECT_EQ(weightsText(execution, {1, 2}), "1@1 other");
  EXPECT_EQ(weightsText(execution, {1, 3}), "1@1 first");
}

TEST(RaceWeightTest, ARunThatDidNotFailHasNoFirst) {
  const Execution execution = test::parseExecution(
      "0: send 2\n"
      "1: send 2\n"
      "2: recv * = 0; recv * = 1");
  EXPECT_EQ(weightsText(execution, {}), "2@1 other");
}

/// "7: 2 races, before failure, first 4, weightiest 9": of each class, in the list's order.
std::string listText(const std::vector<std::uint32_t>& classOf,
                     const std::vector<RaceWeight>& weights) {
  std::string text;
  for (const RankedClass& one : rankClasses(classOf, weights)) {
    text += (text.empty() ? "" : "; ") + std::to_string(one.number) + ": " +
            std::to_string(one.races) + ", " + nameOf(one.weight) + ", first " +
            std::to_string(one.first) + ", weightiest " + std::to_string(one.weightiest);
  }
  return text;
}

TEST(RankedClassesTest, TheClassOfTheFirstComesFirst) {
  using enum RaceWeight;
  EXPECT_EQ(listText({0, 1, 0, 2, 1, 2}, {Other, Other, Other, BeforeFailure, First, Other}),
            "1: 2, first, first 1, weightiest 4; 2: 2, before failure, first 3, weightiest 3; "
            "0: 2, other, first 0, weightiest 0");
}

TEST(RankedClassesTest, ThoseOfOneWeightAreByTheirFirstRaces) {
  using enum RaceWeight;
  EXPECT_EQ(
      listText({3, 1, 3, 1}, {Other, Other, BeforeFailure, BeforeFailure}),
      "3: 2, before failure, first 0, weightiest 2; 1: 2, before failure, first 1, weightiest 3");
}

TEST(RankedClassesTest, NoRaces) {
  EXPECT_EQ(listText({}, {}), "");
}

}  // namespace
}  // namespace pf

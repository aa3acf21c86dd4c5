// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/groups/replay_groups.h"

#include <random>

#include <gtest/gtest.h>

namespace pf {
namespace {

/// "0 0 1": the group of each rank; or the message of the error.
std::string read(std::string_view spec, std::int32_t ranks) {
  const Result<ReplayGroups> groups = ReplayGroups::parse(spec, ranks);
  if (!groups) {
    EXPECT_EQ(groups.error().code, ErrorCode::Usage) << spec;
    EXPECT_FALSE(groups.error().advice.empty()) << spec;
    return groups.error().message;
  }
  std::string text;
  for (Rank rank = 0; rank < ranks; ++rank) {
    text += (rank == 0 ? "" : " ") + std::to_string(groups->groupOf(rank));
  }
  return text;
}

TEST(ReplayGroupsTest, WordsRangesAndUnnamedRanks) {
  EXPECT_EQ(read("each", 3), "0 1 2");
  EXPECT_EQ(read("all", 3), "0 0 0");
  EXPECT_EQ(read("0-1,2-3", 4), "0 0 1 1");
  EXPECT_EQ(read("0-1;2-3", 4), "0 0 1 1");
  EXPECT_EQ(read("0-1+5,2-3", 6), "0 0 1 1 2 0");
  EXPECT_EQ(read("4+1", 6), "0 1 2 3 1 4") << "numbered by the lowest rank";
  EXPECT_EQ(read(" 0 - 1 , 3 + 2 ", 5), "0 0 1 1 2");
  EXPECT_EQ(read("0", 1), "0");
}

TEST(ReplayGroupsTest, MembersAreSorted) {
  const Result<ReplayGroups> groups = ReplayGroups::parse("5+0+3,4+1", 6);
  ASSERT_TRUE(groups.ok());
  EXPECT_EQ(rangesText(groups->members(0)), "0+3+5");
  EXPECT_EQ(rangesText(groups->members(1)), "1+4");
  EXPECT_EQ(rangesText(groups->members(2)), "2");
  EXPECT_EQ(groups->largest(), 3U);
  EXPECT_EQ(groups->smallest(), 1U);
}

TEST(ReplayGroupsTest, WhatIsNoSpecSaysWhy) {
  EXPECT_EQ(read("", 4), "no replay groups: nothing is written");
  EXPECT_EQ(read("  ", 4), "no replay groups: nothing is written");
  EXPECT_EQ(read("0-3,,2", 4), "no replay groups: a rank is missing beside a ',', ';' or '+'");
  EXPECT_EQ(read("0-3,", 4), "no replay groups: a rank is missing beside a ',', ';' or '+'");
  EXPECT_EQ(read("0+", 4), "no replay groups: a rank is missing beside a ',', ';' or '+'");
  EXPECT_EQ(read("0-2,2-3", 4), "no replay groups: rank 2 is named twice");
  EXPECT_EQ(read("1+1", 4), "no replay groups: rank 1 is named twice");
  EXPECT_EQ(read("4", 4), "no replay groups: there is no rank '4'");
  EXPECT_EQ(read("0-99999999999999999999999", 4),
            "no replay groups: there is no rank '99999999999999999999999'");
  EXPECT_EQ(read("0-4294967296", 4), "no replay groups: there is no rank '4294967296'");
  EXPECT_EQ(read("3-1", 4), "no replay groups: '3-1' runs backwards");
  for (const char* spec : {"-1", "0-", "0--1", "a", "0x1", "each,0", "1.5", "0-1-2", "+1", "0:1"}) {
    const std::string message = read(spec, 4);
    EXPECT_NE(message.find("no replay groups: "), std::string::npos) << spec << ": " << message;
  }
  EXPECT_EQ(read("0", 0), "no replay groups: there are no ranks");
}

TEST(ReplayGroupsTest, AMillionRangesAreReadOrRefusedAtOnce) {
  std::string twice;
  std::string once;
  for (int rank = 0; rank < 1'000'000; ++rank) {
    twice += "0-99999,";
    once += (rank == 0 ? "" : ",") + std::to_string(rank) + "-" + std::to_string(rank);
  }
  EXPECT_EQ(read(twice, 100'000), "no replay groups: rank 0 is named twice");
  const Result<ReplayGroups> groups = ReplayGroups::parse(once, 1'000'000);
  ASSERT_TRUE(groups.ok());
  EXPECT_EQ(groups->text(), "each");
  const std::string quote = read(std::string(1'000'000, 'x'), 4);
  EXPECT_LT(quote.size(), 200U) << "what is quoted is short";
}

TEST(ReplayGroupsTest, TextReadsAsTheSameGroups) {
  std::mt19937 random(7);
  for (int turn = 0; turn < 500; ++turn) {
    const auto ranks = static_cast<std::int32_t>(1 + random() % 20);
    std::vector<std::uint32_t> groupOf;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      groupOf.push_back(static_cast<std::uint32_t>(random() % (1 + random() % 6)));
    }
    const ReplayGroups groups = ReplayGroups::of(groupOf);
    const Result<ReplayGroups> again = ReplayGroups::parse(groups.text(), ranks);
    ASSERT_TRUE(again.ok()) << groups.text();
    EXPECT_EQ(*again, groups) << groups.text();
    for (std::int32_t a = 0; a < ranks; ++a) {
      for (std::int32_t b = 0; b < ranks; ++b) {
        ASSERT_EQ(groupOf[index(a)] == groupOf[index(b)], groups.groupOf(a) == groups.groupOf(b));
      }
    }
  }
}

TEST(ReplayGroupsTest, HostileTextIsNoCrash) {
  std::mt19937 random(11);
  const std::string_view signs = "0123456789-+,; eachl\0\xff";
  for (int turn = 0; turn < 20'000; ++turn) {
    std::string text;
    for (std::size_t n = random() % 12; n > 0; --n) {
      text += signs[random() % signs.size()];
    }
    const Result<ReplayGroups> groups = ReplayGroups::parse(text, 12);
    if (groups) {
      EXPECT_EQ(*ReplayGroups::parse(groups->text(), 12), *groups) << text;
    }
  }
}

TEST(ReplayGroupsTest, UnionsOfGroups) {
  const Result<ReplayGroups> groups = ReplayGroups::parse("0-2,3-4", 6);
  ASSERT_TRUE(groups.ok());
  using Ranks = std::vector<Rank>;
  using Groups = std::vector<std::uint32_t>;
  EXPECT_TRUE(groups->isUnion(Ranks{3, 4}));
  EXPECT_TRUE(groups->isUnion(Ranks{5, 2, 1, 0, 0}));
  EXPECT_TRUE(groups->isUnion(Ranks{}));
  EXPECT_EQ(groups->missingForUnion(Ranks{4, 0, 1}), (Groups{0, 1}));
  EXPECT_EQ(groups->missingForUnion(Ranks{1, 1, 1, 3, 4, 5}), Groups{0}) << "a rank counts once";
  EXPECT_TRUE(groups->isUnion(Ranks{-1, 99})) << "no ranks of these";
}

}  // namespace
}  // namespace pf

// SPDX-License-Identifier: GPL-3.0-or-later
// Alignments of random sequences, held against the longest common subsequence by the table of all prefixes.
#include "replay_engine/comparison/sequence_alignment.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace pf {
namespace {

using Symbols = std::vector<std::uint32_t>;

std::size_t longestCommon(const Symbols& a, const Symbols& b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1,
                                              std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1
                                         : std::max(table[i - 1][j], table[i][j - 1]);
    }
  }
  return table[a.size()][b.size()];
}

/// How many are aligned; what is aligned must be the same, and in order.
std::size_t checked(const Symbols& a, const Symbols& b, const SequenceAlignment& alignment) {
  std::size_t matched = 0;
  std::size_t endA = 0;
  std::size_t endB = 0;
  for (const MatchedRun& run : alignment.runs) {
    EXPECT_GT(run.length, 0U);
    EXPECT_TRUE(run.a >= endA && run.b >= endB);
    EXPECT_TRUE(matched == 0 || run.a > endA || run.b > endB) << "could be joined with its former";
    endA = run.a + run.length;
    endB = run.b + run.length;
    EXPECT_TRUE(endA <= a.size() && endB <= b.size());
    EXPECT_TRUE(std::equal(a.begin() + run.a, a.begin() + static_cast<std::ptrdiff_t>(endA),
                           b.begin() + run.b));
    matched += run.length;
  }
  return matched;
}

Symbols randomSymbols(std::mt19937& random, std::size_t most, std::uint32_t symbols) {
  Symbols made(random() % (most + 1));
  std::ranges::generate(made, [&] { return static_cast<std::uint32_t>(random() % symbols); });
  return made;
}

TEST(SequenceAlignmentTest, IsALongestCommonSubsequence) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint32_t symbols = 1 + static_cast<std::uint32_t>(random() % 12);
    const Symbols a = randomSymbols(random, 24, symbols);
    const Symbols b = randomSymbols(random, 24, symbols);
    const SequenceAlignment alignment = alignSequences(a, b);
    ASSERT_TRUE(alignment.exact);
    ASSERT_EQ(checked(a, b, alignment), longestCommon(a, b)) << "pair " << i;
  }
}

TEST(SequenceAlignmentTest, OfAFewEditsInALongOne) {
  std::mt19937 random(2);
  for (int i = 0; i < 40; ++i) {
    const Symbols a = randomSymbols(random, 600, 30);
    Symbols b = a;
    for (int edit = 0; edit < 20 && !b.empty(); ++edit) {
      const auto at = b.begin() + static_cast<std::ptrdiff_t>(random() % b.size());
      random() % 2 == 0 ? b.erase(at) : b.insert(at, static_cast<std::uint32_t>(random() % 30));
    }
    const SequenceAlignment alignment = alignSequences(a, b);
    ASSERT_TRUE(alignment.exact);
    ASSERT_EQ(checked(a, b, alignment), longestCommon(a, b)) << "pair " << i;
  }
}

/// Not a longest one then, but right, and told.
TEST(SequenceAlignmentTest, WhatTheLimitsDoNotAllowIsAnchored) {
  std::mt19937 random(3);
  const AlignmentLimits limits{2, 100, 0};
  bool anchored = false;
  for (int i = 0; i < 5000; ++i) {
    const std::uint32_t symbols = 1 + static_cast<std::uint32_t>(random() % 12);
    const Symbols a = randomSymbols(random, 40, symbols);
    const Symbols b = randomSymbols(random, 40, symbols);
    const SequenceAlignment alignment = alignSequences(a, b, limits);
    const std::size_t matched = checked(a, b, alignment);
    const std::size_t longest = longestCommon(a, b);
    ASSERT_TRUE(alignment.exact ? matched == longest : matched <= longest) << "pair " << i;
    anchored = anchored || (!alignment.exact && matched > 0);
  }
  EXPECT_TRUE(anchored);
}

/// Of symbols that are in each once, anchors are a longest common subsequence: a permutation's longest ascent.
TEST(SequenceAlignmentTest, AnchorsOfWhatIsThereOnceAreTheLongest) {
  std::mt19937 random(4);
  for (int i = 0; i < 300; ++i) {
    Symbols a(60);
    for (std::uint32_t each = 0; each < a.size(); ++each) {
      a[each] = each;
    }
    Symbols b = a;
    std::ranges::shuffle(b, random);
    ASSERT_EQ(checked(a, b, alignSequences(a, b, {0, 0, 0})), longestCommon(a, b));
  }
}

TEST(SequenceAlignmentTest, AMillionInAnyOrderTakesNoTime) {
  std::mt19937 random(5);
  Symbols a(1'000'000);
  std::ranges::generate(a, [&] { return static_cast<std::uint32_t>(random() % 7); });
  Symbols b = a;
  for (std::size_t block = 0; block + 50 <= b.size(); block += 50) {
    std::shuffle(b.begin() + static_cast<std::ptrdiff_t>(block),
                 b.begin() + static_cast<std::ptrdiff_t>(block) + 50, random);
  }
  const SequenceAlignment alignment = alignSequences(a, b);
  EXPECT_FALSE(alignment.exact);
  EXPECT_GT(checked(a, b, alignment), a.size() / 4);
}

}  // namespace
}  // namespace pf

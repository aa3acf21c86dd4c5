// SPDX-License-Identifier: GPL-3.0-or-later
// Delta debugging: what it finds is enough and needed, in few trials.
#include "app/branching/delta.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace pf::app {
namespace {

using Set = std::vector<std::size_t>;

struct Found {
  Set needed;
  std::size_t trials = 0;
};

Found find(std::size_t count, const Set& cause) {
  Found found;
  const Result<Set> needed = minimalSet(count, [&](const Set& tried) -> Result<bool> {
    ++found.trials;
    return std::ranges::includes(tried, cause);
  });
  EXPECT_TRUE(needed.ok());
  found.needed = needed ? *needed : Set();
  return found;
}

TEST(MinimalSet, isTheCause) {
  std::mt19937 draw(1);
  for (int i = 0; i < 300; ++i) {
    const std::size_t count = 1 + draw() % 60;
    Set cause;
    for (std::size_t each = 0; each < count; ++each) {
      if (draw() % 12 == 0) {
        cause.push_back(each);
      }
    }
    if (cause.empty()) {
      cause.push_back(draw() % count);
    }
    EXPECT_EQ(find(count, cause).needed, cause);
  }
}

/// Two trials for each halving at most, and one more beside it.
TEST(MinimalSet, oneOfTenThousandTakesFewTrials) {
  for (const std::size_t cause : {0U, 1U, 4999U, 5000U, 7777U, 9999U}) {
    const Found found = find(10000, {cause});
    EXPECT_EQ(found.needed, Set{cause});
    EXPECT_LE(found.trials, 60U) << cause;
  }
}

TEST(MinimalSet, anErrorOfATrialEndsIt) {
  const Result<Set> needed = minimalSet(8, [](const Set&) -> Result<bool> {
    return Error{ErrorCode::System, "no more", {}};
  });
  ASSERT_FALSE(needed);
  EXPECT_EQ(needed.error().message, "no more");
}

}  // namespace
}  // namespace pf::app

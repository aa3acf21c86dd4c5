// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/branching/branch_job.h"

#include <chrono>
#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

namespace pf::app {
namespace {

using namespace std::chrono_literals;

std::chrono::milliseconds stuckTimeOf(std::optional<std::uint64_t> longestWait) {
  db::RunInfo known;
  known.longestWait = longestWait;
  return stuckTime(known, 60s);
}

TEST(StuckTime, followsTheLongestWaitThatEnded) {
  EXPECT_EQ(stuckTimeOf(0), 3s) << "never less: the machine may be busy";
  EXPECT_EQ(stuckTimeOf(100), 3s);
  EXPECT_EQ(stuckTimeOf(500), 10s);
  EXPECT_EQ(stuckTimeOf(5'000), 60s) << "a run has no more";
}

TEST(StuckTime, isAllThatARunHasWhereNobodyHasSeen) {
  EXPECT_EQ(stuckTimeOf(std::nullopt), 60s);
  EXPECT_EQ(stuckTimeOf(UINT64_MAX), 60s) << "of a damaged trace";
}

}  // namespace
}  // namespace pf::app

// SPDX-License-Identifier: GPL-3.0-or-later
// findRaces() against the brute-force oracle on random executions of ranks with several threads.
// PF_ORACLE_RUNS=N sets the number of executions.
#include <string>

#include <gtest/gtest.h>

#include "replay_engine/races/races.h"
#include "replay_engine/races/tests/oracle.h"
#include "replay_engine/races/tests/random_threads.h"

namespace pf::oracle {
namespace {

Execution sample(std::uint64_t seed, int events) {
  RandomOptions options;
  options.eventsAtMost = events;
  options.cut = seed % 4 == 0;
  Execution execution = randomExecution(seed, options).execution;
  giveThreads(execution, seed);
  oracleMatch(execution);
  return execution;
}

void expectSame(const Execution& execution, std::uint64_t seed, const std::vector<Race>& oracle) {
  const std::vector<Race> found = findRaces(execution);
  EXPECT_TRUE(toLines(execution, oracle) == toLines(execution, found))
      << "seed " << seed << '\n'
      << toText(execution) << "--- oracle\n"
      << toText(execution, oracle) << "--- findRaces\n"
      << toText(execution, found);
}

TEST(RandomThreads, EveryFrontier) {
  std::size_t ownRaces = 0;
  for (std::uint64_t seed = 1; seed <= runs(600) && !HasFailure(); ++seed) {
    const Execution execution = sample(seed, 6 + static_cast<int>(seed % 12));
    if (!decided(execution)) {
      continue;
    }
    const std::vector<Race> oracle = oracleRaces(execution);
    expectSame(execution, seed, oracle);
    for (const Race& race : oracle) {
      for (const std::uint32_t other : race.alternatives) {
        ownRaces += execution.messages[other].send.rank == execution.messages[race.taken].send.rank;
      }
    }
  }
  EXPECT_GT(ownRaces, runs(600) / 100) << "hardly any race between threads of one rank";
}

TEST(RandomThreads, LargestFrontier) {
  for (std::uint64_t seed = 1; seed <= runs(600) && !HasFailure(); ++seed) {
    const Execution execution = sample(seed * 7919, 30 + static_cast<int>(seed % 60));
    if (decided(execution)) {
      expectSame(execution, seed, largestFrontierRaces(execution));
    }
  }
}

TEST(RandomThreads, TheModelReachesEveryEvent) {
  for (std::uint64_t seed = 1; seed <= runs(600) && !HasFailure(); ++seed) {
    RandomExecution random = randomExecution(seed, {});
    giveThreads(random.execution, seed);
    oracleMatch(random.execution);
    for (const EventRef& event : unreachableEvents(random.execution)) {
      EXPECT_TRUE(!random.whole) << "seed " << seed << ' ' << event.rank << ':' << event.serial
                                 << '\n'
                                 << toText(random.execution);
    }
  }
}

}  // namespace
}  // namespace pf::oracle

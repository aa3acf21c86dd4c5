// SPDX-License-Identifier: GPL-3.0-or-later
// findRaces() against the brute-force oracle on random executions, and the oracle against what
// other schedules of them really do. PF_ORACLE_RUNS=N sets the number of executions.
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/races/races.h"
#include "replay_engine/races/tests/oracle.h"
#include "replay_engine/races/tests/random_execution.h"

namespace pf::oracle {
namespace {

RandomExecution sample(std::uint64_t seed, bool cut) {
  RandomOptions options;
  options.eventsAtMost = 8 + static_cast<int>(seed % 24);
  options.cut = cut;
  return randomExecution(seed, options);
}

/// Few enough frontiers to visit them all in a moment?
bool small(const Execution& execution) {
  std::size_t bound = 1;
  for (const RankHistory& history : execution.ranks) {
    bound *= history.events.size() + 1;
  }
  return bound <= 1200;
}

/// Too large to visit every frontier.
RandomExecution largeSample(std::uint64_t seed) {
  RandomOptions options;
  options.eventsAtMost = 30 + static_cast<int>(seed % 90);
  return randomExecution(seed, options);
}

void compareMatching(const RandomExecution& random, std::uint64_t seed) {
  Execution theirs = random.execution;
  Execution ours = random.execution;
  matchMessages(theirs);
  oracleMatch(ours);
  const auto facts = [](const Execution& e) {
    std::set<
        std::tuple<Rank, std::uint32_t, Serial, Rank, std::uint32_t, Tag, std::uint32_t, Serial>>
        messages;
    std::set<std::tuple<std::size_t, bool, std::size_t, Rank, std::uint32_t>> uses;
    for (const Message& m : e.messages) {
      messages.emplace(m.send.rank, m.sendIndex, m.send.serial, m.dest, m.comm, m.tag, m.post,
                       m.completion);
    }
    const auto use = [&](std::size_t rank, bool probe, std::size_t index, std::uint32_t m) {
      uses.emplace(rank, probe, index, m == kNone ? kUnknownRank : e.messages[m].send.rank,
                   m == kNone ? kNone : e.messages[m].sendIndex);
    };
    for (std::size_t rank = 0; rank < e.ranks.size(); ++rank) {
      for (std::size_t i = 0; i < e.ranks[rank].receives.size(); ++i) {
        use(rank, false, i, e.ranks[rank].receives[i].message);
      }
      for (std::size_t i = 0; i < e.ranks[rank].probes.size(); ++i) {
        use(rank, true, i, e.ranks[rank].probes[i].message);
      }
    }
    return std::pair(messages, uses);
  };
  EXPECT_EQ(theirs.messages.size(), ours.messages.size());
  EXPECT_TRUE(facts(theirs) == facts(ours)) << "seed " << seed << "\ntheirs\n"
                                            << toText(theirs) << "ours\n"
                                            << toText(ours);
  if (random.whole || decided(ours)) {
    for (const Message& m : ours.messages) {
      const std::uint32_t taker = random.takers[static_cast<std::size_t>(m.send.rank)][m.sendIndex];
      const std::size_t recorded = ours.ranks[static_cast<std::size_t>(m.dest)].receives.size();
      EXPECT_EQ(m.post, taker < recorded ? taker : kNone) << "seed " << seed << '\n'
                                                          << toText(ours);
    }
  }
}

void expectSame(const char* what, const Execution& execution, std::uint64_t seed,
                const std::vector<Race>& first, const std::vector<Race>& second) {
  EXPECT_TRUE(toLines(execution, first) == toLines(execution, second))
      << what << ", seed " << seed << '\n'
      << toText(execution) << "--- first\n"
      << toText(execution, first) << "--- second\n"
      << toText(execution, second);
}

void compareRaces(const Execution& execution, std::uint64_t seed) {
  const auto oracle = oracleRaces(execution);
  expectSame("oracle, largest frontier", execution, seed, oracle, largestFrontierRaces(execution));
  expectSame("oracle, findRaces", execution, seed, oracle, findRaces(execution));
}

TEST(RandomExecutions, MatchingIsTheSimulators) {
  for (std::uint64_t seed = 1; seed <= runs(1000) && !HasFailure(); ++seed) {
    compareMatching(sample(seed, seed % 3 == 0), seed);
  }
}

TEST(RandomExecutions, OraclesModelReachesEveryEvent) {
  for (std::uint64_t seed = 1; seed <= runs(1000) && !HasFailure(); ++seed) {
    RandomExecution random = sample(seed, false);
    oracleMatch(random.execution);
    for (const EventRef& event : unreachableEvents(random.execution)) {
      EXPECT_TRUE(!random.whole) << "seed " << seed << ' ' << event.rank << ':' << event.serial
                                 << '\n'
                                 << toText(random.execution);
    }
  }
}

/// The oracle itself, against runs of the same calls that nothing forces.
TEST(RandomExecutions, EveryDeviationOfAnotherScheduleIsAnAlternative) {
  std::size_t alternatives = 0;
  std::size_t met = 0;
  for (std::uint64_t seed = 1; seed <= runs(1000) / 4 && !HasFailure(); ++seed) {
    RandomExecution random = sample(seed, false);
    if (!random.whole || !small(random.execution)) {
      continue;
    }
    oracleMatch(random.execution);
    std::set<std::tuple<Rank, bool, std::uint32_t, std::uint32_t>> expected;
    for (const Race& race : oracleRaces(random.execution)) {
      for (const std::uint32_t m : race.alternatives) {
        expected.emplace(race.rank, race.probe, race.index, m);
      }
    }
    std::set<std::tuple<Rank, bool, std::uint32_t, std::uint32_t>> seen;
    for (std::uint64_t again = 0; again < 100 && seen.size() < expected.size() && !HasFailure();
         ++again) {
      if (const auto d = rerun(random.execution, seed * 1000 + again)) {
        EXPECT_EQ(expected.count({d->rank, d->probe, d->index, d->message}), 1U)
            << "seed " << seed << ": rank " << d->rank << (d->probe ? " p" : " r") << d->index
            << " took m" << d->message << '\n'
            << toText(random.execution) << toText(random.execution, oracleRaces(random.execution));
        seen.emplace(d->rank, d->probe, d->index, d->message);
      }
    }
    alternatives += expected.size();
    met += seen.size();
  }
  RecordProperty("alternatives", std::to_string(alternatives));
  RecordProperty("met", std::to_string(met));
  EXPECT_GT(met * 10, alternatives * 8) << met << " of " << alternatives;
}

TEST(RandomExecutions, FindRacesEqualsTheOracle) {
  for (std::uint64_t seed = 1; seed <= runs(700) && !HasFailure(); ++seed) {
    RandomExecution random = sample(seed, false);
    if (random.whole && small(random.execution)) {
      matchMessages(random.execution);
      compareRaces(random.execution, seed);
    }
  }
}

TEST(RandomExecutions, FindRacesEqualsTheLargestFrontierOfLargeExecutions) {
  for (std::uint64_t seed = 1; seed <= runs(700) && !HasFailure(); ++seed) {
    RandomExecution random = largeSample(seed);
    matchMessages(random.execution);
    if (decided(random.execution)) {
      expectSame("largest frontier, findRaces", random.execution, seed,
                 largestFrontierRaces(random.execution), findRaces(random.execution));
    }
  }
}

TEST(RandomExecutions, FindRacesEqualsTheOracleOnRecordsCutShort) {
  for (std::uint64_t seed = 1; seed <= runs(700) / 2 && !HasFailure(); ++seed) {
    RandomExecution random = sample(seed, seed % 2 == 0);
    matchMessages(random.execution);
    if (!random.whole && small(random.execution) && decided(random.execution)) {
      compareRaces(random.execution, seed);
    }
  }
}

}  // namespace
}  // namespace pf::oracle

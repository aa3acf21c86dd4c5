// SPDX-License-Identifier: GPL-3.0-or-later
// The tracing algorithms on random executions: their traces cover all races that findRaces() finds,
// and a replay that enforces them and does its worst otherwise (tracing_replay.h) repeats the
// record. PF_ORACLE_RUNS=N sets the number of executions.
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/races/races.h"
#include "replay_engine/races/tests/oracle.h"
#include "replay_engine/races/tests/random_execution.h"
#include "replay_engine/races/tests/tracing_checks.h"
#include "replay_engine/races/tracing.h"

namespace pf::oracle {
namespace {

std::uint64_t wanted(std::uint64_t normal) {
#if defined(__SANITIZE_ADDRESS__)
  normal /= 10;  // thirty times slower, and looks for other things
#endif
  return oracle::runs(normal);
}

/// The seed'th random execution whose record is whole, and `seed` of the next one.
Execution nextWhole(std::uint64_t& seed, int eventsAtLeast) {
  while (true) {
    RandomOptions options;
    options.eventsAtMost = eventsAtLeast + static_cast<int>(seed % 24);
    RandomExecution random = randomExecution(seed++, options);
    if (random.whole) {
      matchMessages(random.execution);
      return std::move(random.execution);
    }
  }
}

struct Sums {
  std::uint64_t executions = 0;
  std::uint64_t racing = 0;
  std::uint64_t searches = 0;  ///< of all states
  std::uint64_t lower = 0;
  std::uint64_t upper = 0;
  std::vector<std::uint64_t> traced;
};

void check(const Execution& execution, std::size_t states, Sums& sums) {
  const std::vector<Race> races = findRaces(execution);
  const OptimalTrace optimal = optimalTrace(execution, races);
  const std::vector<NamedTrace> traces = allTraces(execution);
  EXPECT_EQ(wrongOrder(execution, traces, optimal), "");
  sums.traced.resize(traces.size(), 0);
  std::set<std::pair<std::vector<TracedReceive>, bool>> checked;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    sums.traced[i] += traces[i].trace.size();
    if (checked.emplace(traces[i].trace, traces[i].bySource).second) {
      bool all = false;
      EXPECT_EQ(wrongCover(execution, races, traces[i]), "");
      EXPECT_EQ(wrongReplay(execution, traces[i], states, all), "");
      sums.searches += all ? 1U : 0U;
    }
  }
  ++sums.executions;
  sums.racing += races.empty() ? 0U : 1U;
  sums.lower += optimal.lower;
  sums.upper += optimal.upper;
}

void report(const Sums& sums, const Execution& any) {
  std::string text = std::to_string(sums.executions) + " executions, " +
                     std::to_string(sums.racing) + " with races; optimum " +
                     std::to_string(sums.lower) + ".." + std::to_string(sums.upper);
  const std::vector<NamedTrace> names = allTraces(any);
  for (std::size_t i = 0; i < sums.traced.size(); ++i) {
    text += ", " + names[i].name + ' ' + std::to_string(sums.traced[i]);
  }
  testing::Test::RecordProperty("traced", text);
  testing::Test::RecordProperty("searches", std::to_string(sums.searches));
  if (std::getenv("PF_TRACING_REPORT") != nullptr) {
    std::printf("%s, %llu searches of all states\n", text.c_str(),
                static_cast<unsigned long long>(sums.searches));
  }
}

TEST(RandomTracing, SmallExecutionsEveryOrderOfEventsAndDeliveries) {
  Sums sums;
  Execution execution;
  for (std::uint64_t seed = 1; sums.executions < wanted(2000) && !testing::Test::HasFailure();) {
    execution = nextWhole(seed, 8);
    check(execution, 500, sums);
  }
  report(sums, execution);
}

TEST(RandomTracing, LargerExecutions) {
  Sums sums;
  Execution execution;
  for (std::uint64_t seed = 1;
       sums.executions < wanted(2000) / 10 && !testing::Test::HasFailure();) {
    execution = nextWhole(seed, 60);
    check(execution, 0, sums);
  }
  report(sums, execution);
}

/// Nothing is promised of replays of what a crash left, but that the traces cover the races in it.
TEST(RandomTracing, RecordsCutShort) {
  for (std::uint64_t seed = 1; seed <= wanted(2000) / 4 && !testing::Test::HasFailure(); ++seed) {
    RandomOptions options;
    options.eventsAtMost = 20 + static_cast<int>(seed % 60);
    options.cut = true;
    Execution execution = randomExecution(seed, options).execution;
    matchMessages(execution);
    const std::vector<Race> races = findRaces(execution);
    const std::vector<NamedTrace> traces = allTraces(execution);
    EXPECT_EQ(wrongOrder(execution, traces, optimalTrace(execution, races)), "");
    for (const NamedTrace& traced : traces) {
      EXPECT_EQ(wrongCover(execution, races, traced), "");
    }
  }
}

}  // namespace
}  // namespace pf::oracle

// The tracing algorithms on random executions: their traces cover all races that findRaces() finds,
// and a replay that enforces them and does its worst otherwise (tracing_replay.h) repeats the
// record. PF_ORACLE_RUNS=N sets the number of executions.
#include "oracle.h"
#include "random_execution.h"
#include "tracing_replay.h"
#include "tracing_text.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/races.h"
#include "core/tracing.h"

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

struct NamedTrace {
  std::string name;
  std::vector<TracedReceive> trace;
  bool bySource = false;  ///< sufficient even if a replay forces sources only
};

/// By Mpi; Algorithm B is at kOfB.
std::vector<NamedTrace> allTraces(const Execution& execution) {
  const auto with = [&](TracingAlgorithm algorithm) {
    return traceWith(algorithm, TracingRules::Mpi, execution);
  };
  std::vector<NamedTrace> traces{
      {"Netzer and Miller", with(TracingAlgorithm::NetzerMiller)},
      {"Algorithm A", with(TracingAlgorithm::AlgorithmA)},
      {"Algorithm B", with(TracingAlgorithm::AlgorithmB)},
      {"Meehan", with(TracingAlgorithm::Meehan), true},
      {"Naive", with(TracingAlgorithm::Naive), true},
  };
  for (const std::uint32_t window : {0U, 1U, 2U, 4U, 16U, kNone}) {
    traces.push_back({"window " + std::to_string(window), traceWithWindow(window, execution)});
  }
  return traces;
}
constexpr std::size_t kNetzerMiller = 0;
constexpr std::size_t kOfA = 1;
constexpr std::size_t kOfB = 2;
constexpr std::size_t kWindows = 5;

std::string describe(const Execution& execution, const NamedTrace& traced) {
  return traced.name + ": " + test::toText(traced.trace) + '\n' + toText(execution) +
         toText(execution, findRaces(execution));
}

/// Of the two deliveries of every race, one is in the trace.
void expectCover(const Execution& execution, const std::vector<Race>& races,
                 const NamedTrace& traced) {
  const std::set<TracedReceive> trace(traced.trace.begin(), traced.trace.end());
  for (const Race& race : races) {
    if (trace.contains({race.rank, race.index, race.probe})) {
      continue;
    }
    for (const std::uint32_t other : race.alternatives) {
      EXPECT_TRUE(trace.contains({race.rank, execution.messages[other].post, false}))
          << (race.probe ? "probe " : "receive ") << race.rank << '.' << race.index << " and m"
          << other << " race; " << describe(execution, traced);
    }
  }
}

void expectOrder(const Execution& execution, const std::vector<NamedTrace>& traces,
                 const OptimalTrace& optimal) {
  const std::vector<TracedReceive>& ofB = traces[kOfB].trace;
  EXPECT_TRUE(traces[kOfA].trace == ofB)
      << describe(execution, traces[kOfA]) << describe(execution, traces[kOfB]);
  EXPECT_TRUE(std::includes(traces[kNetzerMiller].trace.begin(), traces[kNetzerMiller].trace.end(),
                            ofB.begin(), ofB.end()))
      << describe(execution, traces[kNetzerMiller]) << describe(execution, traces[kOfB]);
  EXPECT_TRUE(traces[kWindows].trace == ofB) << describe(execution, traces[kWindows]);
  for (std::size_t i = 0; i < traces.size(); ++i) {
    EXPECT_GE(traces[i].trace.size(), optimal.lower) << describe(execution, traces[i]);
    if (i >= kWindows) {
      EXPECT_LE(traces[i].trace.size(), ofB.size()) << describe(execution, traces[i]);
    }
  }
  EXPECT_LE(optimal.lower, optimal.upper);
  EXPECT_EQ(optimal.exact, optimal.lower == optimal.upper);
}

/// Says whether every state was looked at.
bool expectSufficient(const Execution& execution, const NamedTrace& traced, std::size_t states) {
  bool all = true;
  for (const Enforce enforce : {Enforce::Tag, Enforce::Source}) {
    if (enforce == Enforce::Source && !traced.bySource) {
      continue;
    }
    TracedReplay replay(execution, traced.trace, enforce);
    bool complete = false;
    auto wrong = states > 0 ? replay.searchAll(states, complete) : std::nullopt;
    const auto held = replay.searchHoldingOne();
    EXPECT_TRUE(!complete || wrong.has_value() == held.has_value()) << describe(execution, traced);
    wrong = wrong ? wrong : held;
    EXPECT_FALSE(wrong) << wrong->rank << (wrong->probe ? ".p" : ".") << wrong->index
                        << " could take m" << wrong->message << "; " << describe(execution, traced);
    EXPECT_TRUE(replay.ends()) << describe(execution, traced);
    all = all && complete;
  }
  return all;
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
  expectOrder(execution, traces, optimal);
  sums.traced.resize(traces.size(), 0);
  std::set<std::pair<std::vector<TracedReceive>, bool>> checked;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    sums.traced[i] += traces[i].trace.size();
    if (checked.emplace(traces[i].trace, traces[i].bySource).second) {
      expectCover(execution, races, traces[i]);
      sums.searches += expectSufficient(execution, traces[i], states) ? 1U : 0U;
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
  for (std::uint64_t seed = 1; sums.executions < wanted(2000) / 10 && !testing::Test::HasFailure();) {
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
    expectOrder(execution, traces, optimalTrace(execution, races));
    for (const NamedTrace& traced : traces) {
      expectCover(execution, races, traced);
    }
  }
}

}  // namespace
}  // namespace pf::oracle

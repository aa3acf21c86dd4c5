// SPDX-License-Identifier: GPL-3.0-or-later
// The papers' examples, as printed. What we have of the papers is text without drawings: where it
// does not give a figure's receives, they are the simplest that have the races it tells of. Subsets
// of channels, as Recv(1,3), are written with tags.
#include <ostream>

#include <gtest/gtest.h>

#include "replay_engine/races/races.h"
#include "replay_engine/races/tests/execution_builder.h"
#include "replay_engine/races/tests/tracing_replay.h"
#include "replay_engine/races/tests/tracing_text.h"
#include "replay_engine/races/tracing.h"

namespace pf::test {
namespace {

struct Figure {
  const char* name;
  const char* program;
  const char* netzerMiller;
  const char* algorithmA;
  const char* algorithmB;
  const char* meehan;
  std::uint64_t optimum;
};

std::ostream& operator<<(std::ostream& out, const Figure& value) {
  return out << value.name;
}

class PaperTraces : public testing::TestWithParam<Figure> {};

TEST_P(PaperTraces, areThosePrinted) {
  const Figure& figure = GetParam();
  const Execution execution = parseExecution(figure.program);
  const auto traced = [&](TracingAlgorithm algorithm) {
    return toText(traceWith(algorithm, TracingRules::AsPrinted, execution));
  };
  EXPECT_EQ(traced(TracingAlgorithm::NetzerMiller), figure.netzerMiller);
  EXPECT_EQ(traced(TracingAlgorithm::AlgorithmA), figure.algorithmA);
  EXPECT_EQ(traced(TracingAlgorithm::AlgorithmB), figure.algorithmB);
  EXPECT_EQ(traced(TracingAlgorithm::Meehan), figure.meehan);
  const OptimalTrace optimal = optimalTrace(execution, findRaces(execution));
  EXPECT_TRUE(optimal.exact);
  EXPECT_EQ(optimal.lower, figure.optimum);
}

/// By the rules for MPI, what each algorithm traces leaves a replay no choice, in whatever order the
/// messages arrive: all states of a model of the replay are looked at.
TEST_P(PaperTraces, forceTheReplayInEveryArrivalOrder) {
  const Execution execution = parseExecution(GetParam().program);
  constexpr std::size_t kMostStates = 2'000'000;
  for (const auto& [algorithm, enforce] :
       {std::pair{TracingAlgorithm::NetzerMiller, oracle::Enforce::Tag},
        std::pair{TracingAlgorithm::AlgorithmA, oracle::Enforce::Tag},
        std::pair{TracingAlgorithm::AlgorithmB, oracle::Enforce::Tag},
        std::pair{TracingAlgorithm::Meehan, oracle::Enforce::Source}}) {
    const auto trace = traceWith(algorithm, TracingRules::Mpi, execution);
    bool complete = false;
    EXPECT_FALSE(oracle::TracedReplay(execution, trace, enforce).searchAll(kMostStates, complete))
        << toText(trace);
    EXPECT_TRUE(complete);
  }
  if (GetParam().optimum > 0) {  // and nothing traced leaves one
    bool complete = false;
    EXPECT_TRUE(
        oracle::TracedReplay(execution, {}, oracle::Enforce::Tag).searchAll(kMostStates, complete));
  }
}

const Figure kNetzerMiller[] = {
    {"Figure1", R"(0: send 1
                   1: recv * = 0; recv * = 2
                   2: send 1)",
     "1.1", "1.1", "1.1", "1.0", 1},
    {"Figure3b", R"(0: send 1
                    1: recv * = 0; recv * = 2
                    2: local; recv 3; send 1
                    3: send 2)",
     "1.1", "1.1", "1.1", "1.0", 1},
    {"Figure3c", R"(0: send 1
                    1: recv * = 0; send 3; recv * = 2
                    2: recv 3; send 1
                    3: recv 1; send 2)",
     "", "", "", "", 0},
    {"Figure5aTransitive", R"(0: recv * = 1; recv * = 2; recv * = 3
                              1: send 0
                              2: send 0
                              3: send 0)",
     "0.1 0.2", "0.1 0.2", "0.1 0.2", "0.0 0.1", 2},
    // "Our tracing algorithm would trace the last two messages, which is not optimal."
    {"Figure5bNotTransitive", R"(0: recv *:1 = 1:1; recv *:* = 3:1; recv *:2 = 4:2
                                 1: send 0:1
                                 2: local
                                 3: send 0:1
                                 4: send 0:2)",
     "0.1 0.2", "0.1", "0.1", "0.0", 1},
};
INSTANTIATE_TEST_SUITE_P(NetzerMiller, PaperTraces, testing::ValuesIn(kNetzerMiller));

const Figure kKarmarkar[] = {
    // "N&M will trace m2 and m3 whereas the optimal tracing is when only m2 is traced"; 5.3.
    {"Figure4", R"(0: recv *:1 = 1:1; recv *:* = 3:1; recv *:2 = 4:2
                   1: send 0:1
                   2: local
                   3: send 0:1
                   4: send 0:2)",
     "0.1 0.2", "0.1", "0.1", "0.0", 1},
    // Figure 5, part A, is the same; part B begins the same, and m1 is the optimum.
    {"Figure5B", R"(0: recv *:1 = 1:1; recv 3:1; recv 4:1
                    1: send 0:1
                    2: local
                    3: send 0:1
                    4: send 0:1)",
     "0.1 0.2", "0.1 0.2", "0.1 0.2", "", 1},
    {"Figure7", R"(0: recv * = 1; recv * = 3; recv * = 4
                   1: send 0
                   2: local
                   3: send 0
                   4: send 0)",
     "0.1 0.2", "0.1 0.2", "0.1 0.2", "0.0 0.1", 2},
    // 5.7: Figure 7 with Recv(1,3) and Recv(1,4): B "will trace m2 and m3".
    {"Example4", R"(0: recv *:* = 1:1; recv *:3 = 3:3; recv *:4 = 4:4
                    1: send 0:1
                    2: local
                    3: send 0:3
                    4: send 0:4)",
     "0.1 0.2", "0.1 0.2", "0.1 0.2", "", 1},
    // m1 and m2 of one process: B checks m3 with m2 alone. A, as printed, traces m2 as well.
    {"Figure9", R"(0: recv * = 1; recv * = 1; recv * = 3
                   1: send 0; send 0
                   2: local
                   3: send 0)",
     "0.1 0.2", "0.1 0.2", "0.2", "0.0 0.1", 1},
    {"Figure9NoRaceWithTheLast", R"(0: recv * = 1; recv * = 1; send 3; recv * = 3
                   1: send 0; send 0
                   2: local
                   3: recv 0; send 0)",
     "0.1", "0.1", "", "", 0},
};
INSTANTIATE_TEST_SUITE_P(Karmarkar, PaperTraces, testing::ValuesIn(kKarmarkar));

const Figure kMeehan[] = {
    {"Figure1", R"(0: send 1
                   1: recv * = 0; recv * = 3; recv * = 2
                   2: send 1
                   3: send 1)",
     "1.1 1.2", "1.1 1.2", "1.1 1.2", "1.0 1.1", 2},
    // "The frontier method" traces Recv1.2 to 1.5, Meehan Recv1.1 to 1.4.
    {"Figure2", R"(0: send 1; send 1; send 1
                   1: recv * = 0; recv * = 0; recv * = 2; recv * = 0; recv * = 2
                   2: send 1; send 1)",
     "1.1 1.2 1.3 1.4", "1.1 1.2 1.3 1.4", "1.2 1.4", "1.0 1.1 1.2 1.3", 2},
    {"Figure3UpperBound", R"(0: send 1; send 1; send 1
      1: recv * = 0; recv * = 2; recv * = 3; recv * = 0; recv * = 2; recv * = 3; recv * = 0
      2: send 1; send 1
      3: send 1; send 1)",
     "1.1 1.2 1.3 1.4 1.5 1.6", "1.1 1.2 1.3 1.4 1.5 1.6", "1.1 1.2 1.4 1.5",
     "1.0 1.1 1.2 1.3 1.4 1.5", 4},
    {"Figure4LowerBound", R"(0: send 1
                             1: recv * = 0; recv * = 2; recv * = 3; recv * = 3; recv * = 3
                             2: send 1
                             3: send 1; send 1; send 1)",
     "1.1 1.2 1.3 1.4", "1.1 1.2 1.3 1.4", "1.1 1.2 1.3 1.4", "1.0 1.1", 2},
    {"Figure5", R"(0: send 1
                   1: recv * = 2; recv * = 0; send 2; recv * = 2
                   2: send 1; recv 1; send 1)",
     "1.1", "1.1", "1.1", "1.0", 1},
    {"Figure6Block", R"(0: send 1; send 1; send 1
                        1: recv * = 0; recv * = 0; recv * = 0; recv * = 2
                        2: send 1)",
     "1.1 1.2 1.3", "1.1 1.2 1.3", "1.3", "1.0 1.1 1.2", 1},
};
INSTANTIATE_TEST_SUITE_P(Meehan, PaperTraces, testing::ValuesIn(kMeehan));

/// "If only the simple races are traced [...] Msg2.1 could be accepted by Recv1.1 or Recv1.2."
TEST(PaperTraces, MeehanFigure7ErroneousReplay) {
  const Execution execution = parseExecution(kMeehan[5].program);
  for (const oracle::Enforce enforce : {oracle::Enforce::Tag, oracle::Enforce::Source}) {
    const auto wrong = oracle::TracedReplay(execution, {{1, 2}}, enforce).searchHoldingOne();
    ASSERT_TRUE(wrong);
    EXPECT_LT(wrong->index, 2U);
    const auto block = traceWith(TracingAlgorithm::Meehan, TracingRules::AsPrinted, execution);
    EXPECT_FALSE(oracle::TracedReplay(execution, block, enforce).searchHoldingOne());
  }
}

/// Netzer and Miller's and Karmarkar's traces, on executions like the papers', are enough by tag,
/// and not by source.
TEST(PaperTraces, TracingTheSecondNeedsTags) {
  const Execution execution = parseExecution(kNetzerMiller[0].program);
  const std::vector<TracedReceive> second{{1, 1}};
  EXPECT_FALSE(oracle::TracedReplay(execution, second, oracle::Enforce::Tag).searchHoldingOne());
  EXPECT_TRUE(oracle::TracedReplay(execution, second, oracle::Enforce::Source).searchHoldingOne());
}

}  // namespace
}  // namespace pf::test

// SPDX-License-Identifier: GPL-3.0-or-later
// What TracingRules::Mpi adds to the papers, one rule at a time: a trace without the rule, a replay
// that goes wrong with it, and the trace with the rule. And windows, and optima.
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "replay_engine/races/races.h"
#include "replay_engine/races/tests/execution_builder.h"
#include "replay_engine/races/tests/tracing_replay.h"
#include "replay_engine/races/tests/tracing_text.h"
#include "replay_engine/races/tracing.h"

namespace pf::test {
namespace {

using oracle::Enforce;
using oracle::TracedReplay;

std::string traced(TracingAlgorithm algorithm, TracingRules rules, const Execution& execution) {
  return toText(traceWith(algorithm, rules, execution));
}

bool isSufficient(const Execution& execution, const std::vector<TracedReceive>& trace) {
  bool complete = false;
  const bool sufficient =
      !TracedReplay(execution, trace, Enforce::Tag).searchAll(100000, complete).has_value();
  EXPECT_TRUE(complete);
  return sufficient;
}

struct RuleCase {
  const char* name;
  const char* program;
  std::vector<TracedReceive> without;
  const char* algorithmB;
  const char* meehan;
};

std::ostream& operator<<(std::ostream& out, const RuleCase& value) {
  return out << value.name;
}

class MpiRules : public testing::TestWithParam<RuleCase> {};

TEST_P(MpiRules, areNeeded) {
  const RuleCase& rule = GetParam();
  const Execution execution = parseExecution(rule.program);
  EXPECT_FALSE(isSufficient(execution, rule.without)) << toText(rule.without);
  EXPECT_EQ(traced(TracingAlgorithm::AlgorithmA, TracingRules::Mpi, execution), rule.algorithmB);
  EXPECT_EQ(traced(TracingAlgorithm::AlgorithmB, TracingRules::Mpi, execution), rule.algorithmB);
  EXPECT_EQ(traced(TracingAlgorithm::Meehan, TracingRules::Mpi, execution), rule.meehan);
  for (const TracingAlgorithm algorithm :
       {TracingAlgorithm::NetzerMiller, TracingAlgorithm::AlgorithmA, TracingAlgorithm::AlgorithmB,
        TracingAlgorithm::Meehan, TracingAlgorithm::Naive}) {
    EXPECT_TRUE(isSufficient(execution, traceWith(algorithm, TracingRules::Mpi, execution)))
        << traced(algorithm, TracingRules::Mpi, execution);
  }
}

const RuleCase kRuleCases[] = {
    // In the order of completion, the second receive is no candidate for the first's message, nor
    // is the first a previous receive of the second.
    {"Posted",
     R"(0: irecv *:* a; irecv *:2 b; wait b = 2:2; wait a = 1:1
                  1: send 0:1
                  2: send 0:2)",
     {},
     "0.1",
     "0.0"},
    {"PostedReceiveBySource",
     R"(0: irecv * a; irecv 2 b; wait b; wait a = 1
                                 1: send 0
                                 2: send 0)",
     {},
     "0.1",
     "0.0"},
    // findRaces() has only 0.0 with 0.1 as racing: rank 2 sends after 0.1 completed, so after the
    // delivery to 0.0, which MPI makes before. But 0.1 traced does not wait for it any more.
    {"Completion",
     R"(0: irecv * a; irecv * b; wait b = 1; send 2; wait a = 3; recv * = 2
                      1: send 0
                      2: recv 0; send 0
                      3: send 0)",
     {{0, 1}},
     "0.1 0.2",
     "0.0"},
    // Rank 2 sends to rank 3 after rank 0 had the message that says so: not because that came
    // before (to 0.0, where it was not observed yet), if 0.1 is traced.
    {"CompletionOnAThirdRank",
     R"(0: irecv * a; irecv * b; wait b = 5; send 2; wait a = 1
                                  1: recv 3; send 0
                                  2: recv 0; send 3
                                  3: recv * = 4; send 1; recv * = 2
                                  4: send 3
                                  5: send 0)",
     {{0, 1}},
     "0.1 3.1",
     "0.0 3.0"},
    // The traced message was in the way of the next one of its source.
    {"Block",
     R"(0: recv * = 1; recv * = 2; recv * = 2
                 1: send 0
                 2: send 0; send 0)",
     {{0, 1}},
     "0.1 0.2",
     "0.0"},
    {"InFlight",
     R"(0: recv * = 1
                    1: send 0
                    2: send 0)",
     {},
     "0.0",
     "0.0"},
    {"Probe",
     R"(0: probe * = 1; recv 1; recv 2
                 1: send 0
                 2: send 0)",
     {},
     "0.p0",
     "0.p0"},
    // The probe raced with nothing when it saw what 0.0 took, but 0.0 is traced.
    {"ProbeOfATracedMessage",
     R"(0: probe * = 1; send 2; recv * = 1; recv 1; recv * = 2
                                 1: send 0; send 0
                                 2: recv 0; send 0)",
     {{0, 0}},
     "0.p0 0.2",
     "0.0 0.p0"},
};
INSTANTIATE_TEST_SUITE_P(Each, MpiRules, testing::ValuesIn(kRuleCases));

/// The papers compare receives in the order of their completion, and so do not see that an earlier
/// MPI_Irecv(MPI_ANY_SOURCE) could have had the message.
TEST(TracingRules, AsPrintedMissesARaceWithAPrePostedWildcard) {
  for (const char* program : {kRuleCases[0].program, kRuleCases[1].program}) {
    const Execution execution = parseExecution(program);
    ASSERT_EQ(findRaces(execution).size(), 1U);
    for (const TracingAlgorithm algorithm :
         {TracingAlgorithm::NetzerMiller, TracingAlgorithm::AlgorithmA,
          TracingAlgorithm::AlgorithmB, TracingAlgorithm::Meehan}) {
      const auto printed = traceWith(algorithm, TracingRules::AsPrinted, execution);
      EXPECT_EQ(toText(printed), "");
      EXPECT_FALSE(isSufficient(execution, printed));
      EXPECT_TRUE(isSufficient(execution, traceWith(algorithm, TracingRules::Mpi, execution)));
    }
  }
}

TEST(TracingRules, MessagesOfOneSourceDoNotRaceByMpi) {
  const Execution execution = parseExecution(R"(0: recv 1; recv 1; recv * = 1; recv * = 1
                                                1: send 0; send 0; send 0; send 0)");
  const auto trace = [&](TracingRules rules) {
    return traced(TracingAlgorithm::NetzerMiller, rules, execution);
  };
  EXPECT_EQ(trace(TracingRules::AsPrinted), "0.1 0.2 0.3");
  EXPECT_EQ(trace(TracingRules::Mpi), "");
}

/// 0.0 could have had rank 3's message; all the others that Algorithm B remembers were posted
/// later.
TEST(TracingRules, AlgorithmBRemembersThosePostedBeforeAnOpenReceive) {
  std::string posts = "0: irecv * a; irecv 3 b; ";
  std::string waits = "wait a = 1; ";
  std::string sends = "1: send 0; ";
  for (int i = 0; i < 20; ++i) {
    posts += "irecv * c" + std::to_string(i) + "; ";
    waits += "wait c" + std::to_string(i) + " = 1; ";
    sends += "send 0; ";
  }
  const Execution execution =
      parseExecution(posts + waits + "wait b\n" + sends + "\n2: local\n3: send 0");
  for (const TracingAlgorithm algorithm :
       {TracingAlgorithm::NetzerMiller, TracingAlgorithm::AlgorithmA,
        TracingAlgorithm::AlgorithmB}) {
    EXPECT_EQ(traced(algorithm, TracingRules::Mpi, execution), "0.1");
  }
  EXPECT_EQ(traced(TracingAlgorithm::Meehan, TracingRules::Mpi, execution), "0.0");
}

TEST(TracingRules, PapersFiguresByMpi) {
  const Execution execution = parseExecution(R"(0: recv *:1 = 1:1; recv *:* = 3:1; recv *:2 = 4:2
                                                1: send 0:1
                                                2: local
                                                3: send 0:1
                                                4: send 0:2)");
  EXPECT_EQ(traced(TracingAlgorithm::NetzerMiller, TracingRules::Mpi, execution), "0.1 0.2");
  EXPECT_EQ(traced(TracingAlgorithm::AlgorithmB, TracingRules::Mpi, execution), "0.1");
  EXPECT_EQ(traced(TracingAlgorithm::Meehan, TracingRules::Mpi, execution), "0.0 0.1");
  EXPECT_EQ(traced(TracingAlgorithm::Naive, TracingRules::Mpi, execution), "0.0 0.1 0.2");
}

TEST(TracingRules, SendsThatAreNotInTheRecordRaceWithAllThatTheyCould) {
  Execution execution = parseExecution(R"(0: recv * = 1; recv * = 2
                                          1: send 0
                                          2: recv 0; send 0)");
  execution.ranks[2] = {};
  matchMessages(execution);
  EXPECT_EQ(traced(TracingAlgorithm::AlgorithmB, TracingRules::Mpi, execution), "0.1");
}

/// Karmarkar's Example 4 (5.7): m1 alone is the optimum. But 0.1 and 0.2 could race with more to
/// come, with which 0.0 would not: the window must reach the end.
TEST(TracingWindow, FindsTheOptimumOfAStar) {
  const Execution execution = parseExecution(R"(0: recv *:* = 1:1; recv *:3 = 3:3; recv *:4 = 4:4
                                                1: send 0:1
                                                2: local
                                                3: send 0:3
                                                4: send 0:4)");
  EXPECT_EQ(toText(traceWithWindow(0, execution)), "0.1 0.2");
  EXPECT_EQ(toText(traceWithWindow(2, execution)), "0.1 0.2");
  EXPECT_EQ(toText(traceWithWindow(3, execution)), "0.0");
  EXPECT_EQ(toText(traceWithWindow(kNone, execution)), "0.0");
}

/// `rounds` stars, each with its own optimum; acknowledgements part them.
std::string stars(int rounds) {
  std::string hub = "0: ";
  std::string lines;
  for (int i = 0; i < rounds; ++i) {
    hub += "recv * = 1; recv 2; recv 3; send 1; send 2; send 3; ";
  }
  for (const char* leaf : {"1: ", "2: ", "3: "}) {
    lines += std::string(leaf);
    for (int i = 0; i < rounds; ++i) {
      lines += "send 0; recv 0; ";
    }
    lines += '\n';
  }
  return hub + '\n' + lines;
}

TEST(TracingWindow, OfOneReceiveIsEnoughForStarsThatEndBeforeTheNextReceive) {
  const Execution execution = parseExecution(stars(10));
  EXPECT_EQ(traceWithWindow(0, execution).size(), 20U);
  EXPECT_EQ(traceWithWindow(1, execution).size(), 10U);
  EXPECT_EQ(optimalTrace(execution, findRaces(execution)).lower, 10U);
}

/// A chain of n messages, each racing with the next `reach` ones.
std::string chain(int n, int reach) {
  std::string hub = "0: ";
  std::vector<std::string> senders(static_cast<std::size_t>(reach) + 1);
  for (int i = 0; i < n; ++i) {
    const int sender = i % (reach + 1);
    hub += "recv * = " + std::to_string(sender + 1) + "; ";
    hub += "send " + std::to_string(sender + 1) + "; ";
    senders[static_cast<std::size_t>(sender)] += "send 0; recv 0; ";
  }
  for (std::size_t i = 0; i < senders.size(); ++i) {
    hub += '\n' + std::to_string(i + 1) + ": " + senders[i];
  }
  return hub;
}

OptimalTrace optimum(const std::string& program) {
  const Execution execution = parseExecution(program);
  return optimalTrace(execution, findRaces(execution));
}

TEST(OptimalTraces, OfSmallComponentsAreExact) {
  EXPECT_EQ(optimum(chain(9, 1)).lower, 4U);
  EXPECT_EQ(optimum(chain(9, 1)).upper, 4U);
  EXPECT_EQ(optimum(chain(39, 2)).lower, 26U);
  EXPECT_TRUE(optimum(chain(39, 2)).exact);
  EXPECT_EQ(optimum(chain(1, 2)).upper, 0U);
}

TEST(OptimalTraces, OfCompleteMultipartiteComponentsAreExact) {
  std::string hub = "0: ";
  std::string senders;
  for (int i = 1; i <= 60; ++i) {
    hub += "recv * = " + std::to_string(i) + "; ";
    senders += std::to_string(i) + ": send 0\n";
  }
  const OptimalTrace clique = optimum(hub + '\n' + senders);
  EXPECT_TRUE(clique.exact);
  EXPECT_EQ(clique.lower, 59U);
}

TEST(OptimalTraces, OfLargeComponentsAreBounded) {
  const OptimalTrace strip = optimum(chain(90, 2));
  EXPECT_FALSE(strip.exact);
  EXPECT_GE(strip.lower, 30U);
  EXPECT_LE(strip.lower, 60U);
  EXPECT_GE(strip.upper, 60U);
  EXPECT_LT(strip.upper, 90U);
}

/// What nobody received cannot be traced: the receive must be.
TEST(OptimalTraces, HoldWhatRacesWithMessagesInFlight) {
  EXPECT_EQ(optimum(R"(0: recv * = 1; recv * = 2
                       1: send 0
                       2: send 0
                       3: send 0)")
                .lower,
            2U);
}

TEST(OptimalTraces, CountProbes) {
  const OptimalTrace probes = optimum(R"(0: probe * = 1; recv 1; probe * = 2; recv 2; recv 3
                                         1: send 0
                                         2: send 0
                                         3: send 0)");
  EXPECT_TRUE(probes.exact);
  EXPECT_EQ(probes.lower, 2U);
}

}  // namespace
}  // namespace pf::test

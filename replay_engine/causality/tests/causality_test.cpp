// SPDX-License-Identifier: GPL-3.0-or-later
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/races/races.h"
#include "replay_engine/races/tests/execution_builder.h"

namespace pf::test {
namespace {

TEST(MessageMatching, countsReceivesInPostingOrder) {
  const Execution e = parseExecution(R"(0: irecv 1 a; irecv 1 b; wait b; wait a
                                        1: send 0; send 0)");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[0].message), "1@1");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[1].message), "1@2");
  EXPECT_EQ(e.messages[0].completion, 4U);
  EXPECT_EQ(e.messages[1].completion, 3U);
  EXPECT_EQ(e.messages[1].post, 1U);
}

TEST(MessageMatching, separatesTagsAndCommunicators) {
  const Execution e = parseExecution(R"(comm other: 0 1
                                        0: recv 1:2; recv 1@other; recv 1
                                        1: send 0; send 0@other; send 0:2; send 0)");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[0].message), "1@3");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[1].message), "1@2");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[2].message), "1@1");
  EXPECT_EQ(e.messages[3].post, kNone);
}

TEST(MessageMatching, leavesOutWhatIsNotThere) {
  Execution e = parseExecution(R"(0: recv 1; recv 1; irecv 1 a; probe 1
                                  1: send 0)");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[1].message), "-");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[2].message), "-");
  EXPECT_EQ(messageText(e, e.ranks[0].probes[0].message), "-");
  e.ranks[1].sends.clear();
  matchMessages(e);
  EXPECT_TRUE(e.messages.empty());
  EXPECT_EQ(e.ranks[0].receives[0].message, kNone);
}

TEST(MessageMatching, cancelledReceivesTakeNothing) {
  Execution e = parseExecution("0: recv 1; recv 1\n1: send 0");
  e.ranks[0].receives[0].state = ReceiveState::Cancelled;
  matchMessages(e);
  EXPECT_EQ(messageText(e, e.ranks[0].receives[0].message), "-");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[1].message), "1@1");
}

TEST(MessageMatching, probeSeesTheFirstLeft) {
  const Execution e =
      parseExecution(R"(0: probe * = 1; recv 1; probe * = 1; irecv 1 a; probe 1; wait a
                                        1: send 0; send 0; send 0)");
  EXPECT_EQ(messageText(e, e.ranks[0].probes[0].message), "1@1");
  EXPECT_EQ(messageText(e, e.ranks[0].probes[1].message), "1@2");
  EXPECT_EQ(messageText(e, e.ranks[0].probes[2].message), "1@3");
}

TEST(MessageMatching, receiveCompletedBeforeItsPostTakesNothing) {
  Execution e = parseExecution("0: local; recv 1; recv 1\n1: send 0");
  e.ranks[0].receives[0].completion = 1;
  matchMessages(e);
  EXPECT_EQ(messageText(e, e.ranks[0].receives[0].message), "-");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[1].message), "1@1");
}

TEST(MessageMatching, pendingReceiveTookWhatALaterOneDidNotGet) {
  const Execution e = parseExecution(R"(0: irecv 1 a; irecv 1:5 b; irecv 1 c; recv * = 1; irecv 1 d
                                        1: send 0:5; send 0; send 0; send 0; send 0)");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[0].message), "1@2");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[1].message), "-");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[2].message), "1@3");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[3].message), "1@4");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[4].message), "-");
  EXPECT_EQ(e.messages[1].post, 0U);
  EXPECT_EQ(e.messages[1].completion, 0U);
  EXPECT_EQ(e.messages[4].post, kNone);
}

TEST(MessageMatching, pendingReceiveTookWhatALaterProbeDidNotSee) {
  const Execution e = parseExecution(R"(0: irecv 1 a; probe * = 1; irecv 1 b
                                        1: send 0; send 0)");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[0].message), "1@1");
  EXPECT_EQ(messageText(e, e.ranks[0].probes[0].message), "1@2");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[1].message), "-");
}

TEST(MessageMatching, whatAPendingWildcardTookCannotBeTold) {
  const Execution e = parseExecution(R"(0: irecv * a; irecv 1:* b; recv 1
                                        1: send 0; send 0; send 0)");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[0].message), "-");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[1].message), "-");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[2].message), "1@1");
}

TEST(MessageMatching, pendingReceiveThatMayHaveBeenCancelledTakesNothing) {
  const Execution e = parseExecution(R"(0: irecv 1 a; cancel; irecv 1 b; recv 1
                                        1: send 0; send 0)");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[0].message), "-");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[1].message), "1@1");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[2].message), "1@2");
}

TEST(MessageMatching, receiveThatFailedTakesNothing) {
  Execution e = parseExecution("0: irecv 1 a; recv 1\n1: send 0");
  e.ranks[0].receives[0].completion = 2;  // seen to fail: still Pending
  matchMessages(e);
  EXPECT_EQ(messageText(e, e.ranks[0].receives[0].message), "-");
  EXPECT_EQ(messageText(e, e.ranks[0].receives[1].message), "1@1");
}

struct CutCase {
  const char* name;
  const char* program;
  EventRef event;
  std::vector<Serial> cut;
};

std::ostream& operator<<(std::ostream& out, const CutCase& value) {
  return out << value.name;
}

class Cut : public testing::TestWithParam<CutCase> {};

TEST_P(Cut, isTheSmallest) {
  EXPECT_EQ(cutBefore(parseExecution(GetParam().program), GetParam().event), GetParam().cut)
      << GetParam().program;
}

const CutCase kCutCases[] = {
    {"FirstEvent", "0: recv 1\n1: send 0", {0, 1}, {0, 0}},
    {"BeforeAReceive", "0: local; recv 1; local\n1: local; send 0; local", {0, 2}, {1, 0}},
    {"AfterAReceive", "0: local; recv 1; local\n1: local; send 0; local", {0, 3}, {2, 2}},
    {"ThroughOthers",
     "0: recv 1; local\n1: local; recv 2; send 0; local\n2: send 1; send 1",
     {0, 2},
     {1, 3, 1}},
    {"PastTheEnd", "0: recv 1\n1: send 0; local", {0, 9}, {1, 1}},
    {"NoEvent", "0: recv 1\n1: send 0; local", {0, 0}, {0, 0}},
    {"NoRank", "0: recv 1\n1: send 0; local", {7, 1}, {0, 0}},
    {"AfterAPost", "0: irecv 1 a; local; wait a\n1: send 0", {0, 3}, {2, 0}},
    {"AfterAProbe", "0: probe 1; recv 1\n1: local; send 0", {0, 2}, {1, 2}},
    {"AfterAnSsend", "0: local; recv 1; local\n1: ssend 0; local", {1, 2}, {2, 1}},
    {"AfterAnSsendToAPendingReceive",
     "0: irecv 1 a; local; wait a\n1: ssend 0; local",
     {1, 2},
     {1, 1}},
    {"AfterAnSsendToAReceiveThatACrashLeftPending",
     "0: local; irecv 1 a; recv 1\n1: ssend 0; send 0; local",
     {1, 2},
     {2, 1}},
    {"AfterABarrier", "0: barrier; local\n1: local; barrier; local\n2: barrier", {0, 2}, {1, 2, 1}},
    {"AfterTheFirstOfTwoBarriers",
     "0: barrier; local; barrier\n1: barrier; barrier",
     {0, 2},
     {1, 1}},
    {"BarriersOfTwoCommunicators",
     "comm pair: 0 1\n0: barrier @pair; local\n1: barrier @pair\n2: barrier",
     {0, 2},
     {1, 1, 0}},
    {"AfterABcast", "0: bcast 1; local\n1: local; bcast 1; local\n2: bcast 1", {0, 2}, {1, 2, 0}},
    {"AfterABcastAtItsRoot", "0: bcast 0; local\n1: bcast 0\n2: bcast 0", {0, 2}, {1, 0, 0}},
    {"AfterAReduceAtItsRoot",
     "0: reduce 0; local\n1: reduce 0\n2: reduce 0 -give",
     {0, 2},
     {1, 1, 0}},
    {"AfterAScan", "0: scan\n1: scan; local\n2: scan", {1, 2}, {1, 1, 0}},
    {"AfterAnIbarrier",
     "0: ibarrier b; wait b; local\n1: ibarrier b; local; wait b",
     {0, 3},
     {2, 1}},
    {"BetweenAnIbarrierAndItsWait",
     "0: ibarrier b; local; wait b\n1: ibarrier b; wait b",
     {0, 3},
     {2, 0}},
    {"AfterAnExchange", "0: sendrecv 1 1; local\n1: sendrecv 0 0; local", {0, 2}, {1, 1}},
    {"WithinAnExchange", "0: sendrecv 1 1; local\n1: recv 0; send 0", {1, 2}, {1, 1}},
    {"WithinASendrecvOfAnother",
     "0: sendrecv 1 2\n1: recv 0; local\n2: local; send 0; local",
     {1, 2},
     {1, 1, 2}},
};
INSTANTIATE_TEST_SUITE_P(Cases, Cut, testing::ValuesIn(kCutCases));

struct TimeCase {
  const char* name;
  const char* program;
  std::vector<std::vector<std::uint32_t>> times;
};

std::ostream& operator<<(std::ostream& out, const TimeCase& value) {
  return out << value.name;
}

class LogicalTimes : public testing::TestWithParam<TimeCase> {};

TEST_P(LogicalTimes, areLongestPaths) {
  EXPECT_EQ(logicalTimes(parseExecution(GetParam().program)), GetParam().times)
      << GetParam().program;
}

const TimeCase kTimeCases[] = {
    {"ProgramOrder", "0: local; local\n1: local", {{1, 2}, {1}}},
    {"Message", "0: recv 1; local\n1: local; local; send 0; local", {{4, 5}, {1, 2, 3, 4}}},
    {"Probe", "0: probe 1; recv 1\n1: local; send 0", {{3, 4}, {1, 2}}},
    {"PendingReceive",
     "0: irecv 1 a; local; wait a\n1: local; local; send 0",
     {{1, 2, 4}, {1, 2, 3}}},
    {"Waitall",
     "0: irecv 1 a; irecv 2 b; wait a, b\n1: send 0\n2: local; local; local; send 0",
     {{1, 2, 5}, {1}, {1, 2, 3, 4}}},
    {"Barrier",
     "0: barrier; local\n1: local; local; barrier\n2: local; barrier",
     {{3, 4}, {1, 2, 3}, {1, 3}}},
    {"BarrierWithOneThatOnlyTakes",
     "0: allreduce -give\n1: local; allreduce\n2: allreduce",
     {{3}, {1, 2}, {2}}},
    {"BarrierWithOneThatOnlyGives",
     "0: local; local; allreduce -take\n1: allreduce",
     {{1, 2, 3}, {4}}},
    {"Bcast", "0: local; local; bcast 0\n1: bcast 0\n2: local; bcast 0", {{1, 2, 3}, {4}, {1, 4}}},
    {"Reduce", "0: reduce 0\n1: local; reduce 0\n2: reduce 0", {{3}, {1, 2}, {1}}},
    {"Scan", "0: scan\n1: scan\n2: scan", {{1}, {2}, {3}}},
    {"Ibarrier", "0: ibarrier b; wait b\n1: local; ibarrier b; wait b", {{1, 3}, {1, 2, 3}}},
    {"Ssend", "0: local; local; recv 1; local\n1: ssend 0; local", {{1, 2, 3, 4}, {1, 4}}},
    {"SsendToPendingReceive",
     "0: local; irecv 1 a; wait a\n1: ssend 0; local",
     {{1, 2, 4}, {3, 4}}},
    {"SsendThenBarrier", "0: local; recv 1; barrier\n1: ssend 0; barrier", {{1, 2, 3}, {1, 3}}},
    {"Exchange", "0: sendrecv 1 1; local\n1: local; sendrecv 0 0", {{2, 3}, {1, 2}}},
    {"Ring", "0: sendrecv 1 2\n1: local; sendrecv 2 0\n2: sendrecv 0 1", {{2}, {1, 2}, {2}}},
    {"ExchangeAndOneThatWaitsForIt",
     "0: isend 1 & isend 2 & recv 1\n1: sendrecv 0 0\n2: recv 0",
     {{1}, {1}, {2}}},
    {"RingAndOneThatHangsOnIt",
     "0: sendrecv 1 1\n1: local; sendrecv 0 0; send 2\n2: sendrecv 3 1\n3: recv 2",
     {{2}, {1, 2, 3}, {4}, {5}}},
    {"ChainOfSendrecv", "0: local; send 1\n1: sendrecv 2 0\n2: recv 1", {{1, 2}, {3}, {4}}},
    {"SendrecvAroundAReply", "0: sendrecv 1 1\n1: recv 0; send 0", {{4}, {2, 3}}},
    {"SendMissing", "0: recv 1; local\n1: local", {{1, 2}, {1}}},
};
INSTANTIATE_TEST_SUITE_P(Cases, LogicalTimes, testing::ValuesIn(kTimeCases));

}  // namespace
}  // namespace pf::test

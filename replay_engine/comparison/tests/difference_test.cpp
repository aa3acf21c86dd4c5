// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/comparison/difference.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/causality/event_clocks.h"
#include "replay_engine/races/tests/execution_builder.h"

namespace pf {
namespace {

Comparison compare(const std::string& a, const std::string& b,
                   const std::vector<RankFacts>& factsA = {},
                   const std::vector<RankFacts>& factsB = {}) {
  const Execution first = test::parseExecution(a);
  const Execution second = test::parseExecution(b);
  return compareExecutions({first, factsA}, {second, factsB}, true);
}

RankFacts ended(RecordEnd end) {
  RankFacts facts;
  facts.end = end;
  return facts;
}

constexpr const char* kTwoSenders = "0: recv * = 1; recv * = 2\n1: send 0\n2: send 0\n";
constexpr const char* kOtherWay = "0: recv * = 2; recv * = 1\n1: send 0\n2: send 0\n";

TEST(Difference, AnExecutionIsTheSameAsItself) {
  const Comparison same = compare(kTwoSenders, kTwoSenders);
  EXPECT_TRUE(same.same());
  EXPECT_TRUE(same.firstCauses.empty());
  EXPECT_EQ(same.compared, (std::vector<Serial>{2, 1, 1}));
  EXPECT_EQ(same.coneA, (std::vector<Serial>{0, 0, 0}));
}

TEST(Difference, ADeliveryIsACauseAndHasAPlace) {
  const Comparison two = compare(kTwoSenders, kOtherWay);
  ASSERT_TRUE(two.ranks[0]);
  EXPECT_FALSE(two.ranks[1] || two.ranks[2]);
  const Difference& difference = *two.ranks[0];
  EXPECT_EQ(difference.kind, DifferenceKind::Delivery);
  EXPECT_EQ(difference.serial, 1U);
  EXPECT_EQ(difference.ordinal, 1U);
  EXPECT_EQ(difference.a.receive, 0U);
  EXPECT_TRUE(difference.cause);
  EXPECT_EQ(difference.coneA, (std::vector<Serial>{1, 0, 0}));
}

TEST(Difference, WhatFollowsFromItIsNoCause) {
  const Comparison two = compare(
      "0: recv * = 1; recv * = 2; send 3:1\n1: send 0\n2: send 0\n3: local; recv *:* = 0:1\n",
      "0: recv * = 2; recv * = 1; send 3:2\n1: send 0\n2: send 0\n3: local; recv *:* = 0:2\n");
  ASSERT_TRUE(two.ranks[0] && two.ranks[3]);
  EXPECT_EQ(two.firstCauses, std::vector<Rank>{0});
  EXPECT_FALSE(two.ranks[3]->cause);
  EXPECT_EQ(two.ranks[3]->after, std::vector<Rank>{0});
  EXPECT_EQ(two.coneB, (std::vector<Serial>{1, 0, 0, 2}));
}

TEST(Difference, TwoThatKnowNothingOfOneAnotherAreBothCauses) {
  const std::string senders = "2: send 0; send 1\n3: send 0; send 1\n";
  const Comparison two =
      compare("0: recv * = 2; recv * = 3\n1: recv * = 2; recv * = 3\n" + senders,
              "0: recv * = 3; recv * = 2\n1: recv * = 3; recv * = 2\n" + senders);
  EXPECT_EQ(two.firstCauses, (std::vector<Rank>{0, 1}));
}

TEST(Difference, OneThatPrecedesInEitherExecutionIsEnough) {
  // Rank 1 takes rank 0's message in B only, where rank 0 sent it because it took rank 3's first.
  const Comparison two = compare(
      "0: recv * = 2; recv * = 3\n1: recv * = 4\n2: send 0\n3: send 0\n4: send 1\n",
      "0: recv * = 3; recv * = 2; send 1\n1: recv * = 0\n2: send 0\n3: send 0\n4: send 1\n");
  EXPECT_EQ(two.firstCauses, std::vector<Rank>{0});
  EXPECT_EQ(two.ranks[1]->after, std::vector<Rank>{0});
}

TEST(Difference, InACircleBothAreCauses) {
  // In A rank 1 took what rank 0 sent after its own first difference; in B the other way round.
  const Comparison two = compare(
      "0: recv * = 2; send 1; recv * = 1\n1: recv * = 0; send 0; recv * = 2\n2: send 0; send 1\n",
      "0: recv * = 1; send 1; recv * = 2\n1: recv * = 2; send 0; recv * = 0\n2: send 0; send 1\n");
  EXPECT_EQ(two.ranks[0]->after, std::vector<Rank>{1});
  EXPECT_EQ(two.ranks[1]->after, std::vector<Rank>{0});
  EXPECT_EQ(two.firstCauses, (std::vector<Rank>{0, 1}));
}

TEST(Difference, TheSecondMessageOfASourceIsAnother) {
  // The receive posted first has not completed in A: the second one took rank 1's second message.
  const Comparison two =
      compare("0: irecv * a; irecv * b; wait b = 1; wait a = 1\n1: send 0; send 0\n2: send 0\n",
              "0: irecv * a; irecv * b; wait b = 1; wait a = 2\n1: send 0; send 0\n2: send 0\n");
  ASSERT_TRUE(two.ranks[0]);
  EXPECT_EQ(two.ranks[0]->serial, 3U);
  EXPECT_EQ(two.ranks[0]->kind, DifferenceKind::Delivery);
  EXPECT_EQ(two.ranks[0]->a.receive, 1U);
  EXPECT_EQ(two.ranks[0]->ordinal, 2U);
}

TEST(Difference, AnotherSerialOfTheSameSendIsNoDifferenceOfTheReceiver) {
  const Comparison two = compare("0: send 1\n1: recv * = 0\n", "0: local; send 1\n1: recv * = 0\n");
  EXPECT_FALSE(two.ranks[1]);
  ASSERT_TRUE(two.ranks[0]);
  EXPECT_EQ(two.ranks[0]->kind, DifferenceKind::Call);
  EXPECT_EQ(two.coneA, (std::vector<Serial>{1, 1}));
}

TEST(Difference, ProbesOutcomesAndCalls) {
  const std::string sends = "1: send 0\n2: send 0\n";
  const auto kindOf = [&](const std::string& a, const std::string& b) {
    const Comparison two = compare("0: " + a + "\n" + sends, "0: " + b + "\n" + sends);
    return two.ranks[0] ? std::pair(static_cast<int>(two.ranks[0]->kind), two.ranks[0]->serial)
                        : std::pair(-1, Serial{0});
  };
  const auto kind = [](DifferenceKind of) { return static_cast<int>(of); };
  EXPECT_EQ(kindOf("probe * = 1", "probe * = 2"), std::pair(kind(DifferenceKind::Probe), 1UL));
  EXPECT_EQ(kindOf("irecv 1 a; irecv 2 b; wait a = 1; wait b = 2",
                   "irecv 1 a; irecv 2 b; wait b = 2; wait a = 1"),
            std::pair(kind(DifferenceKind::Outcome), 3UL));
  EXPECT_EQ(kindOf("irecv 1 a; cancel; wait a = 1", "irecv 1 a; cancel; wait a cancelled"),
            std::pair(kind(DifferenceKind::Outcome), 3UL));
  EXPECT_EQ(kindOf("irecv 1 a", "recv 1"), std::pair(kind(DifferenceKind::Call), 1UL));
  EXPECT_EQ(kindOf("recv 1; send 1", "recv 1; send 2"), std::pair(kind(DifferenceKind::Call), 2UL));
  EXPECT_EQ(kindOf("recv *", "recv 1"), std::pair(kind(DifferenceKind::Call), 1UL));
}

TEST(Difference, ARecordThatIsCutIsComparedUpToThere) {
  const std::string more = "0: recv * = 1; recv * = 2; local\n1: send 0\n2: send 0\n";
  const std::vector<RankFacts> cut = {ended(RecordEnd::Cut)};
  const std::vector<RankFacts> failed = {ended(RecordEnd::Failed)};
  EXPECT_TRUE(compare(kTwoSenders, more, cut).same());
  EXPECT_EQ(compare(kTwoSenders, more, cut).compared[0], 2U);
  const Comparison two = compare(kTwoSenders, more, failed);
  ASSERT_TRUE(two.ranks[0]);
  EXPECT_EQ(two.ranks[0]->kind, DifferenceKind::End);
  EXPECT_EQ(two.ranks[0]->serial, 3U);
  EXPECT_FALSE(two.ranks[0]->a.there);
  EXPECT_TRUE(two.ranks[0]->b.there);
  EXPECT_TRUE(compare(kTwoSenders, kTwoSenders, failed).ranks[0].has_value());
  EXPECT_TRUE(compare(kTwoSenders, kTwoSenders, failed, failed).same());
}

TEST(Difference, WhatACallWasInsideOfAtACutIsUnknown) {
  const std::string inside = "0: irecv 1 a; wait a\n1: send 0\n";
  Execution cut = test::parseExecution(inside);
  cut.ranks[0].receives[0].completion = 0;
  cut.ranks[0].receives[0].state = ReceiveState::Pending;
  matchMessages(cut);
  const Execution whole = test::parseExecution(inside);
  const std::vector<RankFacts> facts = {ended(RecordEnd::Cut)};
  EXPECT_TRUE(compareExecutions({cut, facts}, {whole, {}}, true).same());
  EXPECT_TRUE(compareExecutions({whole, {}}, {cut, facts}, true).same());
  EXPECT_FALSE(compareExecutions({cut, {}}, {whole, {}}, true).same());
}

TEST(Difference, AReceiveThatNobodyObservedCountsWhereItWasPosted) {
  // Its request was freed: the record has it at the event before that, or at MPI_Finalize.
  const std::string sends = "1: send 0\n2: send 0\n";
  const auto freed = [&](Serial completion, const std::string& source) {
    Execution e = test::parseExecution("0: local; irecv * a; local; local; wait a = " + source +
                                       "\n" + sends);
    e.ranks[0].events.pop_back();
    e.ranks[0].receives[0].completion = completion;
    matchMessages(e);
    return e;
  };
  EXPECT_TRUE(compareExecutions({freed(2, "1"), {}}, {freed(4, "1"), {}}, true).same());
  const Comparison two = compareExecutions({freed(2, "1"), {}}, {freed(4, "2"), {}}, true);
  ASSERT_TRUE(two.ranks[0]);
  EXPECT_EQ(two.ranks[0]->kind, DifferenceKind::Delivery);
  EXPECT_EQ(two.ranks[0]->serial, 2U);
}

TEST(Difference, FailedTestsCountOnlyWhereNothingElseDiffers) {
  RankFacts polls;
  polls.choices = {{{1, 5, {}}, {2, 3, {}}}};
  RankFacts others = polls;
  others.choices[0][1].failedPolls = 4;
  const Comparison same = compare(kTwoSenders, kTwoSenders, {polls}, {others});
  ASSERT_TRUE(same.ranks[0]);
  EXPECT_TRUE(same.ranks[0]->onlyFailedPolls);
  EXPECT_EQ(same.ranks[0]->serial, 2U);
  EXPECT_EQ(same.ranks[0]->b.failedPolls, 4U);
  EXPECT_EQ(same.firstCauses, std::vector<Rank>{0});
  const Comparison other = compare(kTwoSenders, kOtherWay, {polls}, {others});
  EXPECT_FALSE(other.ranks[0]->onlyFailedPolls);
  EXPECT_FALSE(other.failedPolls[0]) << "they differ only after the delivery";
  others.choices[0][0].failedPolls = 0;
  ASSERT_TRUE(compare(kTwoSenders, kOtherWay, {polls}, {others}).failedPolls[0]);
}

TEST(Difference, TheIndexThatWaitanyReturned) {
  const std::string text = "0: isend 1; isend 1; local; local\n1: recv 0; recv 0\n";
  RankFacts a;
  a.choices = {{{3, 0, {1}}}};
  RankFacts b;
  b.choices = {{{3, 0, {2}}}};
  const Comparison two = compare(text, text, {a}, {b});
  ASSERT_TRUE(two.ranks[0]);
  EXPECT_EQ(two.ranks[0]->kind, DifferenceKind::Outcome);
  EXPECT_EQ(two.ranks[0]->serial, 3U);
  EXPECT_EQ(two.ranks[0]->b.payload, std::vector<std::uint64_t>{2});
  EXPECT_TRUE(two.ranks[0]->cause);
}

TEST(Difference, ATestThatSucceededInOneOnly) {
  Execution a = test::parseExecution("0: local; irecv 1 a; wait a; send 1\n1: send 0; recv 0\n");
  a.callNames.push_back("MPI_Test");
  a.ranks[0].events[2].call = 2;
  Execution b = test::parseExecution("0: local; irecv 1 a; send 1; wait a\n1: send 0; recv 0\n");
  const Comparison two = compareExecutions({a, {}}, {b, {}}, true);
  ASSERT_TRUE(two.ranks[0]);
  EXPECT_EQ(two.ranks[0]->kind, DifferenceKind::Outcome);
  EXPECT_TRUE(two.ranks[0]->otherCall);
  EXPECT_EQ(two.coneB, (std::vector<Serial>{3, 2})) << "what the other call sends is after it";
}

TEST(Difference, PlacesCountOnlyWithinABuild) {
  Execution a = test::parseExecution("0: local\n");
  a.sites = {{"/old/app", 16, "main", "app.c", 3}};
  a.ranks[0].events[0].site = 0;
  Execution b = a;
  b.sites[0].module = "/new/app";
  EXPECT_TRUE(compareExecutions({a, {}}, {b, {}}, true).same());
  b.sites[0].offset = 32;
  EXPECT_FALSE(compareExecutions({a, {}}, {b, {}}, true).same());
  EXPECT_TRUE(compareExecutions({a, {}}, {b, {}}, false).same());
}

TEST(Difference, CallsFromPythonAreToldApartByFunction) {
  Execution a = test::parseExecution("0: local; local\n");
  a.sites = {{"/usr/mpi4py/MPI.so", 16, "main", "/home/app.py", 3},
             {"/usr/mpi4py/MPI.so", 16, "Worker.run", "/home/app.py", 9}};
  a.ranks[0].events[0].site = 0;
  a.ranks[0].events[1].site = 1;
  Execution b = a;
  EXPECT_TRUE(compareExecutions({a, {}}, {b, {}}, true).same());
  b.sites[0].line = 5;  // the source was edited
  b.sites[1].file = "/work/app.py";
  EXPECT_TRUE(compareExecutions({a, {}}, {b, {}}, true).same());
  b.ranks[0].events[1].site = 0;
  const Comparison two = compareExecutions({a, {}}, {b, {}}, true);
  ASSERT_TRUE(two.ranks[0]);
  EXPECT_EQ(two.ranks[0]->serial, 2U);
}

/// "0.2s" is the sending half of rank 0's event 2, "0.2r" the rest of it.
std::map<std::string, std::vector<std::uint32_t>> clocks(const std::string& text) {
  std::map<std::string, std::vector<std::uint32_t>> result;
  visitClocks(test::parseExecution(text), [&](const ClockStep& step) {
    const char* part = step.part == ClockStep::Part::Whole  ? ""
                       : step.part == ClockStep::Part::Send ? "s"
                                                            : "r";
    result[std::to_string(step.event.rank) + "." + std::to_string(step.event.serial) + part].assign(
        step.clock.begin(), step.clock.end());
  });
  return result;
}

using ClockValue = std::vector<std::uint32_t>;

TEST(EventClocks, FollowMessages) {
  auto all = clocks("0: local; send 1\n1: recv 0; send 2\n2: irecv 1 a; local; wait a\n");
  EXPECT_EQ(all["0.2"], (ClockValue{2, 0, 0}));
  EXPECT_EQ(all["1.1"], (ClockValue{2, 1, 0}));
  EXPECT_EQ(all["2.2"], (ClockValue{0, 0, 2}));
  EXPECT_EQ(all["2.3"], (ClockValue{2, 2, 3}));
}

TEST(EventClocks, AnExchangeIsNoCircle) {
  auto all = clocks("0: sendrecv 1 1\n1: sendrecv 0 0\n");
  EXPECT_EQ(all["0.1s"], (ClockValue{1, 0}));
  EXPECT_EQ(all["0.1r"], (ClockValue{2, 1}));
  EXPECT_EQ(all["1.1r"], (ClockValue{1, 2}));
}

TEST(EventClocks, ThoseWhoMeetKnowWhatWasBefore) {
  auto all = clocks("0: local; barrier; local\n1: barrier; bcast 0\n0: bcast 0\n");
  EXPECT_EQ(all["0.2"], (ClockValue{2, 0}));
  EXPECT_EQ(all["1.1"], (ClockValue{1, 1}));
  EXPECT_EQ(all["1.2"], (ClockValue{4, 2}));
}

}  // namespace
}  // namespace pf

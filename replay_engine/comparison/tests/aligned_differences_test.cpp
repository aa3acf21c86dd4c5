// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/comparison/aligned_differences.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/races/tests/execution_builder.h"

namespace pf {
namespace {

AlignedDifferences alignedRuns(const Execution& a, const Execution& b, const FailedRun& failed = {},
                               const std::vector<RankFacts>& factsA = {},
                               const std::vector<RankFacts>& factsB = {}) {
  const ComparedRun runA{a, factsA};
  const ComparedRun runB{b, factsB};
  return alignDifferences(runA, runB, true, compareExecutions(runA, runB, true), failed);
}

const char* kindName(AlignedKind kind) {
  switch (kind) {
    case AlignedKind::Order:
      return "order";
    case AlignedKind::Delivery:
      return "delivery";
    case AlignedKind::Size:
      return "size";
    case AlignedKind::OnlyA:
      return "only A";
    case AlignedKind::OnlyB:
      return "only B";
  }
  return "";
}

/// "0: order 2/1 +3 first; …": rank, kind, events of A and B, how many follow, weight (but "other"): the roots as ranked.
std::string differencesText(const AlignedDifferences& differences) {
  std::string all;
  for (const std::size_t root : differences.roots) {
    const AlignedDifference& one = differences.all[root];
    all += (all.empty() ? "" : "; ") + std::to_string(one.rank) + ": " + kindName(one.kind) + " " +
           (one.a != 0 ? std::to_string(one.a) : "-") + "/" +
           (one.b != 0 ? std::to_string(one.b) : "-");
    all += one.followers != 0 ? " +" + std::to_string(one.followers) : "";
    all += one.weight != RaceWeight::Other ? std::string(" ") + pf::nameOf(one.weight) : "";
  }
  return all;
}

std::string differencesText(const std::string& a, const std::string& b,
                            const FailedRun& failed = {}, const std::vector<RankFacts>& factsA = {},
                            const std::vector<RankFacts>& factsB = {}) {
  return differencesText(
      alignedRuns(test::parseExecution(a), test::parseExecution(b), failed, factsA, factsB));
}

RankFacts endingBy(RecordEnd end) {
  RankFacts facts;
  facts.end = end;
  return facts;
}

constexpr FailedRun kRank0OfB{true, true, 0};
const std::string kSenders = "1: send 0; send 0; send 0:9\n2: send 0; send 0; send 0:9\n";

TEST(AlignedDifferences, NoneInItself) {
  const std::string run = "0: recv * = 1; recv * = 2\n1: send 0\n2: send 0\n";
  EXPECT_EQ(differencesText(run, run), "");
}

/// The first difference is of no importance; the last one is the one that failed.
TEST(AlignedDifferences, AfterADifferenceTheyAreAlignedAgain) {
  EXPECT_EQ(differencesText("0: recv * = 1; recv * = 2; local; recv * = 1; recv * = 2; local; "
                            "recv *:9 = 1:9; local; recv *:9 = 2:9\n" +
                                kSenders,
                            "0: recv * = 2; recv * = 1; local; recv * = 1; recv * = 2; local; "
                            "recv *:9 = 2:9; local; recv *:9 = 1:9\n" +
                                kSenders,
                            kRank0OfB),
            "0: order 9/9 first; 0: order 1/1 +1 before failure; 0: order 7/7 before failure");
}

TEST(AlignedDifferences, AnEventInOneOnly) {
  EXPECT_EQ(differencesText("0: local; send 1; local\n1: recv 0\n",
                            "0: local; send 1; send 1:5; local\n1: recv 0\n"),
            "0: only B -/3");
  EXPECT_EQ(differencesText("0: local; send 1:4; send 1; local\n1: recv 0\n",
                            "0: local; send 1; local\n1: recv 0\n"),
            "0: only A 2/-");
}

/// What a program does after another delivery follows; another choice of MPI's does not.
TEST(AlignedDifferences, CallsFollowAndChoicesDoNot) {
  EXPECT_EQ(differencesText("0: recv * = 1; send 1:5; local; recv *:9 = 1:9; recv *:8 = 1:8\n"
                            "1: send 0; send 0:9; send 0:8\n2: send 0; send 0:9; send 0:8\n",
                            "0: recv * = 2; send 2:5; local; recv *:9 = 2:9; recv *:8 = 1:8\n"
                            "1: send 0; send 0:9; send 0:8\n2: send 0; send 0:9; send 0:8\n"),
            "0: delivery 1/1 +2; 0: delivery 4/4");
}

/// The master answers whoever was first, so calls differ from event 2 on; the last two receives are what matters.
TEST(AlignedDifferences, AMasterAndItsWorkers) {
  const std::string workers =
      "1: send 0; recv 0; send 0; recv 0; send 0:9\n2: send 0; recv 0; send 0; recv 0; send 0:9\n";
  EXPECT_EQ(
      differencesText("0: recv * = 1; send 1; recv * = 2; send 2; recv * = 1; send 1; "
                      "recv * = 2; send 2; local; recv *:9 = 1:9; recv *:9 = 2:9\n" +
                          workers,
                      "0: recv * = 2; send 2; recv * = 1; send 1; recv * = 1; send 1; "
                      "recv * = 2; send 2; local; recv *:9 = 2:9; recv *:9 = 1:9\n" +
                          workers,
                      kRank0OfB),
      "0: order 10/10 +1 first; 0: order 1/1 +2 before failure; 0: order 5/3 +1 before failure");
}

/// Two receives of other places: the second one has no choice any more.
TEST(AlignedDifferences, WhoTakesWhatIsLeftFollows) {
  const std::string senders = "1: send 0:9\n2: send 0:9\n";
  Execution a = test::parseExecution("0: recv *:9 = 1:9; recv *:9 = 2:9; local\n" + senders);
  Execution b = test::parseExecution("0: recv *:9 = 2:9; recv *:9 = 1:9; local\n" + senders);
  for (Execution* each : {&a, &b}) {
    each->sites = {{"app", 1, "main", "a.c", 1}, {"app", 2, "main", "a.c", 2}};
    each->ranks[0].events[0].site = 0;
    each->ranks[0].events[1].site = 1;
  }
  EXPECT_EQ(differencesText(alignedRuns(a, b)), "0: order 1/1 +1");
}

/// Rank 3 gets another message because rank 0 sent another one.
TEST(AlignedDifferences, WhatAnotherRankDoesFollows) {
  const AlignedDifferences both =
      alignedRuns(test::parseExecution(
                      "0: recv * = 1; send 3:1\n1: send 0\n2: send 0\n3: local; recv *:* = 0:1\n"),
                  test::parseExecution(
                      "0: recv * = 2; send 3:2\n1: send 0\n2: send 0\n3: local; recv *:* = 0:2\n"));
  EXPECT_EQ(differencesText(both), "0: delivery 1/1 +3");
  ASSERT_EQ(both.all.size(), 4U);
  EXPECT_EQ(both.all[3].rank, 3);
  EXPECT_EQ(both.all[3].root, 0U);
}

TEST(AlignedDifferences, WhatTheFailureDoesNotDependOnComesLast) {
  const std::string senders = "2: send 0; send 1\n3: send 0; send 1\n";
  EXPECT_EQ(differencesText(
                "0: recv * = 2; local; recv * = 3\n1: recv * = 2; local; recv * = 3\n" + senders,
                "0: recv * = 3; local; recv * = 2\n1: recv * = 3; local; recv * = 2\n" + senders,
                {true, true, 1}),
            "1: order 3/3 first; 1: order 1/1 before failure; 0: order 1/1; 0: order 3/3");
}

/// A run that was ended may have come to what the other did.
TEST(AlignedDifferences, BehindTheEndOfARecordThatIsCutNothingIsKnown) {
  const std::string senders = "1: send 0\n2: send 0\n";
  const std::string whole = "0: recv * = 1; recv * = 2; local; local\n" + senders;
  const std::string cut = "0: recv * = 1; recv * = 2\n" + senders;
  EXPECT_EQ(differencesText(whole, cut, {}, {}, {endingBy(RecordEnd::Cut)}), "");
  EXPECT_EQ(differencesText(cut, whole, {}, {endingBy(RecordEnd::Cut)}), "");
  EXPECT_EQ(differencesText(whole, cut, {}, {}, {endingBy(RecordEnd::Failed)}), "0: only A 3/- +1");
}

TEST(AlignedDifferences, WhatTheLastEventOfACutRecordTookIsUnknown) {
  const std::string inside = "0: irecv * a; wait a = 1; local\n1: send 0\n";
  Execution cut = test::parseExecution(inside);
  cut.ranks[0].events.pop_back();
  cut.ranks[0].receives[0].completion = 0;
  cut.ranks[0].receives[0].state = ReceiveState::Pending;
  matchMessages(cut);
  EXPECT_EQ(differencesText(
                alignedRuns(test::parseExecution(inside), cut, {}, {}, {endingBy(RecordEnd::Cut)})),
            "");
  EXPECT_EQ(differencesText(alignedRuns(test::parseExecution(inside), cut)), "0: delivery 2/2 +1");
}

TEST(AlignedDifferences, AnotherSize) {
  const std::string run = "0: send 1; local; send 1\n1: recv 0; recv 0\n";
  const Execution a = test::parseExecution(run);
  Execution b = test::parseExecution(run);
  b.ranks[0].events[2].bytes = a.ranks[0].events[2].bytes + 8;
  EXPECT_EQ(differencesText(alignedRuns(a, b)), "0: size 3/3");
}

/// Two million events in all, half of them of one rank that takes from any source.
TEST(AlignedDifferences, TwoMillionEvents) {
  constexpr std::size_t kWorkers = 7;
  constexpr std::size_t kEach = 71'429;
  const auto make = [](std::uint32_t salt) {
    Execution e;
    e.callNames = {"MPI_Send", "MPI_Recv"};
    e.communicators.push_back({0, "MPI_COMM_WORLD", {0, 1, 2, 3, 4, 5, 6, 7}, {}});
    e.ranks.resize(kWorkers + 1);
    std::vector<std::size_t> sent(kWorkers, 0);
    for (std::size_t i = 0; i < kWorkers * kEach; ++i) {
      std::size_t worker = (i * 2654435761U + salt * (i / 50)) % kWorkers;
      while (sent[worker] == kEach) {
        worker = (worker + 1) % kWorkers;
      }
      ++sent[worker];
      const Rank rank = static_cast<Rank>(worker) + 1;
      const Serial serial = i + 1;
      Event receive;
      receive.kind = EventKind::Receive;
      receive.call = 1;
      receive.comm = 0;
      receive.peer = kAnySource;
      receive.tag = 0;
      e.ranks[0].events.push_back(receive);
      PostedReceive posted;
      posted.post = posted.completion = serial;
      posted.comm = 0;
      posted.wantedTag = posted.tag = 0;
      posted.state = ReceiveState::Complete;
      posted.source = rank;
      e.ranks[0].receives.push_back(posted);
      Event send;
      send.kind = EventKind::Send;
      send.comm = 0;
      send.peer = 0;
      send.tag = 0;
      e.ranks[index(rank)].events.push_back(send);
      e.ranks[index(rank)].sends.push_back({sent[worker], 0, 0, 0, false, 0});
    }
    matchMessages(e);
    return e;
  };
  const Execution a = make(1);
  const Execution b = make(3);
  const AlignedDifferences both = alignedRuns(a, b, kRank0OfB);
  EXPECT_FALSE(both.roots.empty());
  std::size_t said = both.roots.size();
  for (const std::size_t root : both.roots) {
    said += both.all[root].followers;
  }
  EXPECT_EQ(said, both.all.size()) << "each difference is listed or counted";
}

}  // namespace
}  // namespace pf

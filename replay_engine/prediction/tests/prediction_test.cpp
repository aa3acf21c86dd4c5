// SPDX-License-Identifier: GPL-3.0-or-later
// One rule of matching after the other: a program in which it decides, and one in which it does not.
#include "replay_engine/prediction/prediction.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "replay_engine/prediction/tests/brute_force.h"

namespace pf::prediction::test {
namespace {

std::string eventName(EventRef event) {
  return std::to_string(event.rank) + "@" + std::to_string(event.serial);
}

/// "deadlock 2@2 if 2@1<1@1": who waits, and what is taken instead. A send that has to wait has an s.
std::string lineOf(const Prediction& prediction) {
  std::string text = prediction.kind == PredictionKind::Deadlock     ? "deadlock"
                     : prediction.kind == PredictionKind::Truncation ? "truncation"
                                                                     : "unreceived";
  for (const BlockedRank& blocked : prediction.blocked) {
    text += " " + eventName(blocked.event) + (blocked.standardSend ? "s" : "");
  }
  if (prediction.kind == PredictionKind::Truncation) {
    text += " " + eventName(prediction.receive) + "<" + eventName(prediction.send) + " " +
            std::to_string(prediction.bytes) + ">" + std::to_string(prediction.room);
  }
  if (prediction.kind == PredictionKind::Unreceived) {
    text += " " + eventName(prediction.send);
  }
  text += prediction.flips.empty() ? "" : " if";
  for (const PredictedMatch& flip : prediction.flips) {
    text += " " + eventName(flip.receive) + (flip.probe ? "p" : "") + "<" + eventName(flip.send);
  }
  return text;
}

std::string linesOf(const Result<Predictions>& predictions) {
  if (!predictions) {
    return "error: " + predictions.error().message;
  }
  std::vector<std::string> lines;
  for (const Prediction& prediction : predictions->found) {
    lines.push_back(lineOf(prediction));
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) {
    text += (text.empty() ? "" : "; ") + line;
  }
  return text + (predictions->decided ? "" : " not decided");
}

/// From the run in which the first thing that can happens.
std::string predicted(const char* text) {
  const Recording recording = record(parseProgram(text), 0);
  EXPECT_TRUE(recording.ended) << text;
  return linesOf(predict(recording.execution, recording.facts));
}

TEST(Prediction, AReceiveOfAnySourceTakesTheMessageThatANamedOneNeeds) {
  EXPECT_EQ(predicted("0: send 2\n1: send 2\n2: recv *; recv 1\n"), "deadlock 2@2 if 2@1<1@1");
}

TEST(Prediction, OneFlipIsToldWhereOneIsEnough) {
  EXPECT_EQ(predicted("0: send 3\n1: send 3\n2: send 3\n3: recv *; recv *; recv 2\n"),
            "deadlock 3@3 if 3@1<2@1");
}

TEST(Prediction, WithoutWildcardsNothingIsPredicted) {
  EXPECT_EQ(predicted("0: bsend 1; recv 1\n1: bsend 0; recv 0; recv 2\n2: bsend 1\n"), "");
}

TEST(Prediction, TagsKeepMessagesApart) {
  EXPECT_EQ(predicted("0: send 2:1\n1: send 2:2\n2: recv *:1; recv 1:2\n"), "");
  EXPECT_EQ(predicted("0: send 2:1\n1: send 2:2\n2: recv *:*; recv 1:2\n"),
            "deadlock 2@2 if 2@1<1@1");
}

TEST(Prediction, CommunicatorsKeepMessagesApart) {
  const std::string other = "comm other: 0 1 2\n";
  EXPECT_EQ(predicted((other + "0: send 2\n1: send 2@other\n2: recv *; recv 1@other\n").c_str()),
            "");
}

TEST(Prediction, MessagesOfOneSenderAreTakenInTheirOrder) {
  EXPECT_EQ(predicted("0: bsend 1:1; bsend 1:2\n1: recv 0:*; recv 0:2\n"), "");
  // Of two senders they are not.
  EXPECT_EQ(predicted("0: send 2:1\n1: send 2:2\n2: recv *:*; recv *:2\n"),
            "deadlock 2@2 if 2@1<1@1");
  // Nor where the first is not accepted.
  EXPECT_EQ(predicted("0: bsend 1:1; bsend 1:2\n1: recv 0:2; recv 0:1\n"), "");
}

TEST(Prediction, ReceivesOfARankTakeInTheOrderOfTheirPosts) {
  EXPECT_EQ(predicted("0: send 2\n1: send 2\n2: irecv 0 a; irecv * b; waitall a b\n"), "");
  EXPECT_EQ(predicted("0: send 2\n1: send 2\n2: irecv * a; irecv 1 b; waitall a b\n"),
            "deadlock 2@3 if 2@1<1@1");
}

TEST(Prediction, AReceiveTakesNothingThatAnOpenOneBeforeItAccepts) {
  // The second receive ends only after the first: rank 1's message comes too late for that.
  EXPECT_EQ(predicted("0: bsend 2:2\n1: recv 2; bsend 2:2\n"
                      "2: irecv *:* a; irecv *:1 b; wait b; bsend 1; recv 1:2; wait a\n"
                      "3: bsend 2:1\n"),
            "deadlock 1@1 2@3 if 2@1<3@1");
}

TEST(Prediction, AReceiveThatIsPostedAheadIsOpenUntilItsWait) {
  EXPECT_EQ(predicted("0: send 2\n1: recv 2; send 2\n2: irecv * a; bsend 1; wait a; recv 1\n"),
            "deadlock 2@4 if 2@1<1@2");
  EXPECT_EQ(predicted("0: send 2\n1: recv 2; send 2\n2: irecv * a; wait a; bsend 1; recv 1\n"), "");
}

TEST(Prediction, ASynchronousSendEndsWhenItsMessageIsTaken) {
  EXPECT_EQ(predicted("0: ssend 2; bsend 1\n1: recv 0; bsend 2\n2: recv *; recv 1\n"), "");
  EXPECT_EQ(predicted("0: bsend 2; bsend 1\n1: recv 0; bsend 2\n2: recv *; recv 1\n"),
            "deadlock 2@2 if 2@1<1@2");
}

TEST(Prediction, TheWaitOfANonBlockingSynchronousSendIsWhereItEnds) {
  EXPECT_EQ(predicted("0: issend 2 a; wait a; bsend 1\n1: recv 0; bsend 2\n2: recv *; recv 1\n"),
            "");
  EXPECT_EQ(predicted("0: issend 2 a; bsend 1; wait a\n1: recv 0; bsend 2\n2: recv *; recv 1\n"),
            "deadlock 0@3 2@2 if 2@1<1@2");
}

TEST(Prediction, StandardSendsThatWaitAreTold) {
  EXPECT_EQ(predicted("0: send 1; recv 1\n1: send 0; recv 0\n"), "deadlock 0@1s 1@1s");
  EXPECT_EQ(predicted("0: bsend 1; recv 1\n1: bsend 0; recv 0\n"), "");
  EXPECT_EQ(predicted("0: sendrecv 1 1\n1: sendrecv 0 0\n"), "");
}

TEST(Prediction, SomeStandardSendsMayWaitWhereOthersDoNot) {
  // In the second, rank 0's first send does not wait, and its second does.
  EXPECT_EQ(predicted("0: send 2; send 1:5; recv 1:7\n"
                      "1: send 0:7; recv 0:5; send 2:9\n"
                      "2: recv 1:9; recv 0\n"),
            "deadlock 0@1s 1@1s 2@1; deadlock 0@1s 1@2 2@1; deadlock 0@2s 1@1s 2@1");
}

TEST(Prediction, ABarrierHoldsAllAndARootedCollectiveWhoNeedsIt) {
  EXPECT_EQ(predicted("0: bsend 2; barrier\n1: barrier; bsend 2\n2: recv *; barrier; recv 1\n"),
            "");
  EXPECT_EQ(predicted("0: bsend 2; reduce 0\n1: reduce 0; bsend 2\n2: recv *; reduce 0; recv 1\n"),
            "deadlock 2@3 if 2@1<1@2");
  EXPECT_EQ(predicted("0: bsend 2; reduce 1\n1: reduce 1; bsend 2\n2: recv *; reduce 1; recv 1\n"),
            "");
  EXPECT_EQ(predicted("0: bsend 2; bcast 2\n1: bcast 2; bsend 2\n2: recv *; bcast 2; recv 1\n"),
            "");
  EXPECT_EQ(predicted("0: bsend 2; bcast 0\n1: bcast 0; bsend 2\n2: recv *; bcast 0; recv 1\n"),
            "deadlock 2@3 if 2@1<1@2");
  EXPECT_EQ(predicted("0: recv *; scan; recv 2\n1: bsend 0; scan\n2: scan; bsend 0\n"), "");
  EXPECT_EQ(predicted("0: bsend 2; scan\n1: scan; bsend 2\n2: recv *; scan; recv 1\n"),
            "deadlock 2@3 if 2@1<1@2");
}

TEST(Prediction, ANonBlockingBarrierHoldsWhereItIsWaitedFor) {
  EXPECT_EQ(predicted("0: bsend 2; ibarrier a\n1: ibarrier a; wait a; bsend 2\n"
                      "2: recv *; ibarrier a; recv 1\n"),
            "");
  EXPECT_EQ(predicted("0: bsend 2; ibarrier a\n1: ibarrier a; bsend 2\n"
                      "2: recv *; ibarrier a; recv 1\n"),
            "deadlock 2@3 if 2@1<1@2");
}

TEST(Prediction, MpiWaitanyEndsWithWhateverIsDone) {
  // It ends with rank 0's message, so rank 1 gets what it needs to send.
  EXPECT_EQ(predicted("0: bsend 2\n1: recv 2; bsend 2\n2: irecv 0 a; irecv 1 b; waitany; bsend 1; "
                      "waitall a b\n"),
            "");
  // Here the first receive takes rank 1's message, and nobody sends the second one any.
  EXPECT_EQ(predicted("0: bsend 2\n1: bsend 2\n2: irecv * a; irecv 1 b; waitany; waitany\n"),
            "deadlock 2@4 if 2@1<1@1");
}

TEST(Prediction, AProbeChoosesForTheReceiveThatNamesWhatItSaw) {
  EXPECT_EQ(predicted("0: send 2\n1: send 2\n2: probe *; recvprobed; recv 1\n"),
            "deadlock 2@3 if 2@1p<1@1");
  EXPECT_EQ(predicted("0: send 2\n1: send 2\n2: mprobe *; recv 1\n"), "deadlock 2@2 if 2@1<1@1");
}

TEST(Prediction, AProbeWaitsForAMessageThatNoReceiveTakesBefore) {
  EXPECT_EQ(predicted("0: send 2\n1: send 2\n2: irecv * a; probe 1; recvprobed; wait a\n"),
            "deadlock 2@2 if 2@1<1@1");
}

TEST(Prediction, MessagesThatNobodyReceives) {
  EXPECT_EQ(predicted("0: bsend 2\n1: bsend 2\n2: recv *\n"), "unreceived 0@1 if 2@1<1@1");
  EXPECT_EQ(predicted("0: send 2\n1: send 2\n2: recv *; recv *\n"), "");
  EXPECT_EQ(predicted("0: bsend 2\n1: bsend 2\n2: recv 0\n"), "");
}

TEST(Prediction, MessagesThatDoNotFit) {
  EXPECT_EQ(predicted("0: send 2 #8\n1: send 2 #16\n2: recv * #8; recv * #16\n"),
            "truncation 2@1<1@1 16>8 if 2@1<1@1");
  EXPECT_EQ(predicted("0: send 2 #8\n1: send 2 #16\n2: recv * #16; recv * #16\n"), "");
}

TEST(Prediction, OfARecordThatIsCutWhatComesAfterItIsNotGuessed) {
  const Program program =
      parseProgram("0: bsend 2\n1: bsend 2\n2: recv *; recv 1\n3: recv *; local\n");
  Recording hung;
  for (std::uint64_t seed = 1; hung.execution.ranks.empty() || !hung.facts.cut[2]; ++seed) {
    hung = record(program, seed);  // rank 3 hangs always
  }
  EXPECT_EQ(linesOf(predict(hung.execution, hung.facts)), "") << "the recorded one is no other";
  Recording cut = record(program, 0);
  ASSERT_FALSE(cut.facts.cut[2]);
  EXPECT_EQ(linesOf(predict(cut.execution, cut.facts)), "deadlock 2@2 3@1 if 2@1<1@1");
  cut.facts.cut[0] = true;  // it may have sent more
  EXPECT_EQ(linesOf(predict(cut.execution, cut.facts)), "");
}

TEST(Prediction, WhatIsNotModelledIsNamed) {
  const Recording good = record(parseProgram("0: send 1\n1: recv *\n"), 0);
  Recording threads = good;
  threads.execution.ranks[1].events[0].lane = 1;
  EXPECT_EQ(
      linesOf(predict(threads.execution, threads.facts)),
      "error: nothing can be predicted from this recording: the program used calls of several "
      "threads of a rank, whose part in the order of messages is not modelled");
  Recording cancelled = good;
  cancelled.execution.ranks[1].receives[0].state = ReceiveState::Cancelled;
  EXPECT_NE(linesOf(predict(cancelled.execution, cancelled.facts)).find("MPI_Cancel"),
            std::string::npos);
  Recording inter = record(parseProgram("0: barrier\n1: barrier\n"), 0);
  inter.execution.communicators[0].remote = {1};
  EXPECT_NE(
      linesOf(predict(inter.execution, inter.facts)).find("MPI_Barrier on an inter-communicator"),
      std::string::npos);
  for (const char* const call : {"MPI_Neighbor_alltoall", "MPI_Start"}) {  // of one of neighbours
    Recording neighbours = record(parseProgram("0: barrier\n1: barrier\n"), 0);
    neighbours.execution.callNames[14] = call;
    neighbours.execution.ranks[0].collectives[0].flow = CollectiveFlow::None;
    EXPECT_NE(linesOf(predict(neighbours.execution, neighbours.facts)).find(call),
              std::string::npos);
  }
}

TEST(Prediction, DamagedRecordsAreNoHarm) {
  Recording recording = record(parseProgram("0: send 1; barrier\n1: recv *; barrier\n"), 0);
  recording.execution.ranks[0].sends[0].event = 77;
  recording.execution.ranks[1].receives[0].completion = 99;
  recording.execution.ranks[1].collectives[0].event = 0;
  recording.execution.ranks[0].collectives[0].comm = 5;
  recording.execution.ranks[1].receives[0].message = 1234567;
  recording.facts.sizes.clear();
  (void)predict(recording.execution, recording.facts);
  (void)predict(Execution(), {});
}

TEST(Prediction, WhatIsTooLargeIsToldAndTimeIsKept) {
  const Recording recording = record(parseProgram("0: send 2\n1: send 2\n2: recv *; recv 1\n"), 0);
  PredictionLimits limits;
  limits.events = 3;
  EXPECT_NE(linesOf(predict(recording.execution, recording.facts, limits)).find("4 events"),
            std::string::npos);
  limits = {};
  limits.matches = 2;
  EXPECT_NE(linesOf(predict(recording.execution, recording.facts, limits)).find("at most 2"),
            std::string::npos);
  limits = {};
  limits.time = std::chrono::milliseconds(0);
  EXPECT_EQ(linesOf(predict(recording.execution, recording.facts, limits)), " not decided");
}

}  // namespace
}  // namespace pf::prediction::test

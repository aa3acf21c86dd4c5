// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/daemon/session_logic.h"

#include <csignal>

#include <gtest/gtest.h>

#include "replay_engine/daemon/tests/simulated_session.h"

namespace pf::daemon {
namespace {

using namespace protocol;  // NOLINT(google-build-using-namespace): messages
using Stops = std::vector<std::uint64_t>;

TEST(Gate, OpensOnTheClientsOrderOnceAllRanksAreThere) {
  SimulatedSession s(3);
  s.client();
  s.order(OpenGate{});
  for (const std::int32_t rank : {2, 0}) {
    s.agent(rank);
    s.at(rank, RankPhase::Gated, 1);
  }
  EXPECT_TRUE(s.sent<OpenGate>(SimulatedSession::agentOf(0)).empty());
  s.agent(1);
  EXPECT_FALSE(s.logic.state().allGated);
  s.at(1, RankPhase::Gated, 1);
  EXPECT_TRUE(s.logic.state().allGated);
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(s.sent<OpenGate>(SimulatedSession::agentOf(rank)).size(), 1U) << rank;
  }
  EXPECT_TRUE(s.sent<SessionState>().back().gateOpen);
}

TEST(Stacks, EachRankIsAskedAndAnswersUnderItsOwnNumber) {
  SimulatedSession s(3);
  s.start();
  s.says(2, RankExited{2, 0, 0, RankPhase::Finalized, 5, "exit status 0"});
  s.order(AskStack{{}, 7});
  for (const std::int32_t rank : {0, 1}) {
    const auto asked = s.sent<AskStack>(SimulatedSession::agentOf(rank));
    ASSERT_EQ(asked.size(), 1U) << rank;
    EXPECT_EQ(asked[0].question, 7U);
  }
  EXPECT_TRUE(s.sent<AskStack>(SimulatedSession::agentOf(2)).empty());
  s.says(1, RankStack{77, 7, 1, {}, {{"/bin/app", 17}}, {}});
  const auto answers = s.sent<RankStack>();
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].rank, 2);  // at once: nobody waits for a rank that has ended
  EXPECT_FALSE(answers[0].text.empty());
  EXPECT_EQ(answers[1].rank, 1);
  EXPECT_EQ(answers[1].call, "MPI_Recv");
}

TEST(Gate, StaysShutWithoutAnOrder) {
  SimulatedSession s(1);
  s.client();
  s.agent(0);
  s.at(0, RankPhase::Gated, 1);
  s.pass(20'000);
  EXPECT_TRUE(s.sent<SessionState>().back().allGated);
  EXPECT_TRUE(s.sent<OpenGate>(SimulatedSession::agentOf(0)).empty());
}

TEST(Gate, OpensForSomeRanks) {
  SimulatedSession s(2);
  s.client();
  s.agent(0);
  s.agent(1);
  s.at(0, RankPhase::Gated, 1);
  s.at(1, RankPhase::Gated, 1);
  s.order(OpenGate{{1}});
  EXPECT_TRUE(s.sent<OpenGate>(SimulatedSession::agentOf(0)).empty());
  EXPECT_EQ(s.sent<OpenGate>(SimulatedSession::agentOf(1)).size(), 1U);
  EXPECT_FALSE(s.logic.state().gateOpen);
  s.order(OpenGate{{0}});
  EXPECT_TRUE(s.logic.state().gateOpen);
}

TEST(Gate, PlanMayOpenItAndGivesTheFirstStops) {
  SimulatedSession s(2);
  s.client();
  s.order(Plan{{0, 9}, 1, true});
  s.agent(0);
  s.agent(1);
  const auto configured = s.sent<Configure>(SimulatedSession::agentOf(1));
  ASSERT_EQ(configured.size(), 1U);
  EXPECT_EQ(configured[0].stopAt, 9U);
  EXPECT_EQ(configured[0].schedulePath, "/s/1");
  EXPECT_EQ(configured[0].mode, kReplay | kGate);
  s.at(0, RankPhase::Gated, 1);
  s.at(1, RankPhase::Gated, 1);
  EXPECT_TRUE(s.logic.state().gateOpen);
}

TEST(Recording, IsConfiguredByTheAgentItself) {
  SimulatedSession s(2, kRecordChoices);
  s.agent(0);
  EXPECT_TRUE(s.sent<Configure>(SimulatedSession::agentOf(0)).empty());
  EXPECT_EQ(s.logic.state().ranksExpected, 2);
}

TEST(Refusal, OtherRankCount) {
  SimulatedSession s(3);
  s.size = 4;
  s.client();
  s.agent(0);
  EXPECT_EQ(s.sent<Refused>(SimulatedSession::agentOf(0)).size(), 1U);
  EXPECT_TRUE(s.closed(SimulatedSession::agentOf(0)));
  ASSERT_EQ(s.verdicts().size(), 1U);
  EXPECT_EQ(s.verdicts()[0].kind, VerdictKind::Refused);
  EXPECT_NE(s.verdicts()[0].text.find("the recording has 3 ranks, this run has 4"),
            std::string::npos);
}

TEST(Refusal, OtherBuildKillsAllAndIsToldOnce) {
  SimulatedSession s(2);
  s.client();
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    s.keep(s.logic.peerJoined(SimulatedSession::agentOf(rank), PeerRole::Agent, s.now));
  }
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    RankHello hello = s.hello(rank);
    hello.buildId = "other";
    s.says(rank, hello);
  }
  EXPECT_EQ(s.verdicts().size(), 1U);
  EXPECT_FALSE(s.sent<Kill>(SimulatedSession::agentOf(1)).empty());
}

TEST(Refusal, SecondProcessOfARank) {
  SimulatedSession s(2);
  s.client();
  s.agent(0);
  s.keep(s.logic.peerJoined(200, PeerRole::Agent, s.now));
  s.keep(s.logic.received(200, s.hello(0), s.now));
  EXPECT_TRUE(s.closed(200));
  EXPECT_FALSE(s.closed(SimulatedSession::agentOf(0)));
}

/// Processes of another library's launcher are each rank 0 of 1: that there are several is not what is wrong.
TEST(Refusal, SecondProcessIsToldWhatItHasThatWasNotRecorded) {
  SimulatedSession s(2);
  s.client();
  s.agent(0);
  s.keep(s.logic.peerJoined(200, PeerRole::Agent, s.now));
  RankHello hello = s.hello(0);
  hello.buildId = "other";
  s.keep(s.logic.received(200, hello, s.now));
  ASSERT_EQ(s.verdicts().size(), 1U);
  EXPECT_EQ(s.verdicts()[0].text, "another build");
}

TEST(Trust, AgentsSpeakForTheirOwnRankOnly) {
  SimulatedSession s(2);
  s.start();
  s.says(1, Output{0, 1, "text", 0});
  EXPECT_EQ(s.sent<Output>().at(0).rank, 1);
  s.at(1, RankPhase::Running, 5);
  EXPECT_EQ(s.sent<RankState>().back().rank, 1);
}

TEST(Trust, RolesAreKept) {
  SimulatedSession s(2);
  s.start();
  s.says(0, Kill{});
  EXPECT_TRUE(s.closed(SimulatedSession::agentOf(0)));
  EXPECT_TRUE(s.sent<Kill>(SimulatedSession::agentOf(1)).empty());
  s.order(RankHello{});
  EXPECT_TRUE(s.closed(1));
}

TEST(Relay, OrdersGoToTheRankTheyName) {
  SimulatedSession s(2);
  s.start();
  s.order(AttachGdb{{1}});
  s.order(MiToGdb{1, "1-gdb-version\n"});
  s.order(GdbSignal{1, SignalTarget::Gdb, 2});
  s.order(DetachGdb{{1}});
  const PeerId agent = SimulatedSession::agentOf(1);
  EXPECT_EQ(s.sent<AttachGdb>(agent).size(), 1U);
  EXPECT_EQ(s.sent<MiToGdb>(agent).at(0).bytes, "1-gdb-version\n");
  EXPECT_EQ(s.sent<GdbSignal>(agent).size(), 1U);
  EXPECT_EQ(s.sent<DetachGdb>(agent).size(), 1U);
  s.order(AttachGdb{{5}});
  EXPECT_EQ(s.sent<GdbState>().at(0).state, GdbCondition::Failed);
}

TEST(Relay, CallNamesAreFilledIn) {
  SimulatedSession s(1);
  s.start();
  s.at(0, RankPhase::Running, 2, 1, 0);
  EXPECT_EQ(s.sent<RankState>().back().call, "MPI_Recv");
}

TEST(LateClient, GetsTheWholeSession) {
  SimulatedSession s(2);
  s.start();
  s.says(0, RankDiverged{0, 7, "MPI_Recv", "source 1", "source 2", 0});
  s.client(2);
  const auto state = s.sent<SessionState>(2);
  ASSERT_EQ(state.size(), 1U);
  EXPECT_EQ(state[0].ranks.size(), 2U);
  EXPECT_TRUE(state[0].gateOpen);
  EXPECT_EQ(s.sent<RankHello>(2).size(), 2U);
  EXPECT_EQ(s.sent<Verdict>(2).at(0).kind, VerdictKind::Diverged);
}

TEST(Refusal, ProgramThatNeverCallsMpiInit) {
  SimulatedSession s(2);
  s.client();
  s.agent(0);
  s.keep(s.logic.peerJoined(7, PeerRole::Agent, s.now));
  s.keep(s.logic.received(7, RankExited{-1, -1, SIGTERM, RankPhase::Launched, 0, "ended"}, s.now));
  EXPECT_TRUE(s.verdicts().empty());  // by the launcher
  s.keep(s.logic.peerJoined(8, PeerRole::Agent, s.now));
  s.keep(s.logic.received(
      8, RankExited{-1, 0, 0, RankPhase::Launched, 0, "'a' ended and never called MPI_Init"},
      s.now));
  ASSERT_EQ(s.verdicts().size(), 1U);
  EXPECT_EQ(s.verdicts()[0].kind, VerdictKind::Refused);
  EXPECT_NE(s.verdicts()[0].text.find("never called MPI_Init, which the recorded run did"),
            std::string::npos);
}

TEST(End, NamesTheFirstThatDidNotEndWell) {
  SimulatedSession s(2, kRecordChoices);
  s.client();
  s.agent(0);
  s.agent(1);
  s.says(1, RankExited{1, -1, 11, RankPhase::Running, 12, "rank 1 was ended by signal 11"});
  s.says(0, RankExited{0, -1, 15, RankPhase::Running, 3, "rank 0 was ended by signal 15"});
  s.keep(s.logic.peerLost(SimulatedSession::agentOf(0), s.now));
  s.keep(s.logic.peerLost(SimulatedSession::agentOf(1), s.now));
  s.pass(400);
  ASSERT_EQ(s.verdicts().size(), 1U);
  EXPECT_EQ(s.verdicts()[0].kind, VerdictKind::Ended);
  EXPECT_EQ(s.verdicts()[0].rank, 1);
  EXPECT_EQ(s.verdicts()[0].serial, 12U);
  EXPECT_EQ(s.verdicts()[0].text, "rank 1 was ended by signal 11");
}

TEST(End, LostAgentIsARankThatEnded) {
  SimulatedSession s(2);
  s.start();
  s.keep(s.logic.peerLost(SimulatedSession::agentOf(1), s.now));
  const auto exits = s.sent<RankExited>();
  ASSERT_EQ(exits.size(), 1U);
  EXPECT_EQ(exits[0].rank, 1);
  EXPECT_EQ(exits[0].text, "ended from outside, together with what started it");
}

TEST(End, DaemonStaysWhileAnyoneIsThere) {
  SimulatedSession s(1, kRecordChoices);
  EXPECT_FALSE(s.logic.finished(s.now));
  s.client();
  s.agent(0);
  s.keep(s.logic.peerLost(1, s.now));
  s.pass(30'000);
  EXPECT_FALSE(s.logic.finished(s.now));
  EXPECT_TRUE(s.sent<Kill>(SimulatedSession::agentOf(0)).empty()) << "a recording goes on alone";
  s.keep(s.logic.peerLost(SimulatedSession::agentOf(0), s.now));
  EXPECT_FALSE(s.logic.finished(s.now));
  s.pass(1'100);
  EXPECT_TRUE(s.logic.finished(s.now));
}

TEST(End, ReplayThatNobodySteersIsKilled) {
  SimulatedSession s(1);
  s.start();
  s.keep(s.logic.peerLost(1, s.now));
  s.pass(4'900);
  EXPECT_TRUE(s.sent<Kill>(SimulatedSession::agentOf(0)).empty());
  s.pass(200);
  EXPECT_EQ(s.sent<Kill>(SimulatedSession::agentOf(0)).size(), 1U);
}

TEST(End, ShutdownEndsAtOnce) {
  SimulatedSession s(1);
  s.start();
  s.order(Shutdown{});
  EXPECT_TRUE(s.logic.finished(s.now));
}

}  // namespace
}  // namespace pf::daemon

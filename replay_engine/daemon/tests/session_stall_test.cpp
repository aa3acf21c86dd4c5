// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include "replay_engine/daemon/steady_time.h"
#include "replay_engine/daemon/tests/simulated_session.h"

namespace pf::daemon {
namespace {

using namespace protocol;  // NOLINT(google-build-using-namespace): messages

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Stall, CycleIsADeadlock) {
  SimulatedSession s(3);
  s.start();
  s.at(0, RankPhase::Running, 5, 1, 1);
  s.at(1, RankPhase::Running, 7, 1, 2);
  s.at(2, RankPhase::Running, 3, 1, 1);
  s.pass(4'900);
  EXPECT_TRUE(s.verdicts().empty());
  s.pass(200);
  ASSERT_EQ(s.verdicts().size(), 1U);
  EXPECT_EQ(s.verdicts()[0].kind, VerdictKind::Deadlock);
  EXPECT_EQ(s.verdicts()[0].text,
            "deadlock: rank 1 waits in MPI_Recv (event 7) for rank 2; "
            "rank 2 waits in MPI_Recv (event 3) for rank 1");
  s.pass(20'000);
  EXPECT_EQ(s.verdicts().size(), 1U) << "told once";
  s.at(0, RankPhase::Running, 6, 1, 1);
  s.pass(51'000);
  EXPECT_EQ(s.verdicts().size(), 2U) << "and again after progress, after twice the time";
}

/// What is said of rank 0, which is in this call with rank 1, where rank 1 has called MPI_Finalize.
Verdict toldWithFinishedPeer(std::uint32_t call) {
  SimulatedSession s(2);
  s.start();
  s.at(0, RankPhase::Running, 5, call, 1);
  s.at(1, RankPhase::Finalized, 9, 2);
  s.pass(5'100);
  EXPECT_EQ(s.verdicts().size(), 1U);
  return s.verdicts().empty() ? Verdict{} : s.verdicts()[0];
}

TEST(Stall, FinishedPeerIsNamed) {
  const Verdict told = toldWithFinishedPeer(1);
  EXPECT_EQ(told.kind, VerdictKind::Stalled);
  EXPECT_EQ(told.rank, 0);
  EXPECT_EQ(told.serial, 5U);
  EXPECT_TRUE(contains(told.text,
                       "rank 0 waits in MPI_Recv (event 5) for a message from rank 1, which has "
                       "called MPI_Finalize (its event 9)"));
}

TEST(Stall, WhatASendWaitsForIsNoMessage) {
  EXPECT_TRUE(contains(toldWithFinishedPeer(4).text,
                       "rank 0 waits in MPI_Ssend (event 5) for its message to be received by rank "
                       "1, which has called MPI_Finalize (its event 9)"));
}

TEST(Stall, EndedPeerAndEndOfRecordAreNamed) {
  SimulatedSession s(3);
  s.start();
  s.at(0, RankPhase::Running, 5, 1, 1);
  s.says(1, RankExited{1, 1, 0, RankPhase::Running, 4, "rank 1 ended"});
  s.at(2, RankPhase::Running, 5, 1, 0);
  s.pass(5'100);
  ASSERT_EQ(s.verdicts().size(), 1U);
  EXPECT_TRUE(contains(s.verdicts()[0].text, "rank 1, which has ended after its event 4"));

  SimulatedSession t(2);
  t.start();
  t.at(0, RankPhase::Running, 5, 1, 1);
  RankState past;
  past.phase = RankPhase::Running;
  past.serial = 8;
  past.inCall = 1;
  past.pastEnd = true;
  t.says(1, past);
  ASSERT_EQ(t.verdicts().size(), 1U);
  EXPECT_EQ(t.verdicts()[0].kind, VerdictKind::PastEnd);
  t.pass(5'100);
  ASSERT_EQ(t.verdicts().size(), 2U);
  EXPECT_TRUE(contains(t.verdicts()[1].text, "rank 1, whose record ends: it is at its event 8"));
}

TEST(Stall, AsRecordedOrElseSomebodyHasGonePast) {
  for (const std::uint64_t last : {5U, 6U}) {
    SimulatedSession s(2);
    s.source.last = last;
    s.start();
    s.at(0, RankPhase::Running, 5, 1, 1);
    s.at(1, RankPhase::Running, 9, 1, 0);
    s.pass(5'100);
    ASSERT_EQ(s.verdicts().size(), 1U);
    EXPECT_EQ(s.verdicts()[0].asRecorded, last == 5);
    EXPECT_EQ(s.verdicts()[0].kind, last == 5 ? VerdictKind::Deadlock : VerdictKind::Stalled);
    EXPECT_EQ(contains(s.verdicts()[0].text,
                       "rank 0 went on from there (to event 6): rank 1 has gone past"),
              last == 6);
  }
}

TEST(Stall, NamesPlaces) {
  SimulatedSession s(2);
  s.start();
  for (const std::int32_t rank : {0, 1}) {
    RankState state;
    state.phase = RankPhase::Running;
    state.serial = 5;
    state.inCall = 1;
    state.waitPeer = 1 - rank;
    state.place = {"app", 7, {}};
    s.says(rank, state);
  }
  s.pass(5'100);
  ASSERT_EQ(s.verdicts().size(), 1U);
  EXPECT_EQ(s.verdicts()[0].text,
            "deadlock: rank 0 waits in MPI_Recv (event 5) at app:7 for rank 1; "
            "rank 1 waits in MPI_Recv (event 5) at app:7 for rank 0");
}

TEST(Stall, NobodyIsLeftToSend) {
  SimulatedSession s(3);
  s.start();
  s.at(0, RankPhase::Running, 5, 1, -1);
  s.at(1, RankPhase::Finalized, 9, 2);
  s.says(2, RankExited{2, 0, 0, RankPhase::Finalized, 4, "rank 2 ended"});
  s.pass(5'100);
  ASSERT_EQ(s.verdicts().size(), 1U);
  EXPECT_EQ(s.verdicts()[0].rank, 0);
  EXPECT_TRUE(contains(s.verdicts()[0].text, "any rank, and all others have ended"));
}

TEST(Stall, NotWhileARankComputesOrIsStoppedOrHeld) {
  SimulatedSession computing(2);
  computing.start();
  computing.at(0, RankPhase::Running, 5, 1, 1);
  computing.pass(60'000);
  EXPECT_TRUE(computing.verdicts().empty());

  SimulatedSession stopped(2);
  stopped.start();
  stopped.order(SetStop{1, 4});
  stopped.at(1, RankPhase::Stopped, 3);
  stopped.pass(6'000);
  stopped.all.clear();  // the cut
  stopped.at(0, RankPhase::Running, 5, 1, 1);
  stopped.pass(60'000);
  EXPECT_TRUE(stopped.verdicts().empty());

  SimulatedSession held(2);
  held.start();
  held.at(0, RankPhase::Running, 5, 1, 1);
  RankState state;
  state.phase = RankPhase::Running;
  state.inCall = 1;
  state.held = true;
  held.says(1, state);
  held.pass(60'000);
  EXPECT_TRUE(held.verdicts().empty());
}

TEST(Stall, NobodyNamedListsAll) {
  SimulatedSession s(2);
  s.start();
  s.at(0, RankPhase::Running, 5, 1, -1);
  s.at(1, RankPhase::Running, 6, 1, -2);
  s.pass(5'100);
  ASSERT_EQ(s.verdicts().size(), 1U);
  EXPECT_EQ(s.verdicts()[0].text,
            "every rank waits:\nrank 0 waits in MPI_Recv (event 5) for any rank\n"
            "rank 1 waits in MPI_Recv (event 6)");
}

TEST(Stall, OnlyWhatCannotGetOnIsProven) {
  struct Wait {
    std::uint32_t call;
    std::int32_t peer;
    std::int32_t tag;
  };
  struct Case {
    const char* what;
    Wait first;
    Wait second;
    bool proven;
  };
  constexpr std::uint32_t kRecv = 1;
  constexpr std::uint32_t kCollective = 3;
  constexpr std::uint32_t kSsend = 4;
  constexpr std::uint32_t kBcast = 5;
  constexpr std::uint32_t kWaitall = 6;
  constexpr std::uint32_t kBarrier = 7;
  const Case cases[] = {
      {"for all, and one does not come", {kCollective, kWaitsForAll, -1}, {kRecv, 0, 5}, true},
      {"all come", {kBarrier, kWaitsForAll, -1}, {kBarrier, kWaitsForAll, -1}, false},
      {"to two", {kCollective, kWaitsForAll, -1}, {kBarrier, kWaitsForAll, -1}, true},
      {"to two, one of them not for all",
       {kBarrier, kWaitsForAll, -1},
       {kCollective, -2, -1},
       false},
      {"the root does not come", {kBcast, 1, -1}, {kRecv, 0, 5}, true},
      {"the root is there", {kBcast, 1, -1}, {kBcast, 1, -1}, false},
      {"it is the root", {kBcast, 0, -1}, {kRecv, 0, 5}, false},
      {"several messages of one", {kWaitall, 1, -1}, {kRecv, 0, 5}, true},
      {"a long operation", {kCollective, -2, -1}, {kCollective, -2, -1}, false},
      {"one is in a collective", {kCollective, -2, -1}, {kRecv, 0, 5}, false},
      {"the message is on its way", {kSsend, 1, 5}, {kRecv, 0, 5}, false},
      {"the same, from any rank with any tag", {kSsend, 1, 5}, {kRecv, -1, -1}, false},
      {"another tag", {kSsend, 1, 5}, {kRecv, 0, 6}, true},
      {"both receive", {kRecv, 1, 5}, {kRecv, 0, 5}, true},
      {"both send", {kSsend, 1, 5}, {kSsend, 0, 5}, true},
      {"one from the other, the other from any", {kRecv, 1, 5}, {kRecv, -1, 5}, true},
      {"both from any", {kRecv, -1, 5}, {kRecv, -1, 5}, true},
  };
  for (const Case& each : cases) {
    SimulatedSession s(2);
    s.start();
    const std::vector<Wait> waits = {each.first, each.second};
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      const Wait& wait = waits[static_cast<std::size_t>(rank)];
      RankState state;
      state.phase = RankPhase::Running;
      state.serial = 5;
      state.inCall = wait.call;
      state.waitPeer = wait.peer;
      state.waitTag = wait.tag;
      s.says(rank, state);
    }
    s.pass(5'100);
    ASSERT_EQ(s.verdicts().size(), 1U) << each.what;
    EXPECT_EQ(s.verdicts()[0].proven, each.proven) << each.what;
    EXPECT_EQ(s.verdicts()[0].kind, each.proven ? VerdictKind::Deadlock : VerdictKind::Stalled)
        << each.what;
  }
}

TEST(Stall, NobodyWaitsInACollectiveForOneThatHasEnded) {
  SimulatedSession s(3);
  s.start();
  s.says(0, RankExited{0, 0, 0, RankPhase::Finalized, 4, "rank 0 ended"});
  s.at(1, RankPhase::Running, 5, 7, kWaitsForAll);
  s.at(2, RankPhase::Running, 5, 7, kWaitsForAll);
  s.pass(5'100);
  ASSERT_EQ(s.verdicts().size(), 1U);
  EXPECT_TRUE(s.verdicts()[0].proven);
  EXPECT_EQ(s.verdicts()[0].text,
            "deadlock: rank 1 waits in MPI_Barrier (event 5) for all ranks; rank 2 waits in "
            "MPI_Barrier (event 5) for all ranks; rank 0 has ended after event 4");
}

TEST(Stall, WhoMaySendIsNoProof) {
  SimulatedSession s(3);
  s.start();
  s.at(0, RankPhase::Running, 5, 1, 1);
  s.at(1, RankPhase::Running, 5, 1, 2);
  s.at(2, RankPhase::Running, 5, 3);  // a collective with who knows whom
  s.pass(5'100);
  ASSERT_EQ(s.verdicts().size(), 1U);
  EXPECT_FALSE(s.verdicts()[0].proven);
}

TEST(Stall, TakesLongerWhereTheRecordedRunWaitedForLong) {
  LogicOptions options = SimulatedSession::options(kReplay | kGate);
  options.recordedWait = std::chrono::seconds(9);
  SimulatedSession s(2, options);
  s.start();
  s.at(0, RankPhase::Running, 5, 3);
  s.at(1, RankPhase::Running, 5, 3);
  s.pass(31'900);
  EXPECT_TRUE(s.verdicts().empty());
  s.pass(300);
  EXPECT_EQ(s.verdicts().size(), 1U);

  options.stallAfterGiven = true;  // by the user
  SimulatedSession given(2, options);
  given.start();
  given.at(0, RankPhase::Running, 5, 3);
  given.at(1, RankPhase::Running, 5, 3);
  given.pass(5'200);
  EXPECT_EQ(given.verdicts().size(), 1U);
}

TEST(Stall, TheLongestWaitIsKeptIfItEnded) {
  SimulatedSession s(2, kRecordChoices);
  s.start();
  for (const std::int32_t rank : {0, 1}) {
    s.at(rank, RankPhase::Running, 5, 3);
  }
  s.pass(9'000);
  EXPECT_EQ(s.logic.state().longestWait, 0U) << "it may be for ever";
  s.at(0, RankPhase::Running, 6, 3);
  EXPECT_NEAR(static_cast<double>(s.logic.state().longestWait), 9000.0, 50.0);
  const std::size_t told = s.verdicts().size();
  s.pass(17'000);
  EXPECT_EQ(s.verdicts().size(), told) << "the next one may be as long";
  s.says(0, RankExited{0, -1, 15, RankPhase::Running, 6, "rank 0 was ended"});
  EXPECT_NEAR(static_cast<double>(s.logic.state().longestWait), 9000.0, 50.0);
}

TEST(Stall, DataThatMoveAreNoStall) {
  SimulatedSession s(2);
  s.start();
  for (std::uint64_t bytes = 1; bytes <= 40; ++bytes) {
    for (const std::int32_t rank : {0, 1}) {
      RankState state;
      state.phase = RankPhase::Running;
      state.serial = 5;
      state.inCall = 1;
      state.waitPeer = 1 - rank;
      state.moved = bytes << 20U;
      s.says(rank, state);
    }
    s.pass(1'000);
  }
  EXPECT_TRUE(s.verdicts().empty());
  s.pass(5'100);
  ASSERT_EQ(s.verdicts().size(), 1U);
  EXPECT_TRUE(s.verdicts()[0].proven);

  SimulatedSession seenOnce(2);
  seenOnce.start();
  seenOnce.at(0, RankPhase::Running, 5, 1, 1);
  seenOnce.at(1, RankPhase::Running, 5, 1, 0);
  seenOnce.pass(1'000);
  RankState state;
  state.phase = RankPhase::Running;
  state.serial = 5;
  state.inCall = 1;
  state.waitPeer = 1;
  state.moved = 7;
  seenOnce.says(0, state);
  seenOnce.pass(4'500);
  EXPECT_TRUE(seenOnce.verdicts().empty()) << "whether they move is seen from the second look on";
  seenOnce.pass(2'000);
  EXPECT_EQ(seenOnce.verdicts().size(), 1U);
}

TEST(Stall, ALimitOfTheUserIsKept) {
  LogicOptions options = SimulatedSession::options(kRecordChoices);
  options.stallLimit = std::chrono::seconds(20);
  SimulatedSession s(2, options);
  s.start();
  s.at(0, RankPhase::Running, 5, 3);
  s.at(1, RankPhase::Running, 5, 3);
  s.pass(5'200);
  ASSERT_EQ(s.verdicts().size(), 1U);
  EXPECT_FALSE(s.verdicts()[0].overLimit);
  s.pass(16'500);
  ASSERT_EQ(s.verdicts().size(), 2U);
  EXPECT_TRUE(s.verdicts()[1].overLimit);
}

TEST(Stall, IsNoProofUntilEachRankHasHadAProcessor) {
  LogicOptions options = SimulatedSession::options(kRecordChoices);
  std::map<std::int32_t, std::int64_t> used{{0, 7}, {1, 7}};
  options.processTime = [&used](const RankHello& rank) { return used[rank.rank]; };
  SimulatedSession s(2, options);
  s.start();
  s.at(0, RankPhase::Running, 5, 1, 1);
  s.at(1, RankPhase::Running, 5, 1, 0);
  s.pass(5'200);
  ASSERT_EQ(s.verdicts().size(), 1U);
  EXPECT_FALSE(s.verdicts()[0].proven) << "their messages may be on the way";
  used[0] = 9;
  s.pass(3'000);
  EXPECT_EQ(s.verdicts().size(), 1U) << "rank 1 has not looked";
  used[1] = 9;
  s.pass(3'000);
  ASSERT_EQ(s.verdicts().size(), 2U);
  EXPECT_TRUE(s.verdicts()[1].proven);
}

TEST(Stall, ATimeInWhichTheMachineStoodStillIsNone) {
  SteadyTime::Clock::time_point clock{};
  SteadyTime time(clock);
  const auto begun = time.at(clock);
  for (int i = 0; i < 20; ++i) {
    clock += SteadyTime::kTick;
    EXPECT_EQ(time.at(clock) - begun, clock - SteadyTime::Clock::time_point{});
  }
  const auto before = time.at(clock);
  clock += std::chrono::hours(1);
  EXPECT_EQ(time.at(clock) - before, SteadyTime::kMostAtOnce);
  clock += SteadyTime::kTick;
  EXPECT_EQ(time.at(clock) - before, SteadyTime::kMostAtOnce + SteadyTime::kTick);
}

TEST(Stall, NotBeforeEveryAgentHasAnswered) {
  SimulatedSession s(2);
  s.start();
  s.mute = SimulatedSession::agentOf(1);
  s.at(0, RankPhase::Running, 5, 1, 1);
  s.at(1, RankPhase::Running, 5, 1, 0);
  s.pass(30'000);
  EXPECT_TRUE(s.verdicts().empty()) << "what is known of rank 1 may be old";
  s.mute = 0;
  s.pass(1'500);
  EXPECT_EQ(s.verdicts().size(), 1U);
}

TEST(Stopped, AnAgentThatDoesNotAnswerIsNamedOnce) {
  LogicOptions options = SimulatedSession::options(kRecordChoices);
  char process = 'T';
  options.processState = [&process](std::int32_t) { return process; };
  SimulatedSession s(2, options);
  s.start();
  s.says(1, RankLaunched{1, 2, 1001, 901, "here", "app", {}});
  s.pass(2'000);
  EXPECT_TRUE(s.notices().empty());
  s.mute = SimulatedSession::agentOf(1);
  s.pass(3'100);
  ASSERT_EQ(s.notices().size(), 1U) << "within three seconds";
  EXPECT_TRUE(
      contains(s.notices()[0], "agent of rank 1 (process 901) does not answer: it is stopped"));
  EXPECT_TRUE(contains(s.notices()[0], "kill -CONT 901"));
  s.pass(10'000);
  EXPECT_EQ(s.notices().size(), 1U);
  s.mute = 0;
  s.pass(1'100);
  ASSERT_EQ(s.notices().size(), 2U);
  EXPECT_TRUE(contains(s.notices()[1], "answers again"));
  s.mute = SimulatedSession::agentOf(1);
  process = 'R';
  s.pass(12'000);
  EXPECT_EQ(s.notices().size(), 2U) << "a busy machine";
}

TEST(Stopped, ARankIsNamedAndWhenItGoesOn) {
  SimulatedSession s(2, kRecordChoices);
  s.start();
  RankState state;
  state.phase = RankPhase::Running;
  state.serial = 5;
  state.held = state.stopped = true;
  s.says(1, state);
  s.pass(1'000);
  EXPECT_TRUE(s.notices().empty());
  s.pass(1'000);
  ASSERT_EQ(s.notices().size(), 1U);
  EXPECT_TRUE(contains(s.notices()[0], "rank 1 (process 1001) is stopped by a signal"));
  state.held = state.stopped = false;
  s.says(1, state);
  s.pass(1'000);
  ASSERT_EQ(s.notices().size(), 2U);
  EXPECT_EQ(s.notices()[1], "rank 1 goes on");
}

TEST(Stopped, AClientIsAnswered) {
  SimulatedSession s(2);
  s.start();
  s.order(Ping{77});
  ASSERT_EQ(s.sent<Pong>(1).size(), 1U);
  EXPECT_EQ(s.sent<Pong>(1)[0].number, 77U);
}

TEST(Divergence, IsToldAndTheOthersStopAtTheirNextEvent) {
  SimulatedSession s(3);
  s.start();
  s.at(0, RankPhase::Running, 5);
  s.at(2, RankPhase::Running, 8, 1, 1);
  s.says(1, RankDiverged{0, 12, "MPI_Recv", "source 2", "source 0", 0});
  s.at(1, RankPhase::Diverged, 12);
  EXPECT_EQ(s.sent<RankDiverged>().at(0).rank, 1);
  ASSERT_EQ(s.verdicts().size(), 1U);
  EXPECT_EQ(s.verdicts()[0].kind, VerdictKind::Diverged);
  EXPECT_EQ(s.verdicts()[0].rank, 1);
  EXPECT_EQ(s.verdicts()[0].serial, 12U);
  EXPECT_EQ(s.verdicts()[0].text,
            "rank 1 diverged from its recording at event 12 (MPI_Recv)\n  expected: source 2\n"
            "  got: source 0");
  EXPECT_EQ(s.stops(0), std::vector<std::uint64_t>{6});
  EXPECT_EQ(s.stops(2), std::vector<std::uint64_t>{9});
  EXPECT_TRUE(s.stops(1).empty());
  s.pass(20'000);
  EXPECT_EQ(s.verdicts().size(), 1U) << "no stall, no cut after it";
}

TEST(Divergence, EndsAPlan) {
  SimulatedSession s(2);
  s.start();
  s.order(Plan{{4, 9}, 1, false});
  s.at(0, RankPhase::Stopped, 3);
  s.says(1, RankDiverged{1, 5, "MPI_Recv", "a", "b", 0});
  s.at(1, RankPhase::Diverged, 5);
  s.all.clear();
  s.pass(20'000);
  EXPECT_TRUE(s.stops(0).empty());
  EXPECT_TRUE(s.verdicts().empty());
}

}  // namespace
}  // namespace pf::daemon

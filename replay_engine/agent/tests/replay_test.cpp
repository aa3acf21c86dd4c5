// SPDX-License-Identifier: GPL-3.0-or-later
// Replays with four fake ranks: gate, cut, nudge, divergence, refusal, loss of the daemon.
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>

#include "replay_engine/agent/tests/process_session.h"

namespace pf::agent {
namespace {

using namespace protocol;  // NOLINT(google-build-using-namespace): messages

class Replay : public ProcessSession {};

TEST_F(Replay, GateHoldsAllUntilTheClientOpensIt) {
  startReplay({{"init", "page", "o:zero", "fin"},
               {"init", "o:one", "fin"},
               {"init", "fin"},
               {"init", "fin"}});
  const auto gated = expect<SessionState>([](const SessionState& s) { return s.allGated; });
  ASSERT_TRUE(gated);
  EXPECT_EQ(gated->ranks.size(), 4U);
  for (const RankState& rank : gated->ranks) {
    EXPECT_EQ(rank.phase, RankPhase::Gated);
    EXPECT_EQ(rank.serial, 1U);
  }
  EXPECT_EQ(outputOf(1), "");
  send(OpenGate{});
  const auto end = expect<Verdict>();
  EXPECT_EQ(end->kind, VerdictKind::Ended);
  EXPECT_EQ(end->rank, -1);
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(agentStatus(rank), 0);
  }
  EXPECT_EQ(outputOf(0),
            "mode 12 log " + m_directory + "/rank-0.log schedule /schedule-0 salt 4711\nzero\n");
  EXPECT_EQ(outputOf(1), "one\n");
}

TEST_F(Replay, HelloTellsWhoTheRankIs) {
  startReplay({{"init", "fin"}});
  const auto hello = expect<RankHello>();
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->rank, 0);
  EXPECT_EQ(hello->size, 1);
  EXPECT_EQ(hello->executable, TEST_RANK);
  EXPECT_EQ(hello->mpiLibrary, "Fake MPI 1.0");
  EXPECT_GE(hello->buildId.size(), 16U);
  EXPECT_EQ(::kill(hello->pid, 0), 0);
  send(OpenGate{});
}

/// A rank that computes is stopped for its stack, and goes on; so does one that waits.
TEST_F(Replay, StacksWithoutADebugger) {
  const std::string done = file("done");
  startReplay({{"init", "s3000", "o:computed", "fin"},
               {"init", "w0:" + done, "o:went on", "fin"},
               {"init", "x7"}});
  send(OpenGate{});
  expect<RankState>([](const RankState& s) { return s.rank == 1 && s.inCall != 0; });
  expect<RankExited>([](const RankExited& e) { return e.rank == 2; });
  send(AskStack{{}, 5});
  std::map<std::int32_t, RankStack> stacks;
  while (stacks.size() < 3) {
    const auto stack = expect<RankStack>();
    ASSERT_TRUE(stack);
    EXPECT_EQ(stack->question, 5U);
    stacks[stack->rank] = *stack;
  }
  EXPECT_TRUE(stacks[2].frames.empty());
  EXPECT_FALSE(stacks[2].text.empty());
  for (const std::int32_t rank : {0, 1}) {
    const auto inProgram = [](const CodePlace& place) { return place.module == TEST_RANK; };
    EXPECT_GE(std::count_if(stacks[rank].frames.begin(), stacks[rank].frames.end(), inProgram), 2)
        << rank << " " << stacks[rank].text;  // main and _start, at least
  }
  EXPECT_EQ(stacks[0].inCall, 0U);
  EXPECT_EQ(stacks[1].inCall, 1U);
  send(AskStack{{0}, 6});
  EXPECT_EQ(expect<RankStack>()->question, 6U);
  std::ofstream(done).close();
  EXPECT_EQ(agentStatus(0), 0);
  EXPECT_EQ(agentStatus(1), 0);
  EXPECT_EQ(outputOf(0), "computed\n");
  EXPECT_EQ(outputOf(1), "went on\n");
}

TEST_F(Replay, PlanStopsEveryRankAtItsCut) {
  startReplay({{"init", "e50", "fin"},
               {"init", "e50", "fin"},
               {"init", "e50", "fin"},
               {"init", "e50", "fin"}});
  send(Plan{{10, 20, 30, 40}, 3, true});
  const auto cut = expect<Verdict>();
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->kind, VerdictKind::CutReached);
  EXPECT_EQ(cut->rank, 3);
  EXPECT_EQ(cut->serial, 40U);
  EXPECT_EQ(
      cut->text,
      "rank 0 is stopped before event 10 (MPI_Fake)\nrank 1 is stopped before event 20 (MPI_Fake)\n"
      "rank 2 is stopped before event 30 (MPI_Fake)\nrank 3 is stopped before event 40 (MPI_Fake)");
  send(Plan{{15, 25, 35, 45}, 3, false});
  const auto next = expect<Verdict>();
  EXPECT_EQ(next->serial, 45U);
  send(Plan{});
  EXPECT_EQ(expect<Verdict>()->kind, VerdictKind::Ended);
}

TEST_F(Replay, CutMayHoldRanksBeforeTheirFirstEvent) {
  startReplay({{"init", "e5", "fin"}, {"init", "e50", "fin"}});
  send(Plan{{1, 30}, 1, true});
  const auto cut = expect<Verdict>();
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->kind, VerdictKind::CutReached);
  EXPECT_EQ(cut->serial, 30U);
  EXPECT_NE(cut->text.find("rank 0 is stopped before event 1 "), std::string::npos) << cut->text;
  send(Plan{});
  EXPECT_EQ(agentStatus(0), 0);
}

TEST_F(Replay, NudgesTheRankThatTheTargetNeeds) {
  const std::string done = file("sent");
  startReplay({{"init", "e5", "t:" + done, "e5", "fin"}, {"init", "w0:" + done, "e1", "fin"}});
  send(Plan{{5, 3}, 1, true});  // the cut is one event short of the one that rank 1 needs
  const auto cut = expect<Verdict>();
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->kind, VerdictKind::CutReached);
  EXPECT_EQ(cut->rank, 1);
  EXPECT_EQ(cut->serial, 3U);
  EXPECT_NE(cut->text.find("rank 0 is stopped before event 8"), std::string::npos) << cut->text;
}

TEST_F(Replay, DivergenceNamesRankEventExpectedAndGot) {
  startReplay({{"init", "e5000", "fin"}, {"init", "e3", "d"}});
  send(OpenGate{});
  const auto diverged = expect<RankDiverged>();
  ASSERT_TRUE(diverged);
  EXPECT_EQ(*diverged, (RankDiverged{1, 5, "MPI_Fake", "source 1", "source 2", 0}));
  EXPECT_EQ(expect<Verdict>()->kind, VerdictKind::Diverged);
  EXPECT_TRUE(expect<RankState>([](const RankState& s) {
    return s.rank == 0 && s.phase == RankPhase::Stopped && s.serial < 5000;
  }));
  send(Kill{});
  EXPECT_EQ(WTERMSIG(agentStatus(0)), SIGKILL);
  EXPECT_EQ(WTERMSIG(agentStatus(1)), SIGKILL);
}

TEST_F(Replay, StallIsExplained) {
  startReplay({{"init", "w1:/nowhere"}, {"init", "w0:/nowhere"}});
  send(OpenGate{});
  const auto verdict = expect<Verdict>();
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->kind, VerdictKind::Deadlock);
  EXPECT_EQ(
      verdict->text,
      "deadlock: rank 0 waits in MPI_Recv (event 2) for rank 1, tag 7; rank 1 waits in MPI_Recv "
      "(event 2) for rank 0, tag 7");
}

TEST_F(Replay, RefusedProgramDoesNotRun) {
  ::setenv("FAKE_THREAD_LEVEL", "99", 1);
  startReplay({{"init", "o:ran", "fin"}, {"init", "o:ran", "fin"}});
  ::unsetenv("FAKE_THREAD_LEVEL");
  const auto verdict = expect<Verdict>();
  EXPECT_EQ(verdict->kind, VerdictKind::Refused);
  EXPECT_EQ(verdict->text, "the program has changed since it was recorded");
  for (const std::int32_t rank : {0, 1}) {
    const int status = agentStatus(rank);
    EXPECT_TRUE(status == 1 << 8 || WTERMSIG(status) == SIGKILL) << status;
    EXPECT_EQ(outputOf(rank), "");
  }
}

TEST_F(Replay, AgentKilledTakesItsRankAndIsSaid) {
  startReplay({{"init", "pause"}, {"init", "pause"}});
  ASSERT_TRUE(expect<SessionState>([](const SessionState& s) { return s.allGated; }));
  ::kill(agentPid(1), SIGKILL);
  const auto exited = expect<RankExited>();
  ASSERT_TRUE(exited);
  EXPECT_EQ(exited->rank, 1);
  EXPECT_EQ(exited->text, "ended from outside, together with what started it");
  agentStatus(1);
}

TEST_F(Replay, DaemonKilledEndsRanksThatWaitForIt) {
  startReplay({{"init", "pause"}, {"init", "pause"}});
  ASSERT_TRUE(expect<SessionState>([](const SessionState& s) { return s.allGated; }));
  ::kill(m_daemon, SIGKILL);
  EXPECT_EQ(WTERMSIG(agentStatus(0)), SIGKILL);
  EXPECT_EQ(WTERMSIG(agentStatus(1)), SIGKILL);
  EXPECT_NE(errorsOf(0).find("the control daemon is gone"), std::string::npos);
}

TEST_F(Replay, DaemonKilledLetsRunningRanksRun) {
  startReplay({{"init", "s300", "e100", "s2500", "o:done", "x7"}});
  send(Plan{{50}, 0, true});
  ASSERT_TRUE(expect<RankState>([](const RankState& s) { return s.phase == RankPhase::Running; }));
  ::kill(m_daemon, SIGKILL);
  EXPECT_EQ(agentStatus(0), 7 << 8);
  EXPECT_EQ(outputOf(0), "done\n");
}

TEST_F(Replay, DaemonAndClientKilledEndARankThatHangsInACall) {
  startReplay({{"init", "s300", "e3", "w0:never"}});
  send(Plan{{50}, 0, true});
  ASSERT_TRUE(expect<RankState>([](const RankState& s) { return s.inCall != 0; }));
  m_client.reset();
  ::kill(m_daemon, SIGKILL);
  EXPECT_EQ(WTERMSIG(agentStatus(0)), SIGKILL);
  EXPECT_NE(errorsOf(0).find("does not come out of its event 5"), std::string::npos) << errorsOf(0);
}

TEST_F(Replay, ClientKilledEndsItAll) {
  startReplay({{"init", "pause"}});
  ASSERT_TRUE(expect<SessionState>([](const SessionState& s) { return s.allGated; }));
  m_client.reset();
  EXPECT_EQ(WTERMSIG(agentStatus(0)), SIGKILL);
}

TEST_F(Replay, WithoutDaemonNothingStarts) {
  makeSession(kReplay, 1);
  startDaemon();
  connectClient();
  send(Shutdown{});
  ASSERT_TRUE(waitFor([this] { return ::waitpid(m_daemon, nullptr, WNOHANG) == m_daemon; }));
  m_daemon = -1;
  m_client.reset();
  startAgent(0, {"o:ran"});
  EXPECT_EQ(agentStatus(0), 1 << 8);
  EXPECT_EQ(outputOf(0), "");
  EXPECT_NE(errorsOf(0).find("control daemon"), std::string::npos);
}

}  // namespace
}  // namespace pf::agent

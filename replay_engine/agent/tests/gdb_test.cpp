// SPDX-License-Identifier: GPL-3.0-or-later
// A real GDB on a fake rank, through agent, daemon and client, with raw MI text.
#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "replay_engine/agent/tests/process_session.h"

namespace pf::agent {
namespace {

using namespace protocol;  // NOLINT(google-build-using-namespace): messages

class Gdb : public ProcessSession {
 protected:
  /// A rank behind the gate, with a GDB attached to it.
  void attach(const Steps& steps) {
    startReplay({steps});
    ASSERT_TRUE(expect<SessionState>([](const SessionState& s) { return s.allGated; }));
    send(AttachGdb{{0}});
    const auto state = expect<GdbState>();
    ASSERT_TRUE(state);
    ASSERT_EQ(state->state, GdbCondition::Attached) << state->text;
    m_rank = state->pid;
    mi("1-gdb-set mi-async on");
    ASSERT_TRUE(saysMi("1^done"));
    mi("2-target-attach " + std::to_string(m_rank));
    ASSERT_TRUE(saysMi("2^done"));
    ASSERT_TRUE(saysMi("*stopped"));
  }
  void mi(const std::string& line) { send(MiToGdb{0, line + "\n"}); }
  /// Reads on until GDB has said `text`; what it said before is forgotten.
  bool saysMi(const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < deadline) {
      if (const std::size_t at = m_mi.find(text); at != std::string::npos) {
        m_mi.erase(0, at + text.size());
        return true;
      }
      if (const auto more = expect<MiFromGdb>()) {
        m_mi += more->bytes;
      }
    }
    ADD_FAILURE() << "GDB did not say " << text << " but " << m_mi;
    return false;
  }
  [[nodiscard]] pid_t gdbPid() const {
    std::ifstream status("/proc/" + std::to_string(m_rank) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.rfind("TracerPid:", 0) == 0) {
        return std::stoi(line.substr(10));
      }
    }
    return 0;
  }

  pid_t m_rank = 0;
  std::string m_mi;
};

TEST_F(Gdb, BreakpointIsHit) {
  attach({"init", "b", "o:after", "fin"});
  mi("3-break-insert breakHere");
  ASSERT_TRUE(saysMi("3^done"));
  mi("4-exec-continue");
  ASSERT_TRUE(saysMi("4^running"));
  send(OpenGate{});
  ASSERT_TRUE(saysMi("reason=\"breakpoint-hit\""));
  EXPECT_TRUE(expect<RankState>(
      [](const RankState& s) { return s.held && s.phase == RankPhase::Running; }));
  mi("5-data-evaluate-expression value");
  ASSERT_TRUE(saysMi("5^done,value=\"42\""));
  mi("6-exec-continue");
  EXPECT_TRUE(expect<RankExited>());
  EXPECT_EQ(agentStatus(0), 0);
  EXPECT_EQ(outputOf(0), "after\n");
}

TEST_F(Gdb, StopOfAPlanComesAsATrapAgainAndAgain) {
  attach({"init", "e50", "fin"});
  send(Plan{{10}, 0, true});
  mi("3-exec-continue");
  ASSERT_TRUE(saysMi("signal-name=\"SIGTRAP\""));
  EXPECT_EQ(expect<Verdict>()->serial, 10U);
  send(Plan{{20}, 0, false});
  mi("4-exec-continue");
  ASSERT_TRUE(saysMi("signal-name=\"SIGTRAP\""));
  const auto cut = expect<Verdict>();
  EXPECT_EQ(cut->kind, VerdictKind::CutReached);
  EXPECT_EQ(cut->serial, 20U);
}

TEST_F(Gdb, DetachLeavesTheRankAndANewOneMayCome) {
  attach({"init", "s600", "o:alive", "fin"});
  send(DetachGdb{{0}});
  EXPECT_EQ(expect<GdbState>()->state, GdbCondition::Detached);
  send(AttachGdb{{0}});
  EXPECT_EQ(expect<GdbState>()->state, GdbCondition::Attached);
  send(DetachGdb{{0}});
  EXPECT_EQ(expect<GdbState>()->state, GdbCondition::Detached);
  send(OpenGate{});
  EXPECT_EQ(agentStatus(0), 0);
  EXPECT_EQ(outputOf(0), "alive\n");
}

TEST_F(Gdb, KilledWhileItsRankIsStoppedIsSaidAndTheRankLives) {
  attach({"init", "o:alive", "fin"});
  ::kill(gdbPid(), SIGKILL);
  const auto state = expect<GdbState>();
  ASSERT_TRUE(state);
  EXPECT_EQ(state->state, GdbCondition::Died);
  EXPECT_NE(state->text.find("signal 9"), std::string::npos);
  send(OpenGate{});
  EXPECT_EQ(agentStatus(0), 0);
  EXPECT_EQ(outputOf(0), "alive\n");
}

TEST_F(Gdb, GoesWithAKilledAgent) {
  attach({"init", "pause"});
  ::kill(agentPid(0), SIGKILL);
  agentStatus(0);
  EXPECT_EQ(expect<RankExited>()->rank, 0);
}

TEST_F(Gdb, GoesWithAKilledDaemon) {
  attach({"init", "pause"});
  ::kill(m_daemon, SIGKILL);
  EXPECT_EQ(WTERMSIG(agentStatus(0)), SIGKILL);
}

TEST_F(Gdb, KilledRankIsSeenThoughItsGdbHoldsIt) {
  attach({"init", "pause"});
  send(Kill{});
  const auto exited = expect<RankExited>();
  ASSERT_TRUE(exited);
  EXPECT_EQ(exited->signal, SIGKILL);
  EXPECT_EQ(WTERMSIG(agentStatus(0)), SIGKILL);
}

TEST_F(Gdb, InterruptStopsARunningRank) {
  attach({"init", "pause"});
  mi("3-exec-continue");
  ASSERT_TRUE(saysMi("3^running"));
  send(GdbSignal{0, SignalTarget::Program, SIGINT});
  ASSERT_TRUE(saysMi("signal-name=\"SIGINT\""));
}

TEST_F(Gdb, MissingIsSaid) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nonexistent", 1);
  startReplay({{"init", "fin"}});
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_TRUE(expect<SessionState>([](const SessionState& s) { return s.allGated; }));
  send(AttachGdb{{0}});
  const auto state = expect<GdbState>();
  EXPECT_EQ(state->state, GdbCondition::Failed);
  EXPECT_EQ(state->text, "gdb not found: install it (apt-get install gdb)");
}

}  // namespace
}  // namespace pf::agent

// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings: the program must not notice us, whatever dies.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "replay_engine/agent/tests/process_session.h"

namespace pf::agent {
namespace {

using namespace protocol;  // NOLINT(google-build-using-namespace): messages

class Recording : public ProcessSession {};

TEST_F(Recording, NeedsNoDaemon) {
  makeSession(kRecordChoices, 1);
  startAgent(0, {"init", "page", "e10", "o:done", "fin", "x3"});
  EXPECT_EQ(agentStatus(0), 3 << 8);
  EXPECT_EQ(outputOf(0), "mode 1 log " + m_directory + "/rank-0.log schedule  salt 4711\ndone\n");
  EXPECT_EQ(errorsOf(0), "");
}

TEST_F(Recording, GoesOnWhenTheDaemonIsKilled) {
  makeSession(kRecordChoices, 4);
  startDaemon();
  connectClient();
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    startAgent(rank, {"init", "e500", "o:done", "fin", "x" + std::to_string(rank)});
  }
  ASSERT_TRUE(expect<RankState>([](const RankState& s) { return s.serial > 5; }));
  ::kill(m_daemon, SIGKILL);
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(agentStatus(rank), rank << 8);
    EXPECT_EQ(outputOf(rank), "done\n");
    EXPECT_EQ(errorsOf(rank), "");
  }
}

TEST_F(Recording, DaemonEndsByItselfWhenAllHaveGone) {
  makeSession(kRecordChoices, 2);
  startDaemon();
  connectClient();
  startAgent(0, {"init", "e10", "fin"});
  startAgent(1, {"init", "e300", "k11"});
  const auto exited = expect<RankExited>([](const RankExited& e) { return e.rank == 1; });
  ASSERT_TRUE(exited);
  EXPECT_EQ(exited->signal, SIGSEGV);
  EXPECT_EQ(exited->serial, 301U);
  EXPECT_NE(exited->text.find("rank 1 was ended by signal 11 (Segmentation fault)"),
            std::string::npos)
      << exited->text;
  const auto end = expect<Verdict>();
  EXPECT_EQ(end->kind, VerdictKind::Ended);
  EXPECT_EQ(end->rank, 1);
  EXPECT_EQ(WTERMSIG(agentStatus(1)), SIGSEGV);
  m_client.reset();
  EXPECT_TRUE(waitFor([this] { return ::waitpid(m_daemon, nullptr, WNOHANG) == m_daemon; }));
  m_daemon = -1;
}

TEST_F(Recording, SigtermEndsTheDaemonAlone) {
  makeSession(kRecordChoices, 1);
  startDaemon();
  connectClient();
  startAgent(0, {"init", "e300", "o:done", "fin"});
  ASSERT_TRUE(expect<RankState>());
  ::kill(m_daemon, SIGTERM);
  int status = -1;
  EXPECT_TRUE(waitFor([&] { return ::waitpid(m_daemon, &status, WNOHANG) == m_daemon; }));
  EXPECT_EQ(status, 0);
  m_daemon = -1;
  EXPECT_EQ(agentStatus(0), 0);
  EXPECT_EQ(outputOf(0), "done\n");
}

TEST_F(Recording, ProgramInheritsNothingOfOurs) {
  makeSession(kRecordChoices, 1);
  ::setenv("LD_PRELOAD", "/nonexistent/users.so", 1);
  startAgent(0, {"fds", "env"});
  ::unsetenv("LD_PRELOAD");
  EXPECT_EQ(agentStatus(0), 0);
  EXPECT_EQ(outputOf(0), std::string("session hidden\npreload ") + TEST_PRELOAD +
                             ":/nonexistent/users.so\npreloaded 1\n");
}

TEST_F(Recording, InterposerInAPathWithASpace) {
  const std::string odd = file("my build: 1");
  ASSERT_EQ(::mkdir(odd.c_str(), 0700), 0);
  m_config.interposer = odd + "/recorder.so";
  std::ofstream(m_config.interposer, std::ios::binary)
      << std::ifstream(TEST_PRELOAD, std::ios::binary).rdbuf();
  makeSession(kRecordChoices, 1);
  startAgent(0, {"env"});
  EXPECT_EQ(agentStatus(0), 0);
  EXPECT_NE(outputOf(0).find("preloaded 1"), std::string::npos) << outputOf(0) << errorsOf(0);
}

TEST_F(Recording, MissingOrForeignInterposerIsSaid) {
  m_config.interposer = file("missing.so");
  makeSession(kRecordChoices, 1);
  startAgent(0, {"o:ran"});
  EXPECT_EQ(agentStatus(0), 1 << 8);
  EXPECT_NE(errorsOf(0).find("missing.so cannot be used"), std::string::npos) << errorsOf(0);
  std::ofstream(m_config.interposer) << "x";
  ::chmod(m_config.interposer.c_str(), 0666);
  startAgent(1, {"o:ran"});
  EXPECT_EQ(agentStatus(1), 1 << 8);
  EXPECT_NE(errorsOf(1).find("can be changed by other users"), std::string::npos) << errorsOf(1);
}

TEST_F(Recording, MissingProgramIsSaidAsAShellDoes) {
  makeSession(kRecordChoices, 1);
  startAgent(0, {}, "no-such-program");
  EXPECT_EQ(agentStatus(0), 127 << 8);
  EXPECT_EQ(errorsOf(0), "photofinish: cannot run 'no-such-program': No such file or directory\n");
  startAgent(1, {}, m_directory);
  EXPECT_EQ(agentStatus(1), 126 << 8);
}

TEST_F(Recording, NotAnMpiProgramIsReported) {
  makeSession(kRecordChoices, 1);
  startDaemon();
  connectClient();
  startAgent(0, {"o:plain", "x5"});
  const auto exited = expect<RankExited>();
  ASSERT_TRUE(exited);
  EXPECT_EQ(exited->phase, RankPhase::Launched);
  EXPECT_EQ(exited->text, "rank 0 ended with status 5 and never called MPI_Init");
  EXPECT_EQ(agentStatus(0), 5 << 8);
}

TEST_F(Recording, SecondProcessOfARankRunsUnrecorded) {
  makeSession(kRecordChoices, 1);
  startAgent(0, {"init", "s300", "fin"});
  ASSERT_TRUE(waitFor([this] { return ::access(m_session->claimPath(0).c_str(), F_OK) == 0; }));
  const pid_t first = agentPid(0);
  startAgent(0, {"init", "page", "fin"});
  EXPECT_EQ(agentStatus(0), 0);
  EXPECT_NE(outputOf(0).find("mode 0 "), std::string::npos) << outputOf(0);
  EXPECT_NE(errorsOf(0).find("it is not recorded"), std::string::npos);
  ::waitpid(first, nullptr, 0);
}

TEST_F(Recording, KilledAgentLeavesNoProgram) {
  makeSession(kRecordChoices, 1);
  startAgent(0, {"init", "o:up", "pause"});
  ASSERT_TRUE(waitFor([this] { return outputOf(0) == "up\n"; }));
  ::kill(agentPid(0), SIGKILL);
  agentStatus(0);
}

TEST_F(Recording, WrapperScriptIsFine) {
  makeSession(kRecordChoices, 1);
  startDaemon();
  connectClient();
  startAgent(0, {"-c", std::string(TEST_RANK) + " init e10 fin; exit 9"}, "sh");
  const auto hello = expect<RankHello>();
  ASSERT_TRUE(hello);
  EXPECT_EQ(agentStatus(0), 9 << 8);
}

class Signals : public ProcessSession {
 protected:
  void start() {
    makeSession(kRecordChoices, 1);
    startAgent(0, {"count", "s600"});
    ASSERT_TRUE(waitFor([this] { return outputOf(0) == "ready\n"; }));
  }
};

TEST_F(Signals, ToTheAgentAloneIsPassedOn) {
  start();
  ::kill(agentPid(0), SIGUSR1);
  EXPECT_EQ(agentStatus(0), 0);
  EXPECT_EQ(outputOf(0), "ready\nusr1 1\n");
}

TEST_F(Signals, ToTheGroupComesOnce) {
  start();
  ::kill(-agentPid(0), SIGUSR1);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ::kill(-agentPid(0), SIGUSR1);
  EXPECT_EQ(agentStatus(0), 0);
  EXPECT_EQ(outputOf(0), "ready\nusr1 2\n");
}

TEST_F(Signals, EndOfTheProgramIsOurEnd) {
  start();
  ::kill(agentPid(0), SIGTERM);
  EXPECT_EQ(WTERMSIG(agentStatus(0)), SIGTERM);
}

class Captured : public ProcessSession {
 protected:
  /// What the client has got of one stream.
  [[nodiscard]] std::string received(std::uint8_t stream) const {
    std::string out;
    for (const Message& message : m_seen) {
      const auto* output = std::get_if<Output>(&message);
      if (output != nullptr && output->stream == stream) {
        out += output->bytes;
      }
    }
    return out;
  }
};

TEST_F(Captured, OutputGoesToTheClientAndOn) {
  m_config.pty = true;
  makeSession(kRecordChoices, 1);
  startDaemon();
  connectClient();
  startAgent(0, {"init", "o:out\tput", "r:err", "fin"});
  EXPECT_TRUE(expect<RankExited>());
  EXPECT_EQ(received(1), "out\tput\n");
  EXPECT_EQ(received(2), "err\n");
  EXPECT_EQ(agentStatus(0), 0);
  EXPECT_EQ(outputOf(0), "out\tput\n");
  EXPECT_EQ(errorsOf(0), "err\n");
}

TEST_F(Captured, WithoutEchoItGoesToTheClientAlone) {
  m_config.pty = true;
  m_config.echo = false;
  makeSession(kRecordChoices, 1);
  startDaemon();
  connectClient();
  startAgent(0, {"init", "o:out", "fin"});
  EXPECT_TRUE(expect<RankExited>());
  EXPECT_EQ(received(1), "out\n");
  EXPECT_EQ(agentStatus(0), 0);
  EXPECT_EQ(outputOf(0), "");
}

TEST_F(Captured, NothingIsLostAtTheEnd) {
  m_config.pty = true;
  makeSession(kRecordChoices, 1);
  startAgent(0, {"-c", "seq 1 100000; kill -9 $$"}, "sh");
  EXPECT_EQ(WTERMSIG(agentStatus(0)), SIGKILL);
  const std::string text = outputOf(0);
  EXPECT_EQ(text.size(), 588895U);
  EXPECT_EQ(text.substr(text.size() - 7), "100000\n");
}

TEST_F(Captured, ChildThatHoldsTheOutputDoesNotHoldUs) {
  m_config.pty = true;
  makeSession(kRecordChoices, 1);
  startAgent(0, {"child", "o:done"});
  EXPECT_EQ(agentStatus(0, std::chrono::milliseconds(2000)), 0);
  EXPECT_EQ(outputOf(0), "done\n");
}

}  // namespace
}  // namespace pf::agent

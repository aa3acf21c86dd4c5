// SPDX-License-Identifier: GPL-3.0-or-later
// One launched run: what launcher and daemon are given, how both end, and what is said of those that do not go on. The
// launcher is a shell script, the daemon that of daemon_script.cpp, which lies beside this program.
#include "app/job/job.h"

#include <poll.h>
#include <signal.h>

#include <gtest/gtest.h>

#include "app/job/job_driver.h"
#include "app/job/tests/job_fixture.h"
#include "replay_engine/protocol/rank_page.h"

namespace pf::app {
namespace {

using test::kWaitToGo;

class JobTest : public test::JobFixture {};

// -- the start

TEST_F(JobTest, TheLauncherGetsTheAgentAndTheSessionByWordAndByVariable) {
  JobOptions options;
  options.launcherOptions = {"--oversubscribe"};
  const auto job = started("cd \"$(dirname \"$0\")\"; echo \"$@\" > words; echo \"$" +
                               std::string(protocol::kSessionVariable) + "\" > session",
                           options);
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(statusOf(*job), 0);
  EXPECT_EQ(m_programs.read("words"), "--oversubscribe -n 2 " + programDirectory() +
                                          "/photofinish-agent --session " + job->sessionPath() +
                                          " -- " + m_programs.at("app") + " a\n");
  EXPECT_EQ(m_programs.read("session"), job->sessionPath() + "\n");
}

TEST_F(JobTest, TheDaemonIsToldWhatItHasToKnow) {
  JobOptions options;
  options.force = true;
  options.deliveries = "tagged";
  options.stallAfter = std::chrono::milliseconds(1500);
  options.session.mode = kBoundedBuffers;
  const auto job = started("exit 0", options);
  ASSERT_NE(job, nullptr);
  for (const char* words :
       {"--force", "--deliveries tagged", "--stall-after 1500", "--bounded-buffers"}) {
    EXPECT_TRUE(heard(words)) << m_programs.read("heard");
  }
  EXPECT_FALSE(heard("--stall-limit")) << "0 is none";
  EXPECT_FALSE(heard("--trace"));
}

TEST_F(JobTest, TheSessionsDirectoryGoesWithTheJob) {
  auto job = started("exit 0");
  ASSERT_NE(job, nullptr);
  const std::string path = job->sessionPath();
  EXPECT_TRUE(std::filesystem::is_directory(path));
  EXPECT_EQ(statusOf(*job), 0);
  job.reset();
  EXPECT_TRUE(heard("shutdown"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(JobTest, TheRecordedInputIsGivenFromItsBeginning) {
  JobOptions options;
  options.givenInput = "one\ntwo";
  const auto job = started("cat > \"$(dirname \"$0\")/input\"", options);
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(statusOf(*job), 0);
  EXPECT_EQ(m_programs.read("input"), "one\ntwo");
}

TEST_F(JobTest, TheLauncherStartsInTheRecordedDirectoryOrNotAtAll) {
  JobOptions options;
  options.workingDirectory = m_programs.path();
  const auto job = started("pwd > here", options);
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(statusOf(*job), 0);
  EXPECT_EQ(m_programs.read("here"), std::filesystem::canonical(m_programs.path()).string() + "\n");
  options.workingDirectory = m_programs.at("gone");
  const auto lost = started("touch here2", options);
  ASSERT_NE(lost, nullptr);
  EXPECT_EQ(statusOf(*lost), 126);
}

TEST_F(JobTest, WithoutItsDaemonNothingIsLaunched) {
  for (const char* how : {"absent", "refuses"}) {
    daemonSays(how);
    const auto job = start("touch \"$(dirname \"$0\")/launched\"");
    ASSERT_FALSE(job.ok()) << how;
    EXPECT_EQ(job.error().code, ErrorCode::Peer);
  }
  EXPECT_FALSE(std::filesystem::exists(m_programs.at("launched")));
}

// -- the end

TEST_F(JobTest, TheStatusIsThatOfAShell) {
  EXPECT_EQ(statusOf(*started("exit 3")), 3);
  EXPECT_EQ(statusOf(*started("kill -KILL $$")), 128 + SIGKILL);
}

TEST_F(JobTest, ALauncherIsAskedToEndAndThenKilled) {
  const auto job = started(
      "trap '' TERM; echo $$ > \"$(dirname \"$0\")/pid\"; "
      "while :; do sleep 0.05; done");
  ASSERT_NE(job, nullptr);
  ASSERT_EQ(processOf("pid"), job->launcher());
  job->endLauncher();
  EXPECT_FALSE(job->launcherStatus()) << "it does not want to";
  job->endLauncher();
  EXPECT_EQ(statusOf(*job), 128 + SIGKILL);
  const auto willing = started("exec sleep 100");
  ASSERT_NE(willing, nullptr);
  willing->endLauncher();
  EXPECT_EQ(statusOf(*willing), 128 + SIGTERM);
}

TEST_F(JobTest, WhatDescendsFromTheLauncherIsKilledWithIt) {
  const auto job = started(
      "(trap '' TERM; echo $BASHPID > \"$(dirname \"$0\")/child\"; "
      "exec sleep 100) & wait");
  ASSERT_NE(job, nullptr);
  const pid_t child = processOf("child");
  ASSERT_GT(child, 0);
  job->killAll();
  EXPECT_EQ(statusOf(*job), 128 + SIGTERM) << "nobody has seen an end of its own";
  std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
  std::string text;
  std::getline(stat, text);
  EXPECT_TRUE(text.empty() || text.find(") Z ") != std::string::npos)
      << "what is killed is gone when it is said to be: " << text;
  EXPECT_TRUE(waitFor(*job, [this] { return heard("kill"); })) << "ranks elsewhere, too";
}

TEST_F(JobTest, ALauncherThatCrashesBehindItsRanksHasTheirStatus) {
  daemonSays("agents 2,exited 0 0 15,exited 1 7 0,exited 2 0 11,agents 0");
  const auto job = started(kWaitToGo + std::string("kill -KILL $$"));
  ASSERT_NE(job, nullptr);
  ASSERT_TRUE(waitFor(*job, [&job] { return job->ranksGone(); }));
  m_programs.make("go");
  EXPECT_EQ(statusOf(*job), 7) << "SIGTERM is how the launcher ends the others";
}

TEST_F(JobTest, ALauncherThatCrashesWhenItIsAskedToEndHasTheStatusOfItsRanks) {
  daemonSays("agents 2,exited 0 0 15,exited 1 5 0,agents 0");
  const auto job = started(
      "ulimit -c 0; trap 'kill -SEGV $$' TERM; touch \"$(dirname \"$0\")/ready\"; "
      "while :; do sleep 0.02; done");
  ASSERT_NE(job, nullptr);
  ASSERT_TRUE(waitFor(
      *job, [&] { return job->ranksGone() && std::filesystem::exists(m_programs.at("ready")); }));
  job->endLauncher();
  EXPECT_EQ(statusOf(*job), 5);
}

TEST_F(JobTest, ALauncherThatCrashesBeforeItsRanksHasItsOwnStatus) {
  daemonSays("agents 2,exited 0 7 0,agents 1");
  const auto job = started("kill -KILL $$");
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(statusOf(*job), 128 + SIGKILL);
}

TEST_F(JobTest, ALauncherThatLingersBehindItsRanksIsKilled) {
  daemonSays("agents 2,exited 0 0 9,exited 1 0 11,exited 2 7 0,agents 0");
  const auto job = started("exec sleep 100");
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(statusOf(*job), 128 + SIGSEGV) << "the first rank that was not ended by the launcher";
}

/// mpirun's sleep, when it ends a job: a signal of a child ends it.
TEST_F(JobTest, ALauncherThatSleepsBehindItsRanksIsWoken) {
  const std::string sleeps =
      "exec python3 -c 'import signal, sys, time\n"
      "signal.signal(signal.SIGCHLD, lambda *_: sys.exit(7))\ntime.sleep(100)'";
  daemonSays("agents 2,exited 0 3 0,agents 0");
  const auto job = started(sleeps);
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(statusOf(*job), 7) << "it has ended by itself";
  daemonSays("agents 2,exited 0 3 0,agents 1");
  const auto other = started(sleeps);
  ASSERT_NE(other, nullptr);
  for (int i = 0; i < 100; ++i) {
    (void)other->listen([](const protocol::Message&) { return true; });
    EXPECT_FALSE(other->launcherStatus()) << "a rank is left";
    poll(nullptr, 0, 5);
  }
  other->killAll();
}

TEST_F(JobTest, RanksAreNotGoneWhileAnAgentIsThereOrBeforeOneWas) {
  daemonSays("agents 0,agents 2,agents 0,agents 1");
  const auto job = started("exec sleep 100");
  ASSERT_NE(job, nullptr);
  std::vector<bool> gone;
  const auto note = [&](const protocol::Message&) {
    gone.push_back(job->ranksGone());
    return true;
  };
  for (int i = 0; i < 1000 && gone.size() < 4; ++i) {
    (void)job->listen(note);
    poll(nullptr, 0, 5);
  }
  EXPECT_EQ(gone, (std::vector<bool>{false, false, true, false}));
  job->endLauncher();
}

TEST_F(JobTest, AReplayEndsItsRanksARecordingDoesNot) {
  JobOptions options;
  options.session.mode = kReplay;
  auto replay = started("exec sleep 100", options);
  auto recording = started("exec sleep 100", {}, "mpiexec");
  ASSERT_TRUE(replay != nullptr && recording != nullptr);
  const pid_t ended = replay->launcher();
  const pid_t left = recording->launcher();
  replay.reset();
  recording.reset();
  EXPECT_FALSE(isThere(ended));
  EXPECT_TRUE(heard("kill"));
  EXPECT_TRUE(isThere(left));
  kill(left, SIGKILL);
}

// -- the daemon is gone

TEST_F(JobTest, ADaemonThatIsGoneIsHeardOfOnce) {
  daemonSays("agents 1,gone");
  const auto job = started("exec sleep 100");
  ASSERT_NE(job, nullptr);
  Job::Heard last = Job::Heard::Nothing;
  for (int i = 0; i < 1000 && last != Job::Heard::DaemonGone; ++i) {
    last = job->listen([](const protocol::Message&) { return true; });
    poll(nullptr, 0, 5);
  }
  EXPECT_EQ(last, Job::Heard::DaemonGone);
  EXPECT_EQ(job->listen([](const protocol::Message&) { return true; }), Job::Heard::Nothing);
  const Status sent = job->send(protocol::OpenGate{});
  ASSERT_FALSE(sent.ok());
  EXPECT_NE(sent.error().advice, "");
  job->endLauncher();
  EXPECT_EQ(statusOf(*job), 128 + SIGTERM);
}

// -- who does not go on

TEST_F(JobTest, ALauncherThatIsStoppedIsSpokenOfAndThatItGoesOn) {
  const auto job = started("exec sleep 100");
  ASSERT_NE(job, nullptr);
  kill(job->launcher(), SIGSTOP);
  EXPECT_TRUE(isNoticed(
      *job, "the launcher (process " + std::to_string(job->launcher()) + ") does not go on: "));
  EXPECT_TRUE(job->daemonAnswers());
  kill(job->launcher(), SIGCONT);
  EXPECT_TRUE(isNoticed(*job, "the launcher goes on"));
  job->endLauncher();
}

// -- followed to its end

class Follower : public JobFollower {
 public:
  void heard(const protocol::Message& message) override {
    told += std::holds_alternative<protocol::RankExited>(message) ? "exited " : "state ";
    done = done || (endsAtExit && std::holds_alternative<protocol::RankExited>(message));
  }
  void daemonLost() override { told += "lost "; }
  void noticed(const std::string& text) override { told += text; }
  void turn() override { ++turns; }
  [[nodiscard]] bool isDone() const override { return done; }
  [[nodiscard]] bool expectsMore() override { return --more >= 0; }
  [[nodiscard]] pollfd alsoWaitsFor(bool) const override { return {other, POLLIN, 0}; }
  void otherCame() override {
    told += "other ";
    other = -1;
  }

  std::string told;
  bool endsAtExit = false;
  bool done = false;
  int more = 0;
  int turns = 0;
  int other = -1;
};

TEST_F(JobTest, AllThatTheDaemonSaysIsHeardBeforeTheEnd) {
  daemonSays("agents 2,exited 0 0 0,agents 0");
  const auto job = started("exit 3");
  ASSERT_NE(job, nullptr);
  Follower follower;
  EXPECT_EQ(drive(*job, follower), 3);
  EXPECT_EQ(follower.told, "state exited state ");
}

TEST_F(JobTest, WhoHasWhatHeWantsIsNotHeldUp) {
  daemonSays("agents 2,exited 0 0 0,agents 1");
  const auto job = started("exec sleep 100");
  ASSERT_NE(job, nullptr);
  Follower follower;
  follower.endsAtExit = true;
  EXPECT_EQ(drive(*job, follower), std::nullopt);
  EXPECT_EQ(follower.told, "state exited ");
  job->endLauncher();
}

TEST_F(JobTest, AProgramGoesOnWithoutItsDaemon) {
  daemonSays("gone");
  const auto job = started(kWaitToGo + std::string("exit 5"));
  ASSERT_NE(job, nullptr);
  class Goes final : public Follower {
   public:
    explicit Goes(const test::MadePrograms& programs) : m_programs(programs) {}
    void daemonLost() override {
      Follower::daemonLost();
      m_programs.make("go");
    }

   private:
    const test::MadePrograms& m_programs;
  };
  Goes follower(m_programs);
  follower.more = 2;
  EXPECT_EQ(drive(*job, follower), 5);
  EXPECT_EQ(follower.told, "lost ");
  EXPECT_GT(follower.turns, 0);
  EXPECT_LT(follower.more, 0) << "it was asked whether there is more to come";
}

TEST_F(JobTest, OtherThingsThatAreWaitedForAreToldOf) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  const auto job = started("exit 0");
  ASSERT_NE(job, nullptr);
  Follower follower;
  follower.other = ends[0];
  EXPECT_EQ(drive(*job, follower), 0);
  EXPECT_EQ(follower.told.substr(0, 6), "other ");
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace pf::app

// SPDX-License-Identifier: GPL-3.0-or-later
// A recording followed to its end, and its standard input on the way. The launcher is a shell script, the daemon another.
#include "app/recording/follow_recording.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include <gtest/gtest.h>

#include "app/job/tests/job_fixture.h"

namespace pf::app {
namespace {

class FollowRecordingTest : public test::JobFixture {
 protected:
  Result<int> follow(Job& job, bool endStuck = false, InputTee* input = nullptr) {
    return followRecording(job, m_facts, input, {endStuck, [this] { return m_ended; }});
  }

  RunFacts m_facts = [] {
    RunFacts facts;
    facts.launcher = "mpirun";
    facts.program = "./app";
    return facts;
  }();
  bool m_ended = false;
};

TEST_F(FollowRecordingTest, RanksEndsAreNotedAsTheDaemonTellsThem) {
  daemonSays("agents 1,hello 0 2,hello 1 2,exited 0 3 0,exited 1 -1 11,exited -1 9 0,agents 0");
  const auto job = started("exit 3");
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(*follow(*job), 3);
  ASSERT_EQ(m_facts.ends.size(), 2U);
  EXPECT_EQ(m_facts.ends[0].status, 3);
  EXPECT_EQ(m_facts.ends[0].host, "elsewhere");
  EXPECT_FALSE(m_facts.ends[0].signal);
  EXPECT_EQ(m_facts.ends[1].signal, SIGSEGV);
  EXPECT_FALSE(m_facts.ends[1].status);
}

TEST_F(FollowRecordingTest, AProgramOfOneRankThatIsMoreIsEnded) {
  daemonSays("agents 1,hello 0 4");
  m_facts.launcher.clear();
  const auto job = started("exec sleep 100");
  ASSERT_NE(job, nullptr);
  const Result<int> status = follow(*job);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Usage);
  EXPECT_NE(status.error().message.find("but is 4 ranks"), std::string::npos);
}

TEST_F(FollowRecordingTest, WhatCannotGetOnIsEndedWhereThatIsWantedAndProven) {
  daemonSays("agents 1,stalled 1");
  const auto job = started(
      "trap 'exit 0' TERM; echo $$ > \"$(dirname \"$0\")/pid\"; "
      "while :; do sleep 0.02; done");
  ASSERT_NE(job, nullptr);
  ASSERT_EQ(processOf("pid"), job->launcher());
  EXPECT_EQ(*follow(*job, true), 1) << "the launcher's own status would say that all is well";
}

TEST_F(FollowRecordingTest, WhatMayGetOnIsLeftAlone) {
  for (const auto& [says, ends] : {std::pair{"agents 1,stalled 0,agents 0", true},
                                   std::pair{"agents 1,stalled 1,agents 0", false}}) {
    daemonSays(says);
    const auto job = started("exit 0");
    ASSERT_NE(job, nullptr);
    EXPECT_EQ(*follow(*job, ends), 0) << says;
  }
}

TEST_F(FollowRecordingTest, WhoIsAskedToEndEndsTheLauncher) {
  daemonSays("agents 1");
  const auto job = started("exec sleep 100");
  ASSERT_NE(job, nullptr);
  m_ended = true;
  EXPECT_EQ(*follow(*job), 128 + SIGTERM);
}

TEST_F(FollowRecordingTest, TheProgramRunsOnWithoutItsDaemon) {
  daemonSays("hello 0 2,gone");
  const auto job = started(test::kWaitToGo + std::string("exit 5"));
  ASSERT_NE(job, nullptr);
  ASSERT_TRUE(waitFor(*job, [&job] { return job->connection() == nullptr; }));
  m_programs.make("go");
  EXPECT_EQ(*follow(*job), 5);
}

TEST_F(FollowRecordingTest, RacesAreToldOfAtEachPowerOfTen) {
  daemonSays("agents 1,races 0 1,races 1 3,races 0 8,races 0 8,races 1 4,agents 0");
  const auto job = started("exit 0");
  ASSERT_NE(job, nullptr);
  testing::internal::CaptureStderr();
  EXPECT_EQ(*follow(*job), 0);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("1 racing delivery so far"), std::string::npos) << said;
  EXPECT_NE(said.find("11 racing deliveries so far"), std::string::npos) << said;
  EXPECT_EQ(said.find("12 racing"), std::string::npos) << said;
}

// -- standard input

/// Our standard input is a pipe that the test writes to.
class InputTeeTest : public FollowRecordingTest {
 protected:
  InputTeeTest() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    m_typed.reset(ends[1]);
    fcntl(m_typed.get(), F_SETPIPE_SZ, 1 << 20);
  }
  ~InputTeeTest() override { dup2(m_before.get(), STDIN_FILENO); }
  void type(const std::string& text) {
    EXPECT_EQ(write(m_typed.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::string copy() const { return m_programs.at("input"); }

  UniqueFd m_before{fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10)};
  UniqueFd m_typed;
};

TEST_F(InputTeeTest, WhatIsTypedComesToTheLauncherAndIsKept) {
  daemonSays("agents 1,agents 0");
  Result<InputTee> tee = InputTee::start(copy());
  ASSERT_TRUE(tee);
  JobOptions options;
  options.input = tee->launcherEnd();
  const auto job = started("cat > \"$(dirname \"$0\")/typed\"", options);
  ASSERT_NE(job, nullptr);
  tee->launched();
  type("one\ntwo\n");
  m_typed.reset();
  EXPECT_EQ(*follow(*job, false, &*tee), 0);
  EXPECT_EQ(m_programs.read("typed"), "one\ntwo\n");
  EXPECT_EQ(m_programs.read("input"), "one\ntwo\n");
  EXPECT_EQ(tee->waiting().fd, -1) << "the input has ended";
  EXPECT_FALSE(tee->tooLong());
}

TEST_F(InputTeeTest, ALauncherThatReadsNothingIsNotWaitedFor) {
  Result<InputTee> tee = InputTee::start(copy());
  ASSERT_TRUE(tee);
  tee->launched();
  signal(SIGPIPE, SIG_IGN);
  type("one\n");
  tee->pump();
  EXPECT_EQ(tee->waiting().events, POLLOUT);
  tee->pump();
  EXPECT_EQ(tee->waiting().fd, -1);
  EXPECT_EQ(m_programs.read("input"), "one\n");
}

TEST_F(InputTeeTest, ALongInputIsPassedOnAndNotKept) {
  Result<InputTee> tee = InputTee::start(copy());
  ASSERT_TRUE(tee);
  const UniqueFd launcher(dup(tee->launcherEnd()));
  const std::string block(std::size_t{64} << 10, 'x');
  std::string taken(block.size(), ' ');
  std::uint64_t passed = 0;
  for (std::uint64_t given = 0; given <= kMostInput; given += block.size()) {
    type(block);
    tee->pump();
    while (tee->waiting().events == POLLOUT) {
      tee->pump();
      passed += static_cast<std::uint64_t>(read(launcher.get(), taken.data(), taken.size()));
    }
  }
  EXPECT_GT(passed, kMostInput);
  EXPECT_TRUE(tee->tooLong());
  EXPECT_FALSE(std::filesystem::exists(copy()));
  EXPECT_EQ(std::filesystem::file_size(copy() + kLeftOut), 0U);
}

TEST_F(InputTeeTest, TheCopyIsForItsUserAloneAndNoLink) {
  ASSERT_TRUE(InputTee::start(copy()));
  struct stat info {};
  ASSERT_EQ(stat(copy().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  std::filesystem::create_symlink(m_programs.at("elsewhere"), m_programs.at("link"));
  EXPECT_FALSE(InputTee::start(m_programs.at("link")));
  EXPECT_FALSE(std::filesystem::exists(m_programs.at("elsewhere")));
}

}  // namespace
}  // namespace pf::app

// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/protocol/session_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/protocol/messages.h"
#include "replay_engine/protocol/rank_page.h"

namespace pf::protocol {
namespace {

namespace fs = std::filesystem;

class SessionDirectoryTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "sessionXXXXXX";
    ASSERT_NE(::mkdtemp(path.data()), nullptr);
    m_base = path;
    m_config.mode = kReplay | kGate;
    m_config.logDirectory = "/tmp/log \"dir\"";
    m_config.salt = 0xFFFFFFFFFFFFFFFFU;
    m_config.ranks = 4;
    m_config.pty = true;
    m_config.echo = false;
    m_config.recordedEnvironment = {{0, {"environ SEED 1", "digest TOKEN 00ff"}}, {12, {}}};
    m_config.giveBack = false;
    m_config.running = {2, 5};
    m_config.groups = "0-1,2+5";
    m_config.gdb = "/opt/a b/gdb";
  }
  void TearDown() override { fs::remove_all(m_base); }

  std::string m_base;
  SessionConfig m_config;
};

TEST_F(SessionDirectoryTest, OthersReadWhatTheFirstWrote) {
  Result<SessionDirectory> made = SessionDirectory::create(m_config, m_base);
  ASSERT_TRUE(made.ok()) << made.error().text();
  Result<SessionDirectory> opened = SessionDirectory::open(made->path());
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  EXPECT_EQ(opened->config(), m_config);
  EXPECT_EQ(opened->key(), made->key());
  EXPECT_EQ(made->key().size(), kKeySize);
}

/// Each start looks for what others have left: it must not take a session that just begins for such.
TEST_F(SessionDirectoryTest, ManyThatBeginAtOnceLeaveOneAnotherAlone) {
  constexpr int kProcesses = 4;
  constexpr int kSessions = 60;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(::fork());
    if (children.back() == 0) {
      bool good = true;
      for (int n = 0; good && n < kSessions; ++n) {
        good = SessionDirectory::create(m_config, m_base).ok();
      }
      ::_exit(good ? 0 : 1);
    }
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(fs::is_empty(m_base));
}

TEST_F(SessionDirectoryTest, IsPrivateWhateverTheUmask) {
  for (const mode_t mask : {mode_t{0}, mode_t{077}}) {
    const mode_t before = ::umask(mask);
    Result<SessionDirectory> made = SessionDirectory::create(m_config, m_base);
    ::umask(before);
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(fs::status(made->path()).permissions(), fs::perms::owner_all);
    for (const auto& entry : fs::directory_iterator(made->path())) {
      EXPECT_EQ(entry.status().permissions(), fs::perms::owner_read | fs::perms::owner_write)
          << entry.path();
    }
  }
}

TEST_F(SessionDirectoryTest, TheLastOneOutRemovesIt) {
  std::string path;
  {
    Result<SessionDirectory> first = SessionDirectory::create(m_config, m_base);
    ASSERT_TRUE(first.ok());
    path = first->path();
    Result<SessionDirectory> second = SessionDirectory::open(path);
    ASSERT_TRUE(second.ok());
    first->release();
    EXPECT_TRUE(fs::exists(path + "/key"));
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_FALSE(SessionDirectory::open(path).ok());
}

TEST_F(SessionDirectoryTest, AForkDoesNotRemoveIt) {
  Result<SessionDirectory> made = SessionDirectory::create(m_config, m_base);
  ASSERT_TRUE(made.ok());
  const pid_t child = ::fork();
  if (child == 0) {
    made->release();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(fs::exists(made->path() + "/key"));
}

TEST_F(SessionDirectoryTest, TheNextOneRemovesWhatAKillLeft) {
  const pid_t child = ::fork();
  if (child == 0) {
    Result<SessionDirectory> made = SessionDirectory::create(m_config, m_base);
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  ASSERT_FALSE(fs::is_empty(m_base));
  Result<SessionDirectory> inUse = SessionDirectory::create(m_config, m_base);
  Result<SessionDirectory> next = SessionDirectory::create(m_config, m_base);
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(std::distance(fs::directory_iterator(m_base), fs::directory_iterator{}), 2);
}

TEST_F(SessionDirectoryTest, ManyFilesGoWithIt) {
  Result<SessionDirectory> made = SessionDirectory::create(m_config, m_base);
  ASSERT_TRUE(made.ok());
  for (int i = 0; i < 2000; ++i) {
    ::close(::open(made->claimPath(i).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  }
  made->release();
  EXPECT_TRUE(fs::is_empty(m_base));
}

TEST_F(SessionDirectoryTest, RefusesWhatOthersCanReach) {
  Result<SessionDirectory> made = SessionDirectory::create(m_config, m_base);
  ASSERT_TRUE(made.ok());
  ::chmod(made->path().c_str(), 0755);
  EXPECT_FALSE(SessionDirectory::open(made->path()).ok());
  ::chmod(made->path().c_str(), 0700);
  ::chmod((made->path() + "/key").c_str(), 0644);
  EXPECT_FALSE(SessionDirectory::open(made->path()).ok());
}

TEST_F(SessionDirectoryTest, FollowsNoLink) {
  Result<SessionDirectory> made = SessionDirectory::create(m_config, m_base);
  ASSERT_TRUE(made.ok());
  const std::string link = m_base + "/link";
  fs::create_symlink(made->path(), link);
  EXPECT_FALSE(SessionDirectory::open(link).ok());
}

TEST_F(SessionDirectoryTest, TooLongForASocketIsSaid) {
  const std::string deep = m_base + "/" + std::string(90, 'd');
  fs::create_directory(deep);
  const Result<SessionDirectory> made = SessionDirectory::create(m_config, deep);
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().text().find("107"), std::string::npos) << made.error().text();
  EXPECT_TRUE(fs::is_empty(deep));
}

TEST_F(SessionDirectoryTest, DamagedConfigurationIsRefused) {
  EXPECT_EQ(configFromJson(toJson(m_config)).value(), m_config);
  const std::string good = toJson(m_config);
  for (std::size_t size = 0; size + 2 < good.size(); size += 3) {
    EXPECT_FALSE(configFromJson(good.substr(0, size)).ok());
  }
  std::string other = good;
  other.replace(other.find("\"version\": 1"), 12, "\"version\": 2");
  EXPECT_EQ(configFromJson(other).error().code, ErrorCode::Version);
  std::string unknownMode = good;
  unknownMode.replace(unknownMode.find("\"replay\""), 8, "\"rewind\"");
  EXPECT_FALSE(configFromJson(unknownMode).ok());
}

}  // namespace
}  // namespace pf::protocol

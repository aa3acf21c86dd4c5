// SPDX-License-Identifier: GPL-3.0-or-later
// Directories of logs: whole or not there, kept aside and never written over, and what is seen of a recording from outside.
#include "app/recording/log_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "app/recording/record.h"
#include "db/tests/sample.h"

namespace pf::app {
namespace {

namespace fs = std::filesystem;

class LogDirectoryTest : public testing::Test {
 protected:
  LogDirectoryTest() {
    m_facts.program = "./app";
    m_facts.salt = 7;
  }
  void write(const std::string& path, const std::string& text = "x") {
    std::ofstream(path) << text;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(m_directory.path())) {
      all.push_back(entry.path().filename().string());
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  using Names = std::vector<std::string>;

  db::Directory m_directory;
  std::string m_trace = m_directory.file("t.pft");
  std::string m_logs = logDirectoryOf(m_trace);
  RunFacts m_facts;
};

TEST_F(LogDirectoryTest, IsThereWithItsFactsAndLocked) {
  const Result<UniqueFd> lock = beginLogs(m_logs, m_facts);
  ASSERT_TRUE(lock);
  EXPECT_TRUE(lock->valid());
  EXPECT_TRUE(areLogsLocked(m_logs));
  EXPECT_FALSE(lockLogs(m_logs).valid());
  EXPECT_EQ(readFacts(m_logs)->program, "./app");
  EXPECT_EQ(names(), Names{"t.pft.d"}) << "nothing of its making is left";
  struct stat info {};
  ASSERT_EQ(stat(m_logs.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
}

TEST_F(LogDirectoryTest, IsFreeOnceItsRecorderIsGone) {
  { ASSERT_TRUE(beginLogs(m_logs, m_facts)); }
  EXPECT_FALSE(areLogsLocked(m_logs));
  EXPECT_TRUE(lockLogs(m_logs).valid());
  EXPECT_FALSE(areLogsLocked(m_directory.file("missing"))) << "nobody is at work there";
}

TEST_F(LogDirectoryTest, LogsOfARecordingThatGoesOnAreRefused) {
  const Result<UniqueFd> first = beginLogs(m_logs, m_facts);
  ASSERT_TRUE(first);
  const Result<UniqueFd> second = beginLogs(m_logs, m_facts);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::Usage);
  EXPECT_NE(second.error().advice.find("-o FILE"), std::string::npos);
}

TEST_F(LogDirectoryTest, FormerLogsAreKeptAsideUnderTheNextNumber) {
  for (int i = 0; i < 3; ++i) {
    m_facts.salt = static_cast<std::uint64_t>(i);
    ASSERT_TRUE(beginLogs(m_logs, m_facts));
  }
  EXPECT_EQ(names(), (Names{"t.pft.d", "t.pft.d.old-1", "t.pft.d.old-2"}));
  EXPECT_EQ(readFacts(m_logs + ".old-2")->salt, 1U);
  EXPECT_EQ(readFacts(m_logs)->salt, 2U);
}

TEST_F(LogDirectoryTest, WhatARecorderLeftHalfMadeIsRemoved) {
  fs::create_directory(m_logs + ".part-abcdef");
  fs::create_directory(m_logs + ".part-too-long");
  write(m_logs + ".part-file12");
  ASSERT_TRUE(beginLogs(m_logs, m_facts));
  EXPECT_EQ(names(), (Names{"t.pft.d", "t.pft.d.part-file12", "t.pft.d.part-too-long"}));
}

TEST_F(LogDirectoryTest, OneThatIsBeingMadeByAnotherIsLeftAlone) {
  fs::create_directory(m_logs + ".part-abcdef");
  const UniqueFd theirs = lockLogs(m_logs + ".part-abcdef");
  ASSERT_TRUE(theirs.valid());
  ASSERT_TRUE(beginLogs(m_logs, m_facts));
  EXPECT_TRUE(fs::exists(m_logs + ".part-abcdef"));
}

TEST_F(LogDirectoryTest, APlaceThatCannotBeWrittenIsSaidSo) {
  const Result<UniqueFd> lock = beginLogs(m_directory.file("missing/t.pft.d"), m_facts);
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().advice, "Give another place with -o FILE.");
}

TEST_F(LogDirectoryTest, TheEndRemovesLogsAndNothingElse) {
  { ASSERT_TRUE(beginLogs(m_logs, m_facts)); }
  write(m_logs + "/rank-0.log");
  endLogs(m_logs);
  EXPECT_EQ(names(), Names{});
  { ASSERT_TRUE(beginLogs(m_logs, m_facts)); }
  write(m_logs + "/rank-0.log");
  write(m_logs + "/notes.txt");
  endLogs(m_logs);
  EXPECT_EQ(names(), Names{"t.pft.d"}) << "under its own name";
  EXPECT_TRUE(fs::exists(m_logs + "/notes.txt"));
  EXPECT_FALSE(fs::exists(m_logs + "/rank-0.log"));
}

TEST_F(LogDirectoryTest, ALinkIsNotFollowed) {
  { ASSERT_TRUE(beginLogs(m_directory.file("real.d"), m_facts)); }
  fs::create_directory_symlink(m_directory.file("real.d"), m_logs);
  EXPECT_FALSE(lockLogs(m_logs).valid());
  EXPECT_FALSE(recordingNow(m_trace).logs);
}

// -- of a survey

TEST_F(LogDirectoryTest, ASurveysLogsLieBesideItsTraceAndGoWithIt) {
  std::string path;
  {
    const Result<SurveyLogs> logs = SurveyLogs::make(m_trace);
    ASSERT_TRUE(logs);
    path = logs->path();
    EXPECT_TRUE(path.starts_with(m_trace + ".survey-"));
    EXPECT_TRUE(areLogsLocked(path));
    write(path + "/rank-0.log");
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(SurveyLogs::none().path().empty());
}

TEST_F(LogDirectoryTest, WhereItsTraceCannotBeWrittenBesideTheyAreTemporary) {
  const std::string temporary = m_directory.file("tmp");
  fs::create_directory(temporary);
  setenv("TMPDIR", temporary.c_str(), 1);
  const Result<SurveyLogs> logs = SurveyLogs::make(m_directory.file("missing/t.pft"));
  unsetenv("TMPDIR");
  ASSERT_TRUE(logs);
  EXPECT_TRUE(logs->path().starts_with(temporary + "/t.pft.survey-"));
}

TEST_F(LogDirectoryTest, ASurveyThatWasKilledLeavesNothingForLong) {
  const std::string old = m_trace + ".survey-abcdef";
  const std::string young = m_trace + ".survey-ghijkl";
  for (const std::string& each : {old, young}) {
    fs::create_directory(each);
    write(each + "/rank-0.log");
  }
  const timespec long_ago[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, old.c_str(), long_ago, 0), 0);
  ASSERT_TRUE(SurveyLogs::make(m_trace));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young)) << "who has made it may not have locked it yet";
}

// -- from outside

TEST_F(LogDirectoryTest, ARecordingIsSeenFromOutside) {
  EXPECT_FALSE(recordingNow(m_trace).logs);
  {
    const Result<UniqueFd> lock = beginLogs(m_logs, m_facts);
    EXPECT_TRUE(recordingNow(m_trace).logs);
    EXPECT_TRUE(recordingNow(m_trace).recorder);
    EXPECT_FALSE(recordingNow(m_trace).trace);
    write(m_logs + "/rank-0.log", "no log");
    EXPECT_EQ(recordingNow(m_trace).grown, 0U);
  }
  EXPECT_FALSE(recordingNow(m_trace).recorder);
  write(m_trace);
  EXPECT_TRUE(recordingNow(m_trace).trace);
}

TEST_F(LogDirectoryTest, WhatIsNotBeingRecordedCannotBePeekedAt) {
  const Result<Collated> nothing = peek(m_trace, m_directory.file("now.pft"));
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ErrorCode::Usage);
  write(m_trace);
  EXPECT_EQ(peek(m_trace, m_directory.file("now.pft")).error().advice, "It is finished: open it.");
  const Result<UniqueFd> lock = beginLogs(m_logs, m_facts);
  write(m_directory.file("now.pft"));
  EXPECT_NE(peek(m_trace, m_directory.file("now.pft")).error().message.find("is there already"),
            std::string::npos);
  EXPECT_EQ(peek(m_trace, m_directory.file("new.pft")).error().code, ErrorCode::NotFound)
      << "no rank has called MPI_Init";
}

TEST_F(LogDirectoryTest, NoTraceIsMadeOfWhatIsStillBeingRecordedOrIsNoLog) {
  EXPECT_FALSE(*recoverTrace(m_trace)) << "there is nothing";
  const Result<UniqueFd> lock = beginLogs(m_logs, m_facts);
  write(m_logs + "/rank-0.log", "no log");
  const Result<bool> made = recoverTrace(m_trace);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().advice, "Wait until the program has ended.");
  EXPECT_TRUE(fs::exists(m_logs));
  write(m_trace, "somebody's own file");
  EXPECT_FALSE(*recoverTrace(m_trace));
  EXPECT_TRUE(fs::exists(m_logs));
}

}  // namespace
}  // namespace pf::app

// SPDX-License-Identifier: GPL-3.0-or-later
// Saved sessions: everything that GDB 13.1 and 18.1 really said can be read, and today's bridge makes of it what it made of it then.
// Those of a version are in a folder, under the names of the same tests of pf_mi_live_test, which writes them where PF_MI_TRANSCRIPTS says.
#include "mi_bridge/transcript.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "mi_bridge/parser.h"
#include "mi_bridge/tests/support/transcript_replay.h"

namespace pf::mi::test {
namespace {

std::string contentOf(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Transcripts, EveryLineParses) {
  int files = 0;
  int records = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PF_MI_CORPUS)) {
    if (entry.path().extension() != ".mi") {
      continue;
    }
    ++files;
    std::ifstream file(entry.path());
    std::string line;
    while (std::getline(file, line)) {
      const auto record = parseRecord(line);
      EXPECT_TRUE(record.ok()) << entry.path() << ": " << (record ? "" : record.error().message);
      ++records;
    }
  }
  EXPECT_GE(files, 3);
  EXPECT_GT(records, 300);
}

/// Of GDB 13.1, or of the version whose folder it is.
std::set<std::string> transcriptsOf(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(PF_MI_CORPUS + folder)) {
    if (entry.path().extension() == ".transcript") {
      names.insert(entry.path().filename());
    }
  }
  return names;
}

TEST(Transcripts, OfEachGdbAreOfTheSameTests) {
  EXPECT_GE(transcriptsOf("").size(), 14U);
  EXPECT_EQ(transcriptsOf("/gdb-18"), transcriptsOf(""));
  for (const std::string& name : transcriptsOf("/gdb-18")) {
    EXPECT_NE(contentOf(std::string(PF_MI_CORPUS) + "/gdb-18/" + name).find("GNU gdb (Debian 18."),
              std::string::npos)
        << name;
  }
}

TEST(Transcripts, ReplayedToTheSameStatesAndStops) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(PF_MI_CORPUS)) {
    if (entry.path().extension() != ".transcript") {
      continue;
    }
    ++files;
    SCOPED_TRACE(entry.path());
    auto lines = parseTranscript(contentOf(entry.path()));
    ASSERT_TRUE(lines.ok()) << lines.error().message;
    TranscriptReplay replay(std::move(*lines));
    replay.run();
    EXPECT_EQ(replay.told(), replay.expected());
    EXPECT_EQ(replay.missing(), std::vector<std::string>());
    EXPECT_GE(replay.expected().size(), 2U);
  }
  EXPECT_GE(files, 28);
}

TEST(Transcripts, WrittenAndReadAgain) {
  const std::string path = testing::TempDir() + "pf_transcript_" + std::to_string(::getpid());
  {
    auto file = TranscriptFile::create(path, "rank 2");
    ASSERT_TRUE(file.ok());
    FakeSession gdb;
    gdb.session.setTranscript(
        [&file](TranscriptSide side, std::string_view line) { (*file)->write(side, line); });
    gdb.attached();
    gdb.session.closed("its process has ended");
  }
  const auto lines = parseTranscript(contentOf(path));
  std::filesystem::remove(path);
  ASSERT_TRUE(lines.ok()) << lines.error().message;
  TranscriptReplay replay(*lines);
  replay.run();
  EXPECT_EQ(replay.told(), (std::vector<std::string>{"state stopped", "stop GDB attached in main:3",
                                                     "state lost"}));
  EXPECT_EQ(replay.told(), replay.expected());
}

mode_t modeOf(const std::string& path) {
  struct stat there {};
  return ::lstat(path.c_str(), &there) == 0 ? there.st_mode & 07777U : 0;
}

TEST(Transcripts, AreForTheirUserAloneWhateverTheUmask) {
  const std::string path = testing::TempDir() + "pf_private_" + std::to_string(::getpid());
  for (const mode_t mask : {0U, 0777U}) {
    const mode_t before = ::umask(mask);
    const bool made = TranscriptFile::create(path, "rank 2").ok();
    ::umask(before);
    EXPECT_TRUE(made);
    EXPECT_EQ(modeOf(path), 0600U) << mask;
    std::filesystem::remove(path);
  }
}

TEST(Transcripts, NeverWrittenIntoWhatIsThere) {
  const std::string path = testing::TempDir() + "pf_planted_" + std::to_string(::getpid());
  const std::string victim = path + "_victim";
  std::ofstream(path) << "older\n";
  std::filesystem::permissions(path, std::filesystem::perms(0644));
  EXPECT_FALSE(TranscriptFile::create(path, "rank 2").ok());
  EXPECT_EQ(contentOf(path), "older\n");
  EXPECT_EQ(modeOf(path), 0644U);
  std::filesystem::remove(path);
  std::filesystem::create_symlink(victim, path);  // to nothing: a check of what is there finds none
  EXPECT_FALSE(TranscriptFile::create(path, "rank 2").ok());
  EXPECT_FALSE(std::filesystem::exists(victim));
  std::ofstream(victim) << "thesis\n";
  const auto refused = TranscriptFile::create(path, "rank 2");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("File exists"), std::string::npos);
  EXPECT_FALSE(refused.error().advice.empty());
  EXPECT_EQ(contentOf(victim), "thesis\n");
  std::filesystem::remove(path);
  std::filesystem::remove(victim);
}

TEST(Transcripts, BadOnes) {
  EXPECT_FALSE(TranscriptFile::create("/nowhere/rank-0.transcript", "rank 0").ok());
  for (const char* text : {"x 1 y\n", "> 1000-exec\n", ">", "< 12", "* -\n"}) {
    const auto lines = parseTranscript(std::string("# title\n\n! 0 start\n") + text);
    ASSERT_FALSE(lines.ok()) << text;
    EXPECT_NE(lines.error().message.find("line 4"), std::string::npos);
  }
}

}  // namespace
}  // namespace pf::mi::test

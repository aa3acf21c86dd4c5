// SPDX-License-Identifier: GPL-3.0-or-later
// What a recorder keeps beside the logs, for whoever makes the trace if it is killed.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include <gtest/gtest.h>

#include "app/collation/collate.h"
#include "app/collation/failure.h"

namespace pf::app {
namespace {

class RunFactsTest : public testing::Test {
 protected:
  RunFactsTest() {
    if (::mkdtemp(m_directory.data()) == nullptr) {
      std::abort();
    }
  }
  ~RunFactsTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(m_directory, ignored);
  }
  void write(const std::string& text) const {
    std::ofstream(m_directory + "/run.json", std::ios::binary) << text;
  }
  [[nodiscard]] std::string text() const {
    std::ifstream in(m_directory + "/run.json", std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  std::string m_directory = testing::TempDir() + "pf_facts-XXXXXX";
};

RunFacts usual() {
  RunFacts facts;
  facts.command = {"mpirun", "-n", "2", "./caf\351", "\xff\xfe", "caf\303\251", "", "\xc3", "a\nb"};
  facts.workingDirectory = "/tmp/d\344";
  facts.launcher = "/usr/bin/mpirun";
  facts.program = "./caf\351";
  facts.createdUtc = "2026-11-24T00:00:00Z";
  facts.mode = "all";
  facts.salt = 0xFFFFFFFFFFFFFFFFU;
  facts.exitStatus = 3;
  facts.ends[1].status = 4;
  facts.ends[0].stuck = StuckIn{true, "caf\303\251.c:6 (main)", 1, 7};
  facts.groups = "0-3; 4, 7 caf\351";
  return facts;
}

/// A command line may hold any bytes.
TEST_F(RunFactsTest, comeBackToTheByte) {
  const RunFacts facts = usual();
  ASSERT_TRUE(writeFacts(m_directory, facts).ok());
  const Result<RunFacts> read = readFacts(m_directory);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->command, facts.command);
  EXPECT_EQ(read->workingDirectory, facts.workingDirectory);
  EXPECT_EQ(read->program, facts.program);
  EXPECT_EQ(read->salt, facts.salt);
  EXPECT_EQ(read->groups, facts.groups);
  EXPECT_EQ(read->ends.at(1).status, 4);
  EXPECT_FALSE(read->ends.at(1).stuck);
  ASSERT_TRUE(read->ends.at(0).stuck);
  EXPECT_EQ(stuckText("MPI_Recv", 2, *read->ends.at(0).stuck),
            stuckText("MPI_Recv", 2, *facts.ends.at(0).stuck));
}

TEST_F(RunFactsTest, thoseOfAPhotofinishOfBeforeAreRead) {
  write(R"({"command": ["mpirun", "./a"], "directory": "/w", "program": "./a", "mode": "races"})");
  const Result<RunFacts> read = readFacts(m_directory);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->command, (std::vector<std::string>{"mpirun", "./a"}));
  EXPECT_EQ(read->workingDirectory, "/w");
  EXPECT_EQ(read->groups, std::nullopt);
}

TEST_F(RunFactsTest, anyBytesGiveAnAnswer) {
  ASSERT_TRUE(writeFacts(m_directory, usual()).ok());
  const std::string good = text();
  std::mt19937 random(11);
  for (int round = 0; round < 1000; ++round) {
    std::string bytes = good;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      static constexpr std::string_view kLikely = "{}[]\",:0-9e\\u\xff ";
      const std::size_t at = random() % bytes.size();
      if (random() % 3 == 0) {
        bytes.erase(at, 1 + random() % 30);
      } else {
        bytes[at] = kLikely[random() % kLikely.size()];
      }
      bytes += bytes.empty() ? " " : "";
    }
    write(bytes);
    const Result<RunFacts> read = readFacts(m_directory);
    EXPECT_TRUE(read.ok() || read.error().code == ErrorCode::Damaged);
  }
  for (const char* nested : {"[", "{\"a\":", "{\"command\":["}) {
    std::string deep;
    for (int i = 0; i < 50000; ++i) {
      deep += nested;
    }
    write(deep);
    EXPECT_FALSE(readFacts(m_directory).ok());
  }
}

}  // namespace
}  // namespace pf::app

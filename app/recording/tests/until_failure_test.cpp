// SPDX-License-Identifier: GPL-3.0-or-later
// The search for a run that fails, with runs that are made up: what is kept, in which timing, and where it ends.
#include "app/recording/until_failure.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include <gtest/gtest.h>

#include "db/schema/schema.h"

namespace pf::app {
namespace {

namespace fs = std::filesystem;

class UntilFailureTest : public ::testing::Test {
 protected:
  UntilFailureTest() { fs::create_directories(m_directory); }
  ~UntilFailureTest() override { fs::remove_all(m_directory); }

  /// Runs that end well, but the one of this number.
  Result<Tried> search(int failing, std::uint64_t firstSeed = 0, bool replace = false) {
    return tryUntilFailure(m_wish, m_trace, replace, firstSeed,
                           [&](const std::string& name, std::uint64_t seed) -> Result<TriedRun> {
                             m_seeds.push_back(seed);
                             const int number = static_cast<int>(m_seeds.size());
                             std::ofstream(name) << number;
                             m_onDisk = std::max(m_onDisk, files());
                             if (number == m_signalledIn) {
                               std::raise(SIGINT);
                             }
                             if (number == failing) {
                               return TriedRun{m_status, "rank 0 failed", false};
                             }
                             if (number == m_interruptedIn) {
                               return TriedRun{130, {}, true};
                             }
                             if (number == m_emptyIn) {
                               fs::remove(name);
                               return TriedRun{130, {}, true, false};
                             }
                             if (number == m_brokenIn) {
                               return Error{ErrorCode::NotFound, "no launcher", {}};
                             }
                             return TriedRun{};
                           });
  }
  [[nodiscard]] long files() const {
    return std::distance(fs::directory_iterator(m_directory), fs::directory_iterator());
  }
  /// As far as it is looked at here.
  static void writeTrace(const std::string& name) {
    constexpr std::size_t kIdentity = 68;
    std::string bytes("SQLite format 3\0", 16);
    bytes.resize(kIdentity);
    for (const int shift : {24, 16, 8, 0}) {
      bytes += static_cast<char>((db::kApplicationId >> shift) & 0xff);
    }
    std::ofstream(name) << bytes;
  }
  static std::string contentOf(const std::string& file) {
    std::ifstream stream(file);
    std::string text;
    stream >> text;
    return text;
  }

  const fs::path m_directory = fs::temp_directory_path() / ("pf-until-" + std::to_string(getpid()));
  const std::string m_trace = (m_directory / "a.pft").string();
  UntilFailure m_wish;
  std::vector<std::uint64_t> m_seeds;
  long m_onDisk = 0;
  int m_status = 7;
  int m_interruptedIn = 0;
  int m_signalledIn = 0;
  int m_emptyIn = 0;  ///< interrupted, before MPI_Init
  int m_brokenIn = 0;
};

TEST_F(UntilFailureTest, KeepsTheRunThatFailsAndTheLastGoodOne) {
  const Result<Tried> tried = search(5);
  ASSERT_TRUE(tried.ok());
  EXPECT_EQ(tried->runs, 5);
  EXPECT_EQ(tried->exitStatus, 7);
  EXPECT_EQ(contentOf(tried->failing), "5");
  EXPECT_EQ(tried->good, (m_directory / "a-good.pft").string());
  EXPECT_EQ(contentOf(tried->good), "4");
  EXPECT_EQ(m_onDisk, 2) << "never more than two";
  EXPECT_EQ(m_seeds, (std::vector<std::uint64_t>{0, 1, 0, 2, 0})) << "native and delayed in turn";
}

TEST_F(UntilFailureTest, FromASeedOnAllAreDelayed) {
  ASSERT_TRUE(search(3, 41).ok());
  EXPECT_EQ(m_seeds, (std::vector<std::uint64_t>{41, 42, 43}));
}

TEST_F(UntilFailureTest, TheFirstOneMayFail) {
  m_status = 0;  // a check has found it
  const Result<Tried> tried = search(1);
  ASSERT_TRUE(tried.ok());
  EXPECT_EQ(tried->exitStatus, 1);
  EXPECT_TRUE(tried->good.empty());
  EXPECT_EQ(files(), 1);
}

TEST_F(UntilFailureTest, NoneFails) {
  m_wish.runs = 3;
  const Result<Tried> tried = search(0);
  ASSERT_TRUE(tried.ok());
  EXPECT_EQ(tried->exitStatus, 0);
  EXPECT_TRUE(tried->failing.empty());
  EXPECT_EQ(contentOf(tried->good), "3");
  EXPECT_EQ(files(), 1);
}

TEST_F(UntilFailureTest, NoRunBeginsWhenTheTimeIsOver) {
  m_wish.time = std::chrono::duration<double>(0);
  const Result<Tried> tried = search(1);
  ASSERT_TRUE(tried.ok());
  EXPECT_EQ(tried->runs, 0);
}

TEST_F(UntilFailureTest, OneThatTheUserHasEndedIsNoFailure) {
  m_interruptedIn = 2;
  const Result<Tried> tried = search(3);
  ASSERT_TRUE(tried.ok());
  EXPECT_EQ(tried->runs, 2);
  EXPECT_EQ(tried->exitStatus, 130);
  EXPECT_TRUE(tried->failing.empty());
  EXPECT_EQ(contentOf(tried->good), "1");
  EXPECT_EQ(tried->ended, m_trace);
  EXPECT_EQ(contentOf(m_trace), "2") << "who ends it may have seen it hang";
  EXPECT_EQ(files(), 2);
}

TEST_F(UntilFailureTest, OneThatIsEndedBeforeItBeginsLeavesNothing) {
  m_emptyIn = 2;
  const Result<Tried> tried = search(3);
  ASSERT_TRUE(tried.ok());
  EXPECT_TRUE(tried->ended.empty());
  EXPECT_EQ(contentOf(tried->good), "1");
  EXPECT_EQ(files(), 1);
}

TEST_F(UntilFailureTest, CtrlCBetweenTwoRunsBeginsNone) {
  m_signalledIn = 2;
  const Result<Tried> tried = search(3);
  ASSERT_TRUE(tried.ok());
  EXPECT_EQ(tried->runs, 2);
  EXPECT_EQ(tried->exitStatus, 130);
  EXPECT_EQ(contentOf(tried->good), "2") << "it had ended";
  EXPECT_EQ(files(), 1);
}

TEST_F(UntilFailureTest, ARunThatFailsIsKeptThoughCtrlCComesAfterIt) {
  m_signalledIn = 2;
  const Result<Tried> tried = search(2);
  ASSERT_TRUE(tried.ok());
  EXPECT_EQ(contentOf(tried->failing), "2");
  EXPECT_EQ(tried->exitStatus, 7);
}

TEST_F(UntilFailureTest, BehindTheLastSeedComesTheFirst) {
  constexpr std::uint64_t kLast = ~std::uint64_t{0};
  ASSERT_TRUE(search(3, kLast).ok());
  EXPECT_EQ(m_seeds, (std::vector<std::uint64_t>{kLast, 1, 2})) << "0 has no delays";
}

TEST_F(UntilFailureTest, WhatIsNotTheProgramsEndsIt) {
  m_brokenIn = 2;
  const Result<Tried> tried = search(3);
  ASSERT_FALSE(tried.ok());
  EXPECT_EQ(tried.error().message, "no launcher");
  EXPECT_EQ(contentOf(goodName(m_trace)), "1");
}

TEST_F(UntilFailureTest, WhatIsThereIsNotReplacedUnasked) {
  for (const std::string& name : {goodName(m_trace), m_trace}) {
    writeTrace(name);
    const std::uintmax_t size = fs::file_size(name);
    const Result<Tried> tried = search(2);
    ASSERT_FALSE(tried.ok()) << name;
    EXPECT_EQ(tried.error().code, ErrorCode::Usage);
    EXPECT_TRUE(m_seeds.empty());
    EXPECT_EQ(fs::file_size(name), size);
    ASSERT_TRUE(search(2, 0, true).ok());
    EXPECT_EQ(contentOf(goodName(m_trace)), "1");
    EXPECT_EQ(contentOf(m_trace), "2");
    fs::remove(m_trace);
    fs::remove(goodName(m_trace));
    m_seeds.clear();
  }
}

TEST_F(UntilFailureTest, WhatIsNoTraceIsNeverReplaced) {
  for (const std::string& name : {goodName(m_trace), m_trace}) {
    std::ofstream(name) << "mine";
    const Result<Tried> tried = search(2, 0, true);
    ASSERT_FALSE(tried.ok()) << name;
    EXPECT_EQ(tried.error().code, ErrorCode::Usage);
    EXPECT_TRUE(m_seeds.empty());
    EXPECT_EQ(contentOf(name), "mine");
    fs::remove(name);
  }
}

}  // namespace
}  // namespace pf::app

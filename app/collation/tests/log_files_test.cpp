// SPDX-License-Identifier: GPL-3.0-or-later
// Directories of logs that somebody else has made.
#include "app/collation/log_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include <gtest/gtest.h>

#include "app/recording/record.h"
#include "app/unrecorded_jobs/core_file.h"
#include "replay_engine/base/crc32c.h"
#include "replay_engine/log_format/log_format.h"
#include "replay_engine/log_format/payload_format.h"

namespace pf::app {
namespace {
namespace fs = std::filesystem;

class LogFilesTest : public testing::Test {
 protected:
  LogFilesTest() {
    if (::mkdtemp(m_place.data()) == nullptr) {
      std::abort();
    }
    m_logs = m_place + "/t.pft.d";
    fs::create_directory(m_logs);
  }
  ~LogFilesTest() override {
    std::error_code ignored;
    fs::remove_all(m_place, ignored);
  }
  void write(const std::string& name, const std::string& text = "text") const {
    std::ofstream(m_logs + "/" + name, std::ios::binary) << text;
  }
  /// A log that ends behind its header.
  void writeLog(Rank rank, std::int32_t size) const {
    alignas(LogHeader) char bytes[kLogHeaderSize] = {};
    const auto put = [&](std::size_t at, const auto& value) {
      std::memcpy(bytes + at, &value, sizeof value);
    };
    put(offsetof(LogHeader, magic), kLogMagic);
    put(offsetof(LogHeader, version), kLogVersion);
    put(offsetof(LogHeader, rank), rank);
    put(offsetof(LogHeader, size), size);
    const std::size_t begin = offsetof(LogHeader, salt);
    put(offsetof(LogHeader, headerCrc), crc32c(reinterpret_cast<unsigned char*>(bytes) + begin,
                                               offsetof(LogHeader, commit) - begin));
    write("rank-" + std::to_string(rank) + ".log", std::string(bytes, sizeof bytes));
  }
  [[nodiscard]] Result<Collated> made() const {
    RunFacts facts;
    facts.mode = "all";
    return collate(m_logs, facts, m_place + "/t.pft");
  }
  void expectRefused(const std::string& name, const std::string& why) const {
    const Result<UniqueFd> file = openInLogs(m_logs, name);
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.error().code, ErrorCode::Damaged);
    EXPECT_NE(file.error().message.find(m_logs + "/" + name + ": " + why), std::string::npos)
        << file.error().message;
  }

  std::string m_place = testing::TempDir() + "pf_logs-XXXXXX";
  std::string m_logs;
};

TEST(NamesInLogs, AreThoseThatPhotofinishMakes) {
  EXPECT_EQ(rankOfLog("rank-0.log"), 0);
  EXPECT_EQ(rankOfLog("rank-1048575.log"), kMostRanks - 1);
  for (const char* name :
       {"rank-1048576.log", "rank-50000000.log", "rank-4294967296.log", "rank-99999999999.log",
        "rank--1.log", "rank-+1.log", "rank-01.log", "rank- 1.log", "rank-.log", "rank-x.log",
        "rank-1.log.log", "rank-1.LOG", "rank-1", "rank-1.world", "rank.log", "-1.log", ""}) {
    EXPECT_FALSE(rankOfLog(name)) << name;
  }
  EXPECT_EQ(rankOfPayload("rank-12.payload"), 12);
  EXPECT_FALSE(rankOfPayload("rank-12.log") || rankOfPayload("rank-01.payload"));
  for (const char* name :
       {"run.json", "run.json.tmp", "input", "rank-7.log", "rank-7.world", "rank-7.payload"}) {
    EXPECT_TRUE(isNameInLogs(name)) << name;
  }
  for (const char* name : {"thesis.tex", "input.txt", "rank-x.world", ".", "..", ""}) {
    EXPECT_FALSE(isNameInLogs(name)) << name;
  }
}

TEST(NamesInLogs, RanksAreAsManyAsLogsMayBeOf) {
  EXPECT_TRUE(mayBeRanks(4096, 1));
  EXPECT_FALSE(mayBeRanks(5000, 1));
  EXPECT_TRUE(mayBeRanks(100'000, 2000));
  EXPECT_TRUE(mayBeRanks(kMostRanks, 20'000));
  EXPECT_FALSE(mayBeRanks(kMostRanks + 1, std::numeric_limits<std::size_t>::max()));
}

TEST_F(LogFilesTest, OnlyRegularFilesAreOpened) {
  write("file");
  EXPECT_TRUE(openInLogs(m_logs, "file").ok());
  fs::create_symlink("file", m_logs + "/link");
  expectRefused("link", "it is a symbolic link");
  fs::create_symlink("nowhere", m_logs + "/dangling");
  expectRefused("dangling", "it is a symbolic link");
  EXPECT_FALSE(readIfInLogs(m_logs, "dangling", 10).ok());
  ASSERT_EQ(::mkfifo((m_logs + "/fifo").c_str(), 0600), 0);
  expectRefused("fifo", "it is no regular file");
  fs::create_directory(m_logs + "/directory");
  expectRefused("directory", "it is no regular file");
  const Result<UniqueFd> missing = openInLogs(m_logs, "missing");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::System);
  const Result<std::optional<std::string>> none = readIfInLogs(m_logs, "missing", 10);
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->has_value());
}

TEST_F(LogFilesTest, NothingIsReadThroughALinkedDirectory) {
  write("file");
  const std::string linked = m_place + "/linked";
  fs::create_directory_symlink(m_logs, linked);
  EXPECT_FALSE(isNoLink(linked).ok());
  EXPECT_FALSE(openInLogs(linked, "file").ok());
  EXPECT_FALSE(readLogFiles(linked).ok());
  write("run.json");
  EXPECT_EQ(removeLogFiles(linked), "");
  EXPECT_TRUE(fs::exists(m_logs + "/run.json"));
}

TEST_F(LogFilesTest, TextsHaveAnEnd) {
  write("input", "0123456789");
  EXPECT_EQ(readInLogs(m_logs, "input", 10).value(), "0123456789");
  EXPECT_FALSE(readInLogs(m_logs, "input", 9).ok());
}

TEST_F(LogFilesTest, WhatIsBehindAHoleIsNoPartOfALog) {
  writeLog(0, 1);
  const std::string path = m_logs + "/rank-0.log";
  const auto before = readRankLog(m_logs, "rank-0.log");
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(before->size(), kLogHeaderSize);
  fs::resize_file(path, std::uintmax_t{1} << 40);
  std::ofstream(path, std::ios::binary | std::ios::app) << "text";
  EXPECT_EQ(readRankLog(m_logs, "rank-0.log").value(), *before);
}

TEST_F(LogFilesTest, ALogIsReadWholeUpToItsLastRecord) {
  std::string text(3U << 20, 'x');
  text.replace(1U << 20, kLogBlockSize, kLogBlockSize, '\0');  // less than hides a block
  write("rank-0.log", text + std::string(kLogBlockSize / 2, '\0'));
  const auto bytes = readRankLog(m_logs, "rank-0.log");
  ASSERT_TRUE(bytes.ok());
  ASSERT_EQ(bytes->size(), text.size() + kMaxRecord);
  EXPECT_TRUE(std::equal(text.begin(), text.end(), bytes->begin()));
}

TEST_F(LogFilesTest, LogsSayOfHowManyRanks) {
  writeLog(0, 3);
  ASSERT_TRUE(made().ok());
  EXPECT_EQ(made().error().code, ErrorCode::Usage) << "it is there already";
  for (const std::int32_t size : {5000, kMostRanks, std::numeric_limits<std::int32_t>::max()}) {
    writeLog(0, size);
    const Result<Collated> collated = made();
    ASSERT_FALSE(collated.ok());
    EXPECT_EQ(collated.error().code, ErrorCode::Damaged);
    EXPECT_NE(collated.error().message.find("rank-0.log would be of a run of"), std::string::npos);
  }
}

TEST_F(LogFilesTest, WhatNoRecorderMadeIsNotRemoved) {
  for (const char* name :
       {"run.json", "run.json.tmp", "input", "rank-0.log", "rank-0.world", "rank-0.payload"}) {
    write(name);
  }
  EXPECT_TRUE(holdsLogs(m_logs));
  write("thesis.tex");
  EXPECT_EQ(removeLogFiles(m_logs), "thesis.tex");
  EXPECT_EQ(std::distance(fs::directory_iterator(m_logs), {}), 1);
  EXPECT_FALSE(holdsLogs(m_logs));
  fs::remove(m_logs + "/thesis.tex");
  EXPECT_EQ(removeLogFiles(m_logs), "");
  EXPECT_FALSE(fs::exists(m_logs));
  EXPECT_FALSE(holdsLogs(m_logs));
}

/// Whether there is more of a recording is asked again and again: checksums are no amount.
TEST_F(LogFilesTest, WhatIsLoggedOnlyGrows) {
  write("run.json", "{}");
  const std::string log = m_logs + "/rank-0.log";
  const auto grown = [&](std::uint32_t checksum, std::uint64_t block, std::uint64_t used) {
    std::string bytes(kLogHeaderSize, '\0');
    const std::uint64_t commit = std::uint64_t{checksum} << 32 | (block & 0xFFFFU) << 16 | used;
    std::memcpy(bytes.data() + offsetof(LogHeader, magic), &kLogMagic, sizeof kLogMagic);
    std::memcpy(bytes.data() + offsetof(LogHeader, commit), &commit, sizeof commit);
    write("rank-0.log", bytes);
    fs::resize_file(log, kLogHeaderSize + (block / 8 + 1) * 8 * kLogBlockSize);  // it is sparse
    return recordingNow(m_place + "/t.pft").grown;
  };
  const std::uint64_t first = grown(0xFFFFFFFF, 0, 10);
  EXPECT_EQ(first, 10U);
  EXPECT_EQ(grown(0, 0, 30), first + 20);
  EXPECT_EQ(grown(0x12345678, 1, 0), kLogBlockSize);
  for (const std::uint64_t block : {65535U, 65536U, 65541U, 140000U}) {
    EXPECT_EQ(grown(7, block, 5), block * kLogBlockSize + 5);
  }
  const std::uint64_t before = recordingNow(m_place + "/t.pft").grown;
  std::string contents(kPayloadHeaderSize, '\0');
  const auto put = [&](std::size_t at, std::uint64_t word) {
    std::memcpy(contents.data() + at, &word, sizeof word);
    write("rank-0.payload", contents);
    return recordingNow(m_place + "/t.pft").grown - before;
  };
  put(offsetof(PayloadHeader, salt), 99);
  EXPECT_EQ(put(offsetof(PayloadHeader, committed), payloadCommit(99, 800)), 0U) << "no magic";
  EXPECT_EQ(put(offsetof(PayloadHeader, magic), kPayloadMagic), 800U);
  EXPECT_EQ(put(offsetof(PayloadHeader, committed), payloadCommit(98, 800)), 0U);
}

}  // namespace
}  // namespace pf::app

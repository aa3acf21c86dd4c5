// SPDX-License-Identifier: GPL-3.0-or-later
// What ranks received from outside of their groups, on its way from their files into a trace, into reports, and out of a
// trace that is given away.
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/collation/collate.h"
#include "app/recording/record.h"
#include "app/reports/report.h"
#include "app/traces/own_traces.h"
#include "app/traces/redact.h"
#include "db/store/origin.h"
#include "db/tests/sample.h"
#include "replay_engine/base/crc32c.h"
#include "replay_engine/log_format/log_format.h"
#include "replay_engine/rank/payload/tests/payload_file.h"

namespace pf::app {
namespace {
namespace fs = std::filesystem;
using pf::test::contentOf;

constexpr std::uint64_t kRunSalt = 77;

class GroupContentsTest : public testing::Test {
 protected:
  GroupContentsTest() {
    setenv("XDG_STATE_HOME", m_directory.file("state").c_str(), 1);
    db::setOriginOf([](const std::string&) { return db::Origin::Own; });
    fs::create_directory(m_logs);
    m_facts.mode = "all";
    m_facts.program = "./a";
    m_facts.salt = kRunSalt;
    m_facts.groups = "0; 1, 2";
    for (Rank rank = 0; rank < kRanks; ++rank) {
      writeLog(rank);
    }
  }
  static constexpr std::int32_t kRanks = 3;

  /// A log that ends behind its header.
  void writeLog(Rank rank) const {
    alignas(LogHeader) char bytes[kLogHeaderSize] = {};
    const auto put = [&](std::size_t at, const auto& value) {
      std::memcpy(bytes + at, &value, sizeof value);
    };
    put(offsetof(LogHeader, magic), kLogMagic);
    put(offsetof(LogHeader, version), kLogVersion);
    put(offsetof(LogHeader, rank), rank);
    put(offsetof(LogHeader, size), kRanks);
    const std::size_t begin = offsetof(LogHeader, salt);
    put(offsetof(LogHeader, headerCrc), crc32c(reinterpret_cast<unsigned char*>(bytes) + begin,
                                               offsetof(LogHeader, commit) - begin));
    std::ofstream(m_logs + "/rank-" + std::to_string(rank) + ".log", std::ios::binary)
        .write(bytes, sizeof bytes);
  }
  [[nodiscard]] std::string payloadOf(Rank rank) const {
    return m_logs + "/rank-" + std::to_string(rank) + ".payload";
  }
  /// As a rank does, in a process that is killed in the middle of what comes behind `entries`.
  void writePayload(Rank rank, unsigned entries, bool killed) const {
    const pid_t child = ::fork();
    if (child == 0) {
      PayloadWriter writer;
      if (!writer.open(payloadOf(rank).c_str(), kRunSalt, rank, kRanks)) {
        _exit(1);
      }
      for (unsigned i = 1; i <= entries; ++i) {
        const std::string content = contentOf(i * 100'003, i);
        writer.begin(PayloadKind::Message, 0, 5, i);
        writer.add(content.data(), content.size());
        writer.end();
      }
      if (killed) {
        const std::string content = contentOf(9 << 20);
        writer.begin(PayloadKind::Message, 0, 5, entries + 1);
        writer.add(content.data(), content.size());
        _exit(0);
      }
      writer.close(true);
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }
  [[nodiscard]] Result<Collated> made() const { return collate(m_logs, m_facts, m_trace); }
  /// Whether the trace's contents of `rank` are the first entries of writePayload().
  static void expectEntries(const std::string& trace, Rank rank, unsigned entries,
                            PayloadReader::End end) {
    const db::Directory directory;
    Result<db::TraceStore> store = db::TraceStore::open(trace, db::TraceStore::Mode::ReadOnly);
    ASSERT_TRUE(store.ok()) << store.error().text();
    const Status extracted = store->extractPayload(rank, directory.file("payload"));
    ASSERT_TRUE(extracted.ok()) << extracted.error().text();
    PayloadReader reader;
    const char* why = "";
    ASSERT_TRUE(reader.open(directory.file("payload").c_str(), rank, kRanks, &why)) << why;
    const unsigned char* content = nullptr;
    unsigned count = 0;
    while (const PayloadEntry* const entry = reader.next(&content)) {
      ++count;
      const std::string expected = contentOf(count * 100'003, count);
      ASSERT_EQ(entry->size, expected.size());
      EXPECT_EQ(std::memcmp(content, expected.data(), expected.size()), 0);
    }
    EXPECT_EQ(count, entries);
    EXPECT_EQ(reader.end(), end);
  }
  static void flip(const std::string& path, std::size_t byte) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(static_cast<std::streamoff>(byte));
    const int old = file.get();
    file.seekp(static_cast<std::streamoff>(byte));
    file.put(static_cast<char>(old ^ 1));
  }

  db::Directory m_directory;
  std::string m_trace = m_directory.file("t.pft");
  std::string m_logs = m_trace + ".d";
  std::string m_other = m_directory.file("other.pft");  ///< has no logs beside it
  RunFacts m_facts;
};

TEST_F(GroupContentsTest, goIntoTheTrace) {
  writePayload(1, 12, false);
  writePayload(2, 3, false);
  const Result<Collated> collated = made();
  ASSERT_TRUE(collated.ok()) << collated.error().text();
  EXPECT_TRUE(collated->contentsCut.empty());
  expectEntries(m_trace, 1, 12, PayloadReader::End::Ended);
  expectEntries(m_trace, 2, 3, PayloadReader::End::Ended);
  Result<db::TraceStore> store = db::TraceStore::open(m_trace, db::TraceStore::Mode::ReadOnly);
  EXPECT_EQ(store->run().groups, "0; 1, 2");
  const auto payloads = store->payloads();
  ASSERT_TRUE(payloads.ok() && payloads->size() == 2);
  EXPECT_EQ(payloads->front().ending, db::PayloadInfo::kComplete);
  EXPECT_TRUE(store->verify()->empty());
}

/// The recorder was killed, too: whoever opens the trace makes it of what is left.
TEST_F(GroupContentsTest, ofARankThatWasKilledAreRecovered) {
  writePayload(1, 5, true);
  ASSERT_TRUE(writeFacts(m_logs, m_facts).ok());
  const Result<bool> recovered = recoverTrace(m_trace);
  ASSERT_TRUE(recovered.ok()) << recovered.error().text();
  EXPECT_TRUE(*recovered);
  EXPECT_FALSE(fs::exists(m_logs));
  expectEntries(m_trace, 1, 5, PayloadReader::End::Ended);
  Result<db::TraceStore> store = db::TraceStore::open(m_trace, db::TraceStore::Mode::ReadOnly);
  EXPECT_EQ(store->payloads()->front().ending, db::PayloadInfo::kCut);
  EXPECT_EQ(store->run().groups, "0; 1, 2");
}

TEST_F(GroupContentsTest, areKeptUpToTheirDamage) {
  writePayload(1, 12, false);
  flip(payloadOf(1), kPayloadHeaderSize + 1'500'000);
  const Result<Collated> collated = made();
  ASSERT_TRUE(collated.ok()) << collated.error().text();
  ASSERT_EQ(collated->contentsCut.size(), 1U);
  EXPECT_NE(collated->contentsCut[0].find(
                "rank 1: of what it received from outside of its group 4 entries are kept: what is "
                "from byte 1000"),
            std::string::npos)
      << collated->contentsCut[0];
  expectEntries(m_trace, 1, 4, PayloadReader::End::Damaged);
}

TEST_F(GroupContentsTest, thatCannotBeReadAreKeptBesideTheTrace) {
  writePayload(1, 2, false);
  flip(payloadOf(1), 17);
  const std::vector<std::uint8_t> file = db::readFile(payloadOf(1));
  testing::internal::CaptureStderr();
  const Result<Collated> collated = made();
  const std::string said = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(collated.ok()) << collated.error().text();
  EXPECT_EQ(collated->contentsCut.size(), 1U);
  EXPECT_NE(said.find("is kept as " + m_trace + ".rank-1.payload"), std::string::npos) << said;
  EXPECT_EQ(db::readFile(m_trace + ".rank-1.payload"), file);
}

TEST_F(GroupContentsTest, ofElsewhereAreRefused) {
  fs::create_symlink("/etc/passwd", payloadOf(1));
  EXPECT_EQ(made().error().code, ErrorCode::Damaged);
  fs::remove(payloadOf(1));
  ASSERT_EQ(::mkfifo(payloadOf(1).c_str(), 0600), 0);
  EXPECT_EQ(made().error().code, ErrorCode::Damaged);
  fs::remove(payloadOf(1));
  writePayload(1, 2, false);
  fs::rename(payloadOf(1), payloadOf(2));  // another rank's
  ASSERT_TRUE(made().ok());
  expectEntries(m_trace, 2, 0, PayloadReader::End::Damaged);
}

/// What it is recorded by must not change while it grows.
TEST_F(GroupContentsTest, doNotMakeARecordingSomebodyElses) {
  ASSERT_TRUE(noteStart(m_facts, m_logs).ok());
  writePayload(1, 2, false);
  const std::string moved = m_directory.file("moved.pft.d");
  fs::copy(m_logs, moved);  // so that only their content tells
  EXPECT_TRUE(isOwnRecording(m_facts, moved));
}

TEST_F(GroupContentsTest, areToldByInfo) {
  db::Content content = db::groupContent();
  ASSERT_TRUE(db::writeContent(m_other, content).ok());
  const std::string text = infoReport(m_other, false, false).value();
  EXPECT_NE(text.find("groups    0; 1, 2\n  each rank is a group, which has the rank's number\n"
                      "contents  of 10 messages and results from outside of groups, for 2 ranks: "),
            std::string::npos)
      << text;
  const auto all = nlohmann::json::parse(infoReport(m_other, true, false).value());
  EXPECT_EQ(all["groups"], "0; 1, 2");
  EXPECT_EQ(all["contents"]["entries"], 10);
  EXPECT_GT(all["contents"]["packedBytes"], 0);
  EXPECT_EQ(all["contents"]["perRank"][0]["rank"], 1);
  EXPECT_EQ(all["contents"]["perRank"][0]["ending"], "complete");
  EXPECT_EQ(all["contents"]["perRank"][1]["ending"], "cut");
  EXPECT_EQ(all["contents"]["perRank"][1]["end"], "");
  content.run.groups = "all";  // there is no outside
  ASSERT_TRUE(db::writeContent(m_other, content).ok());
  const auto order = nlohmann::json::parse(infoReport(m_other, true, false).value());
  EXPECT_TRUE(order["groups"] == "all" && order["contents"].is_null());
  content.run.groups = "0; 1, 2";
  content.payloadFiles[2][kPayloadHeaderSize + 100] ^= 1U;
  ASSERT_TRUE(db::writeContent(m_other, content).ok());
  const std::string cut = infoReport(m_other, false, false).value();
  EXPECT_NE(cut.find("\n  rank 2: 1, then what is from byte 56 on was damaged\n"),
            std::string::npos)
      << cut;
  ASSERT_TRUE(db::writeContent(m_other, db::smallContent()).ok());
  const auto none = nlohmann::json::parse(infoReport(m_other, true, false).value());
  EXPECT_TRUE(none["groups"].is_null() && none["contents"].is_null());
  EXPECT_EQ(infoReport(m_other, false, false).value().find("contents  of"), std::string::npos);
}

TEST_F(GroupContentsTest, areNotGivenAway) {
  ASSERT_TRUE(db::writeContent(m_other, db::groupContent()).ok());
  const std::string to = m_directory.file("to.pft");
  const Status status = redactTrace(m_other, to);
  ASSERT_TRUE(status.ok()) << status.error().text();
  Result<db::TraceStore> store = db::TraceStore::open(to, db::TraceStore::Mode::ReadOnly);
  ASSERT_TRUE(store.ok()) << store.error().text();
  EXPECT_TRUE(store->payloads()->empty());
  EXPECT_EQ(store->run().groups, "0; 1, 2");
  const std::vector<std::uint8_t> bytes = db::readFile(to);
  constexpr std::string_view kInAMessage = "content 7919";
  EXPECT_EQ(std::search(bytes.begin(), bytes.end(), kInAMessage.begin(), kInAMessage.end()),
            bytes.end());
}

}  // namespace
}  // namespace pf::app

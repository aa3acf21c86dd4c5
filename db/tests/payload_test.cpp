// SPDX-License-Identifier: GPL-3.0-or-later
// Contents that ranks received from outside of their groups: into a trace, out of it, and what is made of damage.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>

#include <gtest/gtest.h>

#include "db/payload/payload_scan.h"
#include "db/schema/seal.h"
#include "db/store/verify.h"
#include "db/tests/patient.h"
#include "replay_engine/base/unique_fd.h"
#include "replay_engine/log_format/payload_types.h"
#include "replay_engine/rank/payload/tests/payload_file.h"

namespace pf::db {
namespace {

using test::contentOf;
using test::KeptEntry;

constexpr std::uint64_t kSalt = 0xDEADBEEFCAFEF00DU;  // as of smallContent()
constexpr std::int32_t kRanks = 3;

/// rank-1.payload of such entries.
std::vector<std::uint8_t> fileOf(const std::vector<KeptEntry>& entries, bool clean,
                                 int failed = 0) {
  const Directory directory;
  PayloadWriter writer;
  EXPECT_TRUE(writer.open(directory.file("p").c_str(), kSalt, 1, kRanks));
  for (const KeptEntry& entry : entries) {
    writer.begin(entry.kind, entry.a, entry.b, entry.serial);
    writer.add(entry.content.data(), entry.content.size());
    writer.end();
  }
  if (failed != 0) {
    testing::internal::CaptureStderr();
    writer.fail(failed);
    static_cast<void>(testing::internal::GetCapturedStderr());
  }
  writer.close(clean);
  return readFile(directory.file("p"));
}

std::vector<KeptEntry> entriesIn(PayloadReader& reader, const std::string& path) {
  const char* why = "";
  EXPECT_TRUE(reader.open(path.c_str(), 1, kRanks, &why)) << why;
  std::vector<KeptEntry> entries;
  const unsigned char* content = nullptr;
  while (const PayloadEntry* const entry = reader.next(&content)) {
    entries.push_back({static_cast<PayloadKind>(entry->kind), entry->a, entry->b, entry->serial,
                       std::string(reinterpret_cast<const char*>(content), entry->size)});
  }
  return entries;
}

/// Of several pieces, with one that is larger than a piece.
std::vector<KeptEntry> manyEntries() {
  std::vector<KeptEntry> all;
  for (unsigned i = 0; i < 40; ++i) {
    const std::size_t size = i == 20 ? (5U << 20) / 2 + 3 : i * 3001;
    all.push_back(
        {PayloadKind::Message, static_cast<std::int32_t>(i), 7, i + 1, contentOf(size, i + 1)});
  }
  return all;
}

/// A trace of smallContent() with this file of rank 1.
class Traced {
 public:
  explicit Traced(std::vector<std::uint8_t> file) : m_content(smallContent()) {
    m_content.payloadFiles[1] = std::move(file);
    const Status status = writeContent(path(), m_content);
    EXPECT_TRUE(status.ok()) << status.error().text();
  }
  [[nodiscard]] std::string path() const { return m_directory.file("a.pft"); }
  [[nodiscard]] std::string out() const { return m_directory.file("out"); }
  [[nodiscard]] std::string file(const std::string& name) const { return m_directory.file(name); }
  [[nodiscard]] PayloadInfo info() const {
    const auto payloads = TraceStore::open(path(), TraceStore::Mode::ReadOnly)->payloads();
    EXPECT_TRUE(payloads.ok() && payloads->size() == 1);
    return payloads->front();
  }
  [[nodiscard]] Status extract() const {
    std::filesystem::remove(out());
    return TraceStore::open(path(), TraceStore::Mode::ReadOnly)->extractPayload(1, out());
  }
  void change(const std::string& sql) const {
    const std::string command = "sqlite3 " + path() + " \"" + sql + "\"";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(concurrency-mt-unsafe)
  }
  /// And makes the table's seal fit.
  void forge(TableId id, const std::string& sql) const {
    change(sql);
    Result<Database> database = Database::open(path(), Database::Access::Update);
    Result<Seal> seal = computeSeal(*database, table(id));
    ASSERT_TRUE(seal.ok() && storeSeal(*database, table(id), *seal).ok() &&
                finishSeals(*database).ok());
  }

 private:
  Directory m_directory;
  Content m_content;
};

TEST(Payload, comesOutAsItWentIn) {
  const std::vector<KeptEntry> all = manyEntries();
  const std::vector<std::uint8_t> file = fileOf(all, true);
  const Traced trace(file);
  const PayloadInfo info = trace.info();
  EXPECT_EQ(info.rank, 1);
  EXPECT_EQ(info.entries, all.size());
  EXPECT_EQ(info.bytes, file.size() - kPayloadHeaderSize);
  EXPECT_EQ(info.chunks, (info.bytes + kLongestLogChunk - 1) / kLongestLogChunk);
  EXPECT_GE(info.chunks, 4U);
  EXPECT_GT(info.packedBytes, 0U);
  EXPECT_EQ(info.ending, PayloadInfo::kComplete);
  EXPECT_EQ(info.detail, std::nullopt);
  const Status status = trace.extract();
  ASSERT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(readFile(trace.out()), file);
  struct stat stat {};
  ASSERT_EQ(::stat(trace.out().c_str(), &stat), 0);
  EXPECT_EQ(stat.st_mode & 0777U, 0600U);
  PayloadReader reader;
  EXPECT_EQ(entriesIn(reader, trace.out()), all);
  EXPECT_EQ(reader.end(), PayloadReader::End::Ended);
  EXPECT_TRUE(checkTrace(trace.path())->empty());
}

/// Datatypes are neither contents nor in a replay's way.
TEST(Payload, isLookedIntoEntryByEntry) {
  const std::vector<KeptEntry> all{{PayloadKind::Datatype, 1, 0, 1, contentOf(30)},
                                   {PayloadKind::Message, 1, 2, 3, contentOf(3U << 20)},
                                   {PayloadKind::Datatype, 2, 0, 3, contentOf(50)},
                                   {PayloadKind::Collective, 4, 0, 5, contentOf(7)}};
  const Traced trace(fileOf(all, true));
  EXPECT_EQ(trace.info().entries, 2U);
  Result<TraceStore> store = TraceStore::open(trace.path(), TraceStore::Mode::ReadOnly);
  std::vector<KeptEntry> seen;
  const auto wants = [](const PayloadEntry& head) {
    return head.a == 2 ? std::nullopt : std::optional<std::size_t>(40);
  };
  const auto shows = [&seen](const PayloadEntry& head, Bytes bytes) {
    seen.push_back({static_cast<PayloadKind>(head.kind), head.a, head.b, head.serial,
                    std::string(bytes.begin(), bytes.end())});
  };
  ASSERT_TRUE(store->lookIntoPayload(1, wants, shows).ok());
  std::vector<KeptEntry> expected{all[0], all[1], all[3]};
  expected[1].content.resize(40);
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(store->lookIntoPayload(2, wants, shows).error().code, ErrorCode::NotFound);
  ASSERT_TRUE(trace.extract().ok());
  PayloadReader reader;
  EXPECT_EQ(entriesIn(reader, trace.out()), (std::vector{all[1], all[3]}));
  EXPECT_EQ(reader.end(), PayloadReader::End::Ended);
  trace.change("UPDATE payload_chunk SET data = zeroblob(length(data)) WHERE ordinal = 3");
  seen.clear();
  EXPECT_EQ(store->lookIntoPayload(1, wants, shows).error().code, ErrorCode::Damaged);
  EXPECT_EQ(seen, (std::vector{expected[0]}));
}

/// Nothing of a datatype's entry is believed.
TEST(Payload, datatypesThatMakeNoSense) {
  PayloadType type;
  type.head = {2, 4};
  type.runs[0] = {BasicKind::Float, 8, 0, 3};
  type.runs[1] = {BasicKind::Signed, 4, 0, 1};
  std::string content(reinterpret_cast<const char*>(&type.head), sizeof type.head);
  content.append(reinterpret_cast<const char*>(type.runs.data()), 2 * sizeof(PayloadRun));
  content += "name";
  const auto reads = [](const std::string& bytes) {
    PayloadType read;
    return readPayloadType(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                           &read);
  };
  ASSERT_TRUE(reads(content));
  for (std::size_t size = 0; size < content.size(); ++size) {
    EXPECT_FALSE(reads(content.substr(0, size))) << size;
  }
  EXPECT_FALSE(reads(content + "x"));
  EXPECT_FALSE(reads(content + std::string(kMostPayloadType, 'x')));
  const auto with = [&content](std::size_t at, char byte) {
    std::string other = content;
    other[at] = byte;
    return other;
  };
  EXPECT_FALSE(reads(with(0, 3)));       // runs
  EXPECT_FALSE(reads(with(3, '\x7F')));  // of which there are too many
  EXPECT_FALSE(reads(with(4, 5)));       // bytes of the name
  EXPECT_FALSE(reads(with(8, 7)));       // kind
  EXPECT_FALSE(reads(with(9, 0)));       // size
  EXPECT_FALSE(reads(with(9, 3)));       // size
  EXPECT_FALSE(reads(with(9, 64)));      // size
  EXPECT_FALSE(reads(with(10, 1)));      // zero
  EXPECT_FALSE(reads(with(12, 0)));      // count
}

TEST(Payload, whatIsNotThereIsNotFound) {
  const Traced trace(fileOf({}, true));
  EXPECT_EQ(trace.info().entries, 0U);
  EXPECT_EQ(trace.info().chunks, 0U);
  ASSERT_TRUE(trace.extract().ok());
  PayloadReader reader;
  EXPECT_TRUE(entriesIn(reader, trace.out()).empty());
  EXPECT_EQ(reader.end(), PayloadReader::End::Ended);
  Result<TraceStore> store = TraceStore::open(trace.path(), TraceStore::Mode::ReadOnly);
  EXPECT_EQ(store->extractPayload(2, trace.file("none")).error().code, ErrorCode::NotFound);
  EXPECT_FALSE(std::filesystem::exists(trace.file("none")));
  EXPECT_EQ(store->extractPayload(1, trace.out()).error().code, ErrorCode::System);
  EXPECT_EQ(store->run().groups, std::nullopt);
}

TEST(Payload, saysHowItEnded) {
  const std::vector<KeptEntry> one{{PayloadKind::Message, 1, 2, 3, "one"}};
  PayloadReader reader;
  {
    const Traced trace(fileOf(one, false));
    EXPECT_EQ(trace.info().ending, PayloadInfo::kCut);
    ASSERT_TRUE(trace.extract().ok());
    EXPECT_EQ(entriesIn(reader, trace.out()), one);
    EXPECT_EQ(reader.end(), PayloadReader::End::Ended);
  }
  {
    const Traced trace(fileOf(one, true, ENOSPC));
    EXPECT_EQ(trace.info().ending, PayloadInfo::kStopped);
    EXPECT_EQ(trace.info().detail, ENOSPC);
    EXPECT_EQ(trace.info().entries, 1U);
    ASSERT_TRUE(trace.extract().ok());
    EXPECT_EQ(entriesIn(reader, trace.out()), one);
    EXPECT_EQ(reader.end(), PayloadReader::End::Cut);
    EXPECT_EQ(reader.cutBy(), ENOSPC);
  }
}

/// Of the file, before it is in a trace: what verifies is kept.
TEST(Payload, ofADamagedFileWhatVerifiesIsKept) {
  const std::vector<KeptEntry> all{{PayloadKind::Message, 1, 2, 3, contentOf(100)},
                                   {PayloadKind::Message, 1, 2, 4, contentOf(50)},
                                   {PayloadKind::Message, 1, 2, 5, contentOf(30)}};
  const std::vector<std::uint8_t> good = fileOf(all, true);
  constexpr std::size_t kSecond = sizeof(PayloadEntry) + 104;
  std::vector<std::uint8_t> flipped = good;
  flipped[kPayloadHeaderSize + kSecond + 40] ^= 1U;
  std::vector<std::uint8_t> shorter = good;
  shorter.resize(kPayloadHeaderSize + kSecond + 40);
  PayloadReader reader;
  for (const auto& file : {flipped, shorter}) {
    const Traced trace(file);
    const PayloadInfo info = trace.info();
    EXPECT_EQ(info.ending, PayloadInfo::kDamaged);
    EXPECT_EQ(info.detail, static_cast<std::int64_t>(kSecond));
    EXPECT_EQ(info.entries, 1U);
    EXPECT_TRUE(checkTrace(trace.path())->empty());
    ASSERT_TRUE(trace.extract().ok());
    EXPECT_EQ(entriesIn(reader, trace.out()), std::vector{all[0]});
    EXPECT_EQ(reader.end(), PayloadReader::End::Damaged);
  }
  std::vector<std::uint8_t> headless = good;
  headless[40] ^= 1U;
  for (const auto& file : {headless, std::vector<std::uint8_t>(100, 0), {}}) {
    const Traced trace(file);
    EXPECT_EQ(trace.info().ending, PayloadInfo::kDamaged);
    EXPECT_EQ(trace.info().bytes, 0U);
    ASSERT_TRUE(trace.extract().ok());
    EXPECT_TRUE(entriesIn(reader, trace.out()).empty());
    EXPECT_EQ(reader.end(), PayloadReader::End::Damaged);
  }
}

TEST(Payload, aDamagedPieceCostsWhatIsBehindIt) {
  const std::vector<KeptEntry> all = manyEntries();
  const Traced trace(fileOf(all, true));
  trace.change("UPDATE payload_chunk SET data = zeroblob(length(data)) WHERE ordinal = 1");
  const Status status = trace.extract();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::Damaged);
  PayloadReader reader;
  const std::vector<KeptEntry> before = entriesIn(reader, trace.out());
  ASSERT_GT(before.size(), 20U - 1);
  ASSERT_LT(before.size(), all.size());
  EXPECT_TRUE(std::equal(before.begin(), before.end(), all.begin()));
  EXPECT_EQ(reader.end(), PayloadReader::End::Damaged);
  EXPECT_NE(status.error().message.find("rank 1 "), std::string::npos) << status.error().text();
  EXPECT_NE(status.error().message.find(" byte " + std::to_string(reader.offset()) + " of"),
            std::string::npos)
      << status.error().text();
  const Result<std::vector<Finding>> findings = checkTrace(trace.path());
  ASSERT_TRUE(findings.ok() && findings->size() == 1);
  EXPECT_EQ(findings->front().where, "contents for rank 1");

  const Result<SalvageReport> report = salvageTrace(trace.path(), trace.file("saved.pft"));
  ASSERT_TRUE(report.ok()) << report.error().text();
  ASSERT_EQ(report->lost.size(), 1U);
  EXPECT_EQ(report->lost[0].where, "contents for rank 1");
  EXPECT_TRUE(checkTrace(trace.file("saved.pft"))->empty());
  Result<TraceStore> saved = TraceStore::open(trace.file("saved.pft"), TraceStore::Mode::ReadOnly);
  EXPECT_EQ(saved->payloads()->front().ending, PayloadInfo::kDamaged);
  EXPECT_EQ(saved->payloads()->front().detail, static_cast<std::int64_t>(reader.offset()));
  EXPECT_EQ(saved->payloads()->front().entries, before.size());
  ASSERT_TRUE(saved->extractPayload(1, trace.file("again")).ok());
  EXPECT_EQ(entriesIn(reader, trace.file("again")), before);
}

TEST(Payload, isSavedAsItWas) {
  const Content content = groupContent();
  const Patient patient(content);
  patient.change("UPDATE watch SET expression = 'x'");
  const Result<SalvageReport> report = salvageTrace(patient.path(), patient.file("saved.pft"));
  ASSERT_TRUE(report.ok()) << report.error().text();
  EXPECT_EQ(report->lost.size(), 1U);
  Content expected = content;
  expected.watches.clear();
  EXPECT_EQ(dump(*readContent(patient.file("saved.pft"))), dump(expected));
}

/// `photofinish check` finds each flipped bit of a piece, and none is read.
TEST(Payload, everyFlipOfAPieceIsFound) {
  const Patient patient(groupContent());
  std::vector<std::uint8_t> packed;
  {
    Result<Database> database = Database::open(patient.path(), Database::Access::Read);
    Result<Statement> select =
        database->prepare("SELECT data FROM payload_chunk WHERE rank = 2 AND ordinal = 0");
    ASSERT_EQ(select->step(), Statement::Step::Row);
    packed.assign(select->blob(0).begin(), select->blob(0).end());
  }
  const auto& bytes = patient.bytes();
  const auto found = std::search(bytes.begin(), bytes.end(), packed.begin(), packed.end());
  ASSERT_NE(found, bytes.end());
  const auto from = static_cast<std::size_t>(found - bytes.begin());
  for (std::size_t bit = from * 8; bit < (from + packed.size()) * 8; ++bit) {
    patient.flip(bit);
    const Result<std::vector<Finding>> findings = checkTrace(patient.path());
    ASSERT_TRUE(findings.ok() && findings->size() == 1) << bit;
    ASSERT_EQ(findings->front().where, "contents for rank 2") << bit;
    ASSERT_FALSE(readContent(patient.path()).ok()) << bit;
    patient.heal(bit);
  }
}

/// Rows that nobody writes, under seals that fit.
TEST(Payload, rowsThatMakeNoSense) {
  const std::vector<std::uint8_t> file = fileOf({{PayloadKind::Message, 1, 2, 3, "one"}}, true);
  for (const char* change :
       {"ending = 'well'", "entries = 2", "bytes = 0", "bytes = 9223372036854775807", "bytes = -1",
        "bytes = bytes - 8", "bytes = bytes + 1", "chunks = 0", "chunks = 2", "chunks = -1",
        "salt = 1", "rank = 2", "detail = 'x'"}) {
    const Traced trace(file);
    trace.forge(TableId::Payload, std::string("UPDATE payload SET ") + change);
    const Result<std::vector<Finding>> findings = checkTrace(trace.path());
    EXPECT_TRUE(findings.ok() && !findings->empty()) << change;
    const Status status = trace.extract();
    if (std::string_view(change) != "entries = 2") {  // which is for people
      EXPECT_FALSE(status.ok()) << change;
    }
  }
  const Traced trace(file);
  trace.forge(TableId::PayloadChunk, "DELETE FROM payload_chunk");
  EXPECT_EQ(trace.extract().error().code, ErrorCode::Damaged);
  EXPECT_FALSE(checkTrace(trace.path())->empty());
}

/// Pieces of any size are one and the same.
TEST(Payload, isScannedInPiecesOfAnySize) {
  std::vector<KeptEntry> all;
  for (unsigned i = 0; i < 20; ++i) {
    all.push_back({PayloadKind::Failed, 1, 2, i, contentOf(i * 3, i)});
  }
  const std::vector<std::uint8_t> file = fileOf(all, true, EIO);
  const Bytes raw = Bytes(file).subspan(kPayloadHeaderSize);
  for (std::size_t size = 1; size < 100; ++size) {
    PayloadScan scan(kSalt, 1, raw.size());
    for (std::size_t at = 0; at < raw.size(); at += size) {
      ASSERT_TRUE(scan.feed(raw.subspan(at, std::min(size, raw.size() - at))));
    }
    EXPECT_TRUE(scan.whole());
    EXPECT_EQ(scan.entries(), all.size());
    EXPECT_EQ(scan.mark(), EIO);
    EXPECT_FALSE(scan.feed(raw.first(64))) << "behind a Mark";
  }
}

TEST(Payload, everyFlipIsFoundByAScan) {
  const std::vector<std::uint8_t> file = fileOf({{PayloadKind::Message, 1, 2, 3, contentOf(13)},
                                                 {PayloadKind::Message, 1, 2, 4, contentOf(20)}},
                                                true);
  const Bytes raw = Bytes(file).subspan(kPayloadHeaderSize);
  constexpr std::size_t kFirst = sizeof(PayloadEntry) + 16;
  for (std::size_t bit = 0; bit < raw.size() * 8; ++bit) {
    std::vector<std::uint8_t> other(raw.begin(), raw.end());
    other[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
    PayloadScan scan(kSalt, 1, raw.size());
    static_cast<void>(scan.feed(other));
    EXPECT_EQ(scan.good(), bit / 8 < kFirst ? 0 : kFirst) << bit;
  }
}

}  // namespace
}  // namespace pf::db

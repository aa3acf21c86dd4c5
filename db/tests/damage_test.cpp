// SPDX-License-Identifier: GPL-3.0-or-later
// Files that are cut, flipped or forged: an error or the true contents, never anything else.
// PF_DB_FLIPS=N sets the number of random bit flips (0: every bit of the file).
#include <sys/resource.h>
#include <zstd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "db/columns/column_store.h"
#include "db/schema/schema.h"
#include "db/schema/seal.h"
#include "db/tests/patient.h"

namespace pf::db {
namespace {

TEST(Damage, everyCutIsSeen) {
  const Patient patient(smallContent());
  std::size_t wrong = 0;
  for (std::size_t size = patient.bytes().size(); size-- > 0;) {
    patient.cut(size);
    const Result<TraceStore> store = TraceStore::open(patient.path(), TraceStore::Mode::ReadOnly);
    wrong += store.ok() || store.error().code != ErrorCode::Damaged || store.error().message.empty()
                 ? 1U
                 : 0U;
  }
  EXPECT_EQ(wrong, 0U);
}

TEST(Damage, everyFlipIsSeenOrHarmless) {
  const Content content = groupContent();
  const std::string good = dump(content);
  const Patient patient(content);
  const char* wanted = std::getenv("PF_DB_FLIPS");  // NOLINT(concurrency-mt-unsafe)
  const std::size_t bits = patient.bytes().size() * 8;
  std::size_t trials = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 20000;
  const bool all = trials == 0;
  trials = all ? bits : trials;
  const unsigned seed = 20261120;
  std::mt19937_64 random(seed);
  std::size_t seen = 0;
  std::vector<std::size_t> wrong;
  for (std::size_t i = 0; i < trials; ++i) {
    std::size_t bit = all ? i : random() % bits;
    while (!all && i % 8 != 0 &&
           patient.bytes()[bit / 8] == 0) {  // most of the file is empty pages
      bit = random() % bits;
    }
    patient.flip(bit);
    const Result<Content> read = readContent(patient.path());
    if (!read) {
      ++seen;
    } else if (dump(*read) != good) {
      wrong.push_back(bit);
    }
    patient.heal(bit);
  }
  std::printf("seed %u: %zu flips in %zu bytes: %zu seen, %zu harmless, %zu wrong\n", seed, trials,
              patient.bytes().size(), seen, trials - seen - wrong.size(), wrong.size());
  EXPECT_TRUE(wrong.empty()) << "first at bit " << wrong.front();
  EXPECT_GT(seen, trials / 20);
}

TEST(Damage, flipsUnderASessionAreSeenOrHarmless) {
  const Content content = smallContent();
  const Patient patient(content);
  Content more = content;
  more.watches.push_back({6, "new"});
  const std::string good = dump(more);
  std::mt19937_64 random(7);
  std::size_t wrong = 0;
  for (int i = 0; i < 1500; ++i) {
    std::vector<std::uint8_t> bytes = patient.bytes();
    const std::size_t bit = random() % (bytes.size() * 8);
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1U << (bit % 8)));
    writeFile(patient.file("b.pft"), bytes);
    Result<TraceStore> store = TraceStore::open(patient.file("b.pft"), TraceStore::Mode::ReadWrite);
    if (!store || !store->session().add(Watch{0, "new"}).ok()) {
      continue;
    }
    const Result<Content> read = readContent(patient.file("b.pft"));
    wrong += read.ok() && dump(*read) != good ? 1U : 0U;
  }
  EXPECT_EQ(wrong, 0U);
}

/// SQLite's two words for it are the same ones, mostly.
TEST(Damage, isToldOnce) {
  const Patient patient(smallContent());
  std::string bytes(patient.bytes().begin(), patient.bytes().end());
  for (std::size_t i = 4096; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(bytes[i] ^ 0x5a);
  }
  std::ofstream(patient.path(), std::ios::binary) << bytes;
  const Result<TraceStore> store = TraceStore::open(patient.path(), TraceStore::Mode::ReadOnly);
  ASSERT_FALSE(store.ok());
  const std::string text = store.error().message;
  const std::string said = "database disk image is malformed";
  const std::size_t first = text.find(said);
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find(said, first + 1), std::string::npos) << text;
}

TEST(Damage, isNamedAndTheRestIsSaved) {
  const Content content = smallContent();
  const Patient patient(content);
  ASSERT_TRUE(checkTrace(patient.path())->empty());
  patient.change(
      "UPDATE log_chunk SET data = zeroblob(length(data)) WHERE rank = 2 AND ordinal = 1");
  patient.change("UPDATE watch SET expression = 'x'");
  Result<std::vector<Finding>> findings = checkTrace(patient.path());
  ASSERT_TRUE(findings.ok());
  ASSERT_EQ(findings->size(), 2U);
  EXPECT_EQ((*findings)[0].where, "table watch");
  EXPECT_EQ((*findings)[1].where, "log of rank 2, chunk 1 of 3");

  Result<SalvageReport> report = salvageTrace(patient.path(), patient.file("saved.pft"));
  ASSERT_TRUE(report.ok()) << report.error().text();
  EXPECT_EQ(report->lost.size(), 2U);
  const Result<Content> saved = readContent(patient.file("saved.pft"));
  ASSERT_TRUE(saved.ok()) << saved.error().text();
  Content expected = content;
  expected.watches.clear();
  expected.logs[2].resize(1);
  expected.ranks[2].logChunks = 1;
  expected.ranks[2].logBytes = expected.logs[2][0].size();
  expected.ranks[2].cutReason = saved->ranks[2].cutReason;
  EXPECT_NE(saved->ranks[2].cutReason.find("chunk 1"), std::string::npos);
  EXPECT_EQ(dump(*saved), dump(expected));
  EXPECT_EQ(salvageTrace(patient.path(), patient.file("saved.pft")).error().code, ErrorCode::Usage);
}

TEST(Damage, isSavedFromWithoutHeaderAndListOfTables) {
  const Content content = groupContent();
  Patient patient(content);
  std::vector<std::uint8_t> bytes = patient.bytes();
  std::fill_n(bytes.begin(), kPageSize, std::uint8_t{0x5A});
  writeFile(patient.file("headless.pft"), bytes);
  EXPECT_EQ(checkTrace(patient.file("headless.pft")).error().code, ErrorCode::Damaged);
  Result<SalvageReport> report =
      salvageTrace(patient.file("headless.pft"), patient.file("saved.pft"));
  ASSERT_TRUE(report.ok()) << report.error().text();
  EXPECT_TRUE(report->lost.empty());
  EXPECT_EQ(dump(*readContent(patient.file("saved.pft"))), dump(content));
}

TEST(Damage, isSavedFromAFileThatIsCut) {
  Content content = smallContent();
  std::minstd_rand noise;  // does not compress
  while (content.logs[2].back().size() < 200000) {
    content.logs[2].back().push_back(static_cast<std::uint8_t>(noise() >> 8));
  }
  content.ranks[2].logBytes += 200000 - 4200;
  const Patient patient(content);
  std::size_t saved = 0;
  for (std::size_t size = 4096; size < patient.bytes().size(); size += 11 * 1024) {
    patient.cut(patient.bytes().size());
    writeFile(
        patient.file("cut.pft"),
        {patient.bytes().begin(), patient.bytes().begin() + static_cast<std::ptrdiff_t>(size)});
    std::filesystem::remove(patient.file("saved.pft"));
    const Result<std::vector<Finding>> findings = checkTrace(patient.file("cut.pft"));
    ASSERT_TRUE(findings.ok()) << findings.error().text();
    EXPECT_FALSE(findings->empty());
    for (const Finding& finding : *findings) {
      EXPECT_EQ(finding.what.find("photofinish-"), std::string::npos) << finding.what;
    }
    const Result<SalvageReport> report =
        salvageTrace(patient.file("cut.pft"), patient.file("saved.pft"));
    if (report.ok()) {
      ++saved;
      EXPECT_FALSE(report->lost.empty());
      for (const Finding& finding : report->lost) {
        EXPECT_EQ(finding.what.find("/photofinish-"), std::string::npos) << finding.what;
      }
      EXPECT_TRUE(checkTrace(patient.file("saved.pft"))->empty());
      const Result<Content> back = readContent(patient.file("saved.pft"));
      ASSERT_TRUE(back.ok()) << back.error().text();
      for (std::size_t r = 0; r < back->logs.size(); ++r) {
        for (std::size_t i = 0; i < back->logs[r].size(); ++i) {
          EXPECT_EQ(back->logs[r][i], content.logs[r][i]);
        }
      }
    }
  }
  EXPECT_GT(saved, 3U);
}

TEST(Hostile, tablesThatAreNotOursAreRefused) {
  const auto refused = [](const std::string& sql) {
    const Patient patient(smallContent());
    patient.change(sql);
    const Result<TraceStore> store = TraceStore::open(patient.path(), TraceStore::Mode::ReadOnly);
    return !store.ok() && store.error().code == ErrorCode::Damaged;
  };
  EXPECT_TRUE(refused(
      "DROP TABLE note; CREATE VIEW note AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i "
      "FROM n) SELECT * FROM n"));
  EXPECT_TRUE(refused("CREATE TRIGGER t AFTER INSERT ON note BEGIN DELETE FROM column_chunk; END"));
  EXPECT_TRUE(refused("CREATE VIRTUAL TABLE extra USING fts5(x)"));
  EXPECT_TRUE(refused("CREATE INDEX i ON column_chunk(crc32c)"));
  EXPECT_TRUE(refused("ALTER TABLE note ADD COLUMN extra"));
  EXPECT_TRUE(refused("DROP TABLE note"));
  EXPECT_TRUE(refused("DELETE FROM seal WHERE table_name = 'column_chunk'"));
  EXPECT_TRUE(refused("UPDATE run SET salt = 1"));
  EXPECT_TRUE(refused("PRAGMA application_id = 7"));
}

/// Seals forged so that they fit: what is wrong then is what the rows say.
TEST(Hostile, rowsThatMakeNoSenseAreRefused) {
  const auto forged = [](TableId id, const std::string& sql) {
    const Patient patient(smallContent());
    patient.change(sql);
    Result<Database> database = Database::open(patient.path(), Database::Access::Update);
    Result<Seal> seal = computeSeal(*database, table(id));
    EXPECT_TRUE(seal.ok() && storeSeal(*database, table(id), *seal).ok() &&
                finishSeals(*database).ok());
    const Result<Content> read = readContent(patient.path());
    return !read.ok() && read.error().code == ErrorCode::Damaged;
  };
  EXPECT_TRUE(
      forged(TableId::ColumnChunk, "DELETE FROM column_chunk WHERE rank = 1 AND stream = 0"));
  EXPECT_TRUE(
      forged(TableId::ColumnChunk, "UPDATE column_chunk SET rank = 1000000 WHERE rank = 2"));
  EXPECT_TRUE(forged(TableId::ColumnChunk, "UPDATE column_chunk SET data = 'x' WHERE rank = 2"));
  EXPECT_TRUE(forged(TableId::ColumnChunk, "UPDATE column_chunk SET id = -id WHERE rank = 2"));
  EXPECT_TRUE(forged(TableId::ColumnDirectory, "DELETE FROM column_directory"));
  EXPECT_TRUE(forged(TableId::ColumnDirectory, "UPDATE column_directory SET data = x'00'"));
  EXPECT_TRUE(forged(TableId::Communicator, "UPDATE communicator SET members = '[0,1,3]'"));
  EXPECT_TRUE(forged(TableId::Communicator, "UPDATE communicator SET members = '[0,1'"));
  EXPECT_TRUE(forged(TableId::RaceClass, "DELETE FROM race_class"));
  EXPECT_TRUE(forged(TableId::RaceClass, "UPDATE race_class SET id = 7"));
  for (const char* ranks : {"2000000000", "10000000", "-1"}) {
    EXPECT_TRUE(forged(TableId::Run, "UPDATE run SET ranks = " + std::string(ranks)));
  }
  EXPECT_TRUE(forged(TableId::Run, "UPDATE run SET complete = 2"));
  EXPECT_TRUE(
      forged(TableId::LogChunk, "UPDATE log_chunk SET ordinal = 7 WHERE rank = 2 AND ordinal = 2"));
}

/// A chunk whose checksum fits, but whose values do not.
template <typename T, typename Change>
bool forgedChunk(Rank rank, Change&& change) {
  const Patient patient(smallContent());
  {
    Result<Database> database = Database::open(patient.path(), Database::Access::Update);
    Result<ColumnReader> reader = ColumnReader::start(*database, 3);
    std::vector<T> values;
    EXPECT_TRUE(reader->read(rank, 0, values).ok());
    change(values);
    ColumnEncoder encoder;
    for (const T& value : values) {
      encoder.begin();
      fields(encoder, value);
    }
    const Bytes packed = *encoder.finish();
    Result<Statement> update = database->prepare(
        "UPDATE column_chunk SET crc32c = ?, data = ? WHERE rank = ? AND stream = ?");
    update->bindInteger(1, columnChunkCrc(rank, StreamOf<T>::kStream, 0, packed));
    update->bindBlob(2, packed);
    update->bindInteger(3, rank);
    update->bindInteger(4, static_cast<int>(StreamOf<T>::kStream));
    EXPECT_TRUE(update->run().ok());
    Result<Seal> seal = computeSeal(*database, table(TableId::ColumnChunk));
    EXPECT_TRUE(seal.ok() && storeSeal(*database, table(TableId::ColumnChunk), *seal).ok() &&
                finishSeals(*database).ok());
  }
  const Result<Content> read = readContent(patient.path());
  return !read.ok() && read.error().code == ErrorCode::Damaged;
}

/// A directory of `values` chunks in a few bytes, which a forged seal agrees with.
void forgeDirectory(const Patient& patient, std::uint64_t values) {
  std::vector<std::uint8_t> raw;
  const auto number = [&raw](std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) {
      raw.push_back(static_cast<std::uint8_t>(value | 0x80U));
    }
    raw.push_back(static_cast<std::uint8_t>(value));
  };
  number(values);
  number(9);
  for (const std::uint64_t same :
       {0U, 0U, 4096U, 0U, 0U, 0U, 0U, 0U, 0U}) {  // "constant", each in so many bytes
    number(0);
    number(same < 0x80 ? 1 : 2);
    number(same);
  }
  std::vector<std::uint8_t> packed(ZSTD_compressBound(raw.size()));
  packed.resize(ZSTD_compress(packed.data(), packed.size(), raw.data(), raw.size(), 1));
  Result<Database> database = Database::open(patient.path(), Database::Access::Update);
  Result<Statement> update = database->prepare("UPDATE column_directory SET data = ?");
  update->bindBlob(1, packed);
  EXPECT_TRUE(update->run().ok());
  const Result<Seal> seal = computeSeal(*database, table(TableId::ColumnDirectory));
  Result<Seal> chunks = storedSeal(*database, table(TableId::ColumnChunk));
  chunks->rows = values;
  EXPECT_TRUE(storeSeal(*database, table(TableId::ColumnDirectory), *seal).ok() &&
              storeSeal(*database, table(TableId::ColumnChunk), *chunks).ok() &&
              finishSeals(*database).ok());
}

TEST(Hostile, aDirectoryTakesNoMoreMemoryThanItsFile) {
  for (const std::uint64_t values : {std::uint64_t{1} << 40U, std::uint64_t{1} << 62U,
                                     std::uint64_t{5000}}) {  // the last: as many as could be there
    const Patient patient(smallContent());
    forgeDirectory(patient, values);
    struct rlimit whole {};
    ASSERT_EQ(::getrlimit(RLIMIT_AS, &whole), 0);
    rlimit little = whole;
#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__  // as GCC says it
#endif
#endif
#ifndef __SANITIZE_ADDRESS__
    little.rlim_cur = 1U << 30U;
#endif
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &little), 0);
    const Result<Content> read = readContent(patient.path());
    const Result<std::vector<Finding>> findings = checkTrace(patient.path());
    EXPECT_EQ(::setrlimit(RLIMIT_AS, &whole), 0);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, ErrorCode::Damaged) << read.error().text();
    EXPECT_FALSE(findings->empty());
  }
}

/// A directory with one wrong entry, whose seal fits.
template <typename Change>
bool forgedEntry(Stream stream, Change&& change) {
  const Patient patient(smallContent());
  {
    Result<Database> database = Database::open(patient.path(), Database::Access::Update);
    const Result<ColumnReader> reader = ColumnReader::start(*database, 3);
    ColumnEncoder encoder;
    for (Rank rank = 0; rank < 3; ++rank) {
      for (std::size_t each = 0; each < kStreams; ++each) {
        for (ChunkEntry entry : reader->chunks(rank, static_cast<Stream>(each))) {
          if (static_cast<Stream>(each) == stream) {
            change(entry);
          }
          encoder.begin();
          fields(encoder, std::as_const(entry));
        }
      }
    }
    Result<Statement> update = database->prepare("UPDATE column_directory SET data = ?");
    update->bindBlob(1, *encoder.finish());
    EXPECT_TRUE(update->run().ok());
    const Result<Seal> seal = computeSeal(*database, table(TableId::ColumnDirectory));
    EXPECT_TRUE(storeSeal(*database, table(TableId::ColumnDirectory), *seal).ok() &&
                finishSeals(*database).ok());
  }
  const bool found = !checkTrace(patient.path())->empty();
  EXPECT_EQ(readContent(patient.path()).ok(), !found);
  return found;
}

TEST(Hostile, aDirectoryThatItsChunksContradictIsRefused) {
  EXPECT_FALSE(forgedEntry(Stream::Event, [](ChunkEntry&) {}));
  EXPECT_TRUE(forgedEntry(Stream::Event, [](ChunkEntry& entry) { ++entry.lastSerial; }));
  EXPECT_TRUE(forgedEntry(Stream::Event, [](ChunkEntry& entry) { ++entry.firstStep; }));
  for (const Stream stream : {Stream::Receive, Stream::Probe, Stream::Send, Stream::Collective}) {
    EXPECT_TRUE(forgedEntry(stream, [](ChunkEntry& entry) { ++entry.firstSerial; }));
    EXPECT_TRUE(forgedEntry(stream, [](ChunkEntry& entry) { ++entry.firstCompletion; }));
    EXPECT_TRUE(forgedEntry(stream, [](ChunkEntry& entry) { ++entry.lastCompletion; }));
    EXPECT_TRUE(forgedEntry(stream, [](ChunkEntry& entry) { entry.firstCompletion = 1; }));
  }
  for (const Stream stream : {Stream::Race, Stream::Alternative}) {
    EXPECT_TRUE(forgedEntry(stream, [](ChunkEntry& entry) { ++entry.firstSerial; }));
    EXPECT_TRUE(forgedEntry(stream, [](ChunkEntry& entry) { ++entry.lastSerial; }));
    EXPECT_TRUE(forgedEntry(stream, [](ChunkEntry& entry) { entry.lastCompletion = 3; }));
  }
}

TEST(Hostile, columnsThatMakeNoSenseAreRefused) {
  using Events = std::vector<StoredEvent>;
  EXPECT_FALSE(forgedChunk<StoredEvent>(1, [](Events&) {}));
  EXPECT_TRUE(forgedChunk<StoredEvent>(
      1, [](Events& all) { all[0].event.kind = static_cast<EventKind>(10); }));
  EXPECT_TRUE(forgedChunk<StoredEvent>(1, [](Events& all) { all[1].event.call = 7; }));
  EXPECT_TRUE(forgedChunk<StoredEvent>(1, [](Events& all) { all[1].event.peer = 3; }));
  EXPECT_TRUE(forgedChunk<StoredEvent>(1, [](Events& all) { all.pop_back(); }));
  EXPECT_TRUE(forgedChunk<StoredEvent>(1, [](Events& all) { all.resize(5000); }));
  using Receives = std::vector<StoredReceive>;
  EXPECT_TRUE(forgedChunk<StoredReceive>(0, [](Receives& all) { all[0].receive.completion = 8; }));
  EXPECT_TRUE(
      forgedChunk<StoredReceive>(0, [](Receives& all) { all[0].receive.source = 1 << 20; }));
  EXPECT_TRUE(forgedChunk<StoredReceive>(0, [](Receives& all) { all[1].receive.message = 4; }));
  using Sends = std::vector<StoredSend>;
  EXPECT_TRUE(forgedChunk<StoredSend>(1, [](Sends& all) { all[0].send.dest = 3; }));
  EXPECT_TRUE(forgedChunk<StoredSend>(1, [](Sends& all) { all[0].post = 3; }));
  EXPECT_TRUE(forgedChunk<StoredSend>(1, [](Sends& all) { all[0].send.event = 0; }));
  EXPECT_TRUE(forgedChunk<StoredSend>(1, [](Sends& all) { all[0].completion = 9; }));
}

TEST(Hostile, racesThatMakeNoSenseAreRefused) {
  using Races = std::vector<RaceValue>;
  EXPECT_FALSE(forgedChunk<RaceValue>(0, [](Races&) {}));
  EXPECT_TRUE(forgedChunk<RaceValue>(0, [](Races& all) { all[0].index = 3; }));
  EXPECT_TRUE(forgedChunk<RaceValue>(0, [](Races& all) { all[0].serial = 8; }));
  EXPECT_TRUE(forgedChunk<RaceValue>(0, [](Races& all) { all[0].taken = 4; }));
  EXPECT_TRUE(forgedChunk<RaceValue>(0, [](Races& all) { all[0].source = 1; }));
  EXPECT_TRUE(forgedChunk<RaceValue>(0, [](Races& all) { all[0].source = 3; }));
  EXPECT_TRUE(forgedChunk<RaceValue>(0, [](Races& all) { all[0].raceClass = 1; }));
  EXPECT_TRUE(forgedChunk<RaceValue>(0, [](Races& all) { all[1].alternatives = 3; }));
  EXPECT_TRUE(forgedChunk<RaceValue>(0, [](Races& all) { all.pop_back(); }));
  using Spans = std::vector<AlternativeSpan>;
  EXPECT_FALSE(forgedChunk<AlternativeSpan>(0, [](Spans&) {}));
  EXPECT_TRUE(forgedChunk<AlternativeSpan>(0, [](Spans& all) { all[0].message = 4; }));
  EXPECT_TRUE(forgedChunk<AlternativeSpan>(0, [](Spans& all) { all[0].source = 2; }));
  EXPECT_TRUE(forgedChunk<AlternativeSpan>(0, [](Spans& all) { all[0].count = 2; }));
  EXPECT_TRUE(forgedChunk<AlternativeSpan>(0, [](Spans& all) { all[0].count = 0; }));
  EXPECT_TRUE(forgedChunk<AlternativeSpan>(0, [](Spans& all) { all[0].count = 1U << 31U; }));
  EXPECT_TRUE(forgedChunk<AlternativeSpan>(0, [](Spans& all) { all[0].first = 1; }));
  EXPECT_TRUE(forgedChunk<AlternativeSpan>(0, [](Spans& all) { std::swap(all[0], all[1]); }));
  EXPECT_TRUE(forgedChunk<AlternativeSpan>(0, [](Spans& all) { all[2] = all[1]; }));
  EXPECT_TRUE(forgedChunk<AlternativeSpan>(0, [](Spans& all) { all.pop_back(); }));
}

}  // namespace
}  // namespace pf::db

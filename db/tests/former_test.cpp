// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of former formats, which are brought up to date when they are opened.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "db/columns/column_store.h"
#include "db/former/former_format.h"
#include "db/schema/schema.h"
#include "db/tests/sample.h"

namespace pf::db {
namespace {

/// tests/data/format4.pft.zst: the small content of sample.cpp, written before there were columns;
/// format5.pft.zst: before there were summaries; format7.pft.zst: when races were rows; format 6
/// was the same; format8.pft.zst: when receives did not say where their messages were sent;
/// format9.pft.zst: when messages were in chunks as long as those of events; format10.pft.zst: when
/// chunks had keys of three columns.
/// …-racing.pft.zst: the racing content.
void unpackFormer(const std::string& path, const char* name = "format4.pft.zst") {
  std::ifstream in(std::string(PF_DB_DATA "/") + name, std::ios::binary);
  const std::vector<char> packed((std::istreambuf_iterator<char>(in)),
                                 std::istreambuf_iterator<char>());
  std::vector<char> bytes(ZSTD_getFrameContentSize(packed.data(), packed.size()));
  ASSERT_EQ(ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size()),
            bytes.size());
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
}

/// Runs SQL in the file as another program would.
void change(const std::string& path, const std::string& sql) {
  const std::string command = "sqlite3 " + path + " \"" + sql + "\"";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(concurrency-mt-unsafe)
}

/// What the directory says, in words; of streams whose chunks have always been as long.
std::string directoryOf(const std::string& path, std::size_t ranks) {
  Result<Database> database = Database::open(path, Database::Access::Read);
  const Result<ColumnReader> reader = ColumnReader::start(*database, ranks);
  if (!reader) {
    return reader.error().text();
  }
  std::string text;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
      const bool shorter = chunkValues(static_cast<Stream>(stream)) != kChunkValues;
      for (const ChunkEntry& e :
           reader->chunks(static_cast<Rank>(rank), static_cast<Stream>(stream))) {
        if (shorter && e.values >= chunkValues(static_cast<Stream>(stream))) {
          text += "of messages\n";
          break;
        }
        for (const std::uint64_t each :
             {std::uint64_t{stream}, std::uint64_t{e.values}, e.firstSerial, e.lastSerial,
              std::uint64_t{e.firstStep}, std::uint64_t{e.lastStep}, e.firstCompletion,
              e.lastCompletion}) {
          text += std::to_string(each) + " ";
        }
        text += "\n";
      }
    }
  }
  return text;
}

/// Where the messages were sent that receives took.
std::vector<std::pair<Serial, Serial>> receivesOf(const std::string& path, std::size_t ranks) {
  Result<Database> database = Database::open(path, Database::Access::Read);
  Result<ColumnReader> reader = ColumnReader::start(*database, ranks);
  std::vector<StoredReceive> all;
  for (std::size_t r = 0; reader.ok() && r < ranks; ++r) {
    const auto rank = static_cast<Rank>(r);
    for (std::size_t i = 0; i < reader->chunks(rank, Stream::Receive).size(); ++i) {
      EXPECT_TRUE(reader->read(rank, i, all).ok());
    }
  }
  std::vector<std::pair<Serial, Serial>> sent;
  for (const StoredReceive& each : all) {
    sent.emplace_back(each.sent, each.senderDone);
  }
  return sent;
}

TEST(FormerFormat, isBroughtUpToDate) {
  const Directory newDirectory;
  ASSERT_TRUE(writeContent(newDirectory.file("a.pft"), smallContent()).ok());
  const std::string fresh = directoryOf(newDirectory.file("a.pft"), 3);
  for (const char* name : {"format4.pft.zst", "format5.pft.zst", "format7.pft.zst",
                           "format8.pft.zst", "format9.pft.zst", "format10.pft.zst"}) {
    const Directory directory;
    unpackFormer(directory.file("a.pft"), name);
    for (int turn = 0; turn < 2; ++turn) {
      const Result<Content> back = readContent(directory.file("a.pft"));
      ASSERT_TRUE(back.ok()) << back.error().text();
      EXPECT_EQ(dump(*back), dump(smallContent()));
    }
    EXPECT_TRUE(checkTrace(directory.file("a.pft"))->empty());
    Result<TraceStore> store =
        TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadOnly);
    ASSERT_TRUE(store.ok());
    const Result<TraceOutline> outline = store->outline();
    ASSERT_TRUE(outline.ok()) << name << outline.error().text();
    EXPECT_EQ(outline->events, (std::vector<std::uint64_t>{7, 4, 4}));
    EXPECT_EQ(outline->races, 2U);
    EXPECT_EQ(directoryOf(directory.file("a.pft"), 3), fresh);
  }
}

TEST(FormerFormat, losesADamagedExecutionOnly) {
  for (const char* sql : {"UPDATE event SET tag = tag + 1 WHERE serial = 2",
                          "DELETE FROM message WHERE id = 1", "UPDATE call SET name = 'x'"}) {
    const Directory directory;
    unpackFormer(directory.file("a.pft"));
    change(directory.file("a.pft"), sql);
    Result<TraceStore> store =
        TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadOnly);
    ASSERT_TRUE(store.ok()) << store.error().text();
    EXPECT_FALSE(*store->hasExecution()) << sql;
    EXPECT_TRUE(store->races()->empty());
    EXPECT_EQ(store->ranks().size(), smallContent().ranks.size());
    EXPECT_TRUE(checkTrace(directory.file("a.pft"))->empty()) << sql;
  }
}

TEST(FormerFormat, ofADamagedOneOfFormat5TheRestStays) {
  const Directory directory;
  unpackFormer(directory.file("a.pft"), "format5.pft.zst");
  change(directory.file("a.pft"), "UPDATE column_chunk SET data = x'00' WHERE rank = 1");
  Result<TraceStore> store = TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadOnly);
  ASSERT_TRUE(store.ok()) << store.error().text();
  EXPECT_EQ(store->outline().error().code, ErrorCode::NotFound);
  EXPECT_EQ(store->clockCheckpoints()->every, 0U);
  EXPECT_EQ(store->readExecution().error().code, ErrorCode::Damaged);
  EXPECT_EQ(store->races()->size(), smallContent().races.size());
}

TEST(FormerFormat, whatIsDamagedIsNamed) {
  const auto findings = [](const std::string& sql) {
    const Directory directory;
    unpackFormer(directory.file("a.pft"));
    change(directory.file("a.pft"), sql);
    std::string all;
    const Result<std::vector<Finding>> found = checkTrace(directory.file("a.pft"));
    EXPECT_TRUE(found.ok()) << found.error().text();
    for (std::size_t i = 0; found.ok() && i < found->size(); ++i) {
      all += (i == 0 ? "" : "; ") + (*found)[i].where;
    }
    return all;
  };
  EXPECT_EQ(findings("UPDATE seal SET crc32c = 1 WHERE table_name = 'event'"),
            "file, of trace format 4; table event; table seal");
  EXPECT_EQ(findings("DROP TABLE probe"), "file, of trace format 4; table probe");
  EXPECT_EQ(findings("UPDATE watch SET expression = 'x'; DELETE FROM event"), "table watch");
}

/// A writer that died when its changes were in the file and its journal was still there.
TEST(FormerFormat, anInterruptedWriteIsUndoneBeforeTheVersionIsRead) {
  const Directory directory;
  const std::string path = directory.file("a.pft");
  unpackFormer(path);
  const std::string command =
      "sqlite3 " + path +
      " 'PRAGMA cache_size=2' BEGIN 'PRAGMA user_version=5' 'CREATE TABLE x AS SELECT "
      "randomblob(100) FROM generate_series(1,9000)' '.shell cp " +
      path + "-journal " + path + "-kept' COMMIT && mv " + path + "-kept " + path + "-journal";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(concurrency-mt-unsafe)
  const Result<Content> back = readContent(path);
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(dump(*back), dump(smallContent()));
}

/// What is left of a damaged one can be saved.
TEST(FormerFormat, isSavedFromWhereItDoesNotOpen) {
  for (const char* name : {"format4.pft.zst", "format5.pft.zst", "format7.pft.zst"}) {
    for (const bool header : {true, false}) {
      const Directory directory;
      const std::string path = directory.file("a.pft");
      unpackFormer(path, name);
      if (header) {
        std::vector<std::uint8_t> bytes = readFile(path);
        std::fill_n(bytes.begin(), 100, std::uint8_t{0x5A});
        writeFile(path, bytes);
      } else {
        change(path, "UPDATE seal SET crc32c = 5 WHERE table_name = 'seal'");
      }
      ASSERT_EQ(TraceStore::open(path, TraceStore::Mode::ReadOnly).error().code,
                ErrorCode::Damaged);
      const Result<SalvageReport> report = salvageTrace(path, directory.file("saved.pft"));
      ASSERT_TRUE(report.ok()) << name << report.error().text();
      EXPECT_TRUE(report->lost.empty());
      EXPECT_EQ(dump(*readContent(directory.file("saved.pft"))), dump(smallContent())) << name;
    }
  }
}

/// What cannot be written is read nevertheless, and stays as it is.
TEST(FormerFormat, isReadInADirectoryOfSomebodyElse) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "needs root to become another user";
  }
  for (const auto& [mode, name] : {std::pair{0444U, "format7.pft.zst"},
                                   {0666U, "format7.pft.zst"},
                                   {0444U, "format4.pft.zst"}}) {
    const Directory directory;
    const std::string path = directory.file("a.pft");
    unpackFormer(path, name);
    const std::vector<std::uint8_t> before = readFile(path);
    const Directory copies;
    ASSERT_EQ(::chmod(copies.path().c_str(), 0777), 0);
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    ASSERT_EQ(::chmod(directory.path().c_str(), 0555), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      bool good =
          ::setenv("TMPDIR", copies.path().c_str(), 1) == 0 &&  // NOLINT(concurrency-mt-unsafe)
          ::setresuid(65534, 65534, 65534) == 0;
      const Result<Content> content = readContent(path);
      good = good && content.ok() && dump(*content) == dump(smallContent());
      Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadOnly);
      good = good && store->path() == path && store->races()->size() == 2;
      const Result<TraceStore> writable = TraceStore::open(path, TraceStore::Mode::ReadWrite);
      good = good && !writable.ok() && writable.error().code != ErrorCode::Damaged &&
             !writable.error().advice.empty();
      ::_exit(good ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << mode << name;
    EXPECT_EQ(readFile(path), before);
    EXPECT_TRUE(std::filesystem::is_empty(copies.path()));
  }
}

TEST(FormerFormat, thatCannotBeWrittenSaysSo) {
  const Directory directory;
  unpackFormer(directory.file("a.pft"));
  EXPECT_EQ(bringUpToDate(directory.file("none.pft")).error().code, ErrorCode::Version);
  std::fstream file(directory.file("a.pft"), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(40000);
  file.put('\x7F');
  file.close();
  Result<TraceStore> store = TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadOnly);
  if (!store.ok()) {  // damaged, and not half changed
    EXPECT_EQ(store.error().code, ErrorCode::Damaged) << store.error().text();
  }
}

/// With more races than a chunk holds: nothing tells it from a trace that is written now.
TEST(FormerFormat, withManyRacesIsBroughtUpToDate) {
  const Directory directory;
  const Content content = racingContent();
  for (const char* name : {"format7-racing.pft.zst", "format8-racing.pft.zst",
                           "format9-racing.pft.zst", "format10-racing.pft.zst"}) {
    unpackFormer(directory.file("a.pft"), name);
    ASSERT_TRUE(writeContent(directory.file("new.pft"), content).ok());
    const Result<Content> back = readContent(directory.file("a.pft"));
    ASSERT_TRUE(back.ok()) << back.error().text();
    EXPECT_EQ(dump(*back), dump(content));
    EXPECT_TRUE(checkTrace(directory.file("a.pft"))->empty());
    EXPECT_EQ(directoryOf(directory.file("a.pft"), 4), directoryOf(directory.file("new.pft"), 4));
    Result<TraceStore> store =
        TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadOnly);
    Result<TraceStore> fresh =
        TraceStore::open(directory.file("new.pft"), TraceStore::Mode::ReadOnly);
    const std::vector<StoredRace> races = *store->races();
    const std::vector<StoredRace> same = *fresh->races();
    ASSERT_EQ(races.size(), same.size());
    for (std::size_t i = 0; i < races.size(); ++i) {
      ASSERT_EQ(races[i].chosen, same[i].chosen);
      ASSERT_EQ(races[i].serial, same[i].serial);
      ASSERT_EQ(races[i].sent, same[i].sent);
      ASSERT_EQ(races[i].tag, same[i].tag);
      ASSERT_EQ(races[i].raceClass, same[i].raceClass);
    }
    EXPECT_EQ(receivesOf(directory.file("a.pft"), 4), receivesOf(directory.file("new.pft"), 4));
    EXPECT_EQ(store->clockCheckpoints()->past, fresh->clockCheckpoints()->past);
    ASSERT_EQ(store->outline()->levels, fresh->outline()->levels);
    EXPECT_GT(store->outline()->levels, 0U);
    for (std::size_t level = 0; level < store->outline()->levels; ++level) {
      EXPECT_EQ(*store->cutLevel(level), *fresh->cutLevel(level));
    }
    std::filesystem::remove(directory.file("a.pft"));
    std::filesystem::remove(directory.file("new.pft"));
  }
}

/// Format 6 is format 7 without times; it gets some with its next survey.
TEST(FormerFormat, ofFormat6GetsTimesWithItsNextSurvey) {
  const Directory directory;
  const std::string path = directory.file("a.pft");
  unpackFormer(path, "format7.pft.zst");
  change(path, "PRAGMA user_version=6");
  const Result<Content> read = readContent(path);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(dump(*read), dump(smallContent()));
  EXPECT_EQ(readFile(path)[63], kFormatVersion);
  Content timed = smallContent();
  for (RankHistory& rank : timed.execution.ranks) {
    rank.times.assign(rank.events.size(), {5, 6});
    rank.times.front() = {1, 4};
    std::fill(rank.times.begin() + 1, rank.times.end(), EventTime{6, 6});
  }
  timed.execution.timeOrigin = TimeOrigin::Reexecution;
  {
    Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadWrite);
    ASSERT_TRUE(
        store->replaceExecution(timed.execution, timed.races, timed.times, timed.raceClasses).ok());
  }
  EXPECT_EQ(dump(readContent(path)->execution), dump(timed.execution));
  EXPECT_TRUE(checkTrace(path)->empty());
}

/// Races that cannot be told cost the execution; other damage stays where it is.
TEST(FormerFormat, losesTheExecutionWithItsRaces) {
  const auto opened = [](const std::string& sql, auto look) {
    const Directory directory;
    const std::string path = directory.file("a.pft");
    unpackFormer(path, "format7-racing.pft.zst");
    change(path, sql);
    Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadOnly);
    ASSERT_TRUE(store.ok()) << sql << store.error().text();
    look(*store, checkTrace(path)->empty());
  };
  for (const char* sql :
       {"UPDATE race SET post = post + 1 WHERE id = 4599",
        "DELETE FROM race_alternative WHERE race = 3",
        "UPDATE column_chunk SET data = x'00' WHERE rank = 2 AND stream = 1 AND ordinal = 0",
        "UPDATE column_directory SET data = x'00'"}) {
    opened(sql, [&](TraceStore& store, bool whole) {
      EXPECT_FALSE(*store.hasExecution()) << sql;
      EXPECT_TRUE(store.races()->empty());
      EXPECT_TRUE(whole) << sql;
    });
  }
  for (const char* sql :
       {"UPDATE column_chunk SET data = x'00' WHERE rank = 1 AND stream = 1 AND ordinal = 1",
        "UPDATE column_chunk SET data = x'00' WHERE rank = 2 AND stream = 3 AND ordinal = 0"}) {
    opened(sql, [&](TraceStore& store, bool whole) {
      EXPECT_EQ(store.races()->size(), racingContent().races.size());
      EXPECT_EQ(store.readExecution().error().code, ErrorCode::Damaged) << sql;
      EXPECT_FALSE(whole) << sql;
    });
  }
}

}  // namespace
}  // namespace pf::db

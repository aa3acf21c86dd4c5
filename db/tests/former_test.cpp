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
#include "db/schema/seal.h"
#include "db/tests/sample.h"

namespace pf::db {
namespace {

/// tests/data/format11.pft.zst: the small content of sample.cpp, when facts were rows of one table
/// and what a user adds was notes; …-racing.pft.zst: the racing content. format12…: the same, before groups were recorded. format13.pft.zst: the content
/// with groups, before it was kept which ranks are debugged. format14.pft.zst: the same content, before races
/// were judged by names that survive edits. format15.pft.zst: the same, before a trace knew its parent. format16.pft.zst: the same, before what a run prints was kept.
void unpackFormer(const std::string& path, const char* name = "format11.pft.zst") {
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

Content contentOf16() {
  Content content = groupContent();
  content.printed.clear();
  return content;
}

Content contentOf15() {
  Content content = contentOf16();
  content.branches.clear();
  content.flips.clear();
  return content;
}

Content contentOf14() {
  Content content = contentOf15();
  content.judged.clear();
  return content;
}

Content contentOf13() {
  Content content = contentOf14();
  content.parts.clear();
  return content;
}

/// Runs SQL in the file as another program would.
void change(const std::string& path, const std::string& sql) {
  const std::string command = "sqlite3 " + path + " \"" + sql + "\"";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(concurrency-mt-unsafe)
}

/// What the directory says, in words.
std::string directoryOf(const std::string& path, std::size_t ranks) {
  Result<Database> database = Database::open(path, Database::Access::Read);
  const Result<ColumnReader> reader = ColumnReader::start(*database, ranks);
  if (!reader) {
    return reader.error().text();
  }
  std::string text;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
      for (const ChunkEntry& e :
           reader->chunks(static_cast<Rank>(rank), static_cast<Stream>(stream))) {
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

/// Nothing tells it from a trace that is written now.
TEST(FormerFormat, isBroughtUpToDate) {
  for (const auto& [name, content] : {std::pair{"format11.pft.zst", smallContent()},
                                      {"format11-racing.pft.zst", racingContent()},
                                      {"format12.pft.zst", smallContent()},
                                      {"format12-racing.pft.zst", racingContent()},
                                      {"format13.pft.zst", contentOf13()},
                                      {"format14.pft.zst", contentOf14()},
                                      {"format15.pft.zst", contentOf15()},
                                      {"format16.pft.zst", contentOf16()}}) {
    const Directory directory;
    const std::string path = directory.file("a.pft");
    unpackFormer(path, name);
    ASSERT_TRUE(writeContent(directory.file("new.pft"), content).ok());
    for (int turn = 0; turn < 2; ++turn) {
      const Result<Content> back = readContent(path);
      ASSERT_TRUE(back.ok()) << back.error().text();
      EXPECT_EQ(dump(*back), dump(content));
    }
    EXPECT_EQ(readFile(path)[63], kFormatVersion);
    EXPECT_TRUE(checkTrace(path)->empty());
    const std::size_t ranks = static_cast<std::size_t>(content.run.ranks);
    EXPECT_EQ(directoryOf(path, ranks), directoryOf(directory.file("new.pft"), ranks));
    Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadOnly);
    Result<TraceStore> fresh =
        TraceStore::open(directory.file("new.pft"), TraceStore::Mode::ReadOnly);
    EXPECT_EQ(store->outline()->events, fresh->outline()->events);
    EXPECT_EQ(store->outline()->levels, fresh->outline()->levels);
  }
}

TEST(FormerFormat, isRefusedWhereItIsTooOld) {
  const auto said = [](int version) {
    const Directory directory;
    unpackFormer(directory.file("a.pft"));
    change(directory.file("a.pft"), "PRAGMA user_version=" + std::to_string(version));
    const Result<TraceStore> store =
        TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadOnly);
    EXPECT_FALSE(store.ok());
    EXPECT_EQ(store.error().code, ErrorCode::Version);
    return store.error().advice;
  };
  EXPECT_EQ(said(10),
            "Photofinish 0.2 (commit 927d35f) opens it, and brings it to format 11, which this one "
            "reads.");
  EXPECT_EQ(said(4), said(10));
  EXPECT_EQ(said(3), "Record the program again with this Photofinish.");
  EXPECT_EQ(said(static_cast<int>(kFormatVersion) + 1),
            "Open it with the newer Photofinish that recorded it.");
}

TEST(FormerFormat, whatIsDamagedIsNamed) {
  const auto findings = [](const std::string& sql, const char* name = "format11.pft.zst") {
    const Directory directory;
    unpackFormer(directory.file("a.pft"), name);
    change(directory.file("a.pft"), sql);
    std::string all;
    const Result<std::vector<Finding>> found = checkTrace(directory.file("a.pft"));
    EXPECT_TRUE(found.ok()) << found.error().text();
    for (std::size_t i = 0; found.ok() && i < found->size(); ++i) {
      all += (i == 0 ? "" : "; ") + (*found)[i].where;
    }
    return all;
  };
  EXPECT_EQ(findings("UPDATE rank_counter SET value = 3"),
            "file, of trace format 11; table rank_counter");
  EXPECT_EQ(findings("UPDATE note SET text = 'x'"), "file, of trace format 11; table note");
  EXPECT_EQ(findings("DROP TABLE note"), "file, of trace format 11; table note");
  EXPECT_EQ(findings("UPDATE watch SET expression = 'x'"), "table watch");
  const char* const k12 = "format12.pft.zst";
  EXPECT_EQ(findings("UPDATE note SET text = 'x'", k12), "table note");
  EXPECT_EQ(findings("DROP TABLE note", k12), "file, of trace format 12; table note");
  const char* const k13 = "format13.pft.zst";
  EXPECT_EQ(findings("UPDATE note SET text = 'x'", k13), "table note");
  EXPECT_EQ(findings("DROP TABLE note", k13), "file, of trace format 13; table note");
  EXPECT_EQ(findings("UPDATE seal SET crc32c = 5 WHERE table_name = 'seal'; UPDATE log_chunk SET "
                     "data = 'x' WHERE "
                     "rank = 1",
                     k12),
            "file, of trace format 12; table log_chunk; table seal; log of rank 1, chunk 0 of 2; "
            "log of rank 1, chunk 1 of 2");
}

/// A damaged table is not sealed anew by being written in another form.
TEST(FormerFormat, damageIsNotMendedByTheWay) {
  const auto saved = [](const std::string& sql, const char* name = "format11.pft.zst") {
    const Directory directory;
    const std::string path = directory.file("a.pft");
    unpackFormer(path, name);
    change(path, sql + "; UPDATE seal SET crc32c = 5 WHERE table_name = 'seal'");
    const Result<SalvageReport> report = salvageTrace(path, directory.file("saved.pft"));
    EXPECT_TRUE(report.ok()) << report.error().text();
    std::string lost;
    for (const Finding& each : report->lost) {
      lost += each.where + "; ";
    }
    const Result<Content> content = readContent(directory.file("saved.pft"));
    return std::pair(lost, content ? *content : Content());
  };
  const auto [facts, noFacts] = saved("UPDATE rank_counter SET value = 3");
  EXPECT_EQ(facts, "table launch_fact; table seen_input; table not_guaranteed; ");
  EXPECT_TRUE(noFacts.launch.empty() && noFacts.inputs.empty() && noFacts.notGuaranteed.empty());
  EXPECT_EQ(noFacts.run.command, smallContent().run.command);
  EXPECT_EQ(noFacts.ranks[1].tscReads, std::nullopt);
  EXPECT_EQ(noFacts.notes, smallContent().notes);
  const auto [run, noRun] = saved("UPDATE run SET host = 'x'");
  EXPECT_EQ(run, "table run; execution; ");
  EXPECT_EQ(noRun.launch, smallContent().launch);
  const auto [notes, noNotes] = saved("UPDATE note SET text = 'x' WHERE id = 1");
  EXPECT_EQ(notes, "table note; table rank_group; table rank_arrangement; table benign_race; ");
  EXPECT_TRUE(noNotes.notes.empty() && noNotes.groups.empty() && noNotes.benign.empty());
  const auto [note, noNote] = saved("UPDATE note SET text = 'x' WHERE id = 1", "format12.pft.zst");
  EXPECT_EQ(note, "table note; ");
  EXPECT_TRUE(noNote.notes.empty() && !noNote.groups.empty());
}

/// With a page of a changed table overwritten, which cannot even be dropped, the rest is saved.
TEST(FormerFormat, aBrokenPageCostsItsTable) {
  for (const char* name : {"run", "rank", "rank_counter", "note"}) {
    const Directory directory;
    const std::string path = directory.file("a.pft");
    unpackFormer(path);
    std::int64_t page = 0;
    {
      Result<Database> database = Database::open(path, Database::Access::Read);
      Result<Statement> root = database->prepare(
          "SELECT rootpage FROM sqlite_schema WHERE name = '" + std::string(name) + "'");
      ASSERT_EQ(root->step(), Statement::Step::Row);
      page = root->integer(0);
    }
    std::vector<std::uint8_t> bytes = readFile(path);
    std::fill_n(bytes.begin() + (page - 1) * kPageSize, kPageSize, std::uint8_t{0});
    writeFile(path, bytes);
    ASSERT_EQ(TraceStore::open(path, TraceStore::Mode::ReadOnly).error().code, ErrorCode::Damaged);
    const Result<SalvageReport> report = salvageTrace(path, directory.file("saved.pft"));
    ASSERT_TRUE(report.ok()) << name << report.error().text();
    const Result<Content> saved = readContent(directory.file("saved.pft"));
    ASSERT_TRUE(saved.ok()) << name << saved.error().text();
    EXPECT_EQ(saved->logs, smallContent().logs) << name;
    EXPECT_EQ(saved->breakpoints, smallContent().breakpoints) << name;
    const bool ofRun = std::string(name) == "run";
    EXPECT_EQ(saved->run.command, ofRun ? std::vector<std::string>() : smallContent().run.command);
  }
}

/// What nobody writes is left out, and does no harm.
TEST(FormerFormat, oddFactsAreLeftOut) {
  const Directory directory;
  const std::string path = directory.file("a.pft");
  unpackFormer(path);
  {
    Result<Database> database = Database::open(path, Database::Access::Update);
    ASSERT_TRUE(database.ok());
    Result<Transaction> transaction = Transaction::begin(*database, Transaction::Kind::Write);
    for (const char* name :
         {"started with: ", "started with: one", "started with: a %zz b", "input: file x 12",
          "input: file x 1/2/3", "input: file x 99999999999999999999/0", "longest wait"}) {
      ASSERT_TRUE(
          database->execute("INSERT INTO rank_counter VALUES (0, '" + std::string(name) + "', 1)")
              .ok());
    }
    ASSERT_TRUE(database
                    ->execute("INSERT INTO note VALUES (7, NULL, NULL, '{\"lanes\": 5', '', 'ranks "
                              "shown'), (8, NULL, NULL, '{\"lanes\": [1, {}], \"hidden\": [3]}', "
                              "'', 'ranks shown'), (9, NULL, NULL, 'one', '', 'group')")
                    .ok());
    for (const Table& each : formerTables(11)) {
      if (each.name == "rank_counter" || each.name == "note") {
        ASSERT_TRUE(storeSeal(*database, each, *computeSeal(*database, each)).ok());
      }
    }
    ASSERT_TRUE(finishSeals(*database).ok() && transaction->commit().ok());
  }
  const Result<Content> back = readContent(path);
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(back->launch, smallContent().launch);
  EXPECT_EQ(back->inputs, smallContent().inputs);
  EXPECT_EQ(back->arrangements, (std::vector<RankArrangement>{{8, "[3]", "number", {}}}));
  EXPECT_TRUE(checkTrace(path)->empty());
}

/// A writer that died when its changes were in the file and its journal was still there.
TEST(FormerFormat, anInterruptedWriteIsUndoneBeforeTheVersionIsRead) {
  const Directory directory;
  const std::string path = directory.file("a.pft");
  unpackFormer(path);
  const std::string command =
      "sqlite3 " + path +
      " 'PRAGMA cache_size=2' BEGIN 'PRAGMA user_version=12' 'CREATE TABLE x AS SELECT "
      "randomblob(100) FROM generate_series(1,9000)' '.shell cp " +
      path + "-journal " + path + "-kept' COMMIT && mv " + path + "-kept " + path + "-journal";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(concurrency-mt-unsafe)
  const Result<Content> back = readContent(path);
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(dump(*back), dump(smallContent()));
}

/// What is left of a damaged one can be saved.
TEST(FormerFormat, isSavedFromWhereItDoesNotOpen) {
  for (const auto& [header, name] : {std::pair{true, "format11.pft.zst"},
                                     {false, "format11.pft.zst"},
                                     {true, "format12.pft.zst"},
                                     {false, "format12.pft.zst"},
                                     {true, "format13.pft.zst"},
                                     {false, "format13.pft.zst"},
                                     {true, "format14.pft.zst"},
                                     {false, "format14.pft.zst"},
                                     {true, "format15.pft.zst"},
                                     {false, "format15.pft.zst"},
                                     {true, "format16.pft.zst"},
                                     {false, "format16.pft.zst"}}) {
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
    ASSERT_EQ(TraceStore::open(path, TraceStore::Mode::ReadOnly).error().code, ErrorCode::Damaged);
    const Result<SalvageReport> report = salvageTrace(path, directory.file("saved.pft"));
    ASSERT_TRUE(report.ok()) << report.error().text();
    EXPECT_TRUE(report->lost.empty());
    EXPECT_EQ(dump(*readContent(directory.file("saved.pft"))),
              dump(std::string(name).starts_with("format13")   ? contentOf13()
                   : std::string(name).starts_with("format14") ? contentOf14()
                   : std::string(name).starts_with("format15") ? contentOf15()
                   : std::string(name).starts_with("format16") ? contentOf16()
                                                               : smallContent()));
  }
}

/// What cannot be written is read nevertheless, and stays as it is.
TEST(FormerFormat, isReadInADirectoryOfSomebodyElse) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "needs root to become another user";
  }
  for (const unsigned mode : {0444U, 0666U}) {
    const Directory directory;
    const std::string path = directory.file("a.pft");
    unpackFormer(path);
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
    EXPECT_EQ(status, 0) << mode;
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

}  // namespace
}  // namespace pf::db

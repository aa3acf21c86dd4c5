// SPDX-License-Identifier: GPL-3.0-or-later
// Round trips, sessions, later surveys, and files that are refused.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "db/schema/schema.h"
#include "db/sqlite/json_text.h"
#include "db/tests/sample.h"

namespace pf::db {
namespace {

/// Writes the content and reads it back, as text.
std::string roundTrip(const std::string& path, const Content& content) {
  if (const Status status = writeContent(path, content); !status) {
    return status.error().text();
  }
  const Result<Content> back = readContent(path);
  return back.ok() ? dump(*back) : back.error().text();
}

TEST(Store, keepsEverything) {
  const Directory directory;
  const Content content = smallContent();
  EXPECT_EQ(roundTrip(directory.file("a.pft"), content), dump(content));
  Result<TraceStore> store = TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadOnly);
  ASSERT_TRUE(store.ok()) << store.error().text();
  EXPECT_TRUE(store->verify()->empty());
  EXPECT_TRUE(*store->hasExecution());
  EXPECT_EQ((*store->races())[1].serial, 4U);
}

TEST(Store, isPrivateAndAlone) {
  const Directory directory;
  ASSERT_TRUE(writeContent(directory.file("a.pft"), smallContent()).ok());
  struct stat info {};
  ASSERT_EQ(::stat(directory.file("a.pft").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  const std::filesystem::directory_iterator files(directory.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(Store, keepsStrangeAndLongStrings) {
  const Directory directory;
  std::string allBytes;
  for (int byte = 0; byte < 256; ++byte) {
    allBytes += static_cast<char>(static_cast<unsigned char>(byte));
  }
  Content content = smallContent();
  content.run.program = std::string(1U << 20, 'x') + "\xE2\x82\xAC";
  content.run.command = {"", allBytes, std::string(1U << 20, '"'), "\xED\xA0\x80", "\\u0041"};
  content.notes[0].text = "'; DELETE FROM note; --" + std::string(1U << 20, '\'');
  content.launch[0].name = allBytes;
  content.inputs[0].name = allBytes;
  content.groups[0].name = allBytes;
  content.execution.sites[0].function = "operator<=>('\"`";
  EXPECT_EQ(roundTrip(directory.file("a.pft"), content), dump(content));
}

TEST(Store, keepsAnEmptyRun) {
  const Directory directory;
  Result<TraceWriter> writer = TraceWriter::create(directory.file("a.pft"));
  ASSERT_TRUE(writer.ok());
  RunInfo run;
  run.ranks = 2;
  writer->setRun(run);
  ASSERT_TRUE(writer->finish().ok());
  EXPECT_FALSE(writer->finish().ok());
  Result<TraceStore> store = TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadOnly);
  ASSERT_TRUE(store.ok()) << store.error().text();
  EXPECT_EQ(store->run().uuid.size(), 36U);
  EXPECT_FALSE(*store->hasExecution());
  EXPECT_EQ(store->readExecution()->ranks.size(), 2U);
}

TEST(Store, replacesTheExecutionWholly) {
  const Directory directory;
  Content content = smallContent();
  ASSERT_TRUE(writeContent(directory.file("a.pft"), content).ok());
  const Execution survey = largeExecution(3, 3000);
  {
    Result<TraceStore> store =
        TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadWrite);
    ASSERT_TRUE(store.ok());
    EXPECT_EQ(store->replaceExecution(largeExecution(4, 100), {}, {}).error().code,
              ErrorCode::Usage);
    Execution wrong = survey;
    wrong.messages.pop_back();
    EXPECT_EQ(store->replaceExecution(wrong, {}, {}).error().code, ErrorCode::Usage);
    EXPECT_EQ(dump(*store->readExecution()), dump(content.execution));
    ASSERT_TRUE(store->replaceExecution(survey, {{1, false, 3, 7, {9, 11}}}, {}).ok());
    EXPECT_EQ(store->run().wildcardReceives, 1500U);
  }
  content.execution = survey;
  content.races = {{1, false, 3, 7, {9, 11}}};
  content.raceClasses = {""};
  content.times.assign(3, {});
  content.run.messages = 1500;
  content.run.wildcardReceives = 1500;
  content.run.racingReceives = 1;
  const Result<Content> back = readContent(directory.file("a.pft"));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(dump(*back), dump(content));
  EXPECT_TRUE(checkTrace(directory.file("a.pft"))->empty());
}

/// What is kept of a rank that was surveyed in a part of the job.
std::vector<unsigned char> surveyedOf(TraceStore& store, Rank rank) {
  std::vector<unsigned char> bytes;
  EXPECT_TRUE(store
                  .logChunks(
                      rank,
                      [&bytes](std::uint64_t, Bytes data) {
                        bytes.insert(bytes.end(), data.begin(), data.end());
                        return Status();
                      },
                      TraceStore::Log::Survey)
                  .ok());
  return bytes;
}

TEST(Store, keepsSurveysOfPartsBesideEachOther) {
  using Logs = std::map<Rank, std::vector<unsigned char>>;
  const Directory directory;
  {
    Result<TraceWriter> writer = TraceWriter::create(directory.file("a.pft"));
    RunInfo run;
    run.ranks = 3;
    writer->setRun(run);
    ASSERT_TRUE(writer->finish().ok());
  }
  const std::vector<unsigned char> first(100, 'a');
  const std::vector<unsigned char> second(300, 'b');
  Result<TraceStore> one = TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadWrite);
  Result<TraceStore> other = TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadWrite);
  ASSERT_TRUE(one.ok() && other.ok());
  ASSERT_TRUE(one->keepPartSurveyed(Logs{{0, first}, {1, first}}).ok());
  ASSERT_TRUE(other->keepPartSurveyed(Logs{{2, second}}).ok());
  ASSERT_TRUE(one->keepPartSurveyed(Logs{{1, second}}).ok());
  EXPECT_EQ(surveyedOf(*other, 0), first);
  EXPECT_EQ(surveyedOf(*other, 1), second) << "in the place of what was kept of it";
  EXPECT_EQ(surveyedOf(*other, 2), second);
  EXPECT_FALSE(*one->hasExecution());
  EXPECT_TRUE(checkTrace(directory.file("a.pft"))->empty());

  Result<Database> database = Database::open(directory.file("a.pft"), Database::Access::Update);
  ASSERT_TRUE(database->execute("DELETE FROM survey_chunk WHERE rank = 0").ok());
  EXPECT_EQ(one->keepPartSurveyed(Logs{{2, first}}).error().code, ErrorCode::Damaged)
      << "a new seal would say that rank 0 was never surveyed";
}

TEST(Store, refusesAnExecutionThatContradictsItself) {
  const Directory directory;
  const auto refuses = [&](auto spoil) {
    Content content = smallContent();
    spoil(content);
    const Status status = writeContent(directory.file("a.pft"), content);
    return !status.ok() && status.error().code == ErrorCode::Usage &&
           !std::filesystem::exists(directory.file("a.pft"));
  };
  EXPECT_TRUE(refuses([](Content& c) { c.execution.ranks[0].events[0].call = 7; }));
  EXPECT_TRUE(refuses([](Content& c) { c.execution.ranks[0].events[0].site = 2; }));
  EXPECT_TRUE(refuses([](Content& c) { c.execution.ranks[1].events[0].peer = 3; }));
  EXPECT_TRUE(refuses([](Content& c) { c.execution.ranks[0].receives[1].completion = 8; }));
  EXPECT_TRUE(refuses([](Content& c) { c.execution.ranks[0].receives[1].message = 4; }));
  EXPECT_TRUE(refuses([](Content& c) { c.execution.ranks[0].probes[0].event = 0; }));
  EXPECT_TRUE(refuses([](Content& c) { c.execution.ranks[2].sends[0].event = 5; }));
  EXPECT_TRUE(refuses([](Content& c) { c.execution.messages[1].sendIndex = 0; }));
  EXPECT_TRUE(refuses([](Content& c) { c.execution.messages[0].post = 3; }));
  EXPECT_TRUE(refuses([](Content& c) { c.execution.communicators[0].group = {3}; }));
  EXPECT_TRUE(refuses([](Content& c) { c.races[0].index = 3; }));
  EXPECT_TRUE(refuses([](Content& c) { c.races[0].alternatives = {4}; }));
}

TEST(Session, addsChangesAndRemoves) {
  const Directory directory;
  ASSERT_TRUE(writeContent(directory.file("a.pft"), smallContent()).ok());
  Result<TraceStore> store = TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadWrite);
  ASSERT_TRUE(store.ok());
  SessionTables session = store->session();
  Result<std::int64_t> id = session.add(Breakpoint{0, "line", "x.c", 3, "", "", "", 0, true, {1}});
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(*id, 4);
  Breakpoint changed = (*session.all<Breakpoint>())[1];
  changed.enabled = true;
  changed.condition = "n > 2";
  ASSERT_TRUE(session.update(changed).ok());
  EXPECT_EQ((*session.all<Breakpoint>())[1], changed);
  ASSERT_TRUE(session.remove<Breakpoint>(1).ok());
  EXPECT_EQ(session.all<Breakpoint>()->size(), 3U);
  EXPECT_EQ(session.all<BreakpointHit>()->size(), 1U);
  ASSERT_TRUE(session.remove<Cycle>(1).ok());
  EXPECT_EQ(session.all<CycleStop>()->size(), 1U);
  EXPECT_EQ(session.update(Watch{77, "x"}).error().code, ErrorCode::NotFound);
  EXPECT_EQ(session.remove<Note>(77).error().code, ErrorCode::NotFound);
  EXPECT_EQ(session.all<Note>()->size(), 3U);
  EXPECT_TRUE(store->verify()->empty());
}

TEST(Session, replacesACycleWithItsStops) {
  const Directory directory;
  ASSERT_TRUE(writeContent(directory.file("a.pft"), smallContent()).ok());
  Result<TraceStore> store = TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadWrite);
  ASSERT_TRUE(store.ok());
  SessionTables session = store->session();
  const auto stopsOf = [&](std::int64_t cycle) {
    const std::vector<CycleStop> all = *session.all<CycleStop>();
    return std::count_if(all.begin(), all.end(),
                         [&](const CycleStop& stop) { return stop.cycle == cycle; });
  };
  const auto others = stopsOf(2);
  Cycle changed = session.all<Cycle>()->front();
  ASSERT_EQ(changed.id, 1);
  changed.reason = "changed";
  CycleStop stop;
  stop.cycle = 1;
  std::vector<CycleStop> stops(3, stop);
  ASSERT_TRUE(session.replaceCycle(changed, stops).ok());
  EXPECT_EQ(session.all<Cycle>()->front(), changed);
  EXPECT_EQ(stopsOf(1), 3);
  EXPECT_EQ(stopsOf(2), others);
  Cycle fresh;
  fresh.id = 77;
  stops.clear();
  ASSERT_TRUE(session.replaceCycle(fresh, stops).ok());
  EXPECT_EQ(session.all<Cycle>()->back().id, 77);
  EXPECT_TRUE(store->verify()->empty());
}

TEST(Session, damageIsNotSealedAnew) {
  const Directory directory;
  const std::string path = directory.file("a.pft");
  ASSERT_TRUE(writeContent(path, smallContent()).ok());
  {
    Result<Database> other = Database::open(path, Database::Access::Update);
    ASSERT_TRUE(other->execute("UPDATE watch SET expression = 'changed' WHERE id = 1").ok());
  }
  Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadWrite);
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(store->session().all<Watch>().error().code, ErrorCode::Damaged);
  EXPECT_EQ(store->session().add(Watch{0, "new"}).error().code, ErrorCode::Damaged);
  EXPECT_EQ(store->session().remove<Watch>(1).error().code, ErrorCode::Damaged);
  EXPECT_TRUE(store->session().add(Note{}).ok());
  EXPECT_EQ(store->verify()->size(), 1U);
}

TEST(Session, cannotBeChangedReadOnly) {
  const Directory directory;
  ASSERT_TRUE(writeContent(directory.file("a.pft"), smallContent()).ok());
  Result<TraceStore> store = TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadOnly);
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(store->session().add(Watch{0, "x"}).error().code, ErrorCode::System);
  EXPECT_FALSE(store->replaceExecution(smallContent().execution, {}, {}).ok());
}

TEST(Session, isSharedByTwoStoresOnOneFile) {
  const Directory directory;
  ASSERT_TRUE(writeContent(directory.file("a.pft"), smallContent()).ok());
  Result<TraceStore> window = TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadOnly);
  Result<TraceStore> command =
      TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadWrite);
  ASSERT_TRUE(window.ok() && command.ok());
  ASSERT_TRUE(command->session().add(Watch{0, "y"}).ok());
  EXPECT_EQ(window->session().all<Watch>()->size(), 3U);
  ASSERT_TRUE(command->replaceExecution(largeExecution(3, 600), {}, {}).ok());
  EXPECT_EQ(window->readExecution()->messages.size(), 300U);
}

TEST(Open, saysWhatIsWrong) {
  const Directory directory;
  const auto code = [&](const std::string& name) {
    const Result<TraceStore> store =
        TraceStore::open(directory.file(name), TraceStore::Mode::ReadOnly);
    return store.ok() ? -1 : static_cast<int>(store.error().code);
  };
  EXPECT_EQ(code("absent"), static_cast<int>(ErrorCode::NotFound));
  EXPECT_EQ(code("absent/x"), static_cast<int>(ErrorCode::NotFound));
  EXPECT_EQ(code("."), static_cast<int>(ErrorCode::Damaged));
  ASSERT_EQ(::mkfifo(directory.file("fifo").c_str(), 0600), 0);
  EXPECT_EQ(code("fifo"), static_cast<int>(ErrorCode::Damaged));
  writeFile(directory.file("empty"), {});
  EXPECT_EQ(code("empty"), static_cast<int>(ErrorCode::Damaged));
  writeFile(directory.file("text"), std::vector<std::uint8_t>(9000, 'x'));
  EXPECT_EQ(code("text"), static_cast<int>(ErrorCode::Damaged));

  ASSERT_TRUE(writeContent(directory.file("a.pft"), smallContent()).ok());
  ASSERT_EQ(::symlink(directory.file("a.pft").c_str(), directory.file("link").c_str()), 0);
  EXPECT_EQ(code("link"), -1);
  std::vector<std::uint8_t> bytes = readFile(directory.file("a.pft"));
  bytes[63] = kFormatVersion + 1;  // user_version
  writeFile(directory.file("newer"), bytes);
  EXPECT_EQ(code("newer"), static_cast<int>(ErrorCode::Version));
  EXPECT_EQ(checkTrace(directory.file("newer")).error().code, ErrorCode::Version);
  bytes[63] = kFormatVersion - 1;
  bytes[18] = bytes[19] = 2;
  writeFile(directory.file("wal"), bytes);
  EXPECT_EQ(code("wal"), static_cast<int>(ErrorCode::Damaged));
  writeFile(directory.file("a.pft-wal"), {1});
  EXPECT_EQ(code("a.pft"), static_cast<int>(ErrorCode::Damaged));
}

TEST(Open, worksInAReadOnlyDirectoryOfSomebodyElse) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "needs root to become another user";
  }
  const Directory directory;
  ASSERT_TRUE(writeContent(directory.file("a.pft"), smallContent()).ok());
  ASSERT_EQ(::chmod(directory.file("a.pft").c_str(), 0444), 0);
  ASSERT_EQ(::chmod(directory.path().c_str(), 0555), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    bool good = ::setresuid(65534, 65534, 65534) == 0;
    const Result<Content> content = readContent(directory.file("a.pft"));
    good = good && content.ok() && dump(*content) == dump(smallContent());
    const Result<TraceStore> writable =
        TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadWrite);
    good = good && !writable.ok() && writable.error().code == ErrorCode::System;
    const Result<TraceWriter> writer = TraceWriter::create(directory.file("b.pft"));
    good = good && !writer.ok() && writer.error().code == ErrorCode::System;
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Writer, refusesNamesThatAreNoFiles) {
  const Directory directory;
  EXPECT_EQ(TraceWriter::create(directory.path() + "/").error().code, ErrorCode::Usage);
  EXPECT_EQ(TraceWriter::create(directory.path()).error().code, ErrorCode::Usage);
  EXPECT_EQ(TraceWriter::create(directory.file("no/a.pft")).error().code, ErrorCode::System);
  ASSERT_EQ(::symlink("/dev/null", directory.file("link").c_str()), 0);
  EXPECT_EQ(TraceWriter::create(directory.file("link")).error().code, ErrorCode::Usage);
}

/// An empty trace of that many ranks; error text, or where the former file is kept.
std::string writeOver(const std::string& path, Existing existing, int ranks) {
  Result<TraceWriter> writer = TraceWriter::create(path, existing);
  if (!writer) {
    return writer.error().message;
  }
  RunInfo run;
  run.ranks = ranks;
  writer->setRun(run);
  const Status finished = writer->finish();
  return finished ? writer->kept() : finished.error().message;
}

TEST(Writer, keepsWhatHadItsName) {
  const Directory directory;
  const std::string path = directory.file("a.pft");
  EXPECT_EQ(writeOver(path, Existing::Keep, 1), "");
  const auto first = readFile(path);
  EXPECT_NE(writeOver(path, Existing::Refuse, 2).find("is there already"), std::string::npos);
  EXPECT_EQ(readFile(path), first);
  writeFile(directory.file("a.1.pft-journal"), {1});  // of another file: not to be met by ours
  ASSERT_EQ(::mkdir(directory.file("a.2.pft.d").c_str(), 0700), 0);  // somebody records a.2.pft
  writeFile(path + "-journal", {2});
  EXPECT_TRUE(writeOver(path, Existing::Keep, 2).ends_with("/a.3.pft"));
  EXPECT_EQ(readFile(directory.file("a.3.pft")), first);
  EXPECT_EQ(readFile(directory.file("a.3.pft-journal")), std::vector<std::uint8_t>{2});
  EXPECT_EQ(::access((path + "-journal").c_str(), F_OK), -1);
  EXPECT_EQ(TraceStore::open(path, TraceStore::Mode::ReadOnly)->run().ranks, 2);
}

TEST(Writer, replacesTracesOnly) {
  const Directory directory;
  const std::string path = directory.file("a");
  writeFile(path, {1, 2, 3});
  EXPECT_TRUE(writeOver(path, Existing::Replace, 1).ends_with("/a.1"));
  EXPECT_EQ(readFile(directory.file("a.1")).size(), 3U);
  EXPECT_EQ(writeOver(path, Existing::Replace, 2), "");
  EXPECT_EQ(::access(directory.file("a.2").c_str(), F_OK), -1);
}

TEST(Writer, finishesWhatAKillHasLeft) {
  const Directory directory;
  const std::string path = directory.file("a.pft");
  EXPECT_EQ(writeOver(path, Existing::Keep, 1), "");
  ASSERT_EQ(::link(path.c_str(), directory.file("a.1.pft").c_str()), 0);  // killed after this
  EXPECT_TRUE(writeOver(path, Existing::Keep, 2).ends_with("/a.1.pft"));
  EXPECT_EQ(::access(directory.file("a.2.pft").c_str(), F_OK), -1);
}

TEST(Writer, followsNoPlantedLink) {
  const Directory directory;
  writeFile(directory.file("victim"), {1, 2, 3});
  const std::string planted = directory.file("a.pft.tmp-" + std::to_string(::getpid()));
  ASSERT_EQ(::symlink(directory.file("victim").c_str(), planted.c_str()), 0);
  ASSERT_TRUE(writeContent(directory.file("a.pft"), smallContent()).ok());
  EXPECT_EQ(readFile(directory.file("victim")).size(), 3U);
}

TEST(Json, comesBackAndRefusesTheRest) {
  std::vector<std::string> strings;
  for (const char* bad : {"", "[", "[\"a\"", "[\"a\",]", "[\"a\"]x", "[\"\\u00e9\"]", "[\"\\u12\"]",
                          "[a]", "[\"a\" ]"}) {
    EXPECT_FALSE(fromJson(bad, strings)) << bad;
  }
  std::vector<Rank> ranks;
  for (const char* bad : {"", "[", "[1", "[1,]", "[1]x", "[99999999999]", "[1 ]", "[,1]"}) {
    EXPECT_FALSE(fromJson(bad, ranks)) << bad;
  }
  EXPECT_TRUE(fromJson("[0,-1,2147483647]", ranks));
  EXPECT_EQ(ranks, (std::vector<Rank>{0, -1, 2147483647}));
  EXPECT_EQ(jsonOf(std::vector<std::string>{"a\"", "\xFF"}), "[\"a\\\"\",\"\\udcff\"]");
  EXPECT_EQ(jsonOf(std::vector<std::string>{"\xED\xA0\x80"}),
            "[\"\\udced\\udca0\\udc80\"]");  // a surrogate
}

}  // namespace
}  // namespace pf::db

// SPDX-License-Identifier: GPL-3.0-or-later
// Races in columns: they come back as they were, whatever their alternatives are; what SQL and one
// chunk say of them is the same; the directory says when things complete; damage costs only itself.
#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "db/columns/checked_chunks.h"
#include "db/columns/race_columns.h"
#include "db/sql_tables/query.h"
#include "db/store/trace_writer.h"
#include "db/tests/sample.h"
#include "replay_engine/races/tests/random_execution.h"

namespace pf::db {
namespace {

std::string answer(const std::string& path, const std::string& sql) {
  std::string text;
  const Status status = queryTrace(
      path, sql, [](const std::vector<std::string>&) {},
      [&](const QueryRow& row) {
        for (const auto& cell : row) {
          text += std::to_string(cell.integer) + "|";
        }
      });
  return status.ok() ? text : status.error().text();
}

/// Races of `ranks` ranks over the messages of `e`: alternatives come and go as `change` of 100
/// says.
void addRandomRaces(Content& c, std::mt19937_64& random, unsigned change) {
  const std::size_t messages = c.execution.messages.size();
  for (std::size_t rank = 0; rank < c.execution.ranks.size(); ++rank) {
    const std::size_t receives = c.execution.ranks[rank].receives.size();
    std::vector<std::uint32_t> alternatives;
    for (std::size_t i = 0; i < receives; ++i) {
      if (random() % 16 == 0 && change < 100) {
        continue;
      }
      std::erase_if(alternatives, [&](std::uint32_t) { return random() % 100 < change; });
      while (random() % 100 < change && alternatives.size() < 9) {
        alternatives.push_back(static_cast<std::uint32_t>(random() % messages));
      }
      std::sort(alternatives.begin(), alternatives.end());
      alternatives.erase(std::unique(alternatives.begin(), alternatives.end()), alternatives.end());
      Race race{static_cast<Rank>(rank), false, static_cast<std::uint32_t>(i),
                random() % 50 == 0 ? kNone : static_cast<std::uint32_t>(random() % messages),
                alternatives};
      c.races.push_back(race);
      c.raceClasses.push_back(random() % 9 == 0 ? "" : "class " + std::to_string(random() % 5));
    }
  }
}

Content randomContent(std::uint64_t seed, unsigned change) {
  std::mt19937_64 random(seed);
  Content c = racingContent();
  c.races.clear();
  c.raceClasses.clear();
  addRandomRaces(c, random, change);
  c.run.racingReceives = c.races.size();
  return c;
}

/// What the races are, without the store.
void expectSame(const Content& c, const std::vector<StoredRace>& races) {
  ASSERT_EQ(races.size(), c.races.size());
  for (std::size_t i = 0; i < races.size(); ++i) {
    const Race& race = c.races[i];
    const RankHistory& history = c.execution.ranks[static_cast<std::size_t>(race.rank)];
    const Serial chosen =
        race.probe ? history.probes[race.index].event : history.receives[race.index].post;
    const Serial completion = race.probe ? 0 : history.receives[race.index].completion;
    ASSERT_EQ(races[i].race.rank, race.rank);
    ASSERT_EQ(races[i].race.probe, race.probe);
    ASSERT_EQ(races[i].race.index, race.index);
    ASSERT_EQ(races[i].race.taken, race.taken);
    ASSERT_EQ(races[i].race.alternatives, race.alternatives) << i;
    ASSERT_EQ(races[i].chosen, chosen);
    ASSERT_EQ(races[i].serial, completion != 0 ? completion : chosen);
    ASSERT_EQ(races[i].raceClass, c.raceClasses[i]);
  }
}

TEST(Races, comeBackAsTheyWere) {
  const Directory directory;
  const std::string path = directory.file("a.pft");
  for (const unsigned change : {0U, 3U, 40U, 100U}) {
    const Content content = randomContent(change + 1, change);
    ASSERT_TRUE(writeContent(path, content).ok());
    Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadOnly);
    const Result<std::vector<StoredRace>> races = store->races();
    ASSERT_TRUE(races.ok()) << races.error().text();
    expectSame(content, *races);
    EXPECT_TRUE(store->verify()->empty());
    std::size_t alternatives = 0;
    for (const Race& race : content.races) {
      alternatives += race.alternatives.size();
    }
    EXPECT_EQ(answer(path,
                     "SELECT (SELECT count(*) FROM race), (SELECT count(*) FROM "
                     "race_alternative)"),
              std::to_string(races->size()) + "|" + std::to_string(alternatives) + "|");
  }
}

/// Class of each race of a file.
std::vector<std::uint32_t> classesIn(const std::string& path) {
  Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadOnly);
  std::vector<std::uint32_t> classes;
  const Status status =
      store->forEachRace([&](const RaceRecord& race) { classes.push_back(race.raceClass); });
  EXPECT_TRUE(status.ok());
  EXPECT_TRUE(store->verify()->empty());
  return classes;
}

// Several classes may have one text, and only classes that are exact are given by number.
TEST(Races, keepExactClasses) {
  const Directory directory;
  const std::string path = directory.file("a.pft");
  const std::string saved = directory.file("b.pft");
  const Content content = randomContent(3, 3);
  ASSERT_TRUE(writeContent(path, content).ok());
  EXPECT_EQ(classesIn(path), std::vector<std::uint32_t>(content.races.size(), kNone));
  RaceClasses classes;
  classes.texts = {"a <- b", "a <- b", "c <-"};
  classes.exact = true;
  for (std::size_t race = 0; race < content.races.size(); ++race) {
    classes.of.push_back(static_cast<std::uint32_t>(race % 3));
  }
  const auto write = [&] {
    Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadWrite);
    return store->replaceExecution(content.execution, content.races, content.times, classes).ok();
  };
  ASSERT_TRUE(write());
  EXPECT_EQ(classesIn(path), classes.of);
  ASSERT_TRUE(salvageTrace(path, saved).ok());
  EXPECT_EQ(classesIn(saved), classes.of);
  Result<TraceStore> store = TraceStore::open(saved, TraceStore::Mode::ReadOnly);
  EXPECT_EQ((*store->races())[1].raceClass, "a <- b");
  EXPECT_EQ((*store->races())[2].raceClass, "c <-");

  classes.of.back() = 3;
  EXPECT_FALSE(write());
  classes.of.back() = kNone;
  EXPECT_FALSE(write());
  classes.of.pop_back();
  EXPECT_FALSE(write());
  EXPECT_EQ(classesIn(path), classesIn(saved));
}

TEST(Races, ofRealExecutionsComeBackAsTheyWere) {
  const Directory directory;
  const std::string path = directory.file("a.pft");
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Content content = smallContent();
    content.execution = oracle::randomExecution(seed, {1000, false}).execution;
    matchMessages(content.execution);
    content.times = logicalTimes(content.execution);
    content.races = findRaces(content.execution);
    content.raceClasses.assign(content.races.size(), "c");
    content.run.ranks = static_cast<std::int32_t>(content.execution.ranks.size());
    ASSERT_TRUE(writeContent(path, content).ok());
    Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadOnly);
    const Result<std::vector<StoredRace>> races = store->races();
    ASSERT_TRUE(races.ok()) << races.error().text();
    expectSame(content, *races);
    found += races->size();
  }
  EXPECT_GT(found, 100U);
}

/// Any race can be asked for, and costs the chunks that it is in.
TEST(Races, areReadHereAndThere) {
  const Directory directory;
  const std::string path = directory.file("a.pft");
  const Content content = randomContent(5, 60);
  ASSERT_TRUE(writeContent(path, content).ok());
  Result<Database> database = Database::open(path, Database::Access::Read);
  Result<ColumnReader> reader = ColumnReader::start(*database, 4);
  const MessageOwners owners = messageOwners(content.execution);
  std::vector<std::size_t> first;
  for (Rank rank = 0; rank < 4; ++rank) {
    first.push_back(static_cast<std::size_t>(
        std::count_if(content.races.begin(), content.races.end(),
                      [&](const Race& race) { return race.rank < rank; })));
  }
  const std::size_t ofRank3 = content.races.size() - first[3];
  ASSERT_EQ(reader->count(3, Stream::Race), ofRank3);
  ASSERT_GT(reader->chunks(3, Stream::Alternative).size(), 1U);
  RaceBlock block;
  for (std::size_t chunk = reader->chunks(3, Stream::Race).size(); chunk-- > 0;) {
    ASSERT_TRUE(block.load(*reader, owners, 3, chunk).ok());
    for (std::size_t i = 0; i < block.races.size(); ++i) {
      const Race& race = content.races[first[3] + chunk * kChunkValues + i];
      ASSERT_EQ(block.races[i].index, race.index);
      const auto alternatives = block.alternatives(i);
      ASSERT_TRUE(std::equal(alternatives.begin(), alternatives.end(), race.alternatives.begin(),
                             race.alternatives.end()));
    }
  }
  std::mt19937_64 random(9);
  for (int turn = 0; turn < 20; ++turn) {
    const std::size_t id = random() % content.races.size();
    const Race& race = content.races[id];
    std::string wanted = std::to_string(race.rank) + "|" + std::to_string(race.index) + "|";
    for (const std::uint32_t each : race.alternatives) {
      wanted += std::to_string(each) + "|";
    }
    const std::string number = std::to_string(id);
    EXPECT_EQ(answer(path, "SELECT rank, post FROM race WHERE id = " + number) +
                  answer(path, "SELECT message FROM race_alternative WHERE race = " + number),
              wanted);
  }
}

template <typename T>
void expectCompletions(ColumnReader& reader, Rank rank, std::size_t& different) {
  const Stream stream = StreamOf<T>::kStream;
  for (std::size_t chunk = 0; chunk < reader.chunks(rank, stream).size(); ++chunk) {
    std::vector<T> values;
    ASSERT_TRUE(reader.read(rank, chunk, values).ok());
    Serial first = std::numeric_limits<Serial>::max();
    Serial last = 0;
    for (const T& value : values) {
      const Serial completion = completionOf(value);
      first = completion == 0 ? first : std::min(first, completion);
      last = std::max(last, completion);
    }
    const ChunkEntry& entry = reader.chunks(rank, stream)[chunk];
    EXPECT_EQ(entry.firstCompletion, last == 0 ? 0 : first);
    EXPECT_EQ(entry.lastCompletion, last);
    different += entry.lastCompletion != entry.lastSerial ? 1U : 0U;
  }
}

TEST(Directory, saysWhatCompletesWhere) {
  const Directory directory;
  Content content = racingContent();
  std::mt19937_64 random(3);
  for (RankHistory& history : content.execution.ranks) {
    const auto some = [&] { return random() % 3 == 0 ? 0 : 1 + random() % history.events.size(); };
    for (PostedReceive& receive : history.receives) {
      receive.completion = some();
    }
    for (SentMessage& send : history.sends) {
      send.syncCompletion = some();
    }
    for (CollectivePart& part : history.collectives) {
      part.completion = some();
    }
  }
  for (CollectivePart& part : content.execution.ranks[2].collectives) {
    part.completion = 0;
  }
  ASSERT_TRUE(writeContent(directory.file("a.pft"), content).ok());
  EXPECT_EQ(dump(readContent(directory.file("a.pft"))->execution), dump(content.execution));
  Result<Database> database = Database::open(directory.file("a.pft"), Database::Access::Read);
  Result<ColumnReader> reader = ColumnReader::start(*database, 4);
  std::size_t different = 0;
  for (Rank rank = 0; rank < 4; ++rank) {
    expectCompletions<StoredReceive>(*reader, rank, different);
    expectCompletions<StoredSend>(*reader, rank, different);
    expectCompletions<CollectivePart>(*reader, rank, different);
    expectCompletions<StoredEvent>(*reader, rank, different);
    expectCompletions<RaceValue>(*reader, rank, different);
  }
  EXPECT_GT(different, 8U);
}

TEST(Races, thatAreOutOfOrderAreRefused) {
  const Directory directory;
  Content content = racingContent();
  std::swap(content.races.front(), content.races.back());
  EXPECT_EQ(writeContent(directory.file("a.pft"), content).error().code, ErrorCode::Usage);
  content = racingContent();
  std::reverse(content.races[0].alternatives.begin(), content.races[0].alternatives.end());
  EXPECT_EQ(writeContent(directory.file("a.pft"), content).error().code, ErrorCode::Usage);
}

TEST(Races, thatAreDamagedCostOnlyThemselves) {
  for (const char* stream : {"6", "7"}) {
    const Directory directory;
    const std::string path = directory.file("a.pft");
    ASSERT_TRUE(writeContent(path, racingContent()).ok());
    {
      Result<Database> database = Database::open(path, Database::Access::Update);
      ASSERT_TRUE(database
                      ->execute("UPDATE column_chunk SET data = zeroblob(length(data)) WHERE "
                                "rank = 0 AND ordinal = 1 AND stream = " +
                                std::string(stream))
                      .ok());
    }
    Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadOnly);
    EXPECT_EQ(dump(*store->readExecution()), dump(racingContent().execution));
    const Result<std::vector<StoredRace>> races = store->races();
    ASSERT_FALSE(races.ok());
    EXPECT_NE(races.error().message.find("chunk 1 of the "), std::string::npos);
    EXPECT_NE(races.error().message.find("s of rank 0"), std::string::npos);
    EXPECT_NE(races.error().advice.find("photofinish check"), std::string::npos);
    const std::vector<Finding> findings = *store->verify();
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_NE(findings[0].lost.find("replay --survey"), std::string::npos);
    EXPECT_EQ(answer(path, "SELECT count(*) FROM race WHERE rank = 2"), "300|");
    EXPECT_EQ(answer(path, "SELECT count(*) FROM race_alternative WHERE race = 5"), "2|");
    EXPECT_NE(answer(path, "SELECT count(*) FROM race_alternative").find("is damaged"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace pf::db

// SPDX-License-Identifier: GPL-3.0-or-later
// Times of events in the store: they come back as they were, and a trace without them has none.
#include <random>

#include <gtest/gtest.h>

#include "db/columns/column_store.h"
#include "db/schema/schema.h"
#include "db/sql_tables/query.h"
#include "db/sqlite/database.h"
#include "db/tests/sample.h"

namespace pf::db {
namespace {

/// Random times: some calls are moments, some take long, a rank may start late.
void addTimes(Execution& execution, unsigned seed, TimeOrigin origin) {
  std::mt19937_64 random(seed);
  for (RankHistory& rank : execution.ranks) {
    std::uint64_t now = random() % 1000000;
    for (std::size_t i = 0; i < rank.events.size(); ++i) {
      now += random() % 16 == 0 ? random() % 10000000000ULL : random() % 300;
      const std::uint64_t begin = now;
      now += random() % 3 == 0 ? random() % 100000 : 0;
      rank.times.push_back({begin, now});
    }
  }
  execution.timeOrigin = origin;
}

Content timedContent(unsigned seed, TimeOrigin origin) {
  Content content = smallContent();
  content.execution = largeExecution(3, 30000);
  content.run.ranks = 3;
  content.races.clear();
  content.raceClasses.clear();
  content.times.assign(3, {});
  content.run.messages = 15000;
  content.run.wildcardReceives = 15000;
  content.run.racingReceives = 0;
  addTimes(content.execution, seed, origin);
  return content;
}

std::string answer(const std::string& path, const std::string& sql) {
  std::string text;
  const Status status = queryTrace(
      path, sql, [](const std::vector<std::string>&) {},
      [&](const QueryRow& row) {
        for (const auto& cell : row) {
          text += (cell.type == Statement::Type::Integer ? std::to_string(cell.integer)
                                                         : std::string(cell.text())) +
                  "|";
        }
      });
  return status.ok() ? text : status.error().text();
}

std::uint32_t versionOfFile(const std::string& path) {
  return readFile(path)[63];
}

TEST(Times, comeBackAsTheyWere) {
  const Directory directory;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const Content content =
        timedContent(seed, seed % 2 == 0 ? TimeOrigin::Recording : TimeOrigin::Reexecution);
    const std::string path = directory.file("t" + std::to_string(seed) + ".pft");
    ASSERT_TRUE(writeContent(path, content).ok());
    EXPECT_EQ(versionOfFile(path), kFormatVersion);
    const Result<Content> back = readContent(path);
    ASSERT_TRUE(back.ok()) << back.error().text();
    EXPECT_EQ(dump(back->execution), dump(content.execution));
    Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadOnly);
    EXPECT_EQ(*store->timeOrigin(), content.execution.timeOrigin);
    const EventTime& late = content.execution.ranks[1].times[8999];
    EXPECT_EQ(
        answer(path, "SELECT time_ns, duration_ns FROM event WHERE rank = 1 AND serial = 9000"),
        std::to_string(late.begin) + "|" + std::to_string(late.end - late.begin) + "|");
    EXPECT_EQ(answer(path, "SELECT count(time_ns) FROM event"), "30000|");
    EXPECT_TRUE(store->verify()->empty());
  }
}

TEST(Times, areNoneWhereThereAreNone) {
  const Directory directory;
  ASSERT_TRUE(writeContent(directory.file("a.pft"), smallContent()).ok());
  Result<TraceStore> store = TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadOnly);
  EXPECT_EQ(*store->timeOrigin(), TimeOrigin::None);
  EXPECT_EQ(answer(directory.file("a.pft"),
                   "SELECT count(*), count(time_ns), count(duration_ns) FROM event"),
            "15|0|0|");
}

TEST(Times, thatRunBackwardsAreRefused) {
  const Directory directory;
  Content content = timedContent(7, TimeOrigin::Recording);
  std::swap(content.execution.ranks[2].times[100], content.execution.ranks[2].times[9000]);
  const Status status = writeContent(directory.file("a.pft"), content);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("a time runs backwards"), std::string::npos);
}

TEST(Times, damageIsFound) {
  const Directory directory;
  const std::string path = directory.file("a.pft");
  ASSERT_TRUE(writeContent(path, timedContent(3, TimeOrigin::Recording)).ok());
  {
    Result<Database> database = Database::open(path, Database::Access::Update);
    ASSERT_TRUE(
        database
            ->execute("UPDATE column_chunk SET data = zeroblob(length(data)) WHERE rank = 1 AND "
                      "stream = 5 AND ordinal = 1")
            .ok());
  }
  const Result<Content> read = readContent(path);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("chunk 1 of the times of rank 1"), std::string::npos)
      << read.error().text();
}

}  // namespace
}  // namespace pf::db

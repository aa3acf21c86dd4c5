// Clock checkpoints and the cut pyramid in the file are those of the execution, and damage of them
// is found.
#include "random_execution.h"
#include "sample.h"
#include "schema.h"
#include "seal.h"
#include "summary_store.h"

#include <functional>

#include <gtest/gtest.h>

#include "db/trace_writer.h"

namespace pf::db {
namespace {

Content longContent() {
  Content content = smallContent();
  for (std::uint64_t seed = 1; clockCheckpoints(content.execution).every == 0; ++seed) {
    content.execution = oracle::randomExecution(seed, {9000, false}).execution;  // may hang early
    matchMessages(content.execution);
  }
  content.times = logicalTimes(content.execution);
  content.races = findRaces(content.execution);
  content.raceClasses.clear();
  content.run.ranks = static_cast<std::int32_t>(content.execution.ranks.size());
  return content;
}

TEST(Summaries, areThoseOfTheExecution) {
  const Directory directory;
  const Content content = longContent();
  ASSERT_TRUE(writeContent(directory.file("a.pft"), content).ok());
  Result<TraceStore> store = TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadOnly);
  ASSERT_TRUE(store.ok());
  const ClockCheckpoints clocks = clockCheckpoints(content.execution);
  ASSERT_GT(clocks.every, 0U);
  EXPECT_EQ(*store->clockCheckpoints(), clocks);
  const CutPyramid pyramid = cutPyramid(content.execution, content.races, content.times);
  const Result<TraceOutline> outline = store->outline();
  ASSERT_TRUE(outline.ok()) << outline.error().text();
  ASSERT_EQ(outline->levels, pyramid.levels.size());
  EXPECT_EQ(outline->lines, pyramid.lines);
  EXPECT_EQ(outline->races, content.races.size());
  for (std::size_t n = 0; n < outline->levels; ++n) {
    EXPECT_EQ(*store->cutLevel(n), pyramid.levels[n]) << n;
  }
  EXPECT_EQ(store->cutLevel(outline->levels).error().code, ErrorCode::Usage);
  EXPECT_TRUE(store->verify()->empty());
}

TEST(Summaries, goWithTheExecutionThatIsReplaced) {
  const Directory directory;
  const Content content = longContent();
  ASSERT_TRUE(writeContent(directory.file("a.pft"), content).ok());
  Result<TraceStore> store = TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadWrite);
  ASSERT_TRUE(store.ok());
  Execution other = oracle::randomExecution(12, {200, false}).execution;
  other.ranks.resize(content.execution.ranks.size());
  matchMessages(other);
  ASSERT_TRUE(store->replaceExecution(other, {}, logicalTimes(other)).ok());
  EXPECT_EQ(store->clockCheckpoints()->every, 0U);
  EXPECT_EQ(*store->cutLevel(0), cutPyramid(other, {}, logicalTimes(other)).levels[0]);
  ASSERT_TRUE(store->replaceExecution(other, {}, {}).ok());  // without times
  EXPECT_EQ(store->outline()->levels, 0U);
  EXPECT_TRUE(store->verify()->empty());
}

TEST(Summaries, thatAreDamagedAreFound) {
  const std::string good = "SELECT 1";
  for (const std::string& sql :
       {good, std::string("UPDATE summary_chunk SET data = x'00' WHERE kind = 3 AND part = 1"),
        std::string("UPDATE summary_chunk SET crc32c = 1 WHERE kind = 1 AND part = 0"),
        std::string("DELETE FROM summary_chunk WHERE kind = 2 AND part = 1"),
        std::string("UPDATE summary_chunk SET part = 40 WHERE kind = 3 AND part = 0"),
        std::string("DELETE FROM summary_chunk WHERE kind = 4"),
        std::string("DELETE FROM summary_chunk WHERE kind = 0")}) {
    const Directory directory;
    ASSERT_TRUE(writeContent(directory.file("a.pft"), longContent()).ok());
    {
      Result<Database> database = Database::open(directory.file("a.pft"), Database::Access::Update);
      Result<Transaction> transaction = Transaction::begin(*database, Transaction::Kind::Write);
      ASSERT_TRUE(database->execute(sql).ok()) << sql;
      ASSERT_TRUE(sealSummaries(*database).ok() && finishSeals(*database).ok() &&
                  transaction->commit().ok());
    }
    const Result<std::vector<Finding>> found = checkTrace(directory.file("a.pft"));
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->empty(), sql == good) << sql;
    Result<TraceStore> store =
        TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadOnly);
    EXPECT_TRUE(store->readExecution().ok()) << sql;  // it does not need them
  }
}

}  // namespace
}  // namespace pf::db

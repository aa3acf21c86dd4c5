// SPDX-License-Identifier: GPL-3.0-or-later
// Clock checkpoints and the cut pyramid in the file are those of the execution, and damage of them
// is found.
#include <algorithm>
#include <functional>
#include <span>

#include <gtest/gtest.h>

#include "db/columns/summary_store.h"
#include "db/schema/schema.h"
#include "db/schema/seal.h"
#include "db/store/summary_view.h"
#include "db/store/trace_writer.h"
#include "db/tests/sample.h"
#include "replay_engine/races/tests/random_execution.h"

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
  const DensityPyramid pyramid = densityPyramid(content.execution, content.races, content.times);
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

/// What came before `begun` of each rank does not matter, whatever it is.
Execution blanked(const Execution& whole, std::span<const std::uint32_t> begun) {
  Execution e = whole;
  for (std::size_t rank = 0; rank < e.ranks.size(); ++rank) {
    for (PostedReceive& receive : e.ranks[rank].receives) {
      if (receive.post < begun[rank] && receive.completion < begun[rank]) {
        receive = {};
        receive.post = 1;
      }
    }
    for (SentMessage& send : e.ranks[rank].sends) {
      if (send.event < begun[rank] && send.syncCompletion < begun[rank]) {
        send = {};
        send.event = 1;
      }
    }
  }
  for (Message& message : e.messages) {
    const auto& sends = e.ranks[static_cast<std::size_t>(message.send.rank)].sends;
    if (sends[message.sendIndex].event == 1 && message.send.serial != 1) {
      message = {{message.send.rank, 1}, message.sendIndex, kUnknownRank, kNone, 0, kNone, 0};
    }
  }
  return e;
}

TEST(Cut, fromACheckpointIsTheSameAsFromTheBegin) {
  std::size_t compared = 0;
  std::size_t shorter = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    Execution execution = oracle::randomExecution(seed, {120, false}).execution;
    matchMessages(execution);
    for (const std::uint32_t every : {1U, 3U, 8U}) {
      const ClockCheckpoints clocks = clockCheckpoints(execution, every);
      for (std::size_t r = 0; clocks.every != 0 && r < execution.ranks.size(); ++r) {
        const auto rank = static_cast<Rank>(r);
        for (Serial serial = 1; serial <= execution.ranks[r].events.size() + 1; serial += 3) {
          const std::vector<Serial> cut = cutBefore(execution, {rank, serial});
          for (std::size_t n = 1; n <= (serial - 1) / every && n <= clocks.count(rank); ++n) {
            const auto begun = clocks.pastOf(rank, n - 1);
            ASSERT_EQ(cutBefore(blanked(execution, begun), {rank, serial}, begun), cut)
                << "seed " << seed << ", every " << every << ", rank " << rank << ", event "
                << serial << ", checkpoint " << n;
            ++compared;
            shorter += std::ranges::max(begun) > 4 ? 1U : 0U;
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 5000U);
  EXPECT_GT(shorter, 1000U);
}

/// Messages round the ring, some of them synchronous, and now and then a collective.
Execution ringExecution() {
  Execution e = largeExecution(4, 60000);
  for (RankHistory& history : e.ranks) {
    for (std::size_t i = 0; i < history.sends.size(); i += 5) {
      history.sends[i].synchronous = true;
      history.sends[i].syncCompletion = history.sends[i].event + 1;
    }
    for (Serial serial = 700; serial <= history.events.size(); serial += 700) {
      history.collectives.push_back({serial, serial, 0, static_cast<std::uint32_t>(serial / 700),
                                     CollectiveFlow::AllToAll, kUnknownRank, true, true});
    }
  }
  e.communicators[0].group = {0, 1, 2, 3};
  return e;
}

/// The same with what a file gives, which are chunks.
TEST(Cut, ofATraceIsTheSameFromACheckpoint) {
  const Directory directory;
  Content content = smallContent();
  content.execution = ringExecution();
  content.races.clear();
  content.raceClasses.clear();
  content.times = logicalTimes(content.execution);
  content.run.ranks = 4;
  ASSERT_TRUE(writeContent(directory.file("a.pft"), content).ok());
  Result<TraceStore> store = TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadOnly);
  const ClockCheckpoints clocks = *store->clockCheckpoints();
  std::size_t compared = 0;
  std::size_t leftOut = 0;
  for (std::size_t r = 0; r < content.execution.ranks.size(); ++r) {
    const auto rank = static_cast<Rank>(r);
    for (std::size_t n = r + 1; n <= clocks.count(rank); n += 4) {
      const auto begun = clocks.pastOf(rank, n - 1);
      const Result<Execution> part = store->readExecutionFrom(begun);
      ASSERT_TRUE(part.ok()) << part.error().text();
      for (const Serial beyond : {1U, 2U, 300U, 2000U}) {
        const EventRef event{rank, n * clocks.every + beyond};
        ASSERT_EQ(cutBefore(*part, event, begun), cutBefore(content.execution, event));
        ++compared;
      }
      const bool blank = part->ranks[r].events[1].kind == EventKind::Local;
      EXPECT_EQ(blank, begun[r] > 4096) << begun[r];
      leftOut += blank ? 1U : 0U;
    }
  }
  EXPECT_GT(compared, 80U);
  EXPECT_GT(leftOut, 15U);
  const std::vector<std::uint32_t> none(content.execution.ranks.size(), 0);
  EXPECT_EQ(dump(*store->readExecutionFrom(none)), dump(content.execution));
  EXPECT_EQ(store->readExecutionFrom({}).error().code, ErrorCode::Usage);
}

/// Tile by tile, and a few clocks at a time; meanwhile others can write.
TEST(Summaries, areReadInParts) {
  const Directory directory;
  const Content content = longContent();
  ASSERT_TRUE(writeContent(directory.file("a.pft"), content).ok());
  Result<SummaryView> view = SummaryView::open(directory.file("a.pft"));
  ASSERT_TRUE(view.ok()) << view.error().text();
  const DensityPyramid pyramid = densityPyramid(content.execution, content.races, content.times);
  const std::size_t ranks = content.execution.ranks.size();
  ASSERT_LT(ranks, SummaryView::kTileRanks);
  std::vector<DensityCell> cells;
  for (std::size_t n = 0; n < pyramid.levels.size(); ++n) {
    const DensityLevel& level = pyramid.levels[n];
    ASSERT_EQ(view->bins(n), level.bins);
    for (std::size_t first = 0; first < level.bins; first += SummaryView::kTileBins) {
      ASSERT_TRUE(view->tile(n, 0, first / SummaryView::kTileBins, cells).ok());
      const std::size_t bins = std::min(SummaryView::kTileBins, level.bins - first);
      ASSERT_EQ(cells.size(), ranks * bins);
      for (std::size_t i = 0; i < cells.size(); ++i) {
        ASSERT_EQ(cells[i], level.row(i / bins)[first + i % bins]);
      }
    }
  }
  EXPECT_GT(pyramid.levels.front().bins, SummaryView::kTileBins);
  EXPECT_EQ(view->tile(0, 1, 0, cells).error().code, ErrorCode::Usage);
  const ClockCheckpoints clocks = clockCheckpoints(content.execution);
  ASSERT_EQ(view->clockDistance(), clocks.every);
  std::vector<std::uint32_t> values;
  for (Rank rank = 0; static_cast<std::size_t>(rank) < ranks; ++rank) {
    const std::size_t most = view->clocksAChunk();
    for (std::size_t n = 0; n < clocks.count(rank); n += most) {
      ASSERT_TRUE(view->clocks(false, rank, n / most, values).ok());
      EXPECT_TRUE(std::ranges::equal(std::span(values).first(ranks), clocks.pastOf(rank, n)));
      ASSERT_TRUE(view->clocks(true, rank, n / most, values).ok());
      EXPECT_TRUE(std::ranges::equal(std::span(values).first(ranks), clocks.futureOf(rank, n)));
    }
  }
  Result<Database> database = Database::open(directory.file("a.pft"), Database::Access::Update);
  ASSERT_TRUE(database.ok());
  Result<Transaction> transaction = Transaction::begin(*database, Transaction::Kind::Write);
  ASSERT_TRUE(transaction.ok());
  ASSERT_TRUE(database->execute("DELETE FROM note").ok());
  const Status written = transaction->commit();
  EXPECT_TRUE(written.ok()) << written.error().text();
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
  EXPECT_EQ(*store->cutLevel(0), densityPyramid(other, {}, logicalTimes(other)).levels[0]);
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
        std::string("UPDATE summary_chunk SET id = -id WHERE kind = 3 AND part = 0"),
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

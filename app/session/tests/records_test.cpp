// SPDX-License-Identifier: GPL-3.0-or-later
// What a user adds to a trace: kept, kept up to date, and carried over to a newer trace of the same run.
#include <gtest/gtest.h>

#include "app/session/records/bookmarks.h"
#include "app/session/records/cycle_keeper.h"
#include "app/session/records/session_records.h"
#include "app/session/watches.h"
#include "db/store/origin.h"
#include "db/tests/sample.h"
#include "mi_bridge/tests/support/fake_fleet.h"

namespace pf::session {
namespace {

class RecordsTest : public testing::Test {
 protected:
  RecordsTest() {
    db::setOriginOf([](const std::string&) { return db::Origin::Own; });
    db::Content content = db::smallContent();
    content.breakpoints.clear();
    content.watches.clear();
    content.cycles.clear();
    content.stops.clear();
    content.hits.clear();
    content.notes.clear();
    content.groups.clear();
    content.arrangements.clear();
    content.benign.clear();
    for (const char* name : {"old.pft", "new.pft"}) {
      EXPECT_TRUE(db::writeContent(m_directory.file(name), content));
    }
    m_old = open("old.pft");
    m_new = open("new.pft");
  }
  std::unique_ptr<db::TraceStore> open(const std::string& name) {
    auto store = db::TraceStore::open(m_directory.file(name), db::TraceStore::Mode::ReadWrite);
    return store ? std::make_unique<db::TraceStore>(std::move(*store)) : nullptr;
  }
  template <typename T>
  std::vector<T> rows(db::TraceStore& store) {
    auto all = store.session().all<T>();
    EXPECT_TRUE(all);
    return all ? *all : std::vector<T>();
  }
  /// What makes the old trace's records of `before` what they are, done to the new one.
  Result<bool> carry(const SessionRecords& before) {
    const Result<SessionRecords> now = readRecords(*m_old);
    EXPECT_TRUE(now);
    return copyRecords(before, *now, *m_new);
  }
  static db::Breakpoint breakpointAt(int line) {
    db::Breakpoint row;
    row.kind = "line";
    row.file = "m.c";
    row.line = line;
    return row;
  }

  db::Directory m_directory;
  std::unique_ptr<db::TraceStore> m_old;
  std::unique_ptr<db::TraceStore> m_new;
};

// -- one row

TEST_F(RecordsTest, ARowIsNewOrTakesThePlaceOfItsId) {
  db::Breakpoint row = breakpointAt(3);
  row.id = keepRow(m_old.get(), row);
  EXPECT_GT(row.id, 0);
  row.line = 9;
  EXPECT_EQ(keepRow(m_old.get(), row), row.id);
  EXPECT_EQ(rows<db::Breakpoint>(*m_old), std::vector<db::Breakpoint>{row});
  EXPECT_EQ(keepRow<db::Breakpoint>(nullptr, row), 0);
}

TEST_F(RecordsTest, ARowThatWasRemovedMeanwhileIsKeptAnew) {
  db::Breakpoint row = breakpointAt(3);
  row.id = keepRow(m_old.get(), row);
  ASSERT_TRUE(m_old->session().remove<db::Breakpoint>(row.id));
  EXPECT_GT(keepRow(m_old.get(), row), 0);
  EXPECT_EQ(rows<db::Breakpoint>(*m_old).size(), 1U);
}

// -- carried over

TEST_F(RecordsTest, WhatIsNewIsAddedUnderTheSameIds) {
  db::Breakpoint later = breakpointAt(3);
  later.id = 41;
  keepRow(m_old.get(), later);
  keepRow(m_old.get(), db::Watch{0, "n"});
  keepRow(m_old.get(), db::Note{0, 1, 5, "here", "2026-11-20T13:49:59Z", true});
  keepRow(m_old.get(), db::RankGroup{0, "odd", "1, 3"});
  const Result<bool> same = carry({});
  ASSERT_TRUE(same);
  EXPECT_TRUE(*same);
  EXPECT_EQ(*readRecords(*m_new), *readRecords(*m_old));
}

TEST_F(RecordsTest, WhatWasChangedOrRemovedIsSoThereToo) {
  const std::int64_t moved = keepRow(m_old.get(), breakpointAt(3));
  const std::int64_t removed = keepRow(m_old.get(), breakpointAt(4));
  ASSERT_TRUE(carry({}));
  const SessionRecords before = *readRecords(*m_old);
  db::Breakpoint row = breakpointAt(30);
  row.id = moved;
  keepRow(m_old.get(), row);
  ASSERT_TRUE(m_old->session().remove<db::Breakpoint>(removed));
  const Result<bool> same = carry(before);
  ASSERT_TRUE(same);
  EXPECT_TRUE(*same);
  EXPECT_EQ(rows<db::Breakpoint>(*m_new), std::vector<db::Breakpoint>{row});
}

TEST_F(RecordsTest, WhatOthersHaveAddedStaysAndIdsGiveWay) {
  const std::int64_t theirs = keepRow(m_new.get(), breakpointAt(77));
  const std::int64_t ours = keepRow(m_old.get(), breakpointAt(3));
  ASSERT_EQ(theirs, ours);
  db::Cycle cycle;
  cycle.startedUtc = "2026-11-20T13:49:59Z";
  cycle.id = keepRow(m_old.get(), cycle);
  keepRow(m_old.get(), db::BreakpointHit{0, cycle.id, ours, 2, 9, 1, {"n", "3"}});
  const Result<bool> same = carry({});
  ASSERT_TRUE(same);
  EXPECT_FALSE(*same) << "the breakpoint has another id there";
  const auto breakpoints = rows<db::Breakpoint>(*m_new);
  ASSERT_EQ(breakpoints.size(), 2U);
  EXPECT_EQ(breakpoints[0].line, 77);
  const auto hits = rows<db::BreakpointHit>(*m_new);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0].breakpoint, breakpoints[1].id) << "hits follow their breakpoint";
  EXPECT_EQ(hits[0].watched, (std::vector<std::string>{"n", "3"}));
}

TEST_F(RecordsTest, AnEqualRowIsNotAddedTwice) {
  keepRow(m_new.get(), db::Watch{0, "other"});
  keepRow(m_new.get(), db::Watch{0, "n"});
  keepRow(m_old.get(), db::Watch{0, "n"});
  const Result<bool> same = carry({});
  ASSERT_TRUE(same);
  EXPECT_FALSE(*same) << "it has the id 2 there";
  EXPECT_EQ(rows<db::Watch>(*m_new).size(), 2U);
}

TEST_F(RecordsTest, StopsGoWithTheirCycle) {
  db::Cycle theirs;
  theirs.startedUtc = "2026-11-20T12:00:00Z";
  keepRow(m_new.get(), theirs);
  db::Cycle ours;
  ours.startedUtc = "2026-11-20T13:49:59Z";
  const std::int64_t id = keepRow(m_old.get(), ours);
  keepRow(m_old.get(), db::CycleStop{0, id, 1, 7, "breakpoint 1", "m.c", 3});
  ASSERT_TRUE(carry({}));
  const auto cycles = rows<db::Cycle>(*m_new);
  const auto stops = rows<db::CycleStop>(*m_new);
  ASSERT_EQ(cycles.size(), 2U);
  ASSERT_EQ(stops.size(), 1U);
  EXPECT_EQ(stops[0].cycle, cycles[1].id);
  EXPECT_EQ(cycles[1].startedUtc, ours.startedUtc);
}

// -- cycles, on their own thread

TEST_F(RecordsTest, OnlyTheLatestStateOfACycleIsInTheFile) {
  std::int64_t id = 0;
  {
    CycleKeeper keeper(*m_old);
    db::Cycle cycle;
    cycle.startedUtc = "2026-11-20T13:49:59Z";
    for (int i = 0; i < 50; ++i) {
      cycle.id = id;
      cycle.reason = "state " + std::to_string(i);
      std::vector<db::CycleStop> stops(static_cast<std::size_t>(i % 3));
      id = keeper.keep(cycle, std::move(stops));
    }
    EXPECT_EQ(keeper.keep(db::Cycle{}, {}), id + 1);
  }  // writes what is left
  const auto cycles = rows<db::Cycle>(*m_old);
  ASSERT_EQ(cycles.size(), 2U);
  EXPECT_EQ(cycles[0].reason, "state 49");
  const auto stops = rows<db::CycleStop>(*m_old);
  ASSERT_EQ(stops.size(), 1U);
  EXPECT_EQ(stops[0].cycle, id);
}

TEST_F(RecordsTest, AHitThatIsKeptAgainIsTheSameHit) {
  const std::int64_t breakpoint = keepRow(m_old.get(), breakpointAt(3));
  {
    CycleKeeper keeper(*m_old);
    db::BreakpointHit hit;
    hit.cycle = keeper.keep(db::Cycle{}, {});
    hit.breakpoint = breakpoint;
    hit.rank = 1;
    hit.id = keeper.keep(hit);
    hit.serial = 12;
    EXPECT_EQ(keeper.keep(hit), hit.id);
    hit.id = 0;
    keeper.keep(hit);
  }
  const auto hits = rows<db::BreakpointHit>(*m_old);
  ASSERT_EQ(hits.size(), 2U);
  EXPECT_EQ(hits[0].serial, 12U);
}

TEST_F(RecordsTest, IdsGoOnBehindThoseOfTheFile) {
  db::Cycle earlier;
  earlier.id = 41;
  ASSERT_TRUE(m_old->session().add(earlier));
  CycleKeeper keeper(*m_old);
  EXPECT_EQ(keeper.keep(db::Cycle{}, {}), 42);
}

// -- bookmarks and watches

TEST_F(RecordsTest, BookmarksComeBackAndTheLastFailingOneCounts) {
  Bookmarks marks;
  marks.open(m_old.get());
  int changed = 0;
  QObject::connect(&marks, &Bookmarks::changed, [&changed] { ++changed; });
  marks.add({1, 5}, QStringLiteral("größer"));
  marks.markFailing({2, 7});
  marks.markFailing({0, 3});
  EXPECT_EQ(changed, 3);
  Bookmarks again;
  again.open(m_old.get());
  ASSERT_EQ(again.all().size(), 3U);
  EXPECT_EQ(again.all()[0].event, (EventRef{1, 5}));
  EXPECT_EQ(again.all()[0].text, QStringLiteral("größer"));
  EXPECT_EQ(again.failing(), (EventRef{0, 3}));
  again.open(nullptr);
  EXPECT_TRUE(again.all().empty());
  EXPECT_FALSE(again.failing().valid());
}

TEST_F(RecordsTest, NewBookmarksGoIntoTheFileThatHasTakenThePlace) {
  Bookmarks marks;
  marks.open(m_old.get());
  marks.add({1, 5}, QStringLiteral("before"));
  marks.keepIn(m_new.get());
  marks.add({1, 6}, QStringLiteral("after"));
  EXPECT_EQ(rows<db::Note>(*m_old).size(), 1U);
  ASSERT_EQ(rows<db::Note>(*m_new).size(), 1U);
  EXPECT_EQ(rows<db::Note>(*m_new)[0].text, "after");
  EXPECT_EQ(marks.all().size(), 2U);
}

TEST_F(RecordsTest, WatchesInTheTraceAreThoseThatAreSet) {
  mi::test::RecordingFleetObserver observer;
  mi::Fleet fleet(observer);
  Watches watches(fleet);
  watches.open(m_old.get());
  watches.set({QStringLiteral("a"), QStringLiteral("b")});
  watches.set({QStringLiteral("b"), QStringLiteral("c")});
  std::vector<std::string> kept;
  for (const db::Watch& row : rows<db::Watch>(*m_old)) {
    kept.push_back(row.expression);
  }
  EXPECT_EQ(kept, (std::vector<std::string>{"b", "c"}));
  watches.open(nullptr);  // core files: what was set stays
  EXPECT_EQ(watches.all(), (QStringList{QStringLiteral("b"), QStringLiteral("c")}));
}

TEST_F(RecordsTest, AWatchsAnswerIsAValueOrTheReasonWhyThereIsNone) {
  mi::test::RecordingFleetObserver observer;
  mi::Fleet fleet(observer);
  Watches watches(fleet);
  QList<values::WatchValue> told;
  QObject::connect(
      &watches, &Watches::arrived,
      [&told](const QString&, const QList<values::WatchValue>& values) { told += values; });
  watches.answered({1, 2, "n", true, "5"}, QStringLiteral("main"));
  watches.answered({1, 3, "n", false, "No symbol \"n\""}, QStringLiteral("main"));
  ASSERT_EQ(told.size(), 2);
  EXPECT_EQ(told[0].value, QLatin1String("5"));
  EXPECT_TRUE(told[0].error.isEmpty());
  EXPECT_TRUE(told[1].value.isEmpty());
  EXPECT_EQ(told[1].error, QLatin1String("No symbol \"n\""));
}

TEST_F(RecordsTest, AHexadecimalNumberIsNotOpened) {
  mi::test::RecordingFleetObserver observer;
  mi::Fleet fleet(observer);
  Watches watches(fleet);
  bool parts = false;
  QObject::connect(&watches, &Watches::arrived,
                   [&parts](const QString&, const QList<values::WatchValue>& values) {
                     parts = values.first().hasParts;
                   });
  const auto opens = [&](const char* expression, const char* value) {
    watches.answered({1, 2, expression, true, value}, QStringLiteral("main"));
    return parts;
  };
  EXPECT_TRUE(opens("p", "(struct pair *) 0x55d0"));
  EXPECT_TRUE(opens("/x p", "0x7ffe12345678"));
  EXPECT_TRUE(opens("/z p", "0x00007ffe12345678"));
  EXPECT_TRUE(opens("/x pair", "{a = 0x1}"));
  EXPECT_FALSE(opens("/x n", "0xffffffff"));
  EXPECT_FALSE(opens("/x l", "0xffffffffffffffff"));
  EXPECT_FALSE(opens("/d p", "94271"));
}

/// What a watch says it was at the stop before, as a user is led from stop to stop.
class WatchedTest : public ::testing::Test {
 protected:
  WatchedTest() {
    watches.set({QStringLiteral("n")});
    QObject::connect(
        &watches, &Watches::arrived,
        [this](const QString&, const QList<values::WatchValue>& values) { told = values.first(); });
  }

  QString before(const char* value, const char* function = "main", bool ok = true) {
    watches.answered({1, kRank, "n", ok, value}, QLatin1String(function));
    return told.before;
  }
  /// To a stop that the user is shown.
  void move() {
    watches.goesOn(kRank);
    watches.stops(kRank);
  }

  static constexpr int kRank = 2;
  mi::test::RecordingFleetObserver observer;
  mi::Fleet fleet{observer};
  Watches watches{fleet};
  values::WatchValue told;
};

TEST_F(WatchedTest, AChangedValueIsToldWithTheOneBefore) {
  move();
  EXPECT_EQ(before("5"), QString());
  move();
  EXPECT_EQ(before("6"), QLatin1String("5"));
  EXPECT_EQ(before("6"), QLatin1String("5"));  // asked for twice at one stop
  move();
  EXPECT_EQ(before("6"), QString());
}

TEST_F(WatchedTest, StopsThatTheUserIsNotShownCountNothing) {
  move();
  EXPECT_EQ(before("5"), QString());
  watches.goesOn(kRank);
  EXPECT_EQ(before("7"), QString());  // where the session passes
  EXPECT_EQ(told.value, QLatin1String("7"));
  watches.goesOn(kRank);
  watches.stops(kRank);
  EXPECT_EQ(before("8"), QLatin1String("5"));
}

TEST_F(WatchedTest, AValueOfAnotherFunctionIsNotTheOneBefore) {
  move();
  EXPECT_EQ(before("5"), QString());
  move();
  EXPECT_EQ(before("6", "inner"), QString());
  EXPECT_EQ(before("6"), QLatin1String("5"));  // the caller's frame is looked at
  move();
  EXPECT_EQ(before("9", "inner"), QString());
}

TEST_F(WatchedTest, WhatWasNotSeenAtTheStopBeforeIsNotTold) {
  move();
  EXPECT_EQ(before("5"), QString());
  move();  // another rank was looked at
  move();
  EXPECT_EQ(before("6"), QString());
  move();
  EXPECT_EQ(before("no symbol", "main", false), QString());
  move();
  EXPECT_EQ(before("7"), QString());
  watches.open(nullptr);  // another job
  EXPECT_EQ(before("8"), QString());
}

}  // namespace
}  // namespace pf::session

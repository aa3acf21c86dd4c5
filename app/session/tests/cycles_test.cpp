// SPDX-License-Identifier: GPL-3.0-or-later
// What is kept of a cycle: hits, values at them, stops, and a cycle that nobody has ended.
#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>

#include "app/session/records/session_records.h"
#include "app/session/tests/session_fixture.h"

namespace pf::session {
namespace {

using test::FakeTarget;
using test::kMade;

class CyclesTest : public test::SessionFixture {
 protected:
  void waitUntilKept() { QTRY_VERIFY_WITH_TIMEOUT(session().cycles().isKept(), 5000); }
  /// A breakpoint in collect(), which each GDB knows as number 2.
  int breakInCollect() {
    values::Breakpoint breakpoint;
    breakpoint.function = QStringLiteral("collect");
    session().breakpoints().add(breakpoint);
    return session().breakpoints().all().last().id;
  }
  /// A rank of a cycle that stands goes on, and GDB stops it there.
  void hit(int rank) {
    session().act(values::RankAction::Continue, {rank});
    pump();
    target().gdbStops(rank, R"(reason="breakpoint-hit",bkptno="2")");
    pump();
  }
  [[nodiscard]] const values::BreakpointHit& lastHit() {
    return session().cycles().last().recorded.last();
  }
  /// What a GDB reads of a rank that has begun 23 events.
  static inline const std::initializer_list<FakeTarget::Reply> kInCollect = {
      {"-break-insert", kMade},
      {"pf_events_begun", R"(^done,memory=[{contents="0010000000000000"}])"},
      {"-data-read-memory-bytes \"4096\"", R"(^done,memory=[{contents="1700000000000000"}])"},
      {"-data-evaluate-expression", R"(^done,value="5")"}};
};

// -- hits

TEST_F(CyclesTest, AHitHasTheExactEventAndTheWatchesThere) {
  const int id = breakInCollect();
  session().watches().set({QStringLiteral("n")});
  stand(kInCollect);
  hit(1);
  ASSERT_EQ(session().cycles().last().recorded.size(), 1);
  EXPECT_EQ(lastHit().breakpoint, id);
  EXPECT_EQ(lastHit().rank, 1);
  EXPECT_EQ(lastHit().serial, 23U) << "GDB knows better than the agent";
  EXPECT_EQ(lastHit().values,
            (QList<values::WatchedValue>{{QStringLiteral("n"), QStringLiteral("5")}}));
}

TEST_F(CyclesTest, HitsComeBackWithTheTraceAndAreCountedAtTheirBreakpoint) {
  breakInCollect();
  session().watches().set({QStringLiteral("n")});
  stand(kInCollect);
  hit(1);
  hit(1);
  hit(3);
  waitUntilKept();
  session().endReplay();
  pump();
  reopen();
  ASSERT_EQ(session().cycles().all().size(), 1);
  const values::Cycle& cycle = session().cycles().last();
  ASSERT_EQ(cycle.recorded.size(), 3);
  EXPECT_EQ(cycle.hits, 3);
  EXPECT_EQ(cycle.recorded[2].rank, 3);
  EXPECT_EQ(cycle.recorded[0].values.first().value, QLatin1String("5"));
  EXPECT_EQ(session().breakpoints().all().first().hits, (QList<values::CycleHits>{{1, 3}}));
}

TEST_F(CyclesTest, AHitOfACycleThatEndsMeanwhileHasNoValues) {
  breakInCollect();
  session().watches().set({QStringLiteral("n")});
  stand(kInCollect);
  session().act(values::RankAction::Continue, {1});
  pump();
  target().gdbStops(1, R"(reason="breakpoint-hit",bkptno="2")");
  session().restartCycle();  // before the GDB has answered
  pump();
  ASSERT_EQ(session().cycles().all().size(), 2);
  ASSERT_EQ(session().cycles().all().first().recorded.size(), 1);
  EXPECT_TRUE(session().cycles().all().first().recorded.first().values.isEmpty());
  EXPECT_TRUE(session().cycles().last().recorded.isEmpty());
}

TEST_F(CyclesTest, AnErrorOfGdbIsTheValueThatAWatchHasThere) {
  breakInCollect();
  session().watches().set({QStringLiteral("n")});
  stand({{"-break-insert", kMade},
         {"-data-evaluate-expression", R"(^error,msg="No symbol \"n\" in current context.")"}});
  hit(1);
  ASSERT_EQ(lastHit().values.size(), 1);
  EXPECT_TRUE(lastHit().values.first().value.startsWith(QLatin1String("No symbol")));
}

TEST_F(CyclesTest, ARankThatStandsBeforeTheSameEventStillHasHitItOnce) {
  session().breakpoints().breakAt({3, 15});
  session().restartCycle();
  gate();
  target().comeToTheirStops();
  target().runs(3, 14);
  target().stops(3, 14);
  pump();
  EXPECT_EQ(session().cycles().last().hits, 1);
  EXPECT_EQ(session().breakpoints().all().first().hits, (QList<values::CycleHits>{{1, 1}}));
}

TEST_F(CyclesTest, AHitOfAPassingBreakpointIsNotKept) {
  values::Breakpoint passing;
  passing.kind = values::BreakpointKind::Logical;
  passing.expression = QStringLiteral("event 3:15");
  session().breakpoints().addTransient(passing);
  session().restartCycle();
  gate();
  target().comeToTheirStops();
  EXPECT_EQ(session().cycles().last().hits, 1);
  waitUntilKept();
  session().endReplay();
  pump();
  reopen();
  EXPECT_TRUE(session().cycles().last().recorded.isEmpty());
}

TEST_F(CyclesTest, ACatchpointOfASignalIsKnownByItsCount) {
  values::Breakpoint caught;
  caught.kind = values::BreakpointKind::Catch;
  caught.expression = QStringLiteral("signal SIGUSR1");
  session().breakpoints().add(caught);
  session().debuggers().setFocus({1});
  session().replayTo({2, 40});
  pump();
  target().hears = [this](int rank, const std::string& command) {
    if (command.find("catch signal") != std::string::npos) {
      target().gdbSays(rank, R"(=breakpoint-created,bkpt={number="2",type="catchpoint"})");
    }
  };
  gate();
  target().comeToTheirStops();
  pump();
  session().act(values::RankAction::Continue, {1});
  pump();
  target().gdbSays(1, R"(=breakpoint-modified,bkpt={number="2",type="catchpoint",times="1"})");
  target().gdbStops(1, R"(signal="0")");
  pump();
  ASSERT_EQ(session().cycles().last().hits, 1);
  EXPECT_EQ(lastHit().breakpoint, session().breakpoints().all().first().id);
}

TEST_F(CyclesTest, AnMpiErrorIsNamedByItsCallAndItsClass) {
  values::Breakpoint caught;
  caught.kind = values::BreakpointKind::Catch;
  caught.expression = QStringLiteral("mpi error");
  session().breakpoints().add(caught);
  stand({{"-break-insert", kMade},
         {"(char*)$r8", R"(^done,value="0x7f0010 \"PMPI_Recv\"")"},
         {"(int)$ecx", R"(^done,value="15")"}});
  hit(1);
  EXPECT_TRUE(wasSaid("Rank 1: an MPI error, MPI_Recv: MPI_ERR_TRUNCATE.")) << said().toStdString();
  EXPECT_EQ(session().cycles().last().summary, QLatin1String("rank 1: MPI_Recv: MPI_ERR_TRUNCATE"));
}

TEST_F(CyclesTest, ABreakpointOnDivergenceIsHitByTheRankThatDiverges) {
  values::Breakpoint divergence;
  divergence.kind = values::BreakpointKind::Logical;
  divergence.expression = QStringLiteral("divergence");
  session().breakpoints().add(divergence);
  run({2, 40});
  protocol::RankDiverged diverged;
  diverged.rank = 1;
  diverged.serial = 12;
  Q_EMIT target().said(diverged);
  ASSERT_EQ(session().cycles().last().hits, 1);
  EXPECT_EQ(lastHit().rank, 1);
  EXPECT_EQ(lastHit().serial, 12U);
}

// -- stops, and how a cycle ended

TEST_F(CyclesTest, AStopSaysBeforeWhichEventOrHowTheRankEnded) {
  run({2, 40});
  target().exits(1, "ended by SIGSEGV");
  session().endReplay();
  pump();
  const values::Cycle& cycle = session().cycles().last();
  EXPECT_FALSE(cycle.running);
  QStringList why(4);
  for (const values::CycleStop& stop : cycle.stops) {
    why[stop.rank] = stop.why;
  }
  EXPECT_EQ(why[1], QLatin1String("ended by SIGSEGV"));
  EXPECT_EQ(why[2], QLatin1String("before event 40"));
}

TEST_F(CyclesTest, ASignalIsWhatTheCycleIsSummedUpBy) {
  stand();
  session().act(values::RankAction::Continue, {1});
  pump();
  target().gdbStops(
      1, R"(reason="signal-received",signal-name="SIGSEGV",signal-meaning="Segmentation fault")");
  pump();
  EXPECT_TRUE(session().cycles().last().summary.startsWith(QLatin1String("rank 1: ")));
  EXPECT_TRUE(session().cycles().last().summary.contains(QLatin1String("SIGSEGV")));
  EXPECT_EQ(session().currentRank(), 1);
}

TEST_F(CyclesTest, ARepeatedCycleGoesWhereTheLastOneWent) {
  run({2, 40});
  session().repeatCycle();
  gate();
  EXPECT_EQ(session().cycles().all().size(), 2);
  EXPECT_EQ(target().last<protocol::Plan>()->stops[2], 40U);
}

// -- a cycle that nobody has ended

TEST_F(CyclesTest, AnUnendedCycleIsTakenUpWhereItsRanksWere) {
  run({2, 40});
  waitUntilKept();
  const QString left = m_own.filePath(QStringLiteral("left.pft"));
  ASSERT_TRUE(QFile::copy(m_trace, left));  // as a front end that was killed leaves it
  reopen(left);
  EXPECT_TRUE(wasSaid("Cycle 1 has not ended")) << said().toStdString();
  EXPECT_TRUE(wasSaid("Repeat Cycle goes there again (rank 2 before its event 40)"));
  EXPECT_TRUE(session().cycles().last().summary.startsWith(QLatin1String("not ended; ")));
  session().repeatCycle();
  gate();
  EXPECT_EQ(target().last<protocol::Plan>()->stops[2], 40U);
  EXPECT_EQ(session().cycles().lastNumber(), 2);
}

TEST_F(CyclesTest, AnUnendedCycleThatStandsAtABreakpointIsTakenUpBeforeItsEvent) {
  session().breakpoints().breakAt({3, 15});
  session().restartCycle();
  gate();
  target().comeToTheirStops();
  waitUntilKept();
  const QString left = m_own.filePath(QStringLiteral("left.pft"));
  ASSERT_TRUE(QFile::copy(m_trace, left));
  reopen(left);
  EXPECT_TRUE(wasSaid("(rank 3 before its event 15)")) << said().toStdString();
}

// -- a newer version of the trace

TEST_F(CyclesTest, ANewerTraceTakesThePlaceWithAllThatWasSet) {
  session().breakpoints().breakAt({3, 15});
  run({2, 40});
  session().endReplay();
  pump();
  waitUntilKept();
  const QString newer = m_own.filePath(QStringLiteral("newer.pft"));
  ASSERT_TRUE(QFile::copy(original(), newer));
  const Result<SessionRecords> records = session().records();
  ASSERT_TRUE(records);
  {
    auto store = db::TraceStore::open(newer.toStdString(), db::TraceStore::Mode::ReadWrite);
    ASSERT_TRUE(store);
    ASSERT_TRUE(*copyRecords({}, *records, *store));
  }
  auto loaded = loadTrace(newer);
  ASSERT_TRUE(loaded.ok());
  session().bookmarks().add({1, 5}, QStringLiteral("set after it was written"));
  ASSERT_TRUE(session().renew(newer, std::move(*loaded), *records, true));
  session().breakpoints().breakAt({1, 8});
  reopen(newer);
  EXPECT_EQ(session().breakpoints().all().size(), 2);
  EXPECT_EQ(session().cycles().all().size(), 1);
  ASSERT_EQ(session().bookmarks().all().size(), 1U);
}

TEST_F(CyclesTest, NoNewerTraceWhileACycleRuns) {
  run({2, 40});
  waitUntilKept();
  auto loaded = loadTrace(m_trace);
  ASSERT_TRUE(loaded.ok());
  EXPECT_FALSE(session().renew(m_trace, std::move(*loaded), {}, true));
  EXPECT_TRUE(session().isRunning());
}

}  // namespace
}  // namespace pf::session

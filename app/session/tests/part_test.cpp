// SPDX-License-Identifier: GPL-3.0-or-later
// Cycles of a part of the job: groups 0-1, 2 and 3 of four ranks.
#include <gtest/gtest.h>

#include <QSignalSpy>

#include "app/session/tests/session_fixture.h"

namespace pf::session {
namespace {

using values::RankActivity;

class PartTest : public test::SessionFixture {
 protected:
  void only(const std::vector<Rank>& ranks) {
    const Status status = session().debugOnly({{}, ranks});
    ASSERT_TRUE(status.ok()) << status.error().text();
  }
  /// Rank 2 alone stands before its event 40.
  void standAlone() {
    only({2});
    session().replayTo({2, 40});
    gate();
    target().comeToTheirStops();
    pump();
  }
  [[nodiscard]] std::vector<std::uint64_t> stops() {
    const auto* plan = target().last<protocol::Plan>();
    return plan != nullptr ? plan->stops : std::vector<std::uint64_t>();
  }
  [[nodiscard]] RankActivity activityOf(int rank) { return session().rankStates()[rank].activity; }
  static constexpr const char* kRefusal =
      "Rank 0 is not in this replay, which runs rank 2 alone. To debug it too, debug ranks 0-2.";
};

// -- which ranks

TEST_F(PartTest, OnlyThoseRanksAreStartedAndHaveAGdb) {
  standAlone();
  EXPECT_EQ(target().part(), std::vector<Rank>{2});
  EXPECT_EQ(session().debuggers().focus(), QList<int>{2});
  ASSERT_NE(target().last<protocol::AttachGdb>(), nullptr);
  EXPECT_EQ(target().last<protocol::AttachGdb>()->ranks, std::vector<std::int32_t>{2});
  EXPECT_EQ(stops(), (std::vector<std::uint64_t>{0, 0, 40, 0}));
  EXPECT_EQ(target().last<protocol::Plan>()->targetRank, 2);
  EXPECT_EQ(activityOf(2), RankActivity::Stopped);
  EXPECT_EQ(session().currentRank(), 2);
}

TEST_F(PartTest, TheOthersAreNotInThisReplay) {
  only({2});
  for (const int rank : {0, 1, 3}) {
    EXPECT_EQ(activityOf(rank), RankActivity::NotInReplay) << rank;
  }
  EXPECT_EQ(values::activityText(activityOf(0)), QStringLiteral("not in this replay"));
  session().debugAll();
  EXPECT_EQ(activityOf(0), RankActivity::NotStarted);
  run({2, 40});
  EXPECT_TRUE(target().part().empty());
}

TEST_F(PartTest, AGroupIsNamedByItsNumber) {
  ASSERT_TRUE(session().debugOnly({0, {}}).ok());
  EXPECT_EQ(session().part(), (std::vector<Rank>{0, 1}));
  EXPECT_EQ(session().groupOf(1), (std::vector<Rank>{0, 1}));
  EXPECT_EQ(session().groupOf(3), std::vector<Rank>{3});
}

TEST_F(PartTest, AllRanksAreNoPart) {
  only({2});
  only({0, 1, 2, 3});
  EXPECT_TRUE(session().part().empty());
}

TEST_F(PartTest, WhatCannotRunAloneSaysWhatIsMissing) {
  const Status status = session().debugOnly({{}, {0, 2}});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().text().find("Take the whole of it: 0-1."), std::string::npos)
      << status.error().text();
  EXPECT_TRUE(session().part().empty());
}

TEST_F(PartTest, ATraceWithoutContentsSaysHowToKeepThem) {
  bench::Traffic traffic;
  traffic.ranks = test::kRanks;
  traffic.events = 200;
  const QString path = m_own.filePath(QStringLiteral("plain.pft"));
  ASSERT_TRUE(bench::writeSyntheticTrace(path.toStdString(), traffic).ok());
  only({2});
  reopen(path);
  EXPECT_TRUE(session().part().empty()) << "of the trace before";
  const Status status = session().debugOnly({{}, {2}});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().text().find("Record with --groups"), std::string::npos);
  EXPECT_TRUE(session().groupOf(2).empty());
}

TEST_F(PartTest, AnotherPartEndsWhatRunsAndKeepsAGoalOfItsRanks) {
  run({2, 40});
  const QPointer<test::FakeTarget> all = m_targets.last();
  only({2});
  EXPECT_TRUE(all == nullptr || all->closing);
  pump();
  session().repeatCycle();
  gate();
  EXPECT_EQ(stops(), (std::vector<std::uint64_t>{0, 0, 40, 0}));
  only({3});
  pump();
  session().repeatCycle();
  gate();
  EXPECT_EQ(target().part(), std::vector<Rank>{3});
  EXPECT_EQ(stops(), (std::vector<std::uint64_t>{0, 0, 0, 0})) << "to the end";
}

// -- what is asked of others

TEST_F(PartTest, AnEventOfAnotherRankIsRefused) {
  standAlone();
  session().replayTo({0, 5});
  EXPECT_TRUE(wasSaid(kRefusal)) << said().toStdString();
  EXPECT_EQ(m_targets.size(), 1);
  EXPECT_FALSE(target().closing);
}

TEST_F(PartTest, WaysOfAnotherRankAreRefused) {
  standAlone();
  session().setCurrentRank(0);
  for (const Move move :
       {Move::NextEvent, Move::PreviousEvent, Move::NextReceive, Move::PreviousReceive}) {
    m_messages.clear();
    session().go(move);
    EXPECT_TRUE(wasSaid(kRefusal));
  }
  m_messages.clear();
  session().previousHit();
  EXPECT_TRUE(wasSaid(kRefusal));
  m_messages.clear();
  session().lastChange(QStringLiteral("n"));
  EXPECT_TRUE(wasSaid(kRefusal));
  session().bookmarks().markFailing({0, 7});
  m_messages.clear();
  session().go(Move::Failure);
  EXPECT_TRUE(wasSaid(kRefusal));
  EXPECT_EQ(session().debuggers().focus(), QList<int>{2});
  EXPECT_EQ(m_targets.size(), 1);
}

TEST_F(PartTest, WhatMovesAnyRankMovesOneThatRuns) {
  standAlone();
  session().go(Move::NextDeliveryAnywhere);
  pump();
  EXPECT_EQ(m_targets.size(), 1);
  const auto now = stops();
  EXPECT_GT(now[2], 40U);
  EXPECT_EQ(now[0] + now[1] + now[3], 0U);
}

TEST_F(PartTest, OnlyRanksThatRunAreMoved) {
  standAlone();
  target().forgetOrders();
  session().act(values::RankAction::Continue, {0});
  EXPECT_TRUE(wasSaid(kRefusal));
  EXPECT_TRUE(target().orders.empty());
  session().act(values::RankAction::Continue, {0, 1, 2, 3});
  pump();
  EXPECT_EQ(stops(), (std::vector<std::uint64_t>{0, 0, 0, 0}));
  EXPECT_TRUE(target().wasTold(2, "-exec-continue"));
  EXPECT_EQ(activityOf(0), RankActivity::NotInReplay);
}

TEST_F(PartTest, OnlyRanksThatRunGetAGdb) {
  only({2});
  QSignalSpy told(&session().debuggers(), &Debuggers::focusChanged);
  session().debuggers().setFocus({0, 2});
  EXPECT_TRUE(wasSaid(kRefusal));
  EXPECT_EQ(session().debuggers().focus(), QList<int>{2});
  pump();
  EXPECT_EQ(told.count(), 1) << "who ticked it hears that it is not";
}

// -- to and fro

TEST_F(PartTest, FurtherOnItIsTheSameCycle) {
  standAlone();
  session().replayTo({2, 60});
  pump();
  EXPECT_EQ(m_targets.size(), 1);
  EXPECT_EQ(stops(), (std::vector<std::uint64_t>{0, 0, 60, 0}));
}

TEST_F(PartTest, AnEventBackDoesNotWaitForRanksThatDoNotRun) {
  standAlone();
  session().go(Move::PreviousEvent);
  gate();
  EXPECT_EQ(m_targets.size(), 2);
  EXPECT_EQ(target().part(), std::vector<Rank>{2});
  EXPECT_EQ(stops(), (std::vector<std::uint64_t>{0, 0, 39, 0}));
}

TEST_F(PartTest, ACycleSaysWhichRanksItRan) {
  standAlone();
  EXPECT_EQ(session().cycles().last().ranks, QList<int>{2});
  session().endReplay();
  pump();
  reopen();
  EXPECT_TRUE(session().cycles().last().summary.endsWith(QLatin1String("; rank 2 alone")))
      << session().cycles().last().summary.toStdString();
}

TEST_F(PartTest, TheBuildIsThatOfItsFirstRank) {
  standAlone();
  protocol::RankHello hello;
  hello.rank = 2;
  hello.buildId = "abc";
  Q_EMIT target().said(hello);
  EXPECT_EQ(session().cycles().last().build, QStringLiteral("abc"));
}

// -- breakpoints

TEST_F(PartTest, ABreakpointOfAnotherRankIsKeptAndStopsNobody) {
  standAlone();
  session().breakpoints().breakAt({0, 60});
  EXPECT_TRUE(wasSaid(kRefusal));
  const values::Breakpoint& other = session().breakpoints().all().first();
  EXPECT_EQ(other.state, values::BreakpointState::Pending);
  EXPECT_EQ(other.note, QLatin1String(kRefusal));
  session().breakpoints().breakAt({2, 60});
  session().act(values::RankAction::Continue, {2});
  pump();
  EXPECT_EQ(stops(), (std::vector<std::uint64_t>{0, 0, 60, 0}));
  session().debugAll();
  EXPECT_EQ(session().breakpoints().all().first().state, values::BreakpointState::Set);
}

TEST_F(PartTest, WhoStopsWithARankIsAmongThoseThatRun) {
  only({0, 1});
  values::Breakpoint wide;
  wide.kind = values::BreakpointKind::Logical;
  wide.expression = QStringLiteral("event 0:60");
  wide.stops = values::StopsWho::All;
  session().breakpoints().add(wide);
  session().restartCycle();
  gate();
  const auto plan = stops();
  EXPECT_EQ(plan[0], 60U);
  EXPECT_GT(plan[1], 0U);
  EXPECT_EQ(plan[2] + plan[3], 0U);
  EXPECT_EQ(target().last<protocol::Plan>()->targetRank, 0);
}

TEST_F(PartTest, ABreakpointOfGdbIsMadeWhereRanksRun) {
  values::Breakpoint breakpoint;
  breakpoint.function = QStringLiteral("collect");
  breakpoint.stops = values::StopsWho::All;
  session().breakpoints().add(breakpoint);
  only({0, 1});
  session().replayTo({0, 40});
  gate({{"-break-insert", test::kMade}});
  target().comeToTheirStops();
  pump();
  session().act(values::RankAction::Continue, {0, 1});
  pump();
  target().forgetOrders();
  target().gdbStops(0, R"(reason="breakpoint-hit",bkptno="2")");
  pump();
  EXPECT_TRUE(target().wasTold(1, "-exec-interrupt"));
  EXPECT_EQ(target().last<protocol::SetStop>(), nullptr) << "of a rank that does not run";
}

TEST_F(PartTest, ValuesAreOfTheRanksThatRun) {
  only({0, 1});
  session().replayTo({0, 40});
  gate({{"-data-evaluate-expression", "^done,value=\"7\""}});
  target().comeToTheirStops();
  pump();
  QSignalSpy arrived(&session().across(), &AcrossRanks::arrived);
  session().across().ask(QStringLiteral("n"));
  pump();
  ASSERT_EQ(arrived.count(), 1);
  const auto found = arrived.first().at(1).value<QList<values::RankValue>>();
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[1].rank, 1);
  EXPECT_EQ(found[1].value, QStringLiteral("7"));
}

// -- what there is to go back to

TEST_F(PartTest, TheMemoryOfSnapshotsIsTold) {
  EXPECT_EQ(session().snapshotsText(), QString());
  standAlone();
  QSignalSpy changed(&session(), &DebugSession::snapshotsChanged);
  Q_EMIT target().said(protocol::Snapshots{2, {1, 17, 33}, {1024, 2048, 1024}, {}});
  EXPECT_EQ(changed.count(), 1);
  EXPECT_EQ(
      session().snapshotsText(),
      QStringLiteral("3 snapshots of rank 2 to go back to, before its events 1 to 33. 4.0 MiB "
                     "of memory were theirs alone when one was last made or given up."));
  Q_EMIT target().said(protocol::Snapshots{2, {1}, {}, "the program has threads"});
  EXPECT_EQ(session().snapshotsText(),
            QStringLiteral("1 snapshot of rank 2 to go back to, before its event 1. 0 B of memory "
                           "were theirs alone when one was last made or given up. No snapshots of "
                           "rank 2 are made, as the program has threads."));
  // What nobody has does not run over.
  Q_EMIT target().said(protocol::Snapshots{2, {1, 2}, {UINT64_MAX, UINT64_MAX}, {}});
  EXPECT_TRUE(session().snapshotsText().contains(QLatin1String("of memory were theirs")));
  session().restartCycle();
  pump();
  EXPECT_EQ(session().snapshots().serials.size(), 0U) << "of the cycle before";
}

// -- what the trace keeps

class KeptPartTest : public PartTest {
 protected:
  std::vector<std::string> kept() {
    const auto store = db::TraceStore::open(m_trace.toStdString(), db::TraceStore::Mode::ReadOnly);
    EXPECT_TRUE(store.ok());
    const auto rows = const_cast<db::TraceStore&>(*store).session().all<db::PartOfJob>();
    EXPECT_TRUE(rows.ok());
    std::vector<std::string> ranks;
    for (const db::PartOfJob& row : *rows) {
      ranks.push_back(row.ranks);
    }
    return ranks;
  }
  /// As somebody else's program writes it.
  void keep(const std::string& ranks) {
    auto store = db::TraceStore::open(m_trace.toStdString(), db::TraceStore::Mode::ReadWrite);
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE(store->session().add(db::PartOfJob{0, ranks}).ok());
  }
};

TEST_F(KeptPartTest, WhoDoesNotAskForItKeepsNoneAndHasNone) {
  only({2});
  EXPECT_TRUE(kept().empty()) << "a script's or an editor's part is its own";
  keep("3");
  reopen();
  EXPECT_TRUE(session().part().empty());
}

TEST_F(KeptPartTest, ItComesBackWithTheTrace) {
  ASSERT_TRUE(session().restorePart().ok());
  only({2});
  only({0, 1});
  EXPECT_EQ(kept(), std::vector<std::string>{"0-1"});
  reopen();
  EXPECT_TRUE(session().part().empty());
  ASSERT_TRUE(session().restorePart().ok());
  EXPECT_EQ(session().part(), (std::vector<Rank>{0, 1}));
  EXPECT_EQ(activityOf(2), RankActivity::NotInReplay);
  session().debugAll();
  EXPECT_TRUE(kept().empty());
  reopen();
  ASSERT_TRUE(session().restorePart().ok());
  EXPECT_TRUE(session().part().empty());
}

TEST_F(KeptPartTest, WhatIsNoPartIsSaidAndAllAreDebugged) {
  for (const char* hostile :
       {"0", "0, 2", "4", "-1", "0-1048575", "x", "", "2, x", "99999999999"}) {
    keep(hostile);
    reopen();
    const Status status = session().restorePart();
    ASSERT_FALSE(status.ok()) << hostile;
    EXPECT_EQ(status.error().message.find("all ranks are debugged, as those that the trace keeps"),
              0U)
        << status.error().text();
    EXPECT_TRUE(session().part().empty()) << hostile;
  }
}

}  // namespace
}  // namespace pf::session

// SPDX-License-Identifier: GPL-3.0-or-later
// Where ranks are, as it is shown, and where a user can go from there. No cycle runs.
#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QTemporaryDir>
#include <QThread>

#include "app/collation/failure.h"
#include "app/session/destinations.h"
#include "app/session/group_run.h"
#include "app/session/rank_groups.h"
#include "app/session/state/latest.h"
#include "app/session/state/session_state.h"
#include "app/trace_loading/trace_loader.h"
#include "db/store/origin.h"
#include "mi_bridge/tests/support/fake_fleet.h"
#include "replay_engine/causality/cut_check.h"
#include "replay_engine/steering/logical_stops.h"
#include "tests/bench/views/synthetic.h"

namespace pf::session {
namespace {

constexpr int kStateRanks = 4;

/// Of a synthetic trace: ranks stand before their first event until a test moves them.
class StateTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    db::setOriginOf([](const std::string&) { return db::Origin::Own; });
    const QTemporaryDir directory;
    const QString path = directory.filePath(QStringLiteral("t.pft"));
    bench::Traffic traffic;
    traffic.ranks = kStateRanks;
    traffic.events = 2000;
    ASSERT_TRUE(bench::writeSyntheticTrace(path.toStdString(), traffic).ok());
    Result<LoadedTrace> loaded = loadTrace(path);
    ASSERT_TRUE(loaded.ok());
    s_trace = new LoadedTrace(std::move(*loaded));
  }
  static void TearDownTestSuite() { delete s_trace; }

  StateTest() {
    m_state.trace = s_trace->data;
    m_state.events.set({}, m_state.trace);
    m_state.rankInfos = s_trace->ranks;
    m_state.run = s_trace->run;
  }
  /// A cycle whose ranks all stand before the event behind so many.
  void stand(const std::vector<Serial>& done) {
    m_state.phase = Phase::Running;
    for (int rank = 0; rank < kStateRanks; ++rank) {
      m_state.now[rank].state.phase = RankPhase::Stopped;
      m_state.now[rank].state.serial = done[static_cast<std::size_t>(rank)];
    }
  }
  void stand(Serial done) { stand(std::vector<Serial>(kStateRanks, done)); }
  [[nodiscard]] const RankHistory& history(int rank) const {
    return m_state.trace->execution.ranks[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] Result<Goal> to(Move move, const EventRef& marked = {}) const {
    return Destinations(m_state).of(move, marked);
  }
  [[nodiscard]] std::string whyNot(Move move) const {
    const Result<Goal> goal = to(move);
    return goal ? "it goes to " + goal->text.toStdString() : goal.error().message;
  }
  [[nodiscard]] values::RankState shown(int rank) const { return m_state.rankStates()[rank]; }

  static inline LoadedTrace* s_trace = nullptr;
  mi::test::RecordingFleetObserver m_observer;
  mi::Fleet m_fleet{m_observer};
  SessionState m_state{m_fleet};
};

// -- destinations

TEST_F(StateTest, ARankInsideOfACallHasNotDoneIt) {
  stand(5);
  m_state.now[1].state.phase = RankPhase::Running;
  m_state.now[1].state.inCall = 3;
  m_state.now[2].state.phase = RankPhase::Running;
  const std::vector<values::ReplayPosition> positions = m_state.positions();
  ASSERT_EQ(positions.size(), 4U);
  EXPECT_EQ(positions[0], (values::ReplayPosition{0, 6, true, false}));
  EXPECT_EQ(positions[1], (values::ReplayPosition{1, 5, false, true}));
  EXPECT_EQ(positions[2], (values::ReplayPosition{2, 6, false, false}));
  EXPECT_EQ(m_state.eventsDone(), (std::vector<Serial>{5, 4, 5, 5}));
  m_state.now[1].state.serial = 0;  // of MPI_Init, which is no event yet
  EXPECT_EQ(m_state.eventsDone()[1], 0U);
  EXPECT_EQ(m_state.positions()[1].next, 1U);
}

TEST_F(StateTest, TheNextEventIsTheFirstOneWhereNothingRuns) {
  m_state.current = 2;
  EXPECT_EQ(to(Move::NextEvent)->event, (EventRef{2, 1}));
}

TEST_F(StateTest, OfAStandingRankTheEventBehindTheOneItStandsBefore) {
  m_state.current = 2;
  stand(10);
  EXPECT_EQ(to(Move::NextEvent)->event, (EventRef{2, 12}));
  m_state.now[2].state.phase = RankPhase::Running;  // between two events
  EXPECT_EQ(to(Move::NextEvent)->event, (EventRef{2, 11}));
}

TEST_F(StateTest, BehindTheLastEventThereIsNone) {
  const Serial last = history(0).events.size();
  stand(last - 1);
  EXPECT_EQ(whyNot(Move::NextEvent), "Rank 0 does nothing more in the recording.");
  EXPECT_EQ(whyNot(Move::NextReceive), "Rank 0 receives nothing more in the recording.");
  EXPECT_EQ(whyNot(Move::NextDelivery), "Rank 0 takes no other message in the recording.");
}

TEST_F(StateTest, OneEventBackTakesAlongOnlyThoseThatDependOnIt) {
  stand(200);
  m_state.current = 1;
  const Result<Goal> back = to(Move::PreviousEvent);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->event, (EventRef{1, 200}));
  ASSERT_EQ(back->cut.size(), std::size_t{kStateRanks});
  EXPECT_EQ(back->cut[1], 199U);
  std::vector<Serial> asked(kStateRanks, 200);
  asked[1] = 199;
  EXPECT_EQ(back->cut, consistentPart(m_state.trace->execution, asked));
  EXPECT_EQ(Destinations(m_state).cutOf(*back), back->cut);
}

TEST_F(StateTest, NothingIsBehindTheBeginning) {
  EXPECT_EQ(whyNot(Move::PreviousEvent), "Rank 0 has done no event yet.");
  EXPECT_EQ(whyNot(Move::PreviousReceive), "Rank 0 has received nothing yet.");
}

TEST_F(StateTest, ReceivesAreFoundInBothDirections) {
  const std::vector<Serial> receives = receivesOf(history(3));
  ASSERT_GT(receives.size(), 3U);
  m_state.current = 3;
  stand(receives[1] - 1);  // before the second one
  EXPECT_EQ(to(Move::NextReceive)->event, (EventRef{3, receives[2]}));
  EXPECT_EQ(to(Move::PreviousReceive)->event, (EventRef{3, receives[0]}));
}

TEST_F(StateTest, ADeliveryHasBeenTakenWhenItIsReached) {
  stand(20);
  m_state.current = 1;
  const Result<Goal> goal = to(Move::NextDelivery);
  ASSERT_TRUE(goal.ok());
  EXPECT_TRUE(app::receives(history(1), goal->event.serial - 1));
  for (std::size_t rank = 0; rank < goal->cut.size(); ++rank) {
    EXPECT_GE(goal->cut[rank], 20U) << "no rank goes back for it";
  }
  EXPECT_EQ(goal->cut[1], goal->event.serial - 1);
}

TEST_F(StateTest, AnywhereIsTheFirstDeliveryByLogicalTime) {
  stand(20);
  const Result<Goal> goal = to(Move::NextDeliveryAnywhere);
  ASSERT_TRUE(goal.ok());
  const auto timeOf = [this](int rank, Serial serial) {
    return m_state.trace->logicalTimes[static_cast<std::size_t>(rank)][serial - 1];
  };
  for (int rank = 0; rank < kStateRanks; ++rank) {
    m_state.current = rank;
    const Result<Goal> own = to(Move::NextDelivery);
    ASSERT_TRUE(own.ok());
    EXPECT_LE(timeOf(goal->event.rank, goal->event.serial - 1),
              timeOf(rank, own->event.serial - 1));
  }
}

TEST_F(StateTest, DeliveriesOfRanksThatAreElsewhereAreCountedFromTheBeginning) {
  stand(400);
  m_state.diverged = true;
  const Result<Goal> goal = to(Move::NextDelivery);
  ASSERT_TRUE(goal.ok());
  EXPECT_EQ(goal->event.serial - 1, receivesOf(history(0)).front());
}

TEST_F(StateTest, RacesAreGoneThroughInTheirOrder) {
  stand(0);
  std::vector<EventRef> seen;
  for (Result<Goal> goal = to(Move::NextRace); goal.ok() && seen.size() < 8;
       goal = to(Move::NextRace)) {
    EXPECT_TRUE(std::find(seen.begin(), seen.end(), goal->event) == seen.end());
    seen.push_back(goal->event);
    m_state.now[goal->event.rank].state.serial = goal->event.serial - 1;
  }
  EXPECT_EQ(seen.size(), 8U);
  for (int rank = 0; rank < kStateRanks; ++rank) {
    m_state.now[rank].state.serial = history(rank).events.size();
  }
  EXPECT_EQ(whyNot(Move::NextRace), "No receive races from here on in the recording.");
}

TEST_F(StateTest, WhatTheUserHasMarkedAsFailingHasTheLastWord) {
  EXPECT_NE(whyNot(Move::Failure).find("No rank failed in this recording"), std::string::npos);
  EXPECT_EQ(to(Move::Failure, {2, 9})->event, (EventRef{2, 9}));
}

// -- ranks as they are shown

TEST_F(StateTest, WithoutACycleRanksAreAsTheyWereRecorded) {
  EXPECT_EQ(m_state.rankStates().size(), kStateRanks);
  EXPECT_EQ(shown(1).activity, values::RankActivity::NotStarted);
  EXPECT_TRUE(shown(1).detail.startsWith(QLatin1String("recorded: ")));
}

TEST_F(StateTest, ARankIsInWhatItsAgentAndItsGdbSay) {
  RankNow& now = m_state.now[1];
  now.state.phase = RankPhase::Gated;
  EXPECT_EQ(shown(1).activity, values::RankActivity::Gated);
  now.state.phase = RankPhase::Running;
  EXPECT_EQ(shown(1).activity, values::RankActivity::Running);
  now.state.inCall = 5;
  now.state.call = "MPI_Recv";
  EXPECT_EQ(shown(1).activity, values::RankActivity::InCall);
  EXPECT_EQ(shown(1).detail, QLatin1String("in MPI_Recv"));
  now.state.waitPeer = 3;
  EXPECT_EQ(shown(1).detail, QLatin1String("in MPI_Recv, waiting for rank 3"));
  now.state.waitPeer = kAnySource;
  EXPECT_EQ(shown(1).detail, QLatin1String("in MPI_Recv, waiting for any source"));
  now.why = QStringLiteral("breakpoint 2");
  EXPECT_EQ(shown(1).activity, values::RankActivity::Stopped);
  EXPECT_EQ(shown(1).detail, QLatin1String("breakpoint 2"));
  now.state.phase = RankPhase::Stopped;
  now.state.serial = 11;
  EXPECT_EQ(shown(1).detail, QLatin1String("before event 12, MPI_Recv"));
  now.state.phase = RankPhase::Diverged;
  EXPECT_EQ(shown(1).activity, values::RankActivity::Failed);
}

TEST_F(StateTest, ARankThatHasEndedHasFinishedOnlyAfterMpiFinalize) {
  RankNow& now = m_state.now[1];
  now.exited = true;
  now.end = QStringLiteral("exited with 0");
  now.state.phase = RankPhase::Finalized;
  EXPECT_EQ(shown(1).activity, values::RankActivity::Finished);
  now.state.phase = RankPhase::Running;
  EXPECT_EQ(shown(1).activity, values::RankActivity::Failed);
  EXPECT_EQ(shown(1).detail, QLatin1String("exited with 0"));
}

TEST_F(StateTest, AnEventThatARankIsInsideOfIsNotDone) {
  stand({5, 6, 7, 8});
  m_state.now[1].state.phase = RankPhase::Running;
  m_state.now[1].state.inCall = 3;
  m_state.now[2].state.phase = RankPhase::Running;
  m_state.now[99].state.serial = 4;  // of a job that is larger than the recording
  EXPECT_EQ(m_state.eventsDone(), (std::vector<Serial>{5, 5, 7, 8}));
  EXPECT_EQ(m_state.ranksNow().begun, (std::vector<Serial>{5, 6, 7, 8}));
  EXPECT_EQ(m_state.ranksNow().standing, (std::vector<bool>{true, false, false, true}));
  EXPECT_FALSE(m_state.knows(99));
  EXPECT_FALSE(m_state.knows(-1));
}

// -- groups, and how far one has come

TEST_F(StateTest, CommunicatorsAreGroupsEachSetOfRanksOnce) {
  const RankGroups groups(m_state);
  ASSERT_EQ(groups.communicators().size(), 1);
  EXPECT_EQ(groups.communicators()[0].name, QLatin1String("MPI_COMM_WORLD"));
  EXPECT_EQ(groups.communicators()[0].ranks, (QList<int>{0, 1, 2, 3}));
  m_state.trace.reset();
  EXPECT_TRUE(groups.communicators().isEmpty());
}

TEST_F(StateTest, AnActionOfAGroupTellsWhoIsMissing) {
  stand(20);
  GroupRun run(m_state);
  QStringList told;
  QObject::connect(&run, &GroupRun::changed, [&told](const QString& text) { told << text; });
  run.begin(QStringLiteral("next"), QStringLiteral("workers"), {1, 2, 3}, {0});
  EXPECT_TRUE(run.takesPart(2));
  EXPECT_FALSE(run.takesPart(0));
  run.arrived(0);
  EXPECT_TRUE(told.isEmpty()) << "it was not asked";
  run.arrived(1);
  run.arrived(1);
  ASSERT_EQ(told.size(), 1);
  EXPECT_TRUE(told[0].contains(QLatin1String("workers"))) << told[0].toStdString();
  EXPECT_TRUE(told[0].contains(QLatin1String("1 of"))) << told[0].toStdString();
  run.arrived(2);
  run.arrived(3);
  EXPECT_EQ(told.size(), 3);
  EXPECT_EQ(told.last().count(QLatin1String("3 of")), 1) << told.last().toStdString();
}

TEST_F(StateTest, AnActionThatIsOverIsNotSpokenOfAnyMore) {
  stand(20);
  GroupRun run(m_state);
  QStringList told;
  QObject::connect(&run, &GroupRun::changed, [&told](const QString& text) { told << text; });
  run.begin(QStringLiteral("next"), {}, {1, 2}, {});
  run.arrived(1);
  run.end();
  run.arrived(2);
  ASSERT_EQ(told.size(), 2);
  EXPECT_TRUE(told.last().isEmpty());
}

TEST_F(StateTest, AnActionOfOneRankIsNotSpokenOfOnceItIsDone) {
  GroupRun run(m_state);
  int told = 0;
  QObject::connect(&run, &GroupRun::changed, [&told](const QString&) { ++told; });
  run.begin(QStringLiteral("next"), {}, {1}, {});
  run.arrived(1);
  EXPECT_EQ(told, 0);
}

TEST_F(StateTest, ALongActionOfOneRankIsNotSpokenOfOnceItIsDone) {
  stand(20);
  GroupRun run(m_state);
  QStringList told;
  QObject::connect(&run, &GroupRun::changed, [&told](const QString& text) { told << text; });
  run.begin(QStringLiteral("continue"), {}, {1}, {});
  for (int i = 0; i < 500 && told.isEmpty(); ++i) {
    QThread::msleep(10);
    QCoreApplication::processEvents();
  }
  ASSERT_EQ(told.size(), 1);
  EXPECT_TRUE(told.last().contains(QLatin1String("rank 1"))) << told.last().toStdString();
  run.arrived(1);
  ASSERT_EQ(told.size(), 2);
  EXPECT_TRUE(told.last().isEmpty()) << "it does not still run";
}

// -- late answers

TEST(Latest, AnAnswerToAQuestionBeforeComesTooLate) {
  Latest<int> question;
  question.begin(1);
  const auto first = question.guard();
  EXPECT_TRUE(first);
  EXPECT_EQ(*first.get(), 1);
  question.begin(2);
  const auto second = question.guard();
  EXPECT_FALSE(first);
  EXPECT_EQ(first.get(), nullptr);
  ASSERT_TRUE(second);
  question.drop();
  EXPECT_FALSE(second);
  EXPECT_EQ(*question, 0);
}

}  // namespace
}  // namespace pf::session

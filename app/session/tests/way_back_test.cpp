// SPDX-License-Identifier: GPL-3.0-or-later
// Cycles of a rank that runs alone begin at its snapshots, where one is before their goal.
#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "app/session/tests/session_fixture.h"

namespace pf::session {
namespace {

class WayBackTest : public test::SessionFixture {
 protected:
  static constexpr int kRank = 2;

  void only(const std::vector<Rank>& ranks) {
    const Status status = session().debugOnly({{}, ranks});
    ASSERT_TRUE(status.ok()) << status.error().text();
  }
  /// Rank 2 alone stands before its event 40, and has these snapshots.
  void standAlone(const std::vector<std::uint64_t>& serials = {1, 17, 33}) {
    only({kRank});
    session().replayTo({kRank, 40});
    gate();
    target().comeToTheirStops();
    pump();
    tell(serials);
    target().forgetOrders();
  }
  void tell(const std::vector<std::uint64_t>& serials, const std::string& obstacle = {}) {
    Q_EMIT target().said(protocol::Snapshots{
        kRank, serials, std::vector<std::uint64_t>(serials.size(), 100), obstacle});
    pump();
  }
  void goTo(Serial serial) {
    session().replayTo({kRank, serial});
    pump();
  }
  /// The agent's answer: the rank is another process now, before event `serial`.
  void woken(Serial serial, int pid = 555) {
    protocol::WentBack back;
    back.rank = kRank;
    back.serial = serial;
    back.pid = pid;
    back.text = pid > 0 ? "" : "its snapshot has died";
    Q_EMIT target().said(back);
    pump();
  }
  [[nodiscard]] std::optional<std::uint64_t> askedFor() {
    const auto* order = target().last<protocol::GoBack>();
    return order != nullptr ? std::optional<std::uint64_t>(order->serial) : std::nullopt;
  }
  /// Started so far.
  [[nodiscard]] auto cycles() const { return m_targets.size(); }
};

TEST_F(WayBackTest, NothingIsStartedAndGdbGoesToTheOtherProcess) {
  standAlone();
  const auto before = cycles();
  goTo(20);
  EXPECT_EQ(askedFor(), 20U);
  EXPECT_TRUE(target().wasTold(kRank, "kill")) << "its GDB leaves the process that it was";
  EXPECT_FALSE(target().wasTold(kRank, "-target-attach")) << "it is not there yet";
  woken(17);
  EXPECT_TRUE(target().wasTold(kRank, "-target-attach 555"));
  ASSERT_NE(target().last<protocol::Plan>(), nullptr);
  EXPECT_EQ(target().last<protocol::Plan>()->stops[kRank], 20U);
  target().comeToTheirStops();
  pump();
  EXPECT_EQ(cycles(), before);
  EXPECT_EQ(session().rankStates()[kRank].activity, values::RankActivity::Stopped);
  EXPECT_EQ(session().rankStates()[kRank].serial, 19U);
  EXPECT_EQ(session().cycles().lastNumber(), 2) << "it is a cycle as any";
  EXPECT_TRUE(m_problems.isEmpty()) << said().toStdString();
}

TEST_F(WayBackTest, TheAnswersMayComeTheOtherWayRound) {
  standAlone();
  session().replayTo({kRank, 20});
  // Before its GDB has answered.
  Q_EMIT target().said(protocol::WentBack{kRank, 17, 555, false, {}});
  EXPECT_FALSE(target().wasTold(kRank, "-target-attach"));
  pump();
  EXPECT_TRUE(target().wasTold(kRank, "-target-attach 555"));
}

TEST_F(WayBackTest, ACycleIsStartedWhereNoSnapshotIsBeforeTheGoal) {
  for (const auto& serials : {std::vector<std::uint64_t>{}, std::vector<std::uint64_t>{33}}) {
    standAlone(serials);
    const auto before = cycles();
    goTo(20);
    EXPECT_FALSE(askedFor());
    Q_EMIT target().closed();
    pump();
    EXPECT_EQ(cycles(), before + 1) << serials.size();
  }
}

TEST_F(WayBackTest, SeveralRanksGoBackByACycle) {
  only({0, 1});
  session().replayTo({1, 40});
  gate();
  target().comeToTheirStops();
  pump();
  tell({1, 17});
  goTo(20);
  EXPECT_FALSE(askedFor());
}

TEST_F(WayBackTest, WhereItCouldNotBeWokenACycleIsStartedAndThatIsSaid) {
  standAlone();
  const auto before = cycles();
  goTo(20);
  woken(0, 0);
  EXPECT_TRUE(wasSaid("A new cycle is started: its snapshot has died.")) << said().toStdString();
  Q_EMIT target().closed();
  pump();
  EXPECT_EQ(cycles(), before + 1);
}

TEST_F(WayBackTest, AnAnswerThatNobodyAskedForIsNotBelieved) {
  standAlone();
  woken(17);
  EXPECT_FALSE(target().wasTold(kRank, "-target-attach"));
  EXPECT_EQ(session().rankStates()[kRank].serial, 39U);
  EXPECT_EQ(session().cycles().lastNumber(), 1);
}

TEST_F(WayBackTest, ACycleIsStartedWhereItsGdbHasBeenDetached) {
  standAlone();
  session().consoles().send(kRank, QStringLiteral("detach"));
  pump();
  const auto before = cycles();
  goTo(20);
  EXPECT_FALSE(askedFor()) << "this GDB has let go of its process, and cannot come to another one";
  Q_EMIT target().closed();
  pump();
  EXPECT_EQ(cycles(), before + 1);
  EXPECT_TRUE(m_problems.isEmpty()) << said().toStdString();
}

TEST_F(WayBackTest, WhatIsCountedIsCountedFromTheBegin) {
  values::Breakpoint breakpoint;
  breakpoint.function = QStringLiteral("collect");
  breakpoint.ignoreCount = 3;
  session().breakpoints().add(breakpoint);
  standAlone();
  goTo(20);
  EXPECT_EQ(askedFor(), 1U);
}

TEST_F(WayBackTest, TheWholeRunIsANewCycle) {
  standAlone();
  session().replayTo({});
  pump();
  EXPECT_FALSE(askedFor()) << "it takes the program as it is now";
}

TEST_F(WayBackTest, WhyNoneAreMadeIsToldOnce) {
  standAlone({});
  tell({}, "the program has threads of its own");
  tell({}, "the program has threads of its own");
  EXPECT_EQ(said().count(QLatin1String(
                "no snapshots of it are made, as the program has threads of its own.")),
            1);
  tell({}, "the program has a pipe open");
  tell({1}, {});
  tell({1}, "the program has a pipe open");
  EXPECT_EQ(said().count(QLatin1String("as the program has a pipe open.")), 1) << "it was closed";
  EXPECT_TRUE(m_problems.isEmpty());
}

}  // namespace
}  // namespace pf::session

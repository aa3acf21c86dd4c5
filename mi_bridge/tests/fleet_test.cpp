// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/fleet.h"

#include <memory>

#include <gtest/gtest.h>

#include "mi_bridge/tests/support/fake_fleet.h"
#include "mi_bridge/tests/support/fakes.h"

namespace pf::mi::test {
namespace {

class FleetTest : public ::testing::Test {
 protected:
  FleetTest() : fleet(observer) { fleet.tick(at(0)); }

  void answer(Rank rank, std::string_view part, const std::string& record) {
    EXPECT_NE(tokenOf(sent[rank], part), "") << "nothing was sent like " << part;
    fleet.feed(rank, tokenOf(sent[rank], part) + record + "\n");
  }
  void join(Rank rank) {
    sent[rank].clear();
    fleet.add(rank, std::make_unique<FakeTransport>(&sent[rank]));
    fleet.startAndAttach(rank, 100 + rank,
                         [this, rank](const Status& s) { joined[rank] = s.ok(); });
    fleet.feed(rank, "~\"GNU gdb (GDB) 13.1\\n\"\n");
    for (std::size_t i = 0; i < sent[rank].size(); ++i) {
      const std::string line = sent[rank][i];
      const std::string token = line.substr(0, line.find('-'));
      if (line.find("-break-insert") == std::string::npos) {
        fleet.feed(rank, token + "^done\n");
      }
      if (line.find("-target-attach") != std::string::npos) {
        fleet.feed(rank, std::string(FakeSession::kStop) + "thread-id=\"1\"\n");
      }
    }
  }
  int add(const std::string& function, std::set<Rank> ranks = {}) {
    BreakpointSpec spec;
    spec.function = function;
    spec.ranks = std::move(ranks);
    return fleet.addBreakpoint(spec);
  }

  std::map<Rank, std::vector<std::string>> sent;
  std::map<Rank, bool> joined;
  RecordingFleetObserver observer;
  Fleet fleet;
};

TEST_F(FleetTest, GdbsThatMayCallNothingAreToldBeforeTheyHaveAProgram) {
  fleet.forbidCalls();
  join(0);
  const auto at = [this](const char* part) {
    return std::find_if(sent[0].begin(), sent[0].end(), [part](const std::string& line) {
      return line.find(part) != std::string::npos;
    });
  };
  ASSERT_NE(at("-target-attach"), sent[0].end());
  EXPECT_LT(at("-gdb-set may-call-functions off"), at("-target-attach"));
}

TEST_F(FleetTest, AGdbThatCannotBeKeptFromCallsDoesNotAttach) {
  fleet.forbidCalls();
  std::optional<Status> joinedAs;
  fleet.add(0, std::make_unique<FakeTransport>(&sent[0]));
  fleet.startAndAttach(0, 100, [&joinedAs](const Status& status) { joinedAs = status; });
  fleet.feed(0, "~\"GNU gdb (GDB) 9.1\\n\"\n");
  for (std::size_t i = 0; i < sent[0].size(); ++i) {
    const std::string line = sent[0][i];
    fleet.feed(0,
               line.substr(0, line.find('-')) + (line.find("may-call") == std::string::npos
                                                     ? "^done\n"
                                                     : "^error,msg=\"Undefined set command\"\n"));
  }
  ASSERT_TRUE(joinedAs.has_value());
  ASSERT_FALSE(*joinedAs);
  EXPECT_NE(joinedAs->error().message.find("Undefined set command"), std::string::npos);
  EXPECT_EQ(tokenOf(sent[0], "-target-attach"), "");
}

TEST_F(FleetTest, BreakpointsComeBackInEveryCycle) {
  const int all = add("f");
  const int some = add("g", {1});
  for (int cycle = 0; cycle < 2; ++cycle) {
    join(0);
    EXPECT_FALSE(joined[0]);  // only when the breakpoints are in
    answer(0, "--function \"f\"", R"(^done,bkpt={number="1",line="4",fullname="/m.c"})");
    EXPECT_TRUE(joined[0]);
    EXPECT_EQ(tokenOf(sent[0], "--function \"g\""), "");
    join(1);
    answer(1, "--function \"g\"", R"(^done,bkpt={number="2"})");
    answer(1, "--function \"f\"", R"(^done,bkpt={number="1",pending="f"})");
    EXPECT_TRUE(fleet.status(all, 0).verified);
    EXPECT_FALSE(fleet.status(all, 1).verified);
    EXPECT_EQ(fleet.specOf(1, 2), some);
    EXPECT_EQ(fleet.status(all, 0).hits, 0);
    fleet.feed(0, "=breakpoint-modified,bkpt={number=\"1\",times=\"3\"}\n");
    EXPECT_EQ(fleet.status(all, 0).hits, 3);
    joined.clear();
  }
  EXPECT_TRUE(observer.foreign.empty());
}

TEST_F(FleetTest, OfAnotherProcessBreakpointsHaveNeverBeenHit) {
  const int id = add("f");
  join(0);
  answer(0, "--function \"f\"", R"(^done,bkpt={number="1",line="4",fullname="/m.c"})");
  fleet.feed(0, "=breakpoint-modified,bkpt={number=\"1\",times=\"3\"}\n");
  fleet.abandon(0, [](const Status& s) { EXPECT_TRUE(s.ok()); });
  answer(0, "kill", "^done");
  bool there = false;
  fleet.reattach(0, 555, [&there](const Status& s) { there = s.ok(); });
  answer(0, "-break-delete 1", "^done");
  answer(0, "-add-inferior", R"(^done,inferior="i2")");
  answer(0, "inferior 2", "^done");
  answer(0, "-target-attach 555", "^done");
  answer(0, "remove-inferiors 1", "^done");
  fleet.feed(0, std::string(FakeSession::kStop) + "thread-id=\"1\"\n");
  EXPECT_FALSE(there);
  answer(0, "--function \"f\"", R"(^done,bkpt={number="2",line="4",fullname="/m.c"})");
  EXPECT_TRUE(there);
  EXPECT_EQ(fleet.status(id, 0).hits, 0);
  EXPECT_EQ(fleet.specOf(0, 2), id);
  EXPECT_EQ(fleet.specOf(0, 1), 0);
}

TEST_F(FleetTest, OfAnotherProcessBreakpointsOfTheConsoleAreGone) {
  const int id = add("f");
  join(0);
  answer(0, "--function \"f\"", R"(^done,bkpt={number="1",line="4",fullname="/m.c"})");
  fleet.feed(0, "=breakpoint-created,bkpt={number=\"2\",type=\"breakpoint\",func=\"g\"}\n");
  fleet.feed(0, "=breakpoint-created,bkpt={number=\"3\",type=\"hw watchpoint\",what=\"x\"}\n");
  fleet.abandon(0, [](const Status& s) { EXPECT_TRUE(s.ok()); });
  answer(0, "kill", "^done");
  fleet.reattach(0, 555, [](const Status& s) { EXPECT_TRUE(s.ok()); });
  for (const char* number : {"1", "2", "3"}) {
    answer(0, std::string("-break-delete ") + number, "^done");
  }
  answer(0, "-add-inferior", R"(^done,inferior="i2")");
  answer(0, "inferior 2", "^done");
  answer(0, "-target-attach 555", "^done");
  answer(0, "remove-inferiors 1", "^done");
  fleet.feed(0, std::string(FakeSession::kStop) + "thread-id=\"1\"\n");
  answer(0, "--function \"f\"", R"(^done,bkpt={number="4",line="4",fullname="/m.c"})");
  EXPECT_EQ(fleet.session(0)->breakpoints().table().size(), 1U);
  EXPECT_EQ(fleet.specOf(0, 4), id);
}

TEST_F(FleetTest, ABadConditionIsAStatusNotAFailedAttach) {
  BreakpointSpec spec;
  spec.function = "f";
  spec.condition = "nosuch";
  const int id = fleet.addBreakpoint(spec);
  join(0);
  answer(0, "-break-insert", "^error,msg=\"No symbol\"");
  EXPECT_TRUE(joined[0]);
  EXPECT_EQ(fleet.status(id, 0).problem, "No symbol");
}

TEST_F(FleetTest, ChangeAndRemove) {
  const int id = add("f");
  join(0);
  answer(0, "-break-insert", R"(^done,bkpt={number="5"})");
  BreakpointSpec spec = fleet.breakpoints().at(0);
  spec.enabled = false;
  spec.ignoreCount = 2;
  ASSERT_TRUE(fleet.changeBreakpoint(spec).ok());
  EXPECT_NE(tokenOf(sent[0], "-break-disable 5"), "");
  EXPECT_NE(tokenOf(sent[0], "-break-after 5 2"), "");
  spec.function = "g";
  ASSERT_TRUE(fleet.changeBreakpoint(spec).ok());
  EXPECT_NE(tokenOf(sent[0], "-break-delete 5"), "");
  answer(0, "-break-insert -f -d -i 2 --function \"g\"", R"(^done,bkpt={number="6"})");
  fleet.removeBreakpoint(id);
  EXPECT_NE(tokenOf(sent[0], "-break-delete 6"), "");
  EXPECT_FALSE(fleet.changeBreakpoint(spec).ok());
}

TEST_F(FleetTest, RemovedWhileItsInsertIsOnTheWay) {
  join(0);
  const int id = add("f");
  fleet.removeBreakpoint(id);
  answer(0, "-break-insert", R"(^done,bkpt={number="3"})");
  EXPECT_NE(tokenOf(sent[0], "-break-delete 3"), "");
}

TEST_F(FleetTest, ForeignAndConsoleDeleted) {
  const int id = add("f");
  join(0);
  answer(0, "-break-insert", R"(^done,bkpt={number="1"})");
  fleet.feed(0, "=breakpoint-created,bkpt={number=\"2\"}\n=breakpoint-deleted,id=\"1\"\n");
  EXPECT_EQ(observer.foreign, (std::vector<std::pair<Rank, int>>{{0, 2}}));
  EXPECT_EQ(fleet.status(id, 0).problem, "deleted in GDB's console");
}

TEST_F(FleetTest, GroupActionsCountPerRank) {
  join(0);
  join(1);
  std::string summary;
  fleet.run({0, 1, 7}, {RunKind::Next, 0, {}, 0},
            [&summary](const GroupResult& result) { summary = result.summary(); });
  EXPECT_EQ(observer.progress.size(), 1U);  // rank 7 has no GDB and answers at once
  answer(1, "-exec-next", "^running");
  EXPECT_TRUE(summary.empty());
  answer(0, "-exec-next", "^error,msg=\"no\"");
  EXPECT_EQ(summary, "next: 1 of 3 ranks; rank 7: rank 7 has no GDB; rank 0: no");
  fleet.pause({}, [&summary](const GroupResult& result) { summary = result.summary(); });
  EXPECT_EQ(summary, "pause: 0 of 0 ranks");
}

TEST_F(FleetTest, WatchesFollowTheFocus) {
  const int id = fleet.addWatch("total");
  join(0);
  join(1);
  EXPECT_EQ(tokenOf(sent[0], "-data-evaluate"), "");
  fleet.focus(1);
  answer(1, "-data-evaluate-expression --thread 1 --frame 0 \"total\"", "^done,value=\"42\"");
  ASSERT_EQ(observer.watches.size(), 1U);
  EXPECT_EQ(observer.watches[0].text, "42");
  EXPECT_EQ(observer.watches[0].rank, 1);
  fleet.removeWatch(id);
  sent[1].clear();
  fleet.refreshWatches();
  EXPECT_EQ(tokenOf(sent[1], "-data-evaluate"), "");
}

TEST_F(FleetTest, ReplacedGdbIsSilent) {
  join(0);
  observer.log.clear();
  join(0);
  EXPECT_EQ(observer.log, (std::vector<std::string>{"0 stopped"}));
  fleet.closed(0, "killed");
  EXPECT_EQ(observer.log.back(), "0 lost");
  EXPECT_EQ(fleet.ranks(), (std::vector<Rank>{0}));
  fleet.remove(0);
  EXPECT_EQ(fleet.session(0), nullptr);
}

}  // namespace
}  // namespace pf::mi::test

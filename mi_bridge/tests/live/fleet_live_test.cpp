// SPDX-License-Identifier: GPL-3.0-or-later
#include <chrono>
#include <optional>

#include <gtest/gtest.h>

#include "mi_bridge/tests/live/live_rank.h"
#include "mi_bridge/tests/support/fake_fleet.h"

namespace pf::mi::test {
namespace {

/// GDB's process outlives the transport that the fleet owns.
class Borrowed : public Transport {
 public:
  explicit Borrowed(GdbProcess& gdb) : m_gdb(gdb) {}
  void send(std::string_view bytes) override { m_gdb.send(bytes); }

 private:
  GdbProcess& m_gdb;
};

class FleetLive : public ::testing::Test {
 protected:
  FleetLive() : fleet(observer) {}

  bool until(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) {
        return false;
      }
      fleet.tick(std::chrono::steady_clock::now());
      for (std::size_t i = 0; i < gdbs.size(); ++i) {
        if (const auto bytes = gdbs[i]->read(5)) {
          fleet.feed(static_cast<Rank>(i), *bytes);
        }
      }
    }
    return true;
  }
  void cycle() {
    gdbs.clear();
    programs.clear();
    int joined = 0;
    for (Rank rank = 0; rank < 2; ++rank) {
      programs.push_back(startProgram("loop"));
      gdbs.push_back(std::make_unique<GdbProcess>());
      fleet.add(rank, std::make_unique<Borrowed>(*gdbs.back()));
      fleet.startAndAttach(rank, programs.back().pid(), [&joined](const Status& status) {
        EXPECT_TRUE(status.ok()) << status.error().text();
        ++joined;
      });
    }
    ASSERT_TRUE(until([&joined] { return joined == 2; }));
  }

  std::vector<Child> programs;
  std::vector<std::unique_ptr<GdbProcess>> gdbs;  // end first: a traced program is theirs to reap
  RecordingFleetObserver observer;
  Fleet fleet;
};

TEST_F(FleetLive, BreakpointAndWatchSurviveTwoCycles) {
  BreakpointSpec spec;
  spec.source = PF_MI_RANK_SOURCE;
  spec.line = markedLine("add");
  spec.condition = "left > 3";
  const int id = fleet.addBreakpoint(spec);
  fleet.addWatch("left - right");
  fleet.focus(1);
  for (int i = 0; i < 2; ++i) {
    cycle();
    observer.stops.clear();
    observer.watches.clear();
    std::optional<GroupResult> result;
    fleet.run({0, 1}, {}, [&result](const GroupResult& r) { result = r; });
    ASSERT_TRUE(until([&] { return observer.stops.size() == 2 && !observer.watches.empty(); }));
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(result->summary(), "continue: 2 of 2 ranks");
    for (const auto& [rank, stop] : observer.stops) {
      EXPECT_EQ(fleet.specOf(rank, stop.breakpointNumber), id);
      EXPECT_EQ(fleet.status(id, rank).hits, 1);
      EXPECT_EQ(stop.frame.function, "add");
    }
    EXPECT_EQ(observer.watches[0].rank, 1);
    EXPECT_TRUE(observer.watches[0].ok);
  }
}

}  // namespace
}  // namespace pf::mi::test

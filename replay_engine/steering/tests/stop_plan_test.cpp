// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/steering/stop_plan.h"

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/causality/cut_check.h"
#include "replay_engine/races/races.h"
#include "replay_engine/races/tests/execution_builder.h"
#include "replay_engine/races/tests/random_execution.h"

namespace pf::test {
namespace {

using Serials = std::vector<Serial>;

/// Ranks of an execution that run from plan to plan.
struct Replayed {
  explicit Replayed(const Execution& execution)
      : e(execution),
        times(logicalTimes(execution)),
        now{Serials(execution.ranks.size(), 0), std::vector<bool>(execution.ranks.size(), false)} {}

  StopPlan plan(const std::vector<PendingStop>& pending) const {
    return planStops(e, times, now, Serials(e.ranks.size(), 0), {}, pending);
  }
  /// As far as the stops let them.
  void go(const StopPlan& plan) {
    Serials most;
    for (std::size_t r = 0; r < e.ranks.size(); ++r) {
      most.push_back(plan.stops[r] == 0 ? e.ranks[r].events.size() : plan.stops[r] - 1);
    }
    done = consistentPart(e, most);
    for (std::size_t r = 0; r < most.size(); ++r) {
      now.standing[r] = plan.stops[r] != 0 && done[r] + 1 == plan.stops[r];
      // One that is not let end is inside of its next event.
      now.begun[r] = done[r] + (now.standing[r] || done[r] == e.ranks[r].events.size() ? 0 : 1);
    }
  }

  const Execution& e;
  std::vector<std::vector<std::uint32_t>> times;
  RanksNow now;
  Serials done;
};

const char* const kRing =
    "0: send 1; recv 2; local; local\n1: recv 0; send 2; local\n2: recv 1; send 0; local";

TEST(StopPlan, oneRankAloneOrAllAtItsCut) {
  const Execution e = parseExecution(kRing);
  const Replayed run(e);
  EXPECT_EQ(run.plan({{{1, 2}}}).stops, (Serials{0, 2, 0}));
  EXPECT_FALSE(run.plan({{{1, 2}}}).target.valid());
  const StopPlan all = run.plan({{{1, 2}, StopScope::All}});
  EXPECT_EQ(all.stops, (Serials{2, 2, 1}));
  EXPECT_EQ(all.target, (EventRef{1, 2}));
  EXPECT_EQ(run.plan({{{1, 2}, StopScope::Group, {2}}}).stops, (Serials{0, 2, 1}));
}

TEST(StopPlan, theEarlierOneIsTheTarget) {
  const Execution e = parseExecution(kRing);
  Replayed run(e);
  const std::vector<PendingStop> both{{{0, 3}, StopScope::All}, {{2, 1}, StopScope::All}};
  const StopPlan first = run.plan(both);
  EXPECT_EQ(first.target, (EventRef{2, 1}));
  EXPECT_EQ(first.stops, (Serials{1, 1, 1}));
  run.go(first);
  const StopPlan then = run.plan(both);
  EXPECT_EQ(then.target, (EventRef{0, 3}));
  EXPECT_EQ(then.stops, (Serials{3, 3, 3}));
}

TEST(StopPlan, aRankThatStopsAloneKeepsWhatNeedsItFromBeingTheTarget) {
  const Execution e = parseExecution(kRing);
  const StopPlan plan = Replayed(e).plan({{{0, 1}}, {{2, 2}, StopScope::All}});
  EXPECT_EQ(plan.stops, (Serials{1, 0, 2}));
  EXPECT_FALSE(plan.target.valid());
}

TEST(StopPlan, aGoalIsReachedUnlessABreakpointLiesBeforeIt) {
  const Execution e = parseExecution(kRing);
  const Replayed run(e);
  Serials limits;
  for (const Serial done : cutBefore(e, {0, 3})) {
    limits.push_back(done + 1);
  }
  const auto plan = [&](EventRef stop) {
    return planStops(e, run.times, run.now, limits, {0, 3}, {{stop, StopScope::All}});
  };
  EXPECT_EQ(plan({1, 3}).target, (EventRef{1, 3}));  // where the cut has rank 1 stop anyway
  EXPECT_EQ(plan({0, 4}).stops, limits);             // behind it
  EXPECT_EQ(plan({1, 2}).target, (EventRef{1, 2}));
}

/// From plan to plan every breakpoint is come to, and the target of each plan in that plan.
TEST(StopPlan, allAreComeToInRandomExecutions) {
  std::mt19937_64 random(7);
  int targets = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    oracle::RandomExecution made = oracle::randomExecution(seed);
    matchMessages(made.execution);
    const Execution& e = made.execution;
    Serials all;
    bool synchronous =
        false;  // such a send is begun before it can be in a cut: go() knows whole events only
    for (const RankHistory& history : e.ranks) {
      all.push_back(history.events.size());
      synchronous =
          synchronous || std::any_of(history.sends.begin(), history.sends.end(),
                                     [](const SentMessage& sent) { return sent.synchronous; });
    }
    if (synchronous) {
      continue;
    }
    const Serials reachable = consistentPart(e, all);
    std::vector<PendingStop> pending;
    std::set<std::pair<Rank, Serial>> left;
    for (std::size_t r = 0; r < all.size(); ++r) {
      for (Serial s = 1; s <= reachable[r]; ++s) {
        if (random() % 3 == 0) {
          pending.push_back({{static_cast<Rank>(r), s},
                             static_cast<StopScope>(random() % 3),
                             {static_cast<Rank>(random() % all.size())}});
          left.emplace(r, s);
        }
      }
    }
    Replayed run(e);
    for (std::size_t legs = 0; legs <= pending.size() + 1; ++legs) {
      const StopPlan plan = run.plan(pending);
      run.go(plan);
      for (std::size_t r = 0; r < all.size(); ++r) {
        if (run.now.standing[r]) {
          left.erase(std::pair{static_cast<Rank>(r), run.now.begun[r] + 1});
        }
      }
      if (plan.target.valid()) {
        ++targets;
        EXPECT_EQ(run.now.begun[static_cast<std::size_t>(plan.target.rank)] + 1, plan.target.serial)
            << "seed " << seed;
      }
    }
    EXPECT_TRUE(left.empty()) << "seed " << seed << ": " << left.size() << " not come to";
    EXPECT_EQ(run.done, reachable) << "seed " << seed;
  }
  EXPECT_GT(targets, 150);
}

}  // namespace
}  // namespace pf::test

// SPDX-License-Identifier: GPL-3.0-or-later
// Causal past and future, with and without clock checkpoints, held against a search that only knows
// what comes directly before what.
#include <random>

#include <QTest>

#include "replay_engine/causality/clock_checkpoints.h"
#include "replay_engine/races/races.h"
#include "replay_engine/races/tests/random_execution.h"
#include "replay_engine/races/tests/random_threads.h"
#include "views/trace/analyses/trace_causality.h"
#include "views/trace/trace_index.h"

using namespace pf;
using namespace pf::views;

namespace {

std::size_t at(Rank rank) {
  return static_cast<std::size_t>(rank);
}

struct Arrow {
  EventRef from;
  EventRef to;
};

bool flows(const Execution& execution, const CollectivePart& a, Rank from, Rank to) {
  const std::vector<Rank>& group = execution.communicators.at(a.comm).group;
  switch (a.flow) {
    case CollectiveFlow::None:
      return false;
    case CollectiveFlow::AllToAll:
      return true;
    case CollectiveFlow::FromRoot:
      return from == a.root;
    case CollectiveFlow::ToRoot:
      return to == a.root;
    case CollectiveFlow::FromLower:
      return std::find(group.begin(), group.end(), from) <
             std::find(group.begin(), group.end(), to);
  }
  return false;
}

/// All that is directly before something on another rank.
std::vector<Arrow> arrowsOf(const Execution& execution) {
  std::vector<Arrow> arrows;
  for (const Message& m : execution.messages) {
    if (m.completion != 0) {
      arrows.push_back({m.send, {m.dest, m.completion}});
    }
    const SentMessage& send = execution.ranks[at(m.send.rank)].sends[m.sendIndex];
    if (m.post != kNone && send.syncCompletion != 0) {
      arrows.push_back({{m.dest, execution.ranks[at(m.dest)].receives[m.post].post},
                        {m.send.rank, send.syncCompletion}});
    }
  }
  const auto ranks = static_cast<Rank>(execution.ranks.size());
  for (Rank a = 0; a < ranks; ++a) {
    for (const CollectivePart& one : execution.ranks[at(a)].collectives) {
      for (Rank b = 0; b < ranks; ++b) {
        for (const CollectivePart& other : execution.ranks[at(b)].collectives) {
          if (a != b && one.comm == other.comm && one.ordinal == other.ordinal && one.contributes &&
              other.takes && other.completion != 0 && flows(execution, one, a, b)) {
            arrows.push_back({{a, one.event}, {b, other.completion}});
          }
        }
      }
    }
  }
  return arrows;
}

std::vector<Serial> pastOf(const Execution& execution, const std::vector<Arrow>& arrows,
                           EventRef event) {
  std::vector<Serial> cut(execution.ranks.size(), 0);
  cut[at(event.rank)] = event.serial;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Arrow& arrow : arrows) {
      if (arrow.to.serial <= cut[at(arrow.to.rank)] &&
          arrow.from.serial > cut[at(arrow.from.rank)]) {
        cut[at(arrow.from.rank)] = arrow.from.serial;
        changed = true;
      }
    }
  }
  return cut;
}

std::vector<Serial> futureOf(const Execution& execution, const std::vector<Arrow>& arrows,
                             EventRef event) {
  std::vector<Serial> cut(execution.ranks.size(), 0);
  cut[at(event.rank)] = event.serial;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Arrow& arrow : arrows) {
      const Serial from = cut[at(arrow.from.rank)];
      Serial& to = cut[at(arrow.to.rank)];
      if (from != 0 && arrow.from.serial >= from && (to == 0 || arrow.to.serial < to)) {
        to = arrow.to.serial;
        changed = true;
      }
    }
  }
  return cut;
}

class CausalityTest : public QObject {
  Q_OBJECT

  /// Looks at `looks` events of it, with checkpoints of several distances.
  static void compare(const Execution& execution, std::mt19937& random, int looks) {
    const std::vector<Arrow> arrows = arrowsOf(execution);
    for (const std::uint32_t every : {0U, 1U, 2U, 3U, 7U, 40U}) {
      TraceData data;
      data.execution = execution;
      if (every != 0) {
        data.clocks = clockCheckpoints(execution, every);
      }
      const TraceIndexPtr trace = makeIndex(std::make_shared<const TraceData>(std::move(data)));
      for (int i = 0; i < looks; ++i) {
        const auto rank = static_cast<Rank>(random() % execution.ranks.size());
        const std::size_t events = execution.ranks[at(rank)].events.size();
        if (events > 0) {
          const EventRef event{rank, 1 + random() % events};
          QCOMPARE(pastOf(*trace, event), pastOf(execution, arrows, event));
          QCOMPARE(futureOf(*trace, event), futureOf(execution, arrows, event));
        }
      }
    }
  }

 private Q_SLOTS:
  void conesOfRandomExecutions() {
    std::mt19937 random(3);
    std::size_t withCheckpoints = 0;
    const std::uint64_t runs = oracle::runs(400);
    for (std::uint64_t seed = 1; seed <= runs && !QTest::currentTestFailed(); ++seed) {
      Execution execution =
          oracle::randomExecution(seed, {seed % 5 == 0 ? 400 : 40, seed % 3 == 0}).execution;
      if (seed % 4 == 0) {
        oracle::giveThreads(execution, seed);
      }
      matchMessages(execution);
      withCheckpoints += clockCheckpoints(execution, 2).every != 0 ? 1U : 0U;
      compare(execution, random, 12);
    }
    QVERIFY(withCheckpoints > runs * 9 / 10);
  }

  void checkpointsAreSparse() {
    QCOMPARE(checkpointDistance(4, 1000), 512U);
    QCOMPARE(checkpointDistance(64, 1000), 512U);
    QCOMPARE(checkpointDistance(64, 5'000'000), 2048U);
    QCOMPARE(checkpointDistance(1024, 1000), 4096U);
    Execution execution = oracle::randomExecution(5).execution;
    matchMessages(execution);
    QCOMPARE(clockCheckpoints(execution).every, 0U);  // too short for one
  }
};

}  // namespace

QTEST_GUILESS_MAIN(CausalityTest)
#include "causality_test.moc"

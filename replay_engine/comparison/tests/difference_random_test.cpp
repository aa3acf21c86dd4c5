// SPDX-License-Identifier: GPL-3.0-or-later
// compareExecutions() on pairs of runs of random deterministic programs under random schedules
// (deterministic_program.h). What each rank saw is written down as text; differences, what precedes
// what and the cones are worked out from that by brute force. And, whatever the definitions: what
// is outside of the cones must be the same in both, contents included, and a program that depends
// on nothing but its messages has no call for a first cause. PF_ORACLE_RUNS=N sets the number of
// programs.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/comparison/aligned_differences.h"
#include "replay_engine/comparison/difference.h"
#include "replay_engine/races/races.h"
#include "replay_engine/races/tests/deterministic_program.h"
#include "replay_engine/races/tests/oracle.h"
#include "replay_engine/races/tests/random_execution.h"

namespace pf::oracle {
namespace {

/// First differences as the texts show them; serial 0: none.
struct Expected {
  Serial serial = 0;
  bool call = false;  ///< the requests differ
};

std::vector<Expected> expected(const Run& a, const Run& b) {
  std::vector<Expected> result;
  for (std::size_t rank = 0; rank < a.seen.size(); ++rank) {
    Expected& each = result.emplace_back();
    const std::size_t common = std::min(a.seen[rank].size(), b.seen[rank].size());
    for (std::size_t i = 0; i < common && each.serial == 0; ++i) {
      const Seen& p = a.seen[rank][i];
      const Seen& q = b.seen[rank][i];
      if (p.request != q.request) {
        each = {i + 1, true};
      } else if (p.outcome != "?" && q.outcome != "?" && p.outcome != q.outcome) {
        each = {i + 1, false};
      }
    }
  }
  return result;
}

/// Entries and exits of all events, and what leads where.
class Moments {
 public:
  explicit Moments(const Run& run) {
    const auto& ranks = run.execution.ranks;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      for (Serial serial = 1; serial <= ranks[rank].events.size(); ++serial) {
        add({rank, serial, false}, {rank, serial, true});
        add({rank, serial, true}, {rank, serial + 1, false});
      }
      for (std::size_t send = 0; send < ranks[rank].sends.size(); ++send) {
        addSend(run, rank, send);
      }
      for (const CollectivePart& part : ranks[rank].collectives) {
        addCollective(ranks, rank, part);
      }
      for (const ProbeHit& probe : ranks[rank].probes) {
        if (probe.message != kNone) {
          const EventRef send = run.execution.messages[probe.message].send;
          add({static_cast<std::size_t>(send.rank), send.serial, false}, {rank, probe.event, true});
        }
      }
    }
  }

  using Moment = std::tuple<std::size_t, Serial, bool>;  ///< rank, serial, exit

  [[nodiscard]] std::set<Moment> after(const Moment& from) const {
    std::set<Moment> found{from};
    std::vector<Moment> open{from};
    while (!open.empty()) {
      const Moment at = open.back();
      open.pop_back();
      const auto next = m_next.find(at);
      for (const Moment& each : next == m_next.end() ? std::vector<Moment>{} : next->second) {
        if (found.insert(each).second) {
          open.push_back(each);
        }
      }
    }
    return found;
  }

 private:
  void add(const Moment& from, const Moment& to) { m_next[from].push_back(to); }

  void addSend(const Run& run, std::size_t rank, std::size_t index) {
    const SentMessage& send = run.execution.ranks[rank].sends[index];
    const std::uint32_t post = run.takers[rank][index];
    if (post == kNone) {
      return;
    }
    const auto dest = static_cast<std::size_t>(send.dest);
    const PostedReceive& receive = run.execution.ranks[dest].receives[post];
    if (receive.completion != 0) {
      add({rank, send.event, false}, {dest, receive.completion, true});
    }
    // Whose completion is not in the record may not be known to have been the taker.
    if (send.syncCompletion != 0 && receive.message != kNone) {
      add({dest, receive.post, false}, {rank, send.syncCompletion, true});
    }
  }

  void addCollective(const std::vector<RankHistory>& ranks, std::size_t rank,
                     const CollectivePart& part) {
    for (std::size_t other = 0; other < ranks.size(); ++other) {
      for (const CollectivePart& theirs : ranks[other].collectives) {
        if (theirs.ordinal == part.ordinal && theirs.contributes && part.completion != 0 &&
            (part.flow == CollectiveFlow::AllToAll || static_cast<Rank>(other) == part.root)) {
          add({other, theirs.event, false}, {rank, part.completion, true});
        }
      }
    }
  }

  std::map<Moment, std::vector<Moment>> m_next;
};

/// Of each difference, all that happens after it.
std::vector<std::set<Moments::Moment>> spread(const Run& run, const std::vector<Expected>& all) {
  const Moments moments(run);
  std::vector<std::set<Moments::Moment>> result;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    result.push_back(all[rank].serial == 0
                         ? std::set<Moments::Moment>{}
                         : moments.after({rank, all[rank].serial, !all[rank].call}));
  }
  return result;
}

std::vector<Serial> coneOf(const Run& run, const std::vector<std::set<Moments::Moment>>& spreads) {
  std::vector<Serial> cone;
  for (std::size_t rank = 0; rank < run.seen.size(); ++rank) {
    Serial first = 0;
    for (Serial serial = run.execution.ranks[rank].events.size(); serial > 0; --serial) {
      for (const auto& each : spreads) {
        first = each.contains({rank, serial, true}) ? serial : first;
      }
    }
    cone.push_back(first);
  }
  return cone;
}

class RandomPair {
 public:
  RandomPair(std::uint64_t seed, std::uint64_t other)
      : m_ranks(2 + static_cast<int>(seed % 4)),
        m_a(Program(seed, seed * 7 + 1, m_ranks).run()),
        m_b(Program(seed, seed * 7 + 2 + other, m_ranks).run()),
        m_result(compareExecutions({m_a.execution, m_a.facts}, {m_b.execution, m_b.facts}, true)),
        m_expected(expected(m_a, m_b)) {}

  /// Where the record does not say who took what, differences may be missed, none made up; and the
  /// order is a guess.
  void checkAll() {
    m_decided = decided(m_a.execution) && decided(m_b.execution);
    checkPlaces();
    if (m_decided && !::testing::Test::HasFailure()) {
      checkOrder();
      checkContents();
      checkAligned();
    }
  }

  /// Differences that could be compared in full, by how many there are.
  [[nodiscard]] std::size_t differences() const {
    return m_decided ? static_cast<std::size_t>(
                           std::count_if(m_result.ranks.begin(), m_result.ranks.end(),
                                         [](const auto& each) { return each.has_value(); }))
                     : 0;
  }
  [[nodiscard]] bool hasConsequences() const { return m_result.firstCauses.size() < differences(); }

 private:
  void checkPlaces() {
    for (std::size_t rank = 0; rank < m_expected.size(); ++rank) {
      const auto& found = m_result.ranks[rank];
      if (!m_decided) {
        ASSERT_TRUE(!found ||
                    (m_expected[rank].serial != 0 && m_expected[rank].serial <= found->serial))
            << "rank " << rank;
        continue;
      }
      ASSERT_EQ(found ? found->serial : 0, m_expected[rank].serial) << "rank " << rank;
      if (found) {
        ASSERT_EQ(found->kind == DifferenceKind::Call, m_expected[rank].call) << "rank " << rank;
      }
    }
  }

  void checkOrder() {
    const auto inA = spread(m_a, m_expected);
    const auto inB = spread(m_b, m_expected);
    bool any = false;
    for (std::size_t r = 0; r < m_expected.size(); ++r) {
      if (!m_result.ranks[r]) {
        continue;
      }
      const Difference& difference = *m_result.ranks[r];
      const Moments::Moment here{r, m_expected[r].serial, !m_expected[r].call};
      std::vector<Rank> after;
      for (std::size_t q = 0; q < m_expected.size(); ++q) {
        if (q != r && (inA[q].contains(here) || inB[q].contains(here))) {
          after.push_back(static_cast<Rank>(q));
        }
      }
      EXPECT_EQ(difference.after, after) << "rank " << r;
      EXPECT_TRUE(difference.cause || !after.empty());
      EXPECT_FALSE(difference.cause && difference.kind == DifferenceKind::Call)
          << "rank " << r << " differs out of nothing";
      any = any || difference.cause;
      if (difference.cause) {
        EXPECT_EQ(difference.coneA, coneOf(m_a, {inA[r]})) << "rank " << r;
        EXPECT_EQ(difference.coneB, coneOf(m_b, {inB[r]})) << "rank " << r;
      }
    }
    EXPECT_EQ(any, differences() > 0);
    EXPECT_EQ(m_result.coneA, coneOf(m_a, inA));
    EXPECT_EQ(m_result.coneB, coneOf(m_b, inB));
  }

  /// A program that depends on nothing but its messages does nothing otherwise that follows from no choice; and where a
  /// rank differs first, something is listed.
  void checkAligned() {
    const AlignedDifferences aligned = alignDifferences(
        {m_a.execution, m_a.facts}, {m_b.execution, m_b.facts}, true, m_result, {});
    std::vector<bool> differs(m_expected.size());
    std::size_t told = aligned.roots.size();
    for (const std::size_t root : aligned.roots) {
      const AlignedDifference& one = aligned.all[root];
      told += one.followers;
      EXPECT_TRUE(one.choice) << "rank " << one.rank << " event " << one.a << "/" << one.b
                              << " differs out of nothing";
    }
    EXPECT_EQ(told, aligned.all.size());
    for (const AlignedDifference& one : aligned.all) {
      differs[index(one.rank)] = true;
      EXPECT_GE(std::max(one.besideA, one.besideB), m_expected[index(one.rank)].serial);
    }
    for (std::size_t rank = 0; rank < m_expected.size(); ++rank) {
      EXPECT_TRUE(!differs[rank] || m_expected[rank].serial != 0) << "rank " << rank;
    }
  }

  /// Whatever the difference reaches not is the same, contents included.
  void checkContents() {
    for (std::size_t rank = 0; rank < m_expected.size(); ++rank) {
      const std::size_t common = std::min(m_a.seen[rank].size(), m_b.seen[rank].size());
      for (std::size_t i = 0; i < common; ++i) {
        const Seen& p = m_a.seen[rank][i];
        const Seen& q = m_b.seen[rank][i];
        const bool reached = (m_result.coneA[rank] != 0 && i + 1 >= m_result.coneA[rank]) ||
                             (m_result.coneB[rank] != 0 && i + 1 >= m_result.coneB[rank]);
        if (!reached && p.outcome != "?" && q.outcome != "?") {
          EXPECT_EQ(p.state, q.state) << "rank " << rank << " event " << i + 1;
        }
      }
    }
  }

  int m_ranks;
  bool m_decided = true;
  Run m_a;
  Run m_b;
  Comparison m_result;
  std::vector<Expected> m_expected;
};

TEST(DifferenceRandom, PlacesOrderAndConesAreThoseOfBruteForce) {
  const std::uint64_t wanted = runs(800);
  int differ = 0;
  int follow = 0;
  for (std::uint64_t seed = 1; seed <= wanted && !HasFailure(); ++seed) {
    SCOPED_TRACE("program " + std::to_string(seed));
    RandomPair pair(seed, seed % 3);
    pair.checkAll();
    differ += pair.differences() > 0 ? 1 : 0;
    follow += pair.hasConsequences() ? 1 : 0;
  }
  std::printf("%d of %d pairs differ, %d with consequences\n", differ, static_cast<int>(wanted),
              follow);
  EXPECT_GT(differ, static_cast<int>(wanted / 4)) << "the programs are too tame";
  EXPECT_GT(follow, static_cast<int>(wanted / 25)) << "the programs are too tame";
}

TEST(DifferenceRandom, ARunIsTheSameAsItself) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto run = Program(seed, seed, 3).run();
    EXPECT_TRUE(
        compareExecutions({run.execution, run.facts}, {run.execution, run.facts}, true).same());
  }
}

}  // namespace
}  // namespace pf::oracle

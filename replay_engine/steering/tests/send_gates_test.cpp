// SPDX-License-Identifier: GPL-3.0-or-later
// Gates of a replay with bounded buffers: on small executions by hand, and on random ones that none
// can hang.
#include "replay_engine/steering/send_gates.h"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "replay_engine/causality/event_graph.h"
#include "replay_engine/races/races.h"
#include "replay_engine/races/tests/execution_builder.h"
#include "replay_engine/races/tests/random_execution.h"

namespace pf::test {
namespace {

std::uint64_t gateOf(const std::vector<std::vector<Gate>>& gates, Rank rank, Serial event) {
  for (const Gate& gate : gates[static_cast<std::size_t>(rank)]) {
    if (gate.event == event) {
      return gate.progress;
    }
  }
  return 0;
}

TEST(SendGates, aSendWaitsForItsReceive) {
  const auto gates =
      sendGates(parseExecution("0: recv 1; recv 1; recv 2\n1: send 0; send 0\n2: send 0"));
  EXPECT_EQ(gateOf(gates, 1, 1), 1U);  // begun
  EXPECT_EQ(gateOf(gates, 1, 2), 3U);
  EXPECT_EQ(gateOf(gates, 2, 1), 5U);
}

TEST(SendGates, aPostThatDoesNotBlockHasToBeDone) {
  const auto gates =
      sendGates(parseExecution("0: irecv 1 a; irecv 2 b; wait b; wait a\n1: send 0\n2: send 0"));
  EXPECT_EQ(gateOf(gates, 1, 1), 2U);
  EXPECT_EQ(gateOf(gates, 2, 1), 4U);
}

TEST(SendGates, whatTheReceiverNeedsIsNotHeldFromIt) {
  // 1's first message is received last, and its second one first.
  const auto gates = sendGates(parseExecution("0: recv 1:2; recv 1:1\n1: send 0:1; send 0:2"));
  EXPECT_LE(gateOf(gates, 1, 1), 1U);
  EXPECT_EQ(gateOf(gates, 1, 2), 1U);
}

TEST(SendGates, twoThatSendFirstToEachOther) {
  const auto gates = sendGates(parseExecution("0: send 1; recv 1\n1: send 0; recv 0"));
  EXPECT_EQ(gates[0].size() + gates[1].size(), 1U) << "one of them has to send early";
}

TEST(SendGates, aMessageThatNobodyTakesIsSentLast) {
  const auto gates = sendGates(parseExecution("0: recv 2; recv 2\n1: send 0\n2: send 0; send 0"));
  EXPECT_EQ(gateOf(gates, 1, 1), 4U);
}

/// Runs the record with its gates in a random order; what is left undone hangs.
class GatedRun {
 public:
  GatedRun(const Execution& execution, std::uint64_t seed)
      : m_execution(execution), m_graph(execution), m_gates(sendGates(execution)), m_random(seed) {}

  std::size_t stuckSends() {
    const std::size_t ranks = m_execution.ranks.size();
    m_begun.assign(ranks, 0);
    m_done.assign(ranks, 0);
    std::vector<std::size_t> order(ranks);
    for (std::size_t i = 0; i < ranks; ++i) {
      order[i] = i;
    }
    for (bool moved = true; moved;) {
      moved = false;
      std::shuffle(order.begin(), order.end(), m_random);
      for (const std::size_t rank : order) {
        moved = step(rank) || moved;
      }
    }
    std::size_t stuck = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      stuck += m_begun[rank] == m_done[rank] && m_done[rank] < eventsOf(rank) ? 1U : 0U;
    }
    return stuck;
  }

 private:
  [[nodiscard]] std::size_t eventsOf(std::size_t rank) const {
    return m_execution.ranks[rank].events.size();
  }
  [[nodiscard]] bool open(std::size_t rank, Serial event) const {
    return std::all_of(m_gates[rank].begin(), m_gates[rank].end(), [&](const Gate& gate) {
      const auto dest = static_cast<std::size_t>(gate.rank);
      const Serial progress =
          m_begun[dest] > m_done[dest] ? 2 * m_begun[dest] - 1 : 2 * m_done[dest];
      return gate.event != event || progress >= gate.progress;
    });
  }
  bool step(std::size_t rank) {
    if (m_begun[rank] == m_done[rank]) {
      if (m_done[rank] == eventsOf(rank) || !open(rank, m_done[rank] + 1)) {
        return false;
      }
      ++m_begun[rank];
      return true;
    }
    const Serial serial = m_begun[rank];
    for (const Link link :
         m_graph.incoming({static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(serial)})) {
      if (!isThere(link)) {
        return false;
      }
    }
    m_done[rank] = serial;
    return true;
  }

  [[nodiscard]] bool isThere(Link link) const {
    if (link.kind != LinkKind::Collective) {
      const Place origin = m_graph.origin(link);
      return m_begun[origin.rank] >= origin.serial;
    }
    const CollectiveInstance& instance =
        m_graph.instances()[m_graph.members()[link.index].instance];
    for (std::uint32_t i = instance.begin; i < m_graph.sourcesEnd(link.index); ++i) {
      const CollectiveMember& member = m_graph.members()[i];
      if (member.contributes && m_begun[member.entry.rank] < member.entry.serial) {
        return false;
      }
    }
    return true;
  }

  const Execution& m_execution;
  const EventGraph m_graph;
  const std::vector<std::vector<Gate>> m_gates;
  std::mt19937_64 m_random;
  std::vector<Serial> m_begun;
  std::vector<Serial> m_done;
};

TEST(SendGates, noneHangsARandomExecution) {
  std::size_t gates = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    oracle::RandomExecution random = oracle::randomExecution(seed);
    matchMessages(random.execution);
    for (const auto& ofRank : sendGates(random.execution)) {
      gates += ofRank.size();
    }
    ASSERT_EQ(GatedRun(random.execution, seed).stuckSends(), 0U) << "seed " << seed;
  }
  EXPECT_GT(gates, 1000U);
}

}  // namespace
}  // namespace pf::test

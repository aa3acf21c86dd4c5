// SPDX-License-Identifier: GPL-3.0-or-later
// Records that cannot be, and very long ones.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/races/races.h"
#include "replay_engine/races/tests/execution_builder.h"

namespace pf::test {
namespace {

/// Whatever a damaged record says: an answer of the right shape, in time.
void expectSane(Execution execution) {
  matchMessages(execution);
  for (const Race& race : findRaces(execution)) {
    ASSERT_LT(race.taken, execution.messages.size());
    ASSERT_FALSE(race.alternatives.empty());
  }
  const std::vector<std::vector<std::uint32_t>> times = logicalTimes(execution);
  ASSERT_EQ(times.size(), execution.ranks.size());
  for (std::size_t rank = 0; rank < times.size(); ++rank) {
    ASSERT_EQ(times[rank].size(), execution.ranks[rank].events.size());
    for (std::size_t i = 0; i < times[rank].size(); ++i) {
      ASSERT_GT(times[rank][i], i == 0 ? 0 : times[rank][i - 1]);
    }
    const std::vector<Serial> cut =
        cutBefore(execution, {static_cast<Rank>(rank), times[rank].size()});
    ASSERT_EQ(cut.size(), execution.ranks.size());
    for (std::size_t other = 0; other < cut.size(); ++other) {
      ASSERT_LE(cut[other], execution.ranks[other].events.size());
    }
  }
}

constexpr const char* kEverything = R"(comm some: 0 2 3
    0: recv * = 1; barrier; irecv *:* a; irecv 2 b; wait b, a = 3:4; scan @some; probe * = 1; recv 1
    1: ssend 0; barrier; issend 3 s; wait s; send 0; sendrecv 2 2; ibarrier b; wait b
    2: barrier; send 0; bcast 0 @some; scan @some; sendrecv 1 1; ibarrier b; wait b
    3: barrier; send 0:4; recv * = 1; reduce 2 @some; scan @some; ibarrier b; local; wait b
    0: isend 2; ibarrier b; wait b)";

TEST(DamagedRecord, cyclesEnd) {
  expectSane(parseExecution("0: recv 1; send 1\n1: recv 0; send 0"));
  expectSane(parseExecution("0: recv 0; send 0"));
  expectSane(parseExecution("0: recv 1; barrier\n1: barrier; send 0"));
  expectSane(parseExecution("0: ssend 1; recv 1\n1: ssend 0; recv 0; barrier\n2: barrier; recv 0"));
  expectSane(parseExecution("0: recv 1; ibarrier a; wait a\n1: ibarrier a; wait a; send 0"));
  expectSane(Execution{});
}

TEST(DamagedRecord, aSerialTooLargeIsNoEvent) {
  constexpr Serial kMost = 0xFFFFFFFEU;
  EXPECT_EQ(ShortSerial(kMost), kMost);
  EXPECT_EQ(ShortSerial(kMost + 3), kNone);  // and not 1, by what is left of it in 32 bits
  Execution execution = parseExecution("0: send 1\n1: recv 0");
  matchMessages(execution);
  const EventRef beyond{0, Serial{kNone} + 2};
  execution.messages.front().send = beyond;
  EXPECT_EQ(logicalTimes(execution), (std::vector<std::vector<std::uint32_t>>{{1}, {1}}));
  execution.messages.front().send = {0, 1};
  EXPECT_EQ(logicalTimes(execution), (std::vector<std::vector<std::uint32_t>>{{1}, {2}}));
}

/// Files have been written by others.
TEST(DamagedRecord, messagesMayLieInAnyOrder) {
  Execution execution = parseExecution(kEverything);
  matchMessages(execution);
  const auto times = logicalTimes(execution);
  const EventRef last{0, execution.ranks[0].events.size()};
  const std::vector<Serial> cut = cutBefore(execution, last);
  std::ranges::reverse(execution.messages);
  std::rotate(execution.messages.begin(), execution.messages.begin() + 2, execution.messages.end());
  const auto moved = static_cast<std::uint32_t>(execution.messages.size());
  for (RankHistory& rank : execution.ranks) {
    const auto follow = [&](std::uint32_t& message) {
      message = message == kNone ? kNone : (2 * moved - 3 - message) % moved;
    };
    for (PostedReceive& receive : rank.receives) {
      follow(receive.message);
    }
    for (ProbeHit& probe : rank.probes) {
      follow(probe.message);
    }
  }
  EXPECT_EQ(logicalTimes(execution), times);
  EXPECT_EQ(cutBefore(execution, last), cut);
}

TEST(DamagedRecord, recordsCutAnywhere) {
  const Execution whole = parseExecution(kEverything);
  for (std::size_t rank = 0; rank < whole.ranks.size(); ++rank) {
    for (std::size_t events = 0; events <= whole.ranks[rank].events.size(); ++events) {
      Execution cut = whole;
      cut.ranks[rank].events.resize(events);
      expectSane(cut);
    }
  }
}

/// Overwrites fields of a record at random.
class Damage {
 public:
  explicit Damage(unsigned seed) : m_random(seed) {}

  void apply(Execution& execution) {
    RankHistory& history = execution.ranks[m_random() % execution.ranks.size()];
    switch (m_random() % 6) {
      case 0:
        damage(pick(history.receives));
        break;
      case 1:
        damage(pick(history.sends));
        break;
      case 2:
        damage(pick(history.collectives));
        break;
      case 3:
        if (!history.probes.empty()) {
          damage(pick(history.probes));
        }
        break;
      case 4:
        execution.communicators[1].group = {rank(), rank(), rank()};
        break;
      default:
        history.events.resize(number() % 12);
        break;
    }
  }

 private:
  template <typename T>
  T& pick(std::vector<T>& values) {
    return values[m_random() % values.size()];
  }
  std::uint32_t number() {
    return static_cast<std::uint32_t>(m_random() % 8 == 0 ? m_random() : m_random() % 9);
  }
  std::int32_t rank() { return static_cast<std::int32_t>(number() - 2); }
  bool chance() { return m_random() % 3 == 0; }

  template <typename T, typename U>
  void maybe(T& field, U value) {
    if (chance()) {
      field = static_cast<T>(value);
    }
  }
  void damage(PostedReceive& receive) {
    maybe(receive.post, number());
    maybe(receive.completion, number());
    maybe(receive.source, rank());
    maybe(receive.tag, rank());
    maybe(receive.comm, number());
    maybe(receive.wantedSource, kAnySource);
    maybe(receive.state, m_random() % 3);
  }
  void damage(SentMessage& send) {
    maybe(send.event, number());
    maybe(send.dest, rank());
    maybe(send.tag, rank());
    maybe(send.comm, number());
    maybe(send.synchronous, true);
    maybe(send.syncCompletion, number());
  }
  void damage(CollectivePart& part) {
    maybe(part.event, number());
    maybe(part.completion, number());
    maybe(part.comm, number());
    maybe(part.ordinal, number());
    maybe(part.flow, m_random() % 5);
    maybe(part.root, rank());
  }
  void damage(ProbeHit& probe) {
    maybe(probe.event, number());
    maybe(probe.source, rank());
    maybe(probe.postsBefore, number());
  }

  std::mt19937 m_random;
};

TEST(DamagedRecord, anyNumberAnywhere) {
  Damage damage(1);
  const Execution whole = parseExecution(kEverything);
  for (int round = 0; round < 3000; ++round) {
    Execution execution = whole;
    for (int change = 0; change < 4; ++change) {
      damage.apply(execution);
    }
    expectSane(std::move(execution));
  }
}

/// Ranks that send to one another at random, receive by wildcard, and now and then meet in a
/// barrier.
class LongExecution {
 public:
  LongExecution(std::size_t ranks, std::size_t events) : m_waiting(ranks) {
    m_execution.ranks.resize(ranks);
    m_execution.communicators.resize(1);
    for (std::size_t done = 0; done < events; ++done) {
      if (done % 20000 == 19999) {
        barrier();
      }
      const std::size_t rank = m_random() % ranks;
      if (!m_waiting[rank].empty() && m_random() % 8 != 0) {
        receive(rank);
      } else {
        send(rank);
      }
    }
  }

  Execution take() { return std::move(m_execution); }

 private:
  Serial newEvent(std::size_t rank, EventKind kind) {
    m_execution.ranks[rank].events.emplace_back().kind = kind;
    return m_execution.ranks[rank].events.size();
  }

  void send(std::size_t rank) {
    const std::size_t dest = m_random() % m_waiting.size();
    const bool synchronous = m_random() % 16 == 0;
    m_execution.ranks[rank].sends.push_back(
        {newEvent(rank, EventKind::Send), 0, static_cast<Rank>(dest), 0, synchronous, 0});
    m_waiting[dest].push_back(static_cast<Rank>(rank));
  }

  void receive(std::size_t rank) {
    PostedReceive receive;
    receive.post = newEvent(rank, EventKind::Receive);
    receive.completion = receive.post;
    receive.comm = 0;
    receive.wantedTag = 0;
    receive.tag = 0;
    receive.state = ReceiveState::Complete;
    receive.source = m_waiting[rank].front();
    m_waiting[rank].pop_front();
    m_execution.ranks[rank].receives.push_back(receive);
  }

  void barrier() {
    for (std::size_t rank = 0; rank < m_waiting.size(); ++rank) {
      CollectivePart part;
      part.event = newEvent(rank, EventKind::Collective);
      part.completion = part.event;
      part.comm = 0;
      part.ordinal = m_barriers;
      part.flow = CollectiveFlow::AllToAll;
      m_execution.ranks[rank].collectives.push_back(part);
    }
    ++m_barriers;
  }

  Execution m_execution;
  std::vector<std::deque<Rank>> m_waiting;  ///< sources of messages that have arrived
  std::mt19937 m_random{7};
  std::uint32_t m_barriers = 0;
};

TEST(LongRecord, sixtyFourRanksAMillionEvents) {
  Execution execution = LongExecution(64, 1'000'000).take();
  auto last = std::chrono::steady_clock::now();
  const auto lap = [&last](const char* what) {
    const auto now = std::chrono::steady_clock::now();
    std::printf("%s: %.2f s\n", what, std::chrono::duration<double>(now - last).count());
    last = now;
  };
  matchMessages(execution);
  lap("matchMessages");
  const std::vector<Race> races = findRaces(execution);
  lap("findRaces");
  EXPECT_GT(races.size(), 100'000U);
  const std::vector<std::vector<std::uint32_t>> times = logicalTimes(execution);
  lap("logicalTimes");
  for (const Message& message : execution.messages) {
    if (message.post != kNone) {
      ASSERT_LT(times[static_cast<std::size_t>(message.send.rank)][message.send.serial - 1],
                times[static_cast<std::size_t>(message.dest)][message.completion - 1]);
    }
  }
  const std::vector<Serial> cut = cutBefore(execution, {0, execution.ranks[0].events.size()});
  lap("cutBefore");
  EXPECT_EQ(cut[0], execution.ranks[0].events.size() - 1);
}

}  // namespace
}  // namespace pf::test

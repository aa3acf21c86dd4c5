// The board between ranks of one host, here in one process, and what is claimed from it.
#include "online/clock_board.h"

#include "online/streams.h"
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pf::online {
namespace {

class ClockBoardTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char path[] = "/tmp/pf-board-XXXXXX";
    const int fd = ::mkstemp(path);
    ASSERT_GE(fd, 0);
    ::close(fd);
    m_path = path;
    for (int rank = 0; rank < kRanks; ++rank) {
      ASSERT_TRUE(m_boards[rank].open(path, rank, kRanks));
    }
  }
  void TearDown() override { ::unlink(m_path.c_str()); }

  std::map<int, std::uint32_t> read(int by, int of, std::uint64_t epoch) {
    std::map<int, std::uint32_t> seen;
    m_boards[by].read(of, epoch, [&](int rank, std::uint32_t value) { seen[rank] = value; });
    return seen;
  }

  static constexpr int kRanks = 3;
  std::string m_path;
  ClockBoard m_boards[kRanks];
};

TEST_F(ClockBoardTest, HistoryIsReadUpToTheEpoch) {
  m_boards[0].change(0, 1);
  m_boards[0].change(2, 5);
  m_boards[0].change(0, 2);
  EXPECT_EQ(read(1, 0, 2), (std::map<int, std::uint32_t>{{0, 1}, {2, 5}}));
  EXPECT_EQ(read(1, 0, 2), (std::map<int, std::uint32_t>{})) << "once only";
  EXPECT_EQ(read(1, 0, 3), (std::map<int, std::uint32_t>{{0, 2}}));
  EXPECT_EQ(read(2, 0, 3), (std::map<int, std::uint32_t>{{0, 2}, {2, 5}}));
}

TEST_F(ClockBoardTest, HistoryThatHasGoneRoundIsNeverMoreThanTheTruth) {
  const std::uint32_t changes = 3 * ClockBoard::kHistory;
  for (std::uint32_t i = 1; i <= changes; ++i) {
    m_boards[0].change(static_cast<int>(i % 2), i);
  }
  const std::uint64_t early = 10;
  for (const auto& [rank, value] : read(1, 0, early)) {
    EXPECT_LE(value, early) << rank;
  }
  EXPECT_EQ(read(2, 0, changes), (std::map<int, std::uint32_t>{{0, changes}, {1, changes - 1}}));
}

TEST_F(ClockBoardTest, FullRingTakesNoMore) {
  std::uint32_t written = 0;
  while (m_boards[0].publish(1, {9, written + 1, 0, 0})) {
    ++written;
  }
  EXPECT_EQ(written, 1024U);
  for (std::uint32_t i = 1; i <= written; ++i) {
    const ClockRecord* record = m_boards[1].next(0);
    ASSERT_NE(record, nullptr);
    EXPECT_EQ(record->message, i);
    m_boards[1].drop(0);
  }
  EXPECT_EQ(m_boards[1].next(0), nullptr);
  EXPECT_TRUE(m_boards[0].publish(1, {9, written + 1, 0, 0}));
  EXPECT_NE(m_boards[1].next(0), nullptr);
}

TEST_F(ClockBoardTest, CollectivesOfLongAgoAreForgotten) {
  m_boards[0].contribute(77, 0);
  EXPECT_EQ(m_boards[1].contribution(0, 77, 0), 0U) << "who knows nothing has nothing to say";
  m_boards[0].change(0, 1);
  m_boards[0].contribute(77, 1);
  EXPECT_EQ(m_boards[1].contribution(0, 77, 1), 1U);
  EXPECT_EQ(m_boards[1].contribution(0, 77, 2), 0U);
  EXPECT_EQ(m_boards[1].contribution(0, 78, 1), 0U);
  m_boards[0].contribute(77, 65);
  EXPECT_EQ(m_boards[1].contribution(0, 77, 1), 0U);
}

/// A sender of messages with several tags, and what it knew at each.
struct Sender {
  ClockBoard& board;
  SendStreams streams;
  std::map<std::pair<int, std::uint32_t>, std::uint32_t> known;  ///< by tag and number
  std::uint32_t clock = 0;                                       ///< of the receiver

  void send(int tag, bool learnBefore) {
    if (learnBefore) {
      board.change(1, ++clock);
    }
    SendStream& out = streams[streams.indexOf(streamOf(0, tag), 1)];
    ++out.sent;
    if (out.epoch != board.epoch() &&
        board.publish(1, {streamOf(0, tag), out.sent, clock, board.epoch()})) {
      out.epoch = board.epoch();
    }
    known[{tag, out.sent}] = clock;
  }
};

// Messages of three tags, received in any order of tags, and of one tag in the order of posts but
// observed in any order: what is claimed for each is what its sender knew.
TEST_F(ClockBoardTest, ClaimsAreExactInAnyOrderOfObservation) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    ::unlink(m_path.c_str());  // a board of its own
    ClockBoard sending;
    ClockBoard receiving;
    ASSERT_TRUE(sending.open(m_path.c_str(), 0, kRanks));
    ASSERT_TRUE(receiving.open(m_path.c_str(), 1, kRanks));
    ReceiveStreams receives;
    Sender from{sending, {}, {}, 0};
    std::vector<std::pair<int, std::uint32_t>> open;  // tag and post, in posting order
    std::uint32_t posts = 0;
    const auto messages = static_cast<std::uint32_t>(20 + random() % 40);
    for (std::uint32_t i = 0; i < messages; ++i) {
      const int tag = static_cast<int>(random() % 3);
      from.send(tag, random() % 2 != 0);
      open.emplace_back(tag, posts++);
    }
    std::map<int, std::uint32_t> next;
    std::map<std::uint32_t, std::uint32_t> numberOf;  // by post
    for (const auto& [tag, post] : open) {
      numberOf[post] = ++next[tag];
    }
    while (!open.empty()) {
      const std::size_t which = random() % 3 == 0 ? random() % open.size() : 0;
      const auto [tag, post] = open[which];
      std::uint32_t earlier = 0;
      for (std::size_t i = 0; i < which; ++i) {
        earlier += open[i].first == tag ? 1U : 0U;
      }
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
      const std::uint32_t first = open.empty() ? kUndecided : open.front().second;
      const std::uint32_t stream = receives.indexOf(streamOf(0, tag), 0);
      const std::uint32_t number = receives.take(stream, post, earlier, first);
      ASSERT_EQ(number, numberOf[post]);
      const ClockRecord record = receives.observe(receiving, stream, number, false);
      ASSERT_EQ(record.known, (from.known[{tag, number}])) << "tag " << tag << " number " << number;
    }
  }
}

// Receives by source and tag have their numbers from the start; some are cancelled.
TEST_F(ClockBoardTest, ClaimsOfAssignedReceivesAreExact) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    ::unlink(m_path.c_str());  // a board of its own
    ClockBoard sending;
    ClockBoard receiving;
    ASSERT_TRUE(sending.open(m_path.c_str(), 0, kRanks));
    ASSERT_TRUE(receiving.open(m_path.c_str(), 1, kRanks));
    ReceiveStreams receives;
    Sender from{sending, {}, {}, 0};
    const std::uint32_t stream = receives.indexOf(streamOf(0, 4), 0);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> open;  // number, message
    std::uint32_t messages = 0;
    for (int i = 0; i < 30; ++i) {
      const std::uint32_t number = receives.assign(stream);
      if (random() % 5 == 0) {
        receives.cancel(stream, number);
      } else {
        open.emplace_back(number, ++messages);
      }
    }
    for (std::uint32_t i = 0; i < messages; ++i) {
      from.send(4, random() % 2 != 0);
    }
    while (!open.empty()) {
      const auto which =
          static_cast<std::ptrdiff_t>(random() % 3 == 0 ? random() % open.size() : 0);
      const auto [number, message] = open[static_cast<std::size_t>(which)];
      open.erase(open.begin() + which);
      ASSERT_EQ(receives.observe(receiving, stream, number, false).known,
                (from.known[{4, message}]));
    }
  }
}

TEST(AssignedReceives, AreFoundByTheirHandles) {
  std::mt19937 random(3);
  AssignedReceives open;
  std::map<std::uintptr_t, std::uint32_t> expected;
  for (std::uint32_t post = 0; post < 20000; ++post) {
    const std::uintptr_t handle = 16 * (1 + random() % 3000);
    AssignedReceive found{};
    if (random() % 2 == 0) {
      const auto known = expected.find(handle);
      ASSERT_EQ(open.take(reinterpret_cast<void*>(handle), &found), known != expected.end());
      if (known != expected.end()) {
        ASSERT_EQ(found.post, known->second);
        expected.erase(known);
      }
    } else {
      open.add({reinterpret_cast<void*>(handle), post, 0, 0, 0, 0, 0});
      expected[handle] = post;
    }
  }
  std::uint32_t first = kUndecided;
  for (const auto& [handle, post] : expected) {
    first = std::min(first, post);
  }
  EXPECT_EQ(open.first(), first);
}

}  // namespace
}  // namespace pf::online

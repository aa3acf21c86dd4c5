// SPDX-License-Identifier: MIT
// The board between ranks of one host, here in one process, and what is claimed from it.
#include "replay_engine/rank/online_races/clock_board.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/rank/online_races/streams.h"

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
  }
  void TearDown() override { ::unlink(m_path.c_str()); }

  /// Ranks of a job, all here.
  std::unique_ptr<ClockBoard[]> job(int ranks) {
    ::unlink(m_path.c_str());
    auto boards = std::make_unique<ClockBoard[]>(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_TRUE(boards[static_cast<std::size_t>(rank)].open(m_path.c_str(), rank, ranks));
    }
    return boards;
  }

  std::string m_path;
};

void pass(ClockBoard& from, int fromRank, ClockBoard& to, int toRank) {
  ASSERT_TRUE(from.publish(toRank, 9, 1));
  const ClockRecord* record = to.next(fromRank);
  ASSERT_NE(record, nullptr);
  to.learn(fromRank, *record);
  to.drop(fromRank);
}

class ClocksOfJobs : public ClockBoardTest, public ::testing::WithParamInterface<int> {};

TEST_P(ClocksOfJobs, KnowledgeIsHandedOn) {
  const auto ranks = job(GetParam());
  ranks[0].tick();
  ranks[0].tick();
  pass(ranks[0], 0, ranks[1], 1);
  EXPECT_EQ(ranks[1].known(0), 2U);
  ranks[0].tick();
  ranks[1].tick();
  pass(ranks[1], 1, ranks[2], 2);
  EXPECT_EQ(ranks[2].known(0), 2U) << "not of what came after the message";
  EXPECT_EQ(ranks[2].known(1), 1U);
  pass(ranks[2], 2, ranks[0], 0);
  EXPECT_EQ(ranks[0].known(0), 3U);
  EXPECT_EQ(ranks[0].known(1), 1U);
}

TEST_P(ClocksOfJobs, CollectivesOfLongAgoAreForgotten) {
  const auto ranks = job(GetParam());
  ranks[0].contribute(77, 0);
  ranks[1].learnContribution(0, 77, 0);
  EXPECT_EQ(ranks[1].known(0), 0U) << "who knows nothing has nothing to say";
  ranks[0].tick();
  ranks[0].contribute(77, 1);
  ranks[0].tick();
  ranks[1].learnContribution(0, 77, 2);
  ranks[1].learnContribution(0, 78, 1);
  EXPECT_EQ(ranks[1].known(0), 0U);
  ranks[1].learnContribution(0, 77, 1);
  EXPECT_EQ(ranks[1].known(0), 1U);
  ranks[0].contribute(77, 65);
  ranks[2].learnContribution(0, 77, 1);
  EXPECT_EQ(ranks[2].known(0), 0U);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ClocksOfJobs, ::testing::Values(3, kInline, kInline + 1, 64));

TEST_F(ClockBoardTest, HistoryThatHasGoneRoundIsNeverMoreThanTheTruth) {
  const auto ranks = job(kInline + 1);
  ranks[0].tick();
  ASSERT_TRUE(ranks[0].publish(1, 9, 1));
  for (std::uint32_t i = 0; i < 3 * ClockBoard::kHistory; ++i) {
    ranks[0].tick();
  }
  ranks[1].learn(0, *ranks[1].next(0));
  EXPECT_LE(ranks[1].known(0), 1U);
  ranks[1].drop(0);
  pass(ranks[0], 0, ranks[1], 1);
  EXPECT_EQ(ranks[1].known(0), 3 * ClockBoard::kHistory + 1);
}

TEST_F(ClockBoardTest, FullRingTakesNoMore) {
  const auto ranks = job(3);
  std::uint32_t written = 0;
  while (ranks[0].publish(1, 9, written + 1)) {
    ++written;
  }
  EXPECT_EQ(written, 1024U);
  for (std::uint32_t i = 1; i <= written; ++i) {
    const ClockRecord* record = ranks[1].next(0);
    ASSERT_NE(record, nullptr);
    EXPECT_EQ(record->message, i);
    ranks[1].drop(0);
  }
  EXPECT_EQ(ranks[1].next(0), nullptr);
  EXPECT_TRUE(ranks[0].publish(1, 9, written + 1));
  EXPECT_NE(ranks[1].next(0), nullptr);
}

/// A sender of messages with several tags, and what it knew at each.
struct Sender {
  ClockBoard& board;
  SendStreams streams;
  std::map<std::pair<int, std::uint32_t>, std::uint32_t> known;  ///< ticks, by tag and number

  void send(int tag, bool learnBefore) {
    if (learnBefore) {
      board.tick();
    }
    SendStream& out = streams[streams.indexOf(streamOf(0, tag), 1)];
    ++out.sent;
    if (out.epoch != board.epoch() && board.publish(1, streamOf(0, tag), out.sent)) {
      out.epoch = board.epoch();
    }
    known[{tag, out.sent}] = board.known(0);
  }
};

// Messages of three tags, received in any order of tags, and of one tag in the order of posts but
// observed in any order: what is claimed for each is what its sender knew.
TEST_F(ClockBoardTest, ClaimsAreExactInAnyOrderOfObservation) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const auto ranks = job(3);
    ReceiveStreams receives;
    Sender from{ranks[0], {}, {}};
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
      const MessageNumber number = receives.take(stream, post, {earlier, true}, first);
      ASSERT_EQ(number.least, numberOf[post]);
      const ClockRecord record = receives.observe(ranks[1], stream, number, false);
      ASSERT_EQ(record.clock[0], (from.known[{tag, number.least}]))
          << "tag " << tag << " number " << number.least;
    }
  }
}

// What an earlier receive has taken is not known while it is under way (MPI has matched a large
// message to it): what is claimed is not more than the sender knew, and no less than at the first
// message that it may have been. Once none is pending, numbers are exact again.
TEST_F(ClockBoardTest, ClaimsOfUnknownNumbersAreSound) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const auto ranks = job(3);
    ReceiveStreams receives;
    Sender from{ranks[0], {}, {}};
    const std::uint32_t stream = receives.indexOf(streamOf(0, 4), 0);
    std::uint32_t first = 1;
    for (int batch = 0; batch < 4; ++batch) {
      std::vector<std::uint32_t> open;  // numbers, and posts
      while (open.size() < 10) {
        from.send(4, random() % 2 != 0);
        open.push_back(first + static_cast<std::uint32_t>(open.size()));
      }
      first += 10;
      while (!open.empty()) {
        const std::size_t which = random() % 3 == 0 ? random() % open.size() : 0;
        const std::uint32_t post = open[which];
        const auto earlier = static_cast<std::uint32_t>(which);
        const auto unknown =
            static_cast<std::uint32_t>(earlier == 0 ? 0 : random() % (earlier + 1));
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
        const MessageNumber number = receives.take(stream, post, {earlier - unknown, unknown == 0},
                                                   open.empty() ? kUndecided : open.front());
        ASSERT_EQ(number.least, post - unknown);
        const std::uint32_t claimed = receives.observe(ranks[1], stream, number, false).clock[0];
        ASSERT_LE(claimed, (from.known[{4, post}]));
        ASSERT_GE(claimed, (from.known[{4, number.least}]));
        if (open.empty()) {
          ASSERT_TRUE(receives.settle(stream));
        }
      }
      from.send(4, true);  // in order: kept no longer than it is needed
      const MessageNumber next = receives.take(stream, first, {}, kUndecided);
      ASSERT_EQ(next.least, first);
      ASSERT_EQ(receives.observe(ranks[1], stream, next, false).clock[0], (from.known[{4, first}]));
      ++first;
    }
  }
}

// Receives by source and tag have their numbers from the start; some are cancelled.
TEST_F(ClockBoardTest, ClaimsOfAssignedReceivesAreExact) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const auto ranks = job(3);
    ReceiveStreams receives;
    Sender from{ranks[0], {}, {}};
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
      ASSERT_EQ(receives.observe(ranks[1], stream, {number, true}, false).clock[0],
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

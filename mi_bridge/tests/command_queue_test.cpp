// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/command_queue.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "mi_bridge/parser.h"
#include "mi_bridge/tests/support/fakes.h"

namespace pf::mi::test {
namespace {

class QueueTest : public ::testing::Test {
 protected:
  QueueTest() : queue([this](std::string_view line) { sent.emplace_back(line); }) {
    queue.setSlow([this](const std::string& text, bool givenUp) {
      log.push_back((givenUp ? "given up " : "slow ") + text);
    });
    queue.setSecondReply([this](const std::string& text, const ResultRecord& record) {
      log.push_back("second " + text + " " + record.errorMessage());
    });
    queue.tick(at(0));
  }
  std::uint64_t push(const std::string& text, CommandFlag flags = CommandFlag::None) {
    return queue.push({text, flags, [this, text](const Result<ResultRecord>& reply) {
                         log.push_back(text + (reply ? " ok" : " error: " + reply.error().message));
                       }});
  }
  bool reply(std::uint64_t token, const std::string& rest = "^done") {
    return queue.reply(std::get<ResultRecord>(*parseRecord(std::to_string(token) + rest)));
  }

  std::vector<std::string> sent;
  std::vector<std::string> log;
  CommandQueue queue;
};

TEST_F(QueueTest, MatchesByTokenOnly) {
  const auto a = push("-a");
  const auto b = push("-b");
  EXPECT_EQ(sent,
            (std::vector<std::string>{std::to_string(a) + "-a\n", std::to_string(b) + "-b\n"}));
  EXPECT_FALSE(queue.reply(std::get<ResultRecord>(*parseRecord("^done,fake=\"1\""))));
  EXPECT_FALSE(reply(999));
  EXPECT_TRUE(reply(b));
  EXPECT_TRUE(reply(a, "^error,msg=\"no\""));
  EXPECT_FALSE(reply(a));  // no second completion
  EXPECT_EQ(log, (std::vector<std::string>{"-b ok", "-a error: no"}));
}

TEST_F(QueueTest, AStepDropsRefreshes) {
  const auto first = push("-refresh0", CommandFlag::Discardable);
  for (std::size_t i = 1; i < CommandQueue::kWindow; ++i) {
    push("-keep");
  }
  push("-refresh1", CommandFlag::Discardable);  // waits
  const std::size_t sentBefore = sent.size();
  push("-exec-next", CommandFlag::MaybeStartsRunning);
  ASSERT_EQ(log.size(), 2U);
  EXPECT_NE(log[0].find("-refresh1 error: dropped"), std::string::npos);
  EXPECT_NE(log[1].find("-refresh0 error: dropped"), std::string::npos);
  EXPECT_EQ(sent.size(), sentBefore + 1);  // its place in the window is free for the step
  EXPECT_TRUE(reply(first));               // late, and without effect
  EXPECT_EQ(log.size(), 2U);
}

TEST_F(QueueTest, WaitsForTheAnswerOfAStep) {
  const auto step = push("-exec-step", CommandFlag::MaybeStartsRunning);
  push("-stack");
  EXPECT_EQ(sent.size(), 1U);
  push("-exec-interrupt", CommandFlag::Interrupts);
  EXPECT_EQ(sent.size(), 2U);
  reply(step, "^running");
  EXPECT_EQ(sent.size(), 3U);
  reply(step, "^error,msg=\"Command aborted.\"");
  EXPECT_EQ(log.back(), "second -exec-step Command aborted.");
}

TEST_F(QueueTest, SlowThenGivenUpOnce) {
  const auto a = push("-a");
  push("-b");
  queue.tick(at(19000));
  EXPECT_TRUE(log.empty());
  queue.tick(at(20000));
  queue.tick(at(25000));
  EXPECT_EQ(log, (std::vector<std::string>{"slow -a"}));
  queue.tick(at(60000));
  queue.tick(at(60100));
  ASSERT_EQ(log.size(), 3U);
  EXPECT_EQ(log[1], "given up -a");
  EXPECT_NE(log[2].find("-a error: GDB has not answered within 60 s"), std::string::npos);
  EXPECT_TRUE(reply(a));
  EXPECT_EQ(log.size(), 3U);
  EXPECT_EQ(queue.inFlight(), 1U);
}

TEST_F(QueueTest, PatienceCountsFromTheLastAnswer) {
  const auto a = push("-a");
  push("-b");
  queue.tick(at(19000));
  reply(a);
  queue.tick(at(38000));
  EXPECT_EQ(log, (std::vector<std::string>{"-a ok"}));
  queue.tick(at(39000));
  EXPECT_EQ(log.back(), "slow -b");
}

TEST_F(QueueTest, ALeapInTimeIsNobodysDelay) {
  push("-a");
  queue.tick(at(3600000));
  EXPECT_TRUE(log.empty());
}

TEST_F(QueueTest, TimesAreTraced) {
  std::vector<CommandTrace> traces;
  queue.setTrace([&traces](const CommandTrace& trace) { traces.push_back(trace); });
  for (std::size_t i = 0; i < CommandQueue::kWindow; ++i) {
    push("-fill");
  }
  const auto last = push("-last");
  queue.tick(at(100));
  reply(CommandQueue::kFirstToken + 1);
  queue.tick(at(250));
  reply(last);
  ASSERT_EQ(traces.size(), 2U);
  EXPECT_EQ(traces[1].text, "-last");
  EXPECT_EQ(traces[1].times.queued, at(0));
  EXPECT_EQ(traces[1].times.submitted, at(100));
  EXPECT_EQ(traces[1].times.completed, at(250));
}

TEST_F(QueueTest, CloseCompletesAllAndWhatComesLater) {
  push("-a");
  queue.push({"-b", CommandFlag::None, [this](const Result<ResultRecord>& reply) {
                EXPECT_FALSE(reply.ok());
                push("-from-callback");
              }});
  queue.close({ErrorCode::Peer, "gone", {}});
  push("-late");
  EXPECT_EQ(log, (std::vector<std::string>{"-a error: gone", "-from-callback error: gone",
                                           "-late error: gone"}));
}

TEST_F(QueueTest, DamagedReplyCompletes) {
  const auto a = push("-a");
  EXPECT_TRUE(queue.damagedReply(a, {ErrorCode::Peer, "at offset 3", {}}));
  EXPECT_FALSE(queue.damagedReply(a, {ErrorCode::Peer, "at offset 3", {}}));
  EXPECT_EQ(log,
            (std::vector<std::string>{"-a error: GDB's answer to -a cannot be read: at offset 3"}));
}

/// Whatever happens in whatever order, every command completes exactly once.
TEST(Queue, ExactlyOnce) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::uint64_t> tokens;
    CommandQueue queue(
        [&tokens](std::string_view line) { tokens.push_back(std::stoull(std::string(line))); });
    std::vector<int> completed;
    int now = 0;
    queue.tick(at(0));
    for (int step = 0; step < 200; ++step) {
      const auto choice = random() % 8;
      if (choice < 4) {
        const auto index = completed.size();
        completed.push_back(0);
        const auto flags = static_cast<CommandFlag>(1U << (random() % 4));
        queue.push({"-x", choice == 0 ? flags : CommandFlag::Discardable,
                    [&completed, index](const Result<ResultRecord>&) { ++completed[index]; }});
      } else if (choice < 7 && !tokens.empty()) {
        ResultRecord record;
        record.token = tokens[random() % tokens.size()];
        record.resultClass = static_cast<ResultClass>(random() % 4);
        queue.reply(record);
      } else {
        now += static_cast<int>(random() % 30000);
        queue.tick(at(now));
      }
    }
    queue.close({ErrorCode::Peer, "gone", {}});
    for (const int count : completed) {
      EXPECT_EQ(count, 1) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace pf::mi::test

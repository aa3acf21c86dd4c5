// SPDX-License-Identifier: GPL-3.0-or-later
// A schedule as a rank reads it back: choices by kind, sources of wildcards, cancelled receives.
#include "replay_engine/rank/engine/choice_stream.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/log/rank_log.h"

namespace pf::test {
namespace {

RankLog madeLog() {
  RankLog log;
  log.rank = 2;
  log.size = 4;
  log.serials = 3;
  log.checks = {11, 0, 33};
  log.choices[static_cast<std::size_t>(ChoiceKind::Test)] = {{2, {}}, {0, {}}};
  log.finalFailedPolls[static_cast<std::size_t>(ChoiceKind::Test)] = 1;
  log.choices[static_cast<std::size_t>(ChoiceKind::Iprobe)] = {{1, {3, 70000}}};
  log.cancelledPosts = {4, 9, 300};
  for (std::uint32_t number : {0U, 63U, 64U, 5000U}) {
    log.wildSources.set(number, static_cast<std::int32_t>(number % 4));
  }
  log.failed = {{9, {1, 2}}, {5, {0}}};
  return log;
}

/// Of a schedule in a file.
class Opened {
 public:
  explicit Opened(const std::vector<unsigned char>& schedule, int rank = 2, int size = 4) {
    const std::string path = testing::TempDir() + "choice_stream_" + std::to_string(::getpid());
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(schedule.data()),
               static_cast<std::streamsize>(schedule.size()));
    ok = choices.openSchedule(path.c_str(), rank, size, &why);
    std::remove(path.c_str());
  }
  ChoiceStreams choices;
  bool ok = false;
  const char* why = "";
};

TEST(Choices, comeBackByKindInTheirOrder) {
  Opened opened(compileSchedule(madeLog()));
  ASSERT_TRUE(opened.ok) << opened.why;
  ChoiceStreams& choices = opened.choices;
  EXPECT_EQ(choices.next(ChoiceKind::Test), NextChoice::FailedPoll);
  EXPECT_EQ(choices.next(ChoiceKind::Iprobe), NextChoice::FailedPoll);  // a stream of its own
  EXPECT_EQ(choices.next(ChoiceKind::Test), NextChoice::FailedPoll);
  EXPECT_EQ(choices.next(ChoiceKind::Test), NextChoice::Hit);
  EXPECT_EQ(choices.next(ChoiceKind::Iprobe), NextChoice::Hit);
  EXPECT_EQ(choices.payload(ChoiceKind::Iprobe), 3U);
  EXPECT_EQ(choices.payload(ChoiceKind::Iprobe), 70000U);
  EXPECT_EQ(choices.next(ChoiceKind::Iprobe), NextChoice::Live);
  EXPECT_EQ(choices.next(ChoiceKind::Test), NextChoice::Hit);
  EXPECT_EQ(choices.next(ChoiceKind::Test), NextChoice::FailedPoll);
  EXPECT_EQ(choices.next(ChoiceKind::Test), NextChoice::Live);
  EXPECT_EQ(choices.next(ChoiceKind::Waitany), NextChoice::Live);
}

TEST(Choices, sourcesOfWildcardsFarApart) {
  Opened opened(compileSchedule(madeLog()));
  ASSERT_TRUE(opened.ok) << opened.why;
  EXPECT_EQ(opened.choices.pin(0), 0);
  EXPECT_EQ(opened.choices.pin(63), 3);
  EXPECT_EQ(opened.choices.pin(64), 0);
  EXPECT_EQ(opened.choices.pin(5000), 0);
  for (const std::uint32_t unknown : {1U, 62U, 65U, 4999U, 5001U, 90000U, 0xFFFFFFFFU}) {
    EXPECT_EQ(opened.choices.pin(unknown), kPinUnknown) << unknown;
  }
}

TEST(Choices, cancelledReceivesInAnyOrder) {
  Opened opened(compileSchedule(madeLog()));
  ASSERT_TRUE(opened.ok) << opened.why;
  for (const std::uint32_t post : {9U, 4U, 300U, 9U}) {
    EXPECT_TRUE(opened.choices.wasCancelled(post)) << post;
  }
  for (const std::uint32_t post : {0U, 301U, 10U, 5U, 3U}) {
    EXPECT_FALSE(opened.choices.wasCancelled(post)) << post;
  }
}

TEST(Choices, checksOfEventsAndTheirEnd) {
  Opened opened(compileSchedule(madeLog()));
  ASSERT_TRUE(opened.ok) << opened.why;
  EXPECT_EQ(opened.choices.check(0), 0U);
  EXPECT_EQ(opened.choices.check(1), 11U);
  EXPECT_EQ(opened.choices.check(3), 33U);
  EXPECT_EQ(opened.choices.check(4), 0U);
  EXPECT_FALSE(opened.choices.allUsed(2));
  EXPECT_TRUE(opened.choices.allUsed(3));
}

TEST(Choices, completionsThatFailed) {
  Opened opened(compileSchedule(madeLog()));
  ASSERT_TRUE(opened.ok) << opened.why;
  const ScheduleFailed* const failed = opened.choices.failed(9);
  ASSERT_NE(failed, nullptr);
  ASSERT_EQ(failed->count, 2U);
  EXPECT_EQ(opened.choices.unfinished(*failed)[0], 1U);
  EXPECT_EQ(opened.choices.unfinished(*failed)[1], 2U);
  EXPECT_NE(opened.choices.failed(5), nullptr);
  EXPECT_EQ(opened.choices.failed(6), nullptr);
}

/// Pages are given back while it is read: what is read is the same.
TEST(Choices, moreThanIsKeptInMemory) {
  RankLog log = madeLog();
  constexpr std::uint32_t kMany = 300000;
  auto& tests = log.choices[static_cast<std::size_t>(ChoiceKind::Waitany)];
  for (std::uint32_t i = 0; i < kMany; ++i) {
    tests.push_back({0, {i}});
    log.wildSources.set(i, static_cast<std::int32_t>(i % 4));
  }
  Opened opened(compileSchedule(log));
  ASSERT_TRUE(opened.ok) << opened.why;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    ASSERT_EQ(opened.choices.next(ChoiceKind::Waitany), NextChoice::Hit);
    ASSERT_EQ(opened.choices.payload(ChoiceKind::Waitany), i);
    ASSERT_EQ(opened.choices.pin(i), static_cast<std::int32_t>(i % 4));
  }
}

TEST(Schedules, ofOthersAreRefused) {
  const std::vector<unsigned char> right = compileSchedule(madeLog());
  EXPECT_FALSE(Opened(right, 1).ok);
  EXPECT_FALSE(Opened(right, 2, 5).ok);
  EXPECT_FALSE(Opened({right.begin(), right.begin() + 40}).ok);
  std::vector<unsigned char> flipped = right;
  flipped[100] ^= 4U;
  EXPECT_STREQ(Opened(flipped).why, "the schedule of this rank is damaged");
}

TEST(Varints, endWhereTheirBytesEnd) {
  const unsigned char bytes[] = {0x85, 0x01, 0xFF};
  const unsigned char* at = bytes;
  EXPECT_EQ(takeVarint(&at, bytes + 3), 133U);
  EXPECT_EQ(at, bytes + 2);
  takeVarint(&at, bytes + 3);  // is cut
  EXPECT_EQ(at, bytes + 3);
  EXPECT_EQ(takeVarint(&at, bytes + 3), 0U);
}

}  // namespace
}  // namespace pf::test

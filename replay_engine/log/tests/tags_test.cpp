// SPDX-License-Identifier: GPL-3.0-or-later
// Traced deliveries, collated by sender: into records, back from them, into schedules.
#include "replay_engine/log/tags.h"

#include <cstring>
#include <memory>

#include <gtest/gtest.h>

#include "replay_engine/log/decoder.h"

namespace pf {
namespace {

constexpr std::uint64_t kPair = 77;  ///< key of a communicator of ranks 1 and 0, in this order

std::vector<RankLog> twoRanks() {
  std::vector<RankLog> logs(2);
  for (std::size_t i = 0; i < 2; ++i) {
    logs[i].rank = static_cast<Rank>(i);
    LoggedCommunicator world;
    world.groupSize = 2;
    world.members = {0, 1};
    LoggedCommunicator pair = world;
    pair.key = kPair;
    pair.members = {1, 0};
    logs[i].communicators = {world, pair};
  }
  return logs;
}

/// A stream of rank 1 to rank 0 whose messages are received in the opposite order, one of each
/// three traced.
TagCollation manyMessages() {
  TagCollation tags(2);
  for (std::uint32_t number = 3; number <= 300; number += 3) {
    tags.add({kPair, 1, 0, 5, number, 1000 - number, 0});
  }
  tags.add({0, 1, 0, 5, 1, 70000, 1});
  tags.sort();
  return tags;
}

/// Gives `log` what the records say.
void decode(const std::vector<std::vector<unsigned char>>& records, RankLog& log) {
  const auto header = std::make_unique<LogHeader>();
  const std::vector<std::span<const unsigned char>> blocks(records.begin(), records.end());
  Decoder decoder(*header, blocks);
  for (const std::vector<unsigned char>& record : records) {
    ASSERT_LE(record.size(), kMaxRecord);
    RecordReader in(record);
    ASSERT_TRUE(decoder.record(in));
    ASSERT_TRUE(in.atEnd());
  }
  log.tagged = decoder.log.tagged;
  log.tagsOnly = decoder.log.tagsOnly;
}

std::vector<RankLog> reducedLogs() {
  const TagCollation tags = manyMessages();
  std::vector<RankLog> logs = twoRanks();
  decode(tags.records(logs[1]), logs[1]);
  decode({tags.tagsOnly(0)}, logs[0]);
  return logs;
}

TEST(Tags, AreTheSameOnceTheyWereRecords) {
  const Tags before = manyMessages().finish();
  const Result<Tags> after = collatedTags(reducedLogs());
  ASSERT_TRUE(after.ok());
  ASSERT_EQ(after->lastPost, 70000U);
  EXPECT_TRUE(after->ranks[0].forced);
  EXPECT_FALSE(after->ranks[1].forced);
  ASSERT_EQ(after->ranks[0].receives.size(), 101U);
  EXPECT_EQ(after->ranks[0].receives.front().post, 700U);
  EXPECT_EQ(after->ranks[0].receives.front().source, 0);  // rank 1 is the first of its communicator
  EXPECT_EQ(after->ranks[0].receives.front().world, 1);
  EXPECT_EQ(after->ranks[0].receives.back().source, 1);
  ASSERT_EQ(after->ranks[1].streams.size(), 2U);
  EXPECT_EQ(after->ranks[1].streams[1].key, kPair);
  const std::vector<ScheduleTagSend>& sends = after->ranks[1].sends;
  ASSERT_EQ(sends.size(), before.ranks[1].sends.size());
  for (std::size_t i = 0; i < sends.size(); ++i) {
    EXPECT_EQ(sends[i].number, before.ranks[1].sends[i].number);
    EXPECT_EQ(sends[i].post, before.ranks[1].sends[i].post);
  }
}

TEST(Tags, OfWhatAProbeSaw) {
  std::vector<RankLog> logs = reducedLogs();
  logs[0].seen.push_back({12, 1, 0, 5, 6});
  const Result<Tags> tags = collatedTags(logs);
  ASSERT_TRUE(tags.ok());
  ASSERT_EQ(tags->ranks[0].seen.size(), 1U);
  EXPECT_EQ(tags->ranks[0].seen[0].probe, 12U);
  EXPECT_EQ(tags->ranks[0].receives[tags->ranks[0].seen[0].receive].post, 994U);
}

TEST(Tags, ThatSendersHaveLostAreMissed) {
  std::vector<RankLog> logs = reducedLogs();
  logs[1].tagged.pop_back();
  const Result<Tags> tags = collatedTags(logs);
  ASSERT_FALSE(tags.ok());
  EXPECT_EQ(tags.error().code, ErrorCode::Damaged);
}

TEST(Tags, StandForThePinsOfARank) {
  std::vector<RankLog> logs = reducedLogs();
  logs[0].wildSources = {1, 1};
  logs[1].wildSources = {0};
  const Result<Tags> tags = collatedTags(logs);
  ASSERT_TRUE(tags.ok());
  ScheduleHeader headers[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const auto schedule = compileSchedule(logs[i], &tags->ranks[i], tags->lastPost);
    std::memcpy(&headers[i], schedule.data(), sizeof headers[i]);
    EXPECT_EQ(headers[i].tagged, 1U);
    EXPECT_EQ(headers[i].lastTag, 70000U);
  }
  EXPECT_EQ(headers[0].pins.size, 0U);
  EXPECT_EQ(headers[0].tags.size, 101 * sizeof(ScheduleTag));
  EXPECT_NE(headers[1].pins.size, 0U);
  EXPECT_EQ(headers[1].tagSends.size, 101 * sizeof(ScheduleTagSend));
}

}  // namespace
}  // namespace pf

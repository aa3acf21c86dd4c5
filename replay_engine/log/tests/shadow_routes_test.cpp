// SPDX-License-Identifier: GPL-3.0-or-later
// Traced deliveries, collated by sender: into records, back from them, into schedules.
#include "replay_engine/log/shadow_routes.h"

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
RouteCollation manyMessages() {
  RouteCollation routes(2);
  for (std::uint32_t number = 3; number <= 300; number += 3) {
    routes.add({kPair, 1, 0, 5, number, 1000 - number, 0});
  }
  routes.add({0, 1, 0, 5, 1, 70000, 1});
  routes.sort();
  return routes;
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
  log.routed = decoder.log.routed;
  log.routesOnly = decoder.log.routesOnly;
}

std::vector<RankLog> reducedLogs() {
  const RouteCollation routes = manyMessages();
  std::vector<RankLog> logs = twoRanks();
  decode(routes.records(logs[1]), logs[1]);
  decode({routes.routesOnly(0)}, logs[0]);
  return logs;
}

TEST(ShadowRoutes, AreTheSameOnceTheyWereRecords) {
  const ShadowRoutes before = manyMessages().finish();
  const Result<ShadowRoutes> after = collatedRoutes(reducedLogs());
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
  const std::vector<ScheduleRouteSend>& sends = after->ranks[1].sends;
  ASSERT_EQ(sends.size(), before.ranks[1].sends.size());
  for (std::size_t i = 0; i < sends.size(); ++i) {
    EXPECT_EQ(sends[i].number, before.ranks[1].sends[i].number);
    EXPECT_EQ(sends[i].post, before.ranks[1].sends[i].post);
  }
}

TEST(ShadowRoutes, OfWhatAProbeSaw) {
  std::vector<RankLog> logs = reducedLogs();
  logs[0].seen.push_back({12, 1, 0, 5, 6});
  const Result<ShadowRoutes> routes = collatedRoutes(logs);
  ASSERT_TRUE(routes.ok());
  ASSERT_EQ(routes->ranks[0].seen.size(), 1U);
  EXPECT_EQ(routes->ranks[0].seen[0].probe, 12U);
  EXPECT_EQ(routes->ranks[0].receives[routes->ranks[0].seen[0].receive].post, 994U);
}

TEST(ShadowRoutes, ThatSendersHaveLostAreMissed) {
  std::vector<RankLog> logs = reducedLogs();
  logs[1].routed.pop_back();
  const Result<ShadowRoutes> routes = collatedRoutes(logs);
  ASSERT_FALSE(routes.ok());
  EXPECT_EQ(routes.error().code, ErrorCode::Damaged);
}

TEST(ShadowRoutes, StandForThePinsOfARank) {
  std::vector<RankLog> logs = reducedLogs();
  logs[0].wildSources = {1, 1};
  logs[1].wildSources = {0};
  const Result<ShadowRoutes> routes = collatedRoutes(logs);
  ASSERT_TRUE(routes.ok());
  ScheduleHeader headers[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const auto schedule = compileSchedule(logs[i], &routes->ranks[i], routes->lastPost);
    std::memcpy(&headers[i], schedule.data(), sizeof headers[i]);
    EXPECT_EQ(headers[i].routed, 1U);
    EXPECT_EQ(headers[i].lastRoute, 70000U);
  }
  EXPECT_EQ(headers[0].pins.size, 0U);
  EXPECT_EQ(headers[0].routes.size, 101 * sizeof(ScheduleRoute));
  EXPECT_NE(headers[1].pins.size, 0U);
  EXPECT_EQ(headers[1].routeSends.size, 101 * sizeof(ScheduleRouteSend));
}

}  // namespace
}  // namespace pf

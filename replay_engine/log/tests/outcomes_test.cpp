// SPDX-License-Identifier: GPL-3.0-or-later
// What a rank could not do or say itself: requests that a failed call left pending, receives that had taken their message when
// the rank hung.
#include <cstring>
#include <memory>

#include <gtest/gtest.h>

#include "replay_engine/log/decoder.h"

namespace pf {
namespace {

using Bytes = std::vector<unsigned char>;

Bytes recordOf(RecordKind kind, const std::vector<std::uint64_t>& numbers) {
  Bytes record{static_cast<unsigned char>(kind)};
  for (std::uint64_t value : numbers) {
    for (; value >= 0x80; value >>= 7) {
      record.push_back(static_cast<unsigned char>(value | 0x80));
    }
    record.push_back(static_cast<unsigned char>(value));
  }
  return record;
}

RankLog decoded(const LogHeader& header, const std::vector<Bytes>& records) {
  const std::vector<std::span<const unsigned char>> blocks(records.begin(), records.end());
  Decoder decoder(header, blocks);
  for (const Bytes& record : records) {
    RecordReader in(record);
    EXPECT_TRUE(decoder.record(in));
    EXPECT_TRUE(in.atEnd());
  }
  decoder.finish();
  return std::move(decoder.log);
}

void match(LogHeader& header, const MatchedReceive& receive) {
  header.matched.receives[0] = receive;
  header.matched.count.store(1 | std::uint64_t{~1U} << 32);
}

std::uint64_t offeredAs(OfferedKind kind, std::uint64_t number, bool given) {
  return number << 4 | (given ? 8U : 0U) | static_cast<std::uint64_t>(kind);
}

/// Behind a completion call.
bool isTaken(const std::vector<std::uint64_t>& offered) {
  const auto header = std::make_unique<LogHeader>();
  const std::vector<Bytes> records{recordOf(RecordKind::Completion, {0}),
                                   recordOf(RecordKind::Offered, offered)};
  const std::vector<std::span<const unsigned char>> blocks(records.begin(), records.end());
  Decoder decoder(*header, blocks);
  RecordReader first(records[0]);
  RecordReader second(records[1]);
  return decoder.record(first) && decoder.record(second);
}

TEST(Offered, belongsToTheLastEventAndGoesOnInAFurtherRecord) {
  const auto header = std::make_unique<LogHeader>();
  const std::uint64_t receive = offeredAs(OfferedKind::Receive, 7, false);
  const std::uint64_t send = offeredAs(OfferedKind::SynchronousSend, 300, true);
  const RankLog log = decoded(
      *header, {recordOf(RecordKind::Completion, {0}), recordOf(RecordKind::Completion, {0}),
                recordOf(RecordKind::Offered, {1, 2, 0, receive, 3, send}),
                recordOf(RecordKind::Offered, {1, 1, 4, receive})});
  ASSERT_EQ(log.history.offers.size(), 1U);
  const OfferedCompletion& call = log.history.offers[0];
  EXPECT_EQ(call.event, 2U);
  EXPECT_TRUE(call.some);
  const std::vector<OfferedRequest> expected{{0, 7, OfferedKind::Receive, false},
                                             {3, 300, OfferedKind::SynchronousSend, true},
                                             {7, 7, OfferedKind::Receive, false}};
  EXPECT_EQ(call.requests, expected);
}

TEST(Offered, whatCannotBeIsRefused) {
  const std::uint64_t some = offeredAs(OfferedKind::Send, 0, true);
  EXPECT_TRUE(isTaken({0, 1, 5, some}));
  EXPECT_FALSE(isTaken({0, kMostOffered + 1, 0, some}));
  EXPECT_FALSE(isTaken({0, 2, 1, some, 0, some}));              // an index twice
  EXPECT_FALSE(isTaken({0, 1, std::uint64_t{1} << 32, some}));  // an index beyond any array
  EXPECT_FALSE(isTaken({0, 1, 0, std::uint64_t{1} << 37}));     // a number beyond any
  EXPECT_FALSE(isTaken({0, 1, 0, kOfferedKinds}));              // a kind that there is not
  EXPECT_FALSE(isTaken({0, 2, 0, some}));                       // cut short
}

TEST(Unfinished, goesIntoTheScheduleByKey) {
  const auto header = std::make_unique<LogHeader>();
  std::vector<std::uint64_t> many{7, kMostUnfinished};
  for (std::uint64_t i = 0; i < kMostUnfinished; ++i) {
    many.push_back(2 * i);
  }
  const RankLog log =
      decoded(*header,
              {recordOf(RecordKind::Unfinished, {completionKey(1, 5), 1, 3}),
               recordOf(RecordKind::Unfinished, many), recordOf(RecordKind::Unfinished, {7, 1, 99}),
               recordOf(RecordKind::Unfinished, {9, 0})});
  ASSERT_EQ(log.failed.size(), 3U);
  EXPECT_EQ(log.failed[1].unfinished.size(), kMostUnfinished + 1U);

  const std::vector<unsigned char> schedule = compileSchedule(log, nullptr, 0, true);
  ScheduleHeader made;
  std::memcpy(&made, schedule.data(), sizeof made);
  EXPECT_EQ(made.threads, 1U);
  ASSERT_EQ(made.failed.size, 3 * sizeof(ScheduleFailed));
  std::vector<ScheduleFailed> failed(3);
  std::memcpy(failed.data(), schedule.data() + made.failed.offset, made.failed.size);
  EXPECT_EQ(failed[0].key, 7U);
  EXPECT_EQ(failed[0].count, kMostUnfinished + 1U);
  EXPECT_EQ(failed[1].key, 9U);
  EXPECT_EQ(failed[1].count, 0U);
  EXPECT_EQ(failed[2].key, completionKey(1, 5));
  std::uint32_t index = 0;
  std::memcpy(&index, schedule.data() + made.unfinished.offset + failed[2].first * sizeof index,
              sizeof index);
  EXPECT_EQ(index, 3U);
}

TEST(Matched, aReceiveThatNobodyWaitedForHasItsSource) {
  const auto header = std::make_unique<LogHeader>();
  match(*header, {0, 2, 5, 9});
  const RankLog choices = decoded(*header, {});
  ASSERT_EQ(choices.wildSources.size(), 3U);
  EXPECT_EQ(choices.wildSources[1], kPinUnknown);
  EXPECT_EQ(choices.wildSources[2], 5);

  header->events = 1;
  const std::vector<Bytes> records{recordOf(RecordKind::Comm, {}),
                                   recordOf(RecordKind::Post, {0, 0, 0, 0})};
  Bytes comm = records[0];
  comm.insert(comm.end(), 8, 0);  // the key
  comm.insert(comm.end(), {0, 0, 8, 0});
  match(*header, {0, 0, 5, 9});
  const RankLog events = decoded(
      *header, {comm, recordOf(RecordKind::CommMembers, {8, 1, 2, 3, 4, 5, 6, 7, 8}), records[1]});
  ASSERT_EQ(events.history.receives.size(), 1U);
  EXPECT_EQ(events.history.receives[0].state, ReceiveState::Complete);
  EXPECT_EQ(events.history.receives[0].source, 5);
  EXPECT_EQ(events.wildSources[0], 5);
}

TEST(Matched, countsOnlyWhereItIsWhole) {
  const auto header = std::make_unique<LogHeader>();
  match(*header, {0, 2, 5, 9});
  header->matched.count.store(1);
  EXPECT_TRUE(decoded(*header, {}).wildSources.size() == 0);
  const std::uint32_t tooMany = MatchedReceives::kMost + 1;
  header->matched.count.store(tooMany | std::uint64_t{~tooMany} << 32);
  EXPECT_TRUE(decoded(*header, {}).wildSources.size() == 0);
  EXPECT_EQ(decoded(*header, {}).unseenMatches, 0U);
  header->matched.unseen.store(MatchedReceives::sealed(3));
  EXPECT_EQ(decoded(*header, {}).unseenMatches, 3U);
  header->matched.unseen.store(3);
  EXPECT_EQ(decoded(*header, {}).unseenMatches, 0U);
}

}  // namespace
}  // namespace pf

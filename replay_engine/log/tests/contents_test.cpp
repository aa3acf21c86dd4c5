// SPDX-License-Identifier: GPL-3.0-or-later
// What messages hold, and how often tests failed: from records into a schedule.
#include "replay_engine/log/contents.h"

#include <cstring>
#include <memory>

#include <gtest/gtest.h>

#include "replay_engine/log/decoder.h"
#include "replay_engine/log/varint.h"

namespace pf {
namespace {

using Record = std::vector<unsigned char>;

Record record(RecordKind kind, const std::vector<std::uint64_t>& numbers) {
  Record out = {static_cast<unsigned char>(kind)};
  for (const std::uint64_t number : numbers) {
    putVarint(out, number);
  }
  return out;
}

Record withDigest(Record out, std::uint64_t digest) {
  out.resize(out.size() + 8);
  std::memcpy(out.data() + out.size() - 8, &digest, 8);
  return out;
}

RankLog decoded(const std::vector<Record>& records) {
  const auto header = std::make_unique<LogHeader>();
  header->events = 1;
  const std::vector<std::span<const unsigned char>> blocks(records.begin(), records.end());
  Decoder decoder(*header, blocks, true);
  for (const Record& each : records) {
    RecordReader in(each);
    EXPECT_TRUE(decoder.record(in));
    EXPECT_TRUE(in.atEnd());
  }
  decoder.finish();
  return std::move(decoder.log);
}

Record section(const Record& schedule, ScheduleSection ScheduleHeader::*which) {
  ScheduleHeader header;
  std::memcpy(&header, schedule.data(), sizeof header);
  const auto begin = schedule.begin() + static_cast<std::ptrdiff_t>((header.*which).offset);
  return {begin, begin + static_cast<std::ptrdiff_t>((header.*which).size)};
}

Record entry(std::uint64_t head, std::uint64_t check) {
  Record out;
  putVarint(out, head);
  putVarint(out, check);
  return out;
}

TEST(ContentsTest, EachMessageHasItsSizeAndItsDigest) {
  const RankLog log =
      decoded({record(RecordKind::Send, {0, 0, 1, 5, 20}),
               withDigest(record(RecordKind::Contents, {}), 0x1122334455667788),
               record(RecordKind::Send, {0, 0, 1, 5, 0}), record(RecordKind::Start, {0}),
               record(RecordKind::SubSend, {0, 0, 2, 6, 8}),
               withDigest(record(RecordKind::Contents, {}), 9)});
  Record expected = withDigest(entry(contentsHead(true, 20, true), 0), 0x1122334455667788);
  for (const Record& more :
       {entry(contentsHead(true, 0, false), 0),
        withDigest(entry(contentsHead(true, 8, true), sentCheck(0, kUnknownRank, 6)), 9)}) {
    expected.insert(expected.end(), more.begin(), more.end());
  }
  EXPECT_EQ(section(compileSchedule(log), &ScheduleHeader::sent), expected);
}

TEST(ContentsTest, CollectivesThatGiveNothingAreCounted) {
  const RankLog log = decoded({record(RecordKind::Collective, {0, 0, 1, 0, 3}),
                               record(RecordKind::Collective, {0, 0, 1, 0, 3}),
                               withDigest(record(RecordKind::Given, {3, 12, 1}), 7)});
  Record expected = entry(0, 0);
  const Record second = withDigest(entry(contentsHead(true, 12, true), 3), 7);
  expected.insert(expected.end(), second.begin(), second.end());
  EXPECT_EQ(section(compileSchedule(log), &ScheduleHeader::given), expected);
}

TEST(ContentsTest, ARecordWithoutDigestsHasSizes) {
  const RankLog log = decoded({record(RecordKind::Send, {0, 0, 1, 5, 20})});
  EXPECT_EQ(section(compileSchedule(log), &ScheduleHeader::sent),
            entry(contentsHead(true, 20, false), 0));
}

TEST(ContentsTest, WhatLeavesTheGroupHasItsNumber) {
  const RankLog log = decoded({withDigest(record(RecordKind::Outgoing, {3, 1, 20}), 5),
                               record(RecordKind::OutgoingGiven, {9, 6, 12}),
                               record(RecordKind::Outgoing, {0, 0, 300})});
  const auto skipping = [](std::uint64_t skipped, const Record& rest) {
    Record out;
    putVarint(out, skipped);
    out.insert(out.end(), rest.begin(), rest.end());
    return out;
  };
  Record expected = skipping(3, withDigest(entry(contentsHead(true, 20, true), 0), 5));
  const Record second = skipping(0, entry(contentsHead(true, 300, false), 0));
  expected.insert(expected.end(), second.begin(), second.end());
  const Record schedule = compileSchedule(log);
  EXPECT_EQ(section(schedule, &ScheduleHeader::outgoing), expected);
  EXPECT_EQ(section(schedule, &ScheduleHeader::outgoingGiven),
            skipping(9, entry(contentsHead(true, 12, false), 3)));
}

TEST(ContentsTest, AnOutgoingRecordThatIsCutSaysNothing) {
  const Record cut = record(RecordKind::Outgoing, {3, 1, 20});  // its digest is missing
  const auto header = std::make_unique<LogHeader>();
  const std::vector<std::span<const unsigned char>> blocks{cut};
  Decoder decoder(*header, blocks, true);
  RecordReader in(cut);
  static_cast<void>(decoder.record(in));
  EXPECT_TRUE(in.bad());
  decoder.finish();
  EXPECT_TRUE(decoder.log.outgoing.empty());
}

TEST(ContentsTest, SizesAlone) {
  const RankLog log = decoded(
      {record(RecordKind::Send, {0, 0, 1, 5, 20}),
       withDigest(record(RecordKind::Contents, {}), 0x1122334455667788),
       record(RecordKind::Send, {0, 0, 1, 5, 0}), record(RecordKind::SendFailed, {}),
       record(RecordKind::Send, {0, 0, 1, 5, 300}), record(RecordKind::Collective, {0, 0, 1, 0, 3}),
       record(RecordKind::Collective, {0, 0, 1, 0, 3}),
       withDigest(record(RecordKind::Given, {3, 12, 1}), 7)});
  EXPECT_EQ(sizesOf(log.sent), (std::vector<std::uint64_t>{20, 0, 300}));
  EXPECT_EQ(log.history.sends.size(), 3U);
  EXPECT_EQ(sizesOf(log.given), (std::vector<std::uint64_t>{~std::uint64_t{0}, 12}));
  EXPECT_TRUE(sizesOf({}).empty());
}

TEST(ContentsTest, TestsThatFailedMoreOftenThan32BitsCount) {
  constexpr std::uint64_t kMany = (std::uint64_t{1} << 32) + 5;
  const RankLog log =
      decoded({record(RecordKind::Choice, {static_cast<std::uint64_t>(ChoiceKind::Test), kMany})});
  ASSERT_EQ(log.choices[0].size(), 1U);
  EXPECT_EQ(log.choices[0][0].failedPolls, kMany);
  Record expected;
  putVarint(expected, kMany);
  const Record schedule = compileSchedule(log);
  ScheduleHeader header;
  std::memcpy(&header, schedule.data(), sizeof header);
  EXPECT_EQ(header.choices[0].size, expected.size());
  EXPECT_EQ(
      std::memcmp(schedule.data() + header.choices[0].offset, expected.data(), expected.size()), 0);
}

}  // namespace
}  // namespace pf

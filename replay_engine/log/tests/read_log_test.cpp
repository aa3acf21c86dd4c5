// SPDX-License-Identifier: GPL-3.0-or-later
// Logs as a crash leaves them, and as one makes them who means harm: what is read is a prefix of what was
// written, or an error; and no record makes more of itself than its bytes are worth.
#include <malloc.h>

#include <string>

#include <gtest/gtest.h>

#include "replay_engine/log/rank_log.h"
#include "replay_engine/log/shadow_routes.h"
#include "replay_engine/log/tests/made_log.h"
#include "replay_engine/log_format/pins.h"

namespace pf {
namespace {

using Records = std::vector<LogBytes>;

LogBytes communicator(std::uint64_t key, std::uint32_t size) {
  LogBytes bytes{static_cast<unsigned char>(RecordKind::Comm)};
  for (int i = 0; i < 8; ++i) {
    bytes.push_back(static_cast<unsigned char>(key >> (8 * i)));
  }
  for (const std::uint64_t number : {0U, 0U, size, 0U}) {
    putVarint(bytes, number);
  }
  return bytes;
}

/// What a rank that sends, receives, probes and tests leaves, `rounds` times.
Records usual(int rounds) {
  Records all{record(RecordKind::Site, {3, 0, 0x1234}), communicator(0, 2),
              record(RecordKind::CommMembers, {2, 1, 2})};
  for (int i = 0; i < rounds; ++i) {
    const auto tag = static_cast<std::uint64_t>(i);
    all.push_back(record(RecordKind::Send, {0, 0, 1, tag, 8}));
    all.push_back(record(RecordKind::Post, {0, 0, 0, tag + 1}));
    all.push_back(record(RecordKind::Completion, {0}));
    all.push_back(record(RecordKind::DoneReceive, {tag, 2, tag + 1}));
    all.push_back(record(RecordKind::Choice, {4, tag % 7, 1}));
    all.push_back(record(RecordKind::Collective, {0, 0, 0, 0, 3}));
  }
  all.push_back(record(RecordKind::End));
  return all;
}

/// Each thing that a log says of itself, one behind the other.
std::vector<std::string> said(const RankLog& log) {
  std::vector<std::string> all;
  const auto say = [&all](auto... numbers) {
    all.push_back(((std::to_string(numbers) + " ") + ...));
  };
  for (const Event& e : log.history.events) {
    say(static_cast<int>(e.kind), e.call, e.site, e.comm, e.peer, e.tag, e.bytes);
  }
  return all;
}

/// Whether `log` is what is in front of what `whole` says, and says so where it is less.
void expectPrefix(const Result<RankLog>& log, const std::vector<std::string>& whole,
                  const std::string& where) {
  if (!log) {
    EXPECT_FALSE(log.error().message.empty());
    return;
  }
  const std::vector<std::string> now = said(*log);
  ASSERT_LE(now.size(), whole.size()) << where;
  EXPECT_TRUE(std::equal(now.begin(), now.end(), whole.begin())) << where;
  if (log->complete) {
    EXPECT_EQ(now.size(), whole.size()) << where;
  } else {
    EXPECT_FALSE(log->cut.empty()) << where;
  }
}

TEST(RawLog, cutAtEveryByteIsAPrefix) {
  for (const int rounds : {4, 6000}) {  // one block, three blocks
    const LogBytes file = logOf({.size = 2}, usual(rounds));
    const Result<RankLog> log = readLog(file);
    ASSERT_TRUE(log.ok() && log->complete);
    const std::vector<std::string> whole = said(*log);
    const std::size_t step = rounds > 100 ? 1531 : 1;
    for (std::size_t size = 0; size < file.size(); size += size < kLogHeaderSize ? 512 : step) {
      expectPrefix(readLog(std::span(file).first(size)), whole, "cut at " + std::to_string(size));
    }
  }
}

TEST(RawLog, everyFlippedBitIsSeenOrChangesNoRecord) {
  LogBytes file = logOf({.size = 2}, usual(4));
  const std::vector<std::string> whole = said(*readLog(file));
  for (std::size_t byte = 0; byte < file.size(); ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      file[byte] ^= static_cast<unsigned char>(1U << bit);
      expectPrefix(readLog(file), whole,
                   "byte " + std::to_string(byte) + ", bit " + std::to_string(bit));
      file[byte] ^= static_cast<unsigned char>(1U << bit);
    }
  }
}

/// Blocks that another run left in the file, and blocks that changed places, are none of this one's.
TEST(RawLog, blocksInAnotherPlaceAreSeen) {
  LogBytes file = logOf({.size = 2}, usual(8000));
  const std::vector<std::string> whole = said(*readLog(file));
  const auto block = [&file](std::size_t i) {
    return file.begin() + static_cast<std::ptrdiff_t>(kLogHeaderSize + i * kLogBlockSize);
  };
  std::swap_ranges(block(0), block(1), block(1));
  expectPrefix(readLog(file), whole, "two blocks changed places");
  EXPECT_FALSE(readLog(file)->complete);
}

// ---- places in Python

LogBytes textRecord(RecordKind kind, const std::string& text) {
  LogBytes bytes = record(kind, {text.size()});
  bytes.insert(bytes.end(), text.begin(), text.end());
  return bytes;
}

LogBytes sourceLine(std::uint64_t line, const std::string& function) {
  LogBytes bytes = record(RecordKind::SourceLine, {line, function.size()});
  bytes.insert(bytes.end(), function.begin(), function.end());
  return bytes;
}

/// Two lines of one file, one of another, all calling from one address of a module; and one without Python.
Records callsFromPython() {
  const LogBytes site = record(RecordKind::Site, {3, 0, 0x1234});
  Records all{textRecord(RecordKind::Module, "MPI.so"),
              site,
              textRecord(RecordKind::SourceFile, "a.py"),
              sourceLine(7, "main"),
              site,
              sourceLine(9, "main"),
              site,
              textRecord(RecordKind::SourceFile, "b.py"),
              sourceLine(7, "f"),
              site};
  for (const std::uint64_t number : {0U, 1U, 2U, 3U, 0U}) {
    all.push_back(record(RecordKind::Local, {number}));
  }
  all.push_back(record(RecordKind::End));
  return all;
}

TEST(PythonPlaces, oneAddressIsManyPlaces) {
  std::vector<RankLog> logs;
  for (const std::int32_t rank : {0, 1}) {
    Result<RankLog> log = readLog(logOf({.rank = rank, .size = 2}, callsFromPython()));
    ASSERT_TRUE(log.ok()) << log.error().text();
    logs.push_back(std::move(*log));
  }
  const Result<Execution> execution = assemble(std::move(logs));
  ASSERT_TRUE(execution.ok()) << execution.error().text();
  ASSERT_EQ(execution->sites.size(), 4U);  // of both ranks
  std::string places;
  for (const Event& event : execution->ranks[1].events) {
    const CallSite& site = execution->sites[event.site];
    EXPECT_EQ(site.module, "MPI.so");
    EXPECT_EQ(site.offset, 0x1234U);
    places += site.function + " " + site.file + " " + std::to_string(site.line) + ", ";
  }
  EXPECT_EQ(places, "main a.py 7, main a.py 9, f b.py 7,   0, main a.py 7, ");
}

TEST(PythonPlaces, aLineOfNothingChangesNothing) {
  const Result<RankLog> log = readLog(
      logOf({}, {sourceLine(7, "f"), record(RecordKind::Site, {3, 0, 16}), sourceLine(7, "f"),
                 record(RecordKind::Local, {0}), record(RecordKind::End)}));
  ASSERT_TRUE(log.ok());
  EXPECT_TRUE(log->complete);
  ASSERT_EQ(log->sites.size(), 1U);
  EXPECT_EQ(log->sites[0].file, kNone);
  EXPECT_EQ(log->sites[0].line, 0U);
}

// ---- a call that never ended

struct Cut {
  Rank source = 0;  ///< of the messages that rank 1 took; rank 0 is in its MPI_Sendrecv
  std::uint32_t comm = 0;
  bool inside = true;
  bool over = true;
  Serial taken = 1;
};

Execution cutExchange(const Cut& cut) {
  std::vector<RankLog> logs(2);
  for (RankLog& log : logs) {
    log.rank = static_cast<Rank>(&log - logs.data());
    log.size = 2;
    log.hasEvents = true;
    log.communicators.resize(2);
    log.communicators[1].key = 7;
  }
  logs[0].history.events = {{.kind = EventKind::SendReceive, .comm = cut.comm}};
  logs[0].insideLast = cut.inside;
  for (Serial event = 1; event <= cut.taken; ++event) {
    logs[1].history.events.push_back({.kind = EventKind::Receive, .comm = 0});
    PostedReceive receive;
    receive.post = receive.completion = event;
    receive.comm = 0;
    receive.state = ReceiveState::Complete;
    receive.source = cut.source;
    receive.tag = 5;
    logs[1].history.receives.push_back(receive);
  }
  Result<Execution> execution = assemble(std::move(logs), cut.over);
  EXPECT_TRUE(execution.ok());
  return std::move(*execution);
}

TEST(CutExchange, WhatWasTakenOfItWasSent) {
  const Execution execution = cutExchange({});
  ASSERT_EQ(execution.messages.size(), 1U);
  EXPECT_EQ(EventRef(execution.messages[0].send), (EventRef{0, 1}));
  EXPECT_EQ(execution.messages[0].dest, 1);
  EXPECT_EQ(execution.messages[0].tag, 5);
  EXPECT_EQ(execution.messages[0].completion, 1U);
}

TEST(CutExchange, WhatMayBeAnothersIsNotIts) {
  EXPECT_TRUE(cutExchange({.source = 1}).messages.empty());
  EXPECT_TRUE(cutExchange({.source = 77}).messages.empty());
  EXPECT_TRUE(cutExchange({.comm = 1}).messages.empty());
  EXPECT_TRUE(cutExchange({.inside = false}).messages.empty()) << "it sent to nobody";
  EXPECT_TRUE(cutExchange({.over = false}).messages.empty())
      << "its log was read before the other's";
  EXPECT_TRUE(cutExchange({.taken = 2}).messages.empty());
}

// ---- collectives

/// Of a communicator with a key: a part of a blocking one, or a start of a persistent one.
LogBytes partOf(std::uint64_t persistent) {
  return persistent == 0 ? record(RecordKind::Collective, {0, 0, 1, 0, 3})
                         : record(RecordKind::CollectivePost, {0, 0, 1, 0, 3 | persistent << 2});
}

/// The ordinals of each rank's parts.
std::vector<std::vector<std::uint32_t>> ordinals(
    const std::vector<std::vector<std::uint64_t>>& ranks) {
  std::vector<RankLog> logs;
  for (const std::vector<std::uint64_t>& parts : ranks) {
    LogBytes comm = record(RecordKind::Comm);
    comm.insert(comm.end(), sizeof(std::uint64_t) + 4, 0);  // a key, and four numbers
    Records records{record(RecordKind::Site, {0, 0, 16}), comm};
    for (const std::uint64_t persistent : parts) {
      records.push_back(partOf(persistent));
    }
    Result<RankLog> log = readLog(logOf({.rank = static_cast<std::int32_t>(logs.size()),
                                         .size = static_cast<std::int32_t>(ranks.size())},
                                        records));
    EXPECT_TRUE(log.ok());
    logs.push_back(std::move(*log));
  }
  const Result<Execution> execution = assemble(std::move(logs));
  EXPECT_TRUE(execution.ok());
  std::vector<std::vector<std::uint32_t>> all;
  for (const RankHistory& rank : execution->ranks) {
    std::vector<std::uint32_t>& own = all.emplace_back();
    for (const CollectivePart& part : rank.collectives) {
      EXPECT_TRUE(part.contributes && part.takes);
      own.push_back(part.ordinal);
    }
  }
  return all;
}

using Ordinals = std::vector<std::vector<std::uint32_t>>;

TEST(StartedCollectives, meetByWhatIsStarted) {
  EXPECT_EQ(ordinals({{0, 0, 0}, {0, 0}}), (Ordinals{{0, 1, 2}, {0, 1}}));
  EXPECT_EQ(ordinals({{0, 1, 2, 0, 1}, {0, 2, 1, 0, 1}}),
            (Ordinals{{0, 1, 2, 3, 4}, {0, 2, 1, 3, 4}}));
  EXPECT_EQ(ordinals({{1, 0}, {0, 1}}), (Ordinals{{0, 1}, {1, 0}}));
}

TEST(StartedCollectives, ofARankThatEndedEarly) {
  EXPECT_EQ(ordinals({{0}, {2, 0, 1}}), (Ordinals{{0}, {1, 0, 2}}));
}

TEST(StartedCollectives, ofACommunicatorThatIsNotDeclared) {
  const Result<RankLog> log =
      readLog(logOf({}, {record(RecordKind::CollectivePost, {0, 0xFFFFFFF0, 0, 0, 0xFFFFFFFF}),
                         record(RecordKind::CollectivePost, {0, 7, 0, 0, 4})}));
  ASSERT_TRUE(log.ok());
  ASSERT_EQ(log->startedCollectives.size(), 2U);
  std::vector<RankLog> logs{*log};
  EXPECT_TRUE(assemble(std::move(logs)).ok());
}

// ---- records that nobody wrote

/// Bytes of the heap in use (0 under a sanitizer, which has a heap of its own).
std::size_t heap() {
  return mallinfo2().uordblks + mallinfo2().hblkhd;
}

constexpr std::size_t kMost = 80U << 20U;

Result<RankLog> readSmall(const Records& records, bool events = true) {
  const std::size_t before = heap();
  Result<RankLog> log = readLog(logOf({.events = events}, records));
  EXPECT_LT(heap() - std::min(heap(), before), kMost);
  return log;
}

TEST(HostileLog, numbersOfCommunicatorsThatAreNotDeclared) {
  for (const std::uint64_t comm : {0xFFFFFFFFU, 0xFFFFFFF0U, 0x10000000U, 1U}) {
    const Result<RankLog> log = readSmall({record(RecordKind::Collective, {0, comm, 0, 0, 0}),
                                           record(RecordKind::CollectivePost, {0, comm, 0, 0, 0}),
                                           record(RecordKind::End)});
    ASSERT_TRUE(log.ok());
    EXPECT_TRUE(log->complete);
    EXPECT_EQ(log->history.collectives.size(), 2U);
  }
}

TEST(HostileLog, threadsThatTheLogHasNoRoomFor) {
  Records records;
  for (std::uint64_t i = 1; i <= 200; ++i) {
    records.push_back(record(RecordKind::LaneMade, {i * 65535, 0, 0}));
  }
  const Result<RankLog> log = readSmall(records);
  ASSERT_TRUE(log.ok());
  EXPECT_LE(log->lanes.size(), 2000U);
  EXPECT_NE(log->cut.find("thread"), std::string::npos);
}

/// Each of many threads lets many locks go: the clocks that follow from that are not kept without end.
TEST(HostileLog, orderingsOfThreadsThatTheLogHasNoRoomFor) {
  Records records;
  for (std::uint64_t i = 1; i <= 2000; ++i) {
    records.push_back(record(RecordKind::LaneMade, {i, 0, 0}));
    records.push_back(record(RecordKind::Lane, {1, i * 2}));
    records.push_back(record(RecordKind::Local, {0}));
    records.push_back(record(RecordKind::Ordered, {0, i, 7}));
  }
  for (std::uint64_t i = 0; i < 5000; ++i) {
    records.push_back(record(RecordKind::Ordered, {1, 1, 7}));
    records.push_back(record(RecordKind::Ordered, {0, 1, 1000 + i}));
  }
  const Result<RankLog> log = readLog(logOf({}, records));
  ASSERT_TRUE(log.ok());
  EXPECT_NE(log->cut.find("orderings"), std::string::npos) << log->cut;
}

TEST(HostileLog, whatRanksExchangedAndKept) {
  const Result<RankLog> log =
      readSmall({record(RecordKind::Races, {0, 0, 0xFFFFFFFF}),
                 record(RecordKind::Exchanged, {0xFFFFFF, 1, 2}),
                 record(RecordKind::Exchanged, {0xFFFFFFFF, 1, 2}),
                 record(RecordKind::Kept, {5, 0xFFFFFFFF}), record(RecordKind::End)});
  ASSERT_TRUE(log.ok() && log->races);
  EXPECT_EQ(log->races->kept.count(), 0xFFFFFFFFU - 5);
  EXPECT_FALSE(log->races->kept[4]);
  EXPECT_TRUE(log->races->kept[5]);
}

// ---- many wildcard receives

/// The source that a replay forces, from the schedule's bytes.
std::int32_t pinned(const std::vector<unsigned char>& schedule, std::uint32_t wild) {
  const auto& header = *reinterpret_cast<const ScheduleHeader*>(schedule.data());
  const unsigned char* const at =
      pinIn(schedule.data() + header.pins.offset, header.pins.size, wild);
  std::int32_t source = kPinUnknown;
  if (at != nullptr) {
    EXPECT_LE(at + 4, schedule.data() + header.pins.offset + header.pins.size);
    std::memcpy(&source, at, sizeof source);
  }
  return source;
}

TEST(WildcardNumbers, areKeptHoweverFarTheyAreApart) {
  const Result<RankLog> log =
      readSmall({LogBytes{kNextWild | 3}, LogBytes{kNextWild | 4},
                 record(RecordKind::Wild, {200, 6}), record(RecordKind::Wild, {1U << 28, 3}),
                 LogBytes{kNextWild | 9}, record(RecordKind::Wild, {64, 1}),
                 record(RecordKind::Wild, {0xFFFFFFFE, 8}), record(RecordKind::End)},
                false);
  ASSERT_TRUE(log.ok());
  EXPECT_TRUE(log->complete) << log->cut;
  EXPECT_EQ(log->wildSources.size(), 0xFFFFFFFFU);
  const std::vector<unsigned char> schedule = compileSchedule(*log);
  EXPECT_LT(schedule.size(), 10000U);
  const std::vector<std::pair<std::uint32_t, std::int32_t>> expected{{0, 3},
                                                                     {1, 4},
                                                                     {2, -1},
                                                                     {63, -1},
                                                                     {64, 0},
                                                                     {199, -1},
                                                                     {200, 5},
                                                                     {201, -1},
                                                                     {4096, -1},
                                                                     {1U << 28, 2},
                                                                     {(1U << 28) + 1, 9},
                                                                     {(1U << 28) + 2, -1},
                                                                     {0xFFFFFFFD, -1},
                                                                     {0xFFFFFFFE, 7},
                                                                     {0xFFFFFFFF, -1}};
  for (const auto& [number, source] : expected) {
    EXPECT_EQ(log->wildSources[number], source) << number;
    EXPECT_EQ(pinned(schedule, number), source) << number;
  }
}

TEST(WildcardNumbers, beyondTheLastOneTheRecordEnds) {
  for (const LogBytes& beyond : {LogBytes{kNextWild | 1}, record(RecordKind::Wild, {0xFFFFFFFF, 1}),
                                 record(RecordKind::Wild, {std::uint64_t{1} << 32, 1})}) {
    const Result<RankLog> log = readSmall(
        {record(RecordKind::Wild, {0xFFFFFFFE, 8}), beyond, record(RecordKind::End)}, false);
    ASSERT_TRUE(log.ok());
    EXPECT_FALSE(log->complete);
    EXPECT_NE(log->cut.find("wildcard"), std::string::npos) << log->cut;
    EXPECT_EQ(log->wildSources[0xFFFFFFFE], 7);
  }
}

}  // namespace
}  // namespace pf

// SPDX-License-Identifier: GPL-3.0-or-later
// Logs as a power cut leaves them: what was synced is there; of what was written since, each page, or
// each sector of it, may be of any moment. What is read goes at least as far as what was synced, is a
// beginning of what was written, and says that it is cut.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "replay_engine/log/rank_log.h"
#include "replay_engine/log/tests/made_log.h"

namespace pf {
namespace {

constexpr std::size_t kSector = 512;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kWindow = 8 * kLogBlockSize;  // that the writer allocates at once
constexpr int kUsualCuts = 1000;

using Records = std::vector<LogBytes>;
using Said = std::vector<std::array<std::int64_t, 8>>;

int cuts() {
  const char* const wanted = std::getenv("PF_POWER_CUTS");
  return wanted != nullptr                   ? std::atoi(wanted)
         : std::getenv("PF_FULL") != nullptr ? 10 * kUsualCuts
                                             : kUsualCuts;
}

/// What a rank writes that receives from any source and tests; in a log without events its choices alone.
Records recordsOf(bool events, int rounds) {
  Records all;
  if (events) {
    all.push_back(record(RecordKind::Site, {3, 0, 0x1234}));
    all.push_back(
        {static_cast<unsigned char>(RecordKind::Comm), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0});
    all.push_back(record(RecordKind::CommMembers, {3, 1, 2, 3}));
  }
  for (int i = 0; i < rounds; ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    if (events) {
      all.push_back(record(RecordKind::Send, {0, 0, 1, number, number % 91}));
      all.push_back(record(RecordKind::Receive, {0, 0, 0, 0, number % 3 + 1, number + 1}));
    } else {
      all.push_back(record(RecordKind::Wild, {number, number * 7 % 3 + 1}));
    }
    all.push_back(record(RecordKind::Choice, {4, number % 7, number % 5 + 1}));
  }
  all.push_back(record(RecordKind::End));
  return all;
}

/// All events, receives, choices and sources that a log tells of, each in its order.
std::array<Said, 4> said(const RankLog& log, std::size_t wilds) {
  std::array<Said, 4> all;
  for (const Event& e : log.history.events) {
    all[0].push_back({static_cast<int>(e.kind), e.call, e.site, e.comm, e.peer, e.tag,
                      static_cast<std::int64_t>(e.bytes)});
  }
  for (const PostedReceive& r : log.history.receives) {
    all[1].push_back({static_cast<std::int64_t>(r.post), static_cast<std::int64_t>(r.completion),
                      static_cast<int>(r.state), r.source, r.tag});
  }
  for (const RecordedChoice& c : log.choices[4]) {
    all[2].push_back(
        {static_cast<std::int64_t>(c.failedPolls), static_cast<std::int64_t>(c.payload.at(0))});
  }
  for (std::uint32_t wild = 0; wild < wilds && log.wildSources[wild] != kPinUnknown; ++wild) {
    all[3].push_back({log.wildSources[wild]});
  }
  return all;
}

/// Whether `now` is between what was `synced` and what was `written` at last: a beginning, and no less.
bool isBetween(const Said& synced, const Said& now, const Said& written) {
  return synced.size() <= now.size() && now.size() <= written.size() &&
         std::equal(now.begin(), now.end(), written.begin());
}

/// The file of a rank that goes on, as the writer and the agent have it at a moment.
class Growing {
 public:
  Growing(bool events, const Records& records)
      : m_file(logOf({.size = 3, .events = events}, records)) {
    m_file.resize(kLogHeaderSize +
                  (m_file.size() - kLogHeaderSize + kWindow - 1) / kWindow * kWindow);
    std::size_t block = 0;
    std::size_t used = 0;
    m_ends.emplace_back(block, used);
    for (const LogBytes& each : records) {
      if (used + kMaxRecord > kLogBlockData) {
        ++block;
        used = 0;
      }
      used += each.size();
      m_ends.emplace_back(block, used);
    }
  }

  [[nodiscard]] std::size_t records() const { return m_ends.size() - 1; }
  [[nodiscard]] std::uint64_t commitAt(std::size_t count) const {
    const auto& [block, used] = m_ends[count];
    const unsigned char* const begin = m_file.data() + kLogHeaderSize + block * kLogBlockSize;
    const std::uint64_t salt = reinterpret_cast<const LogHeader*>(m_file.data())->salt;
    return std::uint64_t{crc32c(begin, used, logBlockSeed(salt, block))} << 32 | block << 16 | used;
  }
  [[nodiscard]] LogBytes at(std::size_t count, const std::array<std::uint64_t, 2>& synced) const {
    const auto& [block, used] = m_ends[count];
    const std::size_t end = kLogHeaderSize + block * kLogBlockSize + used;
    LogBytes file(m_file.begin(), m_file.begin() + static_cast<std::ptrdiff_t>(end));
    file.resize(kLogHeaderSize + (block / 8 + 1) * kWindow);
    LogHeader& header = headerOf(file);
    header.commit.store(commitAt(count));
    header.clean.store(count == records() ? kLogMagic : 0);
    header.synced.words[0].store(synced[0]);
    header.synced.words[1].store(synced[1]);
    return file;
  }

 private:
  LogBytes m_file;  ///< at the end
  std::vector<std::pair<std::size_t, std::size_t>>
      m_ends;  ///< of so many records: block, and bytes used in it
};

/// Moments of a log: [0] is on disk as it was, the others are on their way to it.
struct Moments {
  std::vector<std::size_t> counts;  ///< of records, ascending
  std::vector<LogBytes> files;
};

Moments momentsOf(const Growing& log, std::mt19937& random) {
  Moments moments;
  const std::size_t most = log.records();
  // Mostly within a block or two: more is lost as a whole.
  const std::size_t span = random() % 3 == 0 ? most : 1 + random() % (most / 3);
  std::size_t first = random() % most;
  for (int i = 0; i < 4; ++i) {
    moments.counts.push_back(std::min(most, first));
    first += 1 + random() % span;
  }
  std::array<std::uint64_t, 2> synced{};
  std::size_t turn = random() % 2;
  if (moments.counts[0] > 0 && random() % 2 == 0) {  // a sync before that one
    synced[1 - turn] = log.commitAt(random() % moments.counts[0]);
  }
  synced[turn] = log.commitAt(moments.counts[0]);
  const std::size_t next = 1 + random() % 4;  // when the next sync begins, which the cut interrupts
  for (std::size_t i = 0; i < moments.counts.size(); ++i) {
    if (i == next) {
      synced[1 - turn] = log.commitAt(moments.counts[i]);
    }
    moments.files.push_back(log.at(moments.counts[i], synced));
  }
  return moments;
}

/// What the disk has after the cut.
LogBytes diskOf(const Moments& moments, std::mt19937& random) {
  const std::vector<LogBytes>& files = moments.files;
  LogBytes disk = files[0];
  disk.resize(files[random() % files.size()].size());
  const auto old = random() % 64;                 // so many parts of 64 are as they were synced,
  const auto last = old + random() % (65 - old);  // so many, less those, as written last
  const auto copy = [&](std::size_t at, std::size_t size) {
    const auto which = random() % 64;
    const LogBytes& from = which < old    ? files.front()
                           : which < last ? files.back()
                                          : files[random() % files.size()];
    if (at + size <= std::min(from.size(), disk.size())) {
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(at), size,
                  disk.begin() + static_cast<std::ptrdiff_t>(at));
    }
  };
  for (std::size_t page = 0; page < disk.size(); page += kPage) {
    if (random() % 4 != 0) {
      copy(page, kPage);
      continue;
    }
    for (std::size_t sector = page; sector < page + kPage; sector += kSector) {
      copy(sector, kSector);
    }
  }
  return disk;
}

struct Seen {
  int synced = 0;  ///< read up to the sync and no further
  int between = 0;
  int all = 0;
};

void cutThePower(const Growing& log, std::uint32_t seed, Seen& seen) {
  std::mt19937 random(seed);
  const Moments moments = momentsOf(log, random);
  const std::size_t wilds = log.records();
  const Result<RankLog> first = readLog(moments.files.front());
  const Result<RankLog> last = readLog(moments.files.back());
  ASSERT_TRUE(first.ok() && last.ok());
  const auto synced = said(*first, wilds);
  const auto written = said(*last, wilds);
  const Result<RankLog> read = readLog(diskOf(moments, random));
  ASSERT_TRUE(read.ok()) << read.error().text();
  const auto now = said(*read, wilds);
  for (std::size_t i = 0; i < now.size(); ++i) {
    EXPECT_TRUE(isBetween(synced[i], now[i], written[i]))
        << i << ": " << synced[i].size() << ", now " << now[i].size() << ", " << written[i].size();
  }
  EXPECT_TRUE(read->complete ? last->complete && now == written : !read->cut.empty());
  ++(now == written ? seen.all : now == synced ? seen.synced : seen.between);
}

TEST(PowerCut, leavesABeginningThatHasAllThatWasSynced) {
  Seen seen;
  for (const bool events : {true, false}) {
    const Growing log(events, recordsOf(events, events ? 7000 : 30000));
    for (int cut = 0; cut < cuts() / 2; ++cut) {
      cutThePower(log, static_cast<std::uint32_t>(cut), seen);
      ASSERT_FALSE(HasFailure()) << "cut " << cut << (events ? ", events" : ", choices");
    }
  }
  std::printf("%d times what was synced, %d times all, %d times something between\n", seen.synced,
              seen.all, seen.between);
  EXPECT_GT(seen.synced, 0);
  EXPECT_GT(seen.all, 0);
  EXPECT_GT(seen.between, 0);
}

/// Before the first sync nothing is promised; nothing is made up, either.
TEST(PowerCut, beforeTheFirstSyncMakesNothingUp) {
  const Growing log(true, recordsOf(true, 3000));
  int none = 0;
  for (int cut = 0; cut < cuts() / 8; ++cut) {
    std::mt19937 random(static_cast<std::uint32_t>(cut));
    Moments moments = momentsOf(log, random);
    std::fill(moments.files[0].begin(), moments.files[0].end(), 0);
    const auto written = said(*readLog(moments.files.back()), log.records());
    const Result<RankLog> read = readLog(diskOf(moments, random));
    if (!read) {
      ++none;
      EXPECT_EQ(read.error().code, ErrorCode::Damaged);
      continue;
    }
    EXPECT_TRUE(isBetween({}, said(*read, log.records())[0], written[0])) << "cut " << cut;
    EXPECT_TRUE(read->complete || !read->cut.empty());
  }
  EXPECT_GT(none, 0);
}

}  // namespace
}  // namespace pf

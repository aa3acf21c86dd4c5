// SPDX-License-Identifier: GPL-3.0-or-later
// What is seen of pending receives in a process: this one, with a table of requests as a rank has it and objects as an MPI
// library has them.
#include "replay_engine/agent/matched_receives.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/protocol/rank_page.h"

namespace pf::agent {
namespace {

constexpr std::uint32_t kAt = 4096;  ///< of MatchedReceives in the log
constexpr std::uint32_t kRow = 2U << 30 | 0xBU << 26;
constexpr std::uint32_t kNone = 0xBU << 26;
constexpr std::uint32_t kBlock = 3U << 30 | 0xBU << 26;

/// As a rank's table has it.
struct Entry {
  std::uint64_t handle = 0;
  const std::uint64_t* inner = nullptr;
  std::uint32_t post = 0;
  std::uint32_t wild = 0;
  unsigned char isWild = 1;
  unsigned char isActive = 1;
  unsigned char isCancelled = 0;
};

/// As MPICH has it; Open MPI has its handle nowhere.
struct Object {
  std::uint32_t handle = 0;
  std::uint32_t references = 1;
  std::uint32_t* counter = &left;
  std::uint32_t left = 1;
  std::array<std::int32_t, 2> status{1, 1};  // of what it was before
};

template <typename T>
std::uint64_t addressOf(const T& value) {
  return reinterpret_cast<std::uint64_t>(&value);
}

class MatchedReceivesTest : public testing::Test {
 protected:
  void SetUp() override {
    m_log = std::filesystem::temp_directory_path() /
            ("matched_receives_test-" + std::to_string(::getpid()));
    std::ofstream(m_log, std::ios::binary) << std::string(8192, '\0');
    m_page->inCall = 1;
    m_page->serial = 5;
    m_page->requests = {addressOf(m_entriesAt),
                        addressOf(m_count),
                        sizeof(Entry),
                        offsetof(Entry, handle),
                        4,
                        offsetof(Entry, inner),
                        0,
                        offsetof(Entry, post),
                        offsetof(Entry, wild),
                        offsetof(Entry, isWild),
                        offsetof(Entry, isActive),
                        offsetof(Entry, isCancelled),
                        kAt,
                        offsetof(Object, status),
                        kNone,
                        {addressOf(m_row), addressOf(m_blocksAt), sizeof(Object),
                         offsetof(Object, counter), offsetof(Object, left), 0}};
    for (std::uint32_t i = 0; i < m_row.size(); ++i) {
      m_row[i].handle = kRow | i;
      m_block[i].handle = kBlock | 1U << 12 | i;
    }
  }
  void TearDown() override { std::filesystem::remove(m_log); }

  void post(std::uint64_t handle) {
    const auto number = static_cast<std::uint32_t>(m_entries.size());
    m_entries.push_back({handle, nullptr, 10 + number, number});
  }
  static void complete(Object& object, std::int32_t source, std::int32_t tag) {
    object.left = 0;
    object.status = {source, tag};
  }
  /// "post wild source tag; …", and how many were not seen.
  std::string look(pid_t pid = ::getpid()) {
    m_entriesAt = m_entries.data();
    m_count = static_cast<std::uint32_t>(m_entries.size());
    m_look.look(pid, *m_page, m_log);
    std::ifstream in(m_log, std::ios::binary);
    in.seekg(kAt);
    MatchedReceives seen{};
    in.read(reinterpret_cast<char*>(&seen), sizeof seen);
    std::string text;
    for (std::uint32_t i = 0; i < MatchedReceives::opened(seen.count); ++i) {
      const MatchedReceive& one = seen.receives[i];
      text += std::to_string(one.post) + ' ' + std::to_string(one.wild) + ' ' +
              std::to_string(one.source) + ' ' + std::to_string(one.tag) + "; ";
    }
    return text + "unseen " + std::to_string(MatchedReceives::opened(seen.unseen));
  }

  std::string m_log;
  std::unique_ptr<RankPage> m_page = std::make_unique<RankPage>();
  std::vector<Entry> m_entries;
  const Entry* m_entriesAt = nullptr;
  std::uint32_t m_count = 0;
  std::array<Object, 4> m_row;
  std::array<Object, 4> m_block;
  std::array<Object*, 2> m_blocks{nullptr, m_block.data()};
  Object** m_blocksAt = m_blocks.data();
  MatchedLook m_look;
};

TEST_F(MatchedReceivesTest, numberedHandlesOfTheRowAndOfABlock) {
  post(kRow | 1);
  post(kRow | 3);
  post(kBlock | 1U << 12 | 2);
  EXPECT_EQ(look(), "unseen 0") << "the sources are of other messages";
  complete(m_row[3], 2, 7);
  complete(m_block[2], 0, 9);
  EXPECT_EQ(look(), "11 1 2 7; 12 2 0 9; unseen 0");
  m_entries[1].isCancelled = 1;
  m_entries[2].isActive = 0;
  EXPECT_EQ(look(), "unseen 0");
}

TEST_F(MatchedReceivesTest, aPersistentRequestHasTheStatusOfWhatItStarted) {
  post(kRow | 0);
  complete(m_block[1], 3, 4);
  m_row[0].counter = &m_block[1].left;
  EXPECT_EQ(look(), "10 0 3 4; unseen 0");
}

TEST_F(MatchedReceivesTest, aReceiveThatStandsInForAPersistentOne) {
  std::uint64_t inner = kNone;
  post(kRow | 0);
  m_entries[0].inner = &inner;
  complete(m_row[0], 3, 4);
  EXPECT_EQ(look(), "10 0 3 4; unseen 0");
  inner = kRow | 1;
  EXPECT_EQ(look(), "unseen 0");
  complete(m_row[1], 2, 4);
  EXPECT_EQ(look(), "10 0 2 4; unseen 0");
}

TEST_F(MatchedReceivesTest, whatIsNotFoundIsCounted) {
  post(kRow | 2);
  m_row[2].handle = kRow;  // another object lies there
  post(kBlock | 0U << 12 | 1);
  post(kBlock | 1U << 25 | 1);
  post(kRow | 1);
  m_row[1].counter = nullptr;
  EXPECT_EQ(look(), "unseen 4");
  m_blocksAt = nullptr;
  m_entries = {m_entries[1]};
  EXPECT_EQ(look(), "unseen 1");
  m_entries.clear();
  EXPECT_EQ(look(), "unseen 0");
  m_page->requests.status = 0;  // nothing is known of this MPI library
  post(kRow | 0);
  EXPECT_EQ(look(), "unseen 1");
}

TEST_F(MatchedReceivesTest, handlesThatAreAddresses) {
  m_page->requests.handleBytes = 8;
  m_page->requests.objects = {};
  post(addressOf(m_row[0]));
  m_row[0].status = {-1, -1};
  EXPECT_EQ(look(), "unseen 0");
  m_row[0].status = {2, 6};
  post(8);
  EXPECT_EQ(look(), "10 0 2 6; unseen 1");
}

TEST_F(MatchedReceivesTest, whatWasSeenStaysWhenTheRankIsGone) {
  post(kRow | 0);
  complete(m_row[0], 3, 4);
  EXPECT_EQ(look(), "10 0 3 4; unseen 0");
  const pid_t gone = ::fork();
  if (gone == 0) {
    ::_exit(0);
  }
  ::waitpid(gone, nullptr, 0);
  EXPECT_EQ(look(gone), "10 0 3 4; unseen 0");
}

TEST_F(MatchedReceivesTest, noFieldIsReadBeyondItsEntry) {
  post(kRow | 0);
  complete(m_row[0], 3, 4);
  const PageRequests right = m_page->requests;
  for (std::uint32_t PageRequests::*field :
       {&PageRequests::handle, &PageRequests::details, &PageRequests::post, &PageRequests::wild,
        &PageRequests::isWild, &PageRequests::isActive, &PageRequests::isCancelled}) {
    for (const std::uint32_t at : {std::uint32_t{sizeof(Entry)}, 0xDA60DADAU}) {
      m_page->requests = right;
      m_page->requests.*field = at;
      EXPECT_EQ(look(), "unseen 0") << "at " << at;
    }
  }
  m_page->requests = right;
  EXPECT_EQ(look(), "10 0 3 4; unseen 0");
}

TEST_F(MatchedReceivesTest, moreThanThereIsRoomFor) {
  m_page->requests.handleBytes = 8;
  m_page->requests.objects = {};
  for (std::size_t i = 0; i < MatchedReceives::kMost + 5; ++i) {
    post(addressOf(m_row[0]));
  }
  const std::string seen = look();
  EXPECT_EQ(seen.substr(seen.rfind("; ")), "; unseen 5");
}

}  // namespace
}  // namespace pf::agent

// SPDX-License-Identifier: GPL-3.0-or-later
// The order of threads, from the records of what they released and acquired.
#include "replay_engine/log/thread_links.h"

#include <gtest/gtest.h>

namespace pf {
namespace {

constexpr std::uint64_t kLock = 0x1000;
constexpr std::uint64_t kOther = 0x2000;

/// Records, one after another. Lane 0 has made three others.
class ThreadLinksTest : public testing::Test {
 protected:
  void SetUp() override {
    m_threads.made(0, 0, 1, 0);
    for (std::uint32_t lane = 1; lane <= 3; ++lane) {
      m_threads.made(lane, 1, lane, 0);
    }
  }
  void event(std::uint32_t lane) { m_threads.event(lane, ++m_events, m_links); }
  void is(ThreadOrdering kind, std::uint32_t lane, std::uint64_t what) {
    m_threads.ordered(kind, lane, what);
  }
  void expect(const std::vector<ThreadLink>& links) {
    EXPECT_EQ(m_links.size(), links.size());
    EXPECT_TRUE(m_links == links);
  }

  ThreadLinks m_threads;
  Serial m_events = 0;
  std::vector<ThreadLink> m_links;
};

TEST_F(ThreadLinksTest, NothingOrdersThem) {
  event(1);
  event(2);
  event(1);
  expect({});
}

TEST_F(ThreadLinksTest, ALock) {
  event(1);
  is(ThreadOrdering::Released, 1, kLock);
  event(1);
  is(ThreadOrdering::Acquired, 2, kLock);
  event(2);
  event(2);
  expect({{1, 3}});
}

TEST_F(ThreadLinksTest, AnotherLock) {
  event(1);
  is(ThreadOrdering::Released, 1, kLock);
  is(ThreadOrdering::Acquired, 2, kOther);
  event(2);
  expect({});
}

TEST_F(ThreadLinksTest, ByWayOfAThirdThread) {
  event(1);
  is(ThreadOrdering::Released, 1, kLock);
  is(ThreadOrdering::Acquired, 2, kLock);
  is(ThreadOrdering::Released, 2, kOther);
  is(ThreadOrdering::Acquired, 3, kOther);
  event(3);
  expect({{1, 2}});
}

TEST_F(ThreadLinksTest, MakingAndJoining) {
  event(0);
  is(ThreadOrdering::Made, 0, 4);
  event(0);
  m_threads.made(4, 1, 4, 2);
  event(4);
  is(ThreadOrdering::Ended, 4, 77);
  event(0);
  is(ThreadOrdering::Joined, 0, 77);
  event(0);
  expect({{1, 3}, {3, 5}});
}

TEST_F(ThreadLinksTest, AThreadThatDidNothingBeforeItMadeAnother) {
  event(0);
  is(ThreadOrdering::Made, 0, 4);
  m_threads.made(4, 1, 4, 1);
  m_threads.made(5, 5, 1, 1);  // by lane 4, which logged nothing
  event(5);
  expect({{1, 2}});
}

TEST_F(ThreadLinksTest, APThreadTIsUsedAgain) {
  event(1);
  is(ThreadOrdering::Ended, 1, 77);
  event(2);
  is(ThreadOrdering::Ended, 2, 77);
  is(ThreadOrdering::Joined, 3, 77);
  event(3);
  expect({{2, 3}});
}

TEST_F(ThreadLinksTest, ABarrierOrdersNotWhatComesAfterIt) {
  event(1);
  event(2);
  is(ThreadOrdering::Arrived, 1, kLock);
  is(ThreadOrdering::Arrived, 2, kLock);
  is(ThreadOrdering::Left, 1, kLock);
  event(1);
  is(ThreadOrdering::Arrived, 1, kLock);  // the next round, before the other one has left this one
  is(ThreadOrdering::Left, 2, kLock);
  event(2);
  expect({{2, 3}, {1, 4}});
}

TEST(ThreadLinks, EventsFromBeforeThereWereThreads) {
  ThreadLinks threads;
  std::vector<ThreadLink> links;
  threads.event(0, 1, links);
  threads.event(0, 2, links);
  threads.made(0, 0, 1, 2);
  threads.ordered(ThreadOrdering::Made, 0, 1);
  threads.made(1, 1, 1, 2);
  threads.event(1, 3, links);
  EXPECT_TRUE((links == std::vector<ThreadLink>{{2, 3}}));
}

}  // namespace
}  // namespace pf

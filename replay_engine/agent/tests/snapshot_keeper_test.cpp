// SPDX-License-Identifier: GPL-3.0-or-later
// Which snapshots the agent finds on a rank's page, over processes that only sleep. What the page says of others is not believed.
#include "replay_engine/agent/snapshot_keeper.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace pf::agent {
namespace {

/// As rank and agent have it: shared.
class SharedPage {
 public:
  SharedPage()
      : m_memory(::mmap(nullptr, kRankPageSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                        -1, 0)) {}
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;
  ~SharedPage() { ::munmap(m_memory, kRankPageSize); }
  [[nodiscard]] RankPage* page() const { return static_cast<RankPage*>(m_memory); }

 private:
  void* m_memory;
};

void waitWhile(std::atomic<std::uint32_t>& state, std::uint32_t value) {
  while (state.load() == value) {
    ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&state), FUTEX_WAIT, value, nullptr,
              nullptr, 0);
  }
}

class SnapshotKeeperTest : public testing::Test {
 protected:
  /// A child that sleeps as a snapshot does, and ends with status 7 when it is woken.
  /// It has written to `bytes` of memory.
  pid_t sleeper(std::size_t at, std::uint64_t serial, std::size_t bytes = 0) {
    PageSnapshot& place = m_page->snapshots[at];
    place.serial = serial;
    place.state = kSnapshotAsleep;
    std::atomic<std::uint32_t>& written = m_page->gateOpen;
    written = bytes == 0 ? 1 : 0;
    const pid_t pid = ::fork();
    if (pid == 0) {
      const std::vector<char> memory(bytes, 'x');
      written = 1;
      waitWhile(place.state, kSnapshotAsleep);
      ::_exit(place.state.load() == kSnapshotWoken ? 7 : 1);
    }
    place.pid = pid;
    while (written.load() == 0) {
      std::this_thread::yield();
    }
    return pid;
  }
  [[nodiscard]] std::vector<std::uint64_t> serials() const {
    std::vector<std::uint64_t> found;
    for (const SnapshotKeeper::Snapshot& snapshot : m_keeper.all()) {
      found.push_back(snapshot.serial);
    }
    return found;
  }
  static bool lives(pid_t pid) { return ::kill(pid, 0) == 0; }

  SharedPage m_shared;
  RankPage* m_page = m_shared.page();
  SnapshotKeeper m_keeper{*m_page};
};

TEST_F(SnapshotKeeperTest, ThePageSaysWhoseChildrenTheyAre) {
  EXPECT_EQ(m_page->agentPid, ::getpid());
}

TEST_F(SnapshotKeeperTest, TheyAreFoundInTheOrderOfTheirEvents) {
  sleeper(0, 1);
  sleeper(1, 300);
  sleeper(5, 20);
  EXPECT_EQ(serials(), (std::vector<std::uint64_t>{1, 20, 300}));
}

TEST_F(SnapshotKeeperTest, TheLastOneThatIsNotBehindTheEventIsTaken) {
  EXPECT_FALSE(m_keeper.latest(1000));
  sleeper(0, 10);
  const pid_t second = sleeper(1, 20);
  EXPECT_FALSE(m_keeper.latest(9));
  EXPECT_EQ(m_keeper.latest(19)->serial, 10U);
  EXPECT_EQ(m_keeper.latest(20)->pid, second);
  EXPECT_EQ(m_keeper.latest(1000)->pid, second);
}

TEST_F(SnapshotKeeperTest, ThoseThatAreMadeOrWokenJustNowAreNotThere) {
  sleeper(0, 10);
  sleeper(1, 20);
  for (const SnapshotState state : {kNoSnapshot, kSnapshotMaking, kSnapshotWoken}) {
    m_page->snapshots[1].state = state;
    EXPECT_EQ(serials(), std::vector<std::uint64_t>{10}) << state;
  }
}

TEST_F(SnapshotKeeperTest, OneThatIsWokenGoesOn) {
  const pid_t pid = sleeper(0, 10);
  SnapshotKeeper::wake(*m_keeper.latest(10));
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

TEST_F(SnapshotKeeperTest, WhatIsNoChildOfTheAgentIsNeitherFoundNorKilled) {
  // A grandchild, whose parent lives: as any other process of the user's.
  std::atomic<std::int32_t>& told = m_page->snapshots[2].pid;
  const pid_t child = ::fork();
  if (child == 0) {
    const pid_t grandchild = ::fork();
    if (grandchild != 0) {
      told = grandchild;
    }
    while (true) {
      ::pause();
    }
  }
  while (told.load() == 0) {
    std::this_thread::yield();
  }
  m_page->snapshots[2].serial = 5;
  m_page->snapshots[2].state = kSnapshotAsleep;
  std::size_t at = 3;
  for (const pid_t pid : {::getpid(), ::getppid(), pid_t{1}, pid_t{0}, pid_t{-1}, pid_t{-child}}) {
    m_page->snapshots[at].pid = pid;
    m_page->snapshots[at].serial = at;
    m_page->snapshots[at++].state = kSnapshotAsleep;
  }
  EXPECT_EQ(serials(), std::vector<std::uint64_t>{});
  m_keeper.killAll();
  EXPECT_TRUE(lives(told.load()));
  EXPECT_TRUE(lives(child));
  ::kill(told.load(), SIGKILL);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(SnapshotKeeperTest, AllAreEnded) {
  const pid_t pids[] = {sleeper(0, 10), sleeper(1, 20)};
  m_keeper.killAll();
  for (const pid_t pid : pids) {
    EXPECT_FALSE(lives(pid));
  }
}

TEST_F(SnapshotKeeperTest, OnlyWhatIsNoOtherChildIsReaped) {
  const pid_t snapshot = sleeper(0, 10);
  const pid_t rank = ::fork();
  if (rank == 0) {
    ::_exit(3);
  }
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(rank), &info, WEXITED | WNOWAIT), 0);
  SnapshotKeeper::reap({rank});
  int status = 0;
  ASSERT_EQ(::waitpid(rank, &status, 0), rank) << "how the rank has ended is the agent's to see";
  EXPECT_EQ(WEXITSTATUS(status), 3);
  ::kill(snapshot, SIGKILL);
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(snapshot), &info, WEXITED | WNOWAIT), 0);
  SnapshotKeeper::reap({});
  EXPECT_FALSE(lives(snapshot));
}

// -- what is told

TEST_F(SnapshotKeeperTest, TheirMemoryIsToldWithThem) {
  sleeper(0, 10);
  const auto told = m_keeper.news(3);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->rank, 3);
  EXPECT_EQ(told->serials, std::vector<std::uint64_t>{10});
  ASSERT_EQ(told->kilobytes.size(), 1U);
  EXPECT_EQ(told->obstacle, "");
  EXPECT_FALSE(m_keeper.news(3)) << "nothing has changed";
}

TEST_F(SnapshotKeeperTest, TheFirstOnesAreToldAtOnce) {
  EXPECT_FALSE(m_keeper.news(0)) << "there are none";
  sleeper(0, 10);
  EXPECT_TRUE(m_keeper.news(0));
}

TEST_F(SnapshotKeeperTest, MoreOfThemAreToldAWhileLaterAndAnObstacleAtOnce) {
  sleeper(0, 10);
  ASSERT_TRUE(m_keeper.news(0));
  sleeper(1, 20);
  EXPECT_FALSE(m_keeper.news(0)) << "a few times a second are enough";
  EXPECT_TRUE(m_keeper.news(0, true)) << "but not for who asks now";
  m_page->noSnapshots = kThreadsOfProgram;
  const auto told = m_keeper.news(0);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->obstacle, obstacleText(kThreadsOfProgram));
  EXPECT_EQ(told->serials, (std::vector<std::uint64_t>{10, 20}));
}

// -- how much memory they may have

TEST_F(SnapshotKeeperTest, EverySecondIsGivenUpWhereTheyHaveTooMuchButNotTheFirst) {
  std::vector<pid_t> pids;
  for (std::size_t at = 0; at < 4; ++at) {
    pids.push_back(sleeper(at, 10 * at + 10, 8 << 20));
  }
  ASSERT_GE(m_keeper.kilobytesBeside(::getpid()), 4U * 8 * 1024);
  EXPECT_FALSE(m_keeper.keepWithin(::getpid(), 1U << 30));
  EXPECT_EQ(serials().size(), 4U);
  EXPECT_TRUE(m_keeper.keepWithin(::getpid(), 20 * 1024));
  EXPECT_EQ(serials(), (std::vector<std::uint64_t>{10, 30}));
  EXPECT_EQ(m_page->snapshotDistance.load(), 32U);
  EXPECT_EQ(m_page->snapshots[1].state.load(), std::uint32_t{kNoSnapshot});
  for (const std::size_t gone : {1U, 3U}) {
    EXPECT_EQ(::waitpid(pids[gone], nullptr, 0), pids[gone]);
  }
  EXPECT_TRUE(m_keeper.keepWithin(::getpid(), 4 * 1024));
  EXPECT_EQ(serials(), std::vector<std::uint64_t>{10});
  EXPECT_FALSE(m_keeper.keepWithin(::getpid(), 4 * 1024)) << "the first one stays";
  EXPECT_TRUE(lives(pids[0]));
}

TEST_F(SnapshotKeeperTest, WhatTheyShareCostsNothing) {
  std::vector<char> ours(16 << 20, 'x');
  sleeper(0, 10);
  sleeper(1, 20);
  EXPECT_LT(m_keeper.kilobytesBeside(::getpid()), 8U * 1024);
  EXPECT_FALSE(m_keeper.keepWithin(::getpid(), 8 * 1024));
  EXPECT_EQ(ours[5], 'x');
}

TEST(Obstacles, EachHasWordsAndAnUnknownOneToo) {
  EXPECT_EQ(obstacleText(kNoObstacle), "");
  for (const std::uint32_t each :
       {std::uint32_t{kThreadsOfProgram}, std::uint32_t{kRankOfAnotherProcess},
        std::uint32_t{kNoMemoryForSnapshots}, 77U}) {
    EXPECT_GT(obstacleText(each).size(), 10U) << each;
  }
  std::set<std::string> all;
  for (std::uint32_t each = kThreadsOfProgram; each <= kProcessNotSeen; ++each) {
    EXPECT_TRUE(all.insert(obstacleText(each)).second) << each;
    EXPECT_NE(obstacleText(each), obstacleText(77)) << each;
  }
}

}  // namespace
}  // namespace pf::agent

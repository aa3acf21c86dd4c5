// SPDX-License-Identifier: GPL-3.0-or-later
// What several threads, or processes, touch: for the thread sanitizer (preset tsan), and for the
// others as well.
//
// The interposer is looked at as it is used: preloaded into a program whose threads call MPI
// (threaded_rank.c), a job of one rank that needs no launcher. This test is its agent: it makes the
// page, and the schedule of the replay. Under the tsan preset program and interposer are
// instrumented, MPI is not: what MPI does inside is left out.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/log/rank_log.h"
#include "replay_engine/protocol/rank_page.h"
#include "replay_engine/rank/fixed_heap/heap.h"
#include "replay_engine/rank/online_races/clock_board.h"

namespace pf {
namespace {

namespace fs = std::filesystem;

class ThreadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path = (fs::temp_directory_path() / "pf-threads-XXXXXX").string();
    ASSERT_NE(::mkdtemp(path.data()), nullptr);
    m_directory = path;
  }
  void TearDown() override { fs::remove_all(m_directory); }

  [[nodiscard]] std::string in(const std::string& name) const { return m_directory / name; }

  fs::path m_directory;
};

// -- the interposer

constexpr std::uint32_t kRecord = kRecordChoices;

class InterposerThreads : public ThreadsTest {
 protected:
  /// As the agent leaves it when the rank may begin.
  void makePage(std::uint32_t mode, const std::string& log, const std::string& schedule) const {
    const int fd = ::open(in("page").c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ASSERT_GE(fd, 0);
    ASSERT_EQ(::ftruncate(fd, kRankPageSize), 0);
    void* memory = ::mmap(nullptr, kRankPageSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    ASSERT_NE(memory, MAP_FAILED);
    auto* page = new (memory) RankPage();
    page->magic = kRankPageMagic;
    page->version = kRankPageVersion;
    page->mode = page->launchMode = mode;
    page->salt = 7;
    std::snprintf(page->logPath, sizeof page->logPath, "%s", in(log).c_str());
    std::snprintf(page->schedulePath, sizeof page->schedulePath, "%s", in(schedule).c_str());
    std::snprintf(page->earlySchedule, sizeof page->earlySchedule, "%s",
                  schedule.empty() ? "" : in(schedule).c_str());
    std::snprintf(page->boardPath, sizeof page->boardPath, "%s", in("board").c_str());
    page->configured = 1;
    page->gateOpen = 1;
    ::munmap(memory, kRankPageSize);
  }

  /// What it prints; a report of the sanitizer, or any other failure, fails the test.
  std::string runRank(std::uint32_t mode, const std::string& log,
                      const std::string& schedule = "") const {
    makePage(mode, log, schedule);
    const char* options = std::getenv("TSAN_OPTIONS");
    const std::string tsan =
        std::string(options != nullptr ? options : "") + ":ignore_noninstrumented_modules=1";
    const std::string command =
        "timeout -k 5 100 env TSAN_OPTIONS='" + tsan +
        "' OMPI_MCA_ess_singleton_isolated=1 OMPI_MCA_memory=^patcher UCX_MEM_EVENTS=n "
        "OMPI_MCA_btl=self LD_PRELOAD=" THREADS_INTERPOSER " PHOTOFINISH_PAGE=" +
        in("page") + " " THREADS_RANK " >" + in("out") + " 2>" + in("err");
    const int status = std::system(command.c_str());
    EXPECT_EQ(status, 0) << command << '\n' << textOf("err");
    return textOf("out");
  }

  [[nodiscard]] std::string textOf(const std::string& name) const {
    std::ifstream file(in(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  [[nodiscard]] RankLog logOf(const std::string& name) const {
    const std::string text = textOf(name);
    auto log = readLog(std::span(reinterpret_cast<const unsigned char*>(text.data()), text.size()));
    EXPECT_TRUE(log) << log.error().text();
    return log ? *log : RankLog{};
  }

  void makeSchedule(const RankLog& log, const std::string& name) const {
    const std::vector<unsigned char> schedule = compileSchedule(log);
    std::ofstream(in(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(schedule.data()),
               static_cast<std::streamsize>(schedule.size()));
    std::ofstream(in(kSchedulesMade)).put('\n');
  }

  /// Records and replays; gives what was recorded.
  RankLog recordAndReplay(std::uint32_t mode) {
    const std::string recorded = runRank(mode, "recorded.log");
    RankLog log = logOf("recorded.log");
    EXPECT_TRUE(log.complete) << log.cut;
    EXPECT_GE(log.lanes.size(), 4U);
    makeSchedule(log, "schedule");
    for (const std::uint32_t jitter : {std::uint32_t{0}, std::uint32_t{kJitter}}) {
      EXPECT_EQ(runRank(kReplay | kRecordEvents | jitter,
                        "replayed-" + std::to_string(jitter) + ".log", "schedule"),
                recorded);
    }
    return log;
  }
};

TEST_F(InterposerThreads, Choices) {
  recordAndReplay(kRecord);
}

TEST_F(InterposerThreads, Events) {
  const RankLog log = recordAndReplay(kRecord | kRecordEvents);
  EXPECT_FALSE(log.history.threadLinks.empty());
  EXPECT_EQ(log.history.events.size(), log.serials);
}

TEST_F(InterposerThreads, Races) {
  const RankLog log = recordAndReplay(kRecord | kRecordRaces);
  EXPECT_TRUE(log.races);
}

TEST_F(InterposerThreads, Jitter) {
  recordAndReplay(kRecord | kJitter);
}

// -- the board of clocks

/// Ranks as threads, each with its own board on one file, that hand their clocks around as fast as
/// they can: nobody ever knows more than is true.
TEST_F(ThreadsTest, RanksShareABoard) {
  for (const int ranks : {3, online::kInline + 1}) {
    const std::string path = in("board-" + std::to_string(ranks));
    std::vector<std::atomic<std::uint32_t>> ticks(static_cast<std::size_t>(ranks));
    std::atomic<int> wrong = 0;
    const auto rank = [&](int me) {
      online::ClockBoard board;
      if (!board.open(path.c_str(), me, ranks)) {
        ++wrong;
        return;
      }
      for (std::uint32_t round = 1; round <= 3000; ++round) {
        ticks[static_cast<std::size_t>(me)].fetch_add(1);
        board.tick();
        board.publish((me + 1) % ranks, 9, round);
        board.contribute(77, round);
        const int from = (me + ranks - 1) % ranks;
        while (const online::ClockRecord* record = board.next(from)) {
          board.learn(from, *record);
          board.drop(from);
        }
        board.learnContribution((me + 1) % ranks, 77, round);
        for (int other = 0; other < ranks; ++other) {
          wrong += board.known(other) > ticks[static_cast<std::size_t>(other)].load() ? 1 : 0;
        }
      }
    };
    std::vector<std::thread> threads;
    for (int me = 0; me < ranks; ++me) {
      threads.emplace_back(rank, me);
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_EQ(wrong.load(), 0) << ranks << " ranks";
  }
}

// -- memory with --same-addresses

TEST_F(ThreadsTest, ThreadsTakeSlotsOfTheirOwn) {
  constexpr std::size_t kThreads = 4;
  std::vector<std::vector<std::uintptr_t>> taken(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < kThreads; ++number) {
    threads.emplace_back([&taken, number] {
      memory::ThreadHeaps owner;
      owner.key = 5 + number % 2;  // two of them want the same ones
      for (int i = 0; i < 200; ++i) {
        taken[number].push_back(
            memory::takeSlots(owner, memory::kSlotSize * (1 + static_cast<std::size_t>(i % 3))));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::set<std::uintptr_t> slots;
  for (const std::vector<std::uintptr_t>& own : taken) {
    for (std::size_t i = 0; i < own.size(); ++i) {
      ASSERT_NE(own[i], 0U);
      for (std::size_t slot = 0; slot < 1 + i % 3; ++slot) {
        EXPECT_TRUE(slots.insert(own[i] + slot * memory::kSlotSize).second) << "taken twice";
      }
    }
  }
}

}  // namespace
}  // namespace pf

// SPDX-License-Identifier: GPL-3.0-or-later
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "replay_engine/agent/build_id.h"
#include "replay_engine/agent/cycle_counter.h"
#include "replay_engine/agent/log_syncer.h"
#include "replay_engine/agent/proc.h"
#include "replay_engine/agent/rank_page_file.h"
#include "replay_engine/agent/separate_symbols.h"
#include "replay_engine/base/synced_commits.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::agent {
namespace {

TEST(BuildId, IsReadFromThisProgram) {
  const std::string id = buildId("/proc/self/exe");
  EXPECT_EQ(id.size() % 2, 0U);
  EXPECT_GE(id.size(), 16U);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(BuildId, CutOrForeignFilesHaveNone) {
  EXPECT_EQ(buildId("/nonexistent"), "");
  EXPECT_EQ(buildId("/etc/passwd"), "");
  const std::string cut = testing::TempDir() + "cut_elf";
  std::ifstream whole("/proc/self/exe", std::ios::binary);
  std::string bytes(400, '\0');
  whole.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  for (std::size_t size = 0; size < bytes.size(); size += 8) {
    std::ofstream(cut, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(size));
    EXPECT_EQ(buildId(cut), "") << size;
  }
  ::unlink(cut.c_str());
}

TEST(SeparateSymbols, OfTheCLibraryDoNotCount) {
  const std::string directory = testing::TempDir() + "pf_debug_" + std::to_string(::getpid());
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string id = buildId(self);
  const std::vector<Mapping> own{{0x1000, 0x2000, 0, true, self},
                                 {0x3000, 0x4000, 0, true, "/lib/x86_64-linux-gnu/libc.so.6"}};
  EXPECT_TRUE(onlyTheCLibraryIsThere(own, directory));
  EXPECT_FALSE(onlyTheCLibraryIsThere({}, directory)) << "a process that cannot be looked at";
  const auto put = [](const std::string& path) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << "symbols";
  };
  put(directory + "/lib/x86_64-linux-gnu/libc.so.6.debug");
  EXPECT_TRUE(onlyTheCLibraryIsThere(own, directory));
  put(directory + "/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug");
  EXPECT_FALSE(onlyTheCLibraryIsThere(own, directory));
  std::filesystem::remove_all(directory);
  put(directory + self + ".debug");
  EXPECT_FALSE(onlyTheCLibraryIsThere(own, directory));
  std::filesystem::remove_all(directory);
}

/// As a machine that grants the trap and has none.
bool takeTrapAway() {
  std::array<sock_filter, 6> code{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_TSC, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{code.size(), code.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(CycleCounter, IsTriedAndNotBelieved) {
  constexpr int kNoFilter = 2;
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(!takeTrapAway() ? kNoFilter : cycleCounterTraps() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoFilter) {
    GTEST_SKIP() << "no filter of system calls here";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Proc, KnowsStateAndAncestry) {
  EXPECT_EQ(processState(::getpid()), 'R');
  EXPECT_EQ(processState(-1), '\0');
  EXPECT_GE(processTime(::getpid()), 0);
  EXPECT_EQ(processTime(-1), -1);
  EXPECT_TRUE(isDescendant(::getpid(), ::getppid()));
  EXPECT_FALSE(isDescendant(::getppid(), ::getpid()));
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  EXPECT_TRUE(isDescendant(child, ::getpid()));
  ::kill(child, SIGSTOP);
  ::waitpid(child, nullptr, WUNTRACED);
  EXPECT_EQ(processState(child), 'T');
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(isDescendant(child, ::getpid()));
}

TEST(Proc, FindsAProcessThatIsAnotherNumberToItself) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t container = ::fork();
  if (container == 0) {
    pid_t inner = ::unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0 ? ::fork() : -1;
    if (inner == 0) {
      ::pause();
    }
    [[maybe_unused]] const auto written = ::write(pipe[1], &inner, sizeof inner);
    ::pause();
    ::_exit(0);
  }
  pid_t inner = 0;
  ASSERT_EQ(::read(pipe[0], &inner, sizeof inner), static_cast<ssize_t>(sizeof inner));
  if (inner > 0) {
    EXPECT_EQ(nestedProcess(1, container), inner);
    EXPECT_EQ(nestedProcess(2, container), 0);
    EXPECT_EQ(nestedProcess(inner, container), 0) << "that is no number of its own";
    ::kill(inner, SIGKILL);
  }
  ::kill(container, SIGKILL);
  ::waitpid(container, nullptr, 0);
  ::close(pipe[0]);
  ::close(pipe[1]);
  if (inner < 0) {
    GTEST_SKIP() << "no namespaces of users here";
  }
}

TEST(RankPageFile, NonsenseOnThePageIsReadAsSomethingPossible) {
  Result<RankPageFile> file =
      RankPageFile::create(testing::TempDir() + "page-" + std::to_string(::getpid()));
  ASSERT_TRUE(file.ok()) << file.error().text();
  RankPage& page = file->page();
  EXPECT_EQ(page.magic, kRankPageMagic);
  page.phase = 4'000'000'000U;
  page.waitPeer = -77;
  page.logFailed = 0xFFFFFFFFU;
  std::memset(page.mpiLibrary, 'x', sizeof page.mpiLibrary);
  EXPECT_EQ(file->state().phase, RankPhase::Finalized);
  EXPECT_EQ(file->state().waitPeer, -2);
  EXPECT_EQ(file->hello().mpiLibrary.size(), sizeof page.mpiLibrary);
  EXPECT_FALSE(RankPageFile::create(file->path()).ok()) << "never another's file";
}

TEST(RankPageFile, TextsThatDoNotEndEndWithTheirFields) {
  Result<RankPageFile> file =
      RankPageFile::create(testing::TempDir() + "texts-" + std::to_string(::getpid()));
  ASSERT_TRUE(file.ok()) << file.error().text();
  RankPage& page = file->page();
  // All of what is behind each of them, too.
  std::memset(static_cast<void*>(&page), 'x', kRankPageSize);
  page.phase = static_cast<std::uint32_t>(RankPhase::Stopped);
  EXPECT_EQ(file->hello().mpiLibrary, std::string(sizeof page.mpiLibrary, 'x'));
  EXPECT_EQ(file->hello().executable, std::string(sizeof page.executable, 'x'));
  EXPECT_EQ(file->state().call, std::string(sizeof page.waitCall, 'x'));
  EXPECT_EQ(file->divergence().call, std::string(sizeof page.waitCall, 'x'));
  EXPECT_EQ(file->divergence().expected, std::string(sizeof page.expected, 'x'));
  EXPECT_EQ(file->divergence().got, std::string(sizeof page.got, 'x'));
  EXPECT_EQ(file->otherContents().got, std::string(sizeof page.contents, 'x'));
}

TEST(PageWatcher, SeesNews) {
  Result<RankPageFile> file =
      RankPageFile::create(testing::TempDir() + "watch-" + std::to_string(::getpid()));
  ASSERT_TRUE(file.ok());
  const PageWatcher watcher(file->page());
  ::pollfd entry{watcher.fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&entry, 1, 50), 0);
  file->page().toAgent.fetch_add(1);  // not even woken: seen within the watcher's own 200 ms
  EXPECT_EQ(::poll(&entry, 1, 5000), 1);
}

/// While a sync is on its way, the log still names what the one before it has made sure of.
TEST(LogSyncer, NotesInTurnWhichCommitIsOnDisk) {
  const std::string path = testing::TempDir() + "synced_log";
  const UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  ASSERT_EQ(::ftruncate(file.get(), 8192), 0);
  syncEverySecond(path);
  using Words = std::array<std::uint64_t, 2>;
  Words expected{};
  constexpr int kWaits = 3000;  // of 10 ms
  for (const std::uint64_t commit : {11U, 22U, 33U}) {
    ASSERT_EQ(::pwrite(file.get(), &commit, sizeof commit, SyncedCommits::kCommitAt), 8);
    expected[commit / 11U % 2 == 1 ? 0 : 1] = commit;
    Words words{};
    for (int wait = 0; wait < kWaits && words != expected; ++wait) {
      ::usleep(10000);
      ASSERT_EQ(::pread(file.get(), words.data(), sizeof words, SyncedCommits::kAt), 16);
    }
    EXPECT_EQ(words, expected);
  }
  ::unlink(path.c_str());
}

/// Their header has other words where a log's has that.
TEST(LogSyncer, WritesNothingIntoContents) {
  const std::string log = testing::TempDir() + "log_beside_contents";
  const std::string path = testing::TempDir() + "synced_contents";
  const UniqueFd logFile(::open(log.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  ASSERT_EQ(::ftruncate(logFile.get(), 8192), 0);
  const std::string bytes(8192, 'c');
  ASSERT_EQ(::pwrite(file.get(), bytes.data(), bytes.size(), 0), 8192);
  syncContentsEverySecond(path);
  syncEverySecond(log);  // is at it later than the other
  const std::uint64_t commit = 7;
  ASSERT_EQ(::pwrite(logFile.get(), &commit, sizeof commit, SyncedCommits::kCommitAt), 8);
  std::uint64_t word = 0;
  for (int wait = 0; wait < 3000 && word != commit; ++wait) {
    ::usleep(10000);
    ASSERT_EQ(::pread(logFile.get(), &word, sizeof word, SyncedCommits::kAt), 8);
  }
  EXPECT_EQ(word, commit);
  std::string now(8192, '\0');
  ASSERT_EQ(::pread(file.get(), now.data(), now.size(), 0), 8192);
  EXPECT_EQ(now, bytes);
  ::unlink(path.c_str());
  ::unlink(log.c_str());
}

}  // namespace
}  // namespace pf::agent

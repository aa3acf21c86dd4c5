// Writers that are stopped in the middle: by a full disk, by a kill.
#include "patient.h"
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <random>

#include <gtest/gtest.h>

namespace pf::db {
namespace {

/// Leaves `path` in the middle of a change that has reached the file in part.
void interruptChange(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    Result<Database> database = Database::open(path, Database::Access::Update);
    const bool good =
        database.ok() && database->execute("PRAGMA cache_size=1; BEGIN IMMEDIATE").ok() &&
        database->execute("UPDATE column_chunk SET crc32c = 99; UPDATE communicator SET name = 99").ok();
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
}

TEST(Interrupted, isUndoneAtTheNextOpen) {
  const Content content = smallContent();
  for (const auto mode : {TraceStore::Mode::ReadOnly, TraceStore::Mode::ReadWrite}) {
    const Patient patient(content);
    interruptChange(patient.path());
    ASSERT_GT(std::filesystem::file_size(patient.path() + "-journal"), 512U);
    ASSERT_NE(readFile(patient.path()), patient.bytes());
    EXPECT_TRUE(TraceStore::open(patient.path(), mode).ok());
    EXPECT_EQ(readFile(patient.path()), patient.bytes());
    EXPECT_FALSE(std::filesystem::exists(patient.path() + "-journal"));
  }
}

TEST(Interrupted, saysSoWhereItCannotBeUndone) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "needs root to become another user";
  }
  const Patient patient(smallContent());
  interruptChange(patient.path());
  for (const std::string& path : {patient.path(), patient.path() + "-journal"}) {
    std::filesystem::permissions(path, std::filesystem::perms(0444));
  }
  const std::filesystem::path directory = std::filesystem::path(patient.path()).parent_path();
  std::filesystem::permissions(directory, std::filesystem::perms(0555));
  const pid_t child = ::fork();
  if (child == 0) {
    bool good = ::setresuid(65534, 65534, 65534) == 0;
    const Result<TraceStore> store = TraceStore::open(patient.path(), TraceStore::Mode::ReadOnly);
    good = good && !store.ok() && store.error().code == ErrorCode::System &&
           !store.error().advice.empty();
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

/// Else the new file would be taken for the old one in the middle of a change.
TEST(Interrupted, isForgottenWithTheFileThatIsReplaced) {
  const Content content = smallContent();
  const Patient patient(content);
  interruptChange(patient.path());
  Content other = content;
  other.execution.ranks[0].events[1].tag = 5;
  ASSERT_TRUE(writeContent(patient.path(), other).ok());
  const Result<Content> read = readContent(patient.path());
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(dump(*read), dump(other));
}

/// SQLite deletes the "super-journal" that a journal names: a forged one could name any file of the
/// user.
TEST(Interrupted, journalThatNamesAnotherFileIsRefused) {
  const Patient patient(smallContent());
  interruptChange(patient.path());
  std::vector<std::uint8_t> journal = readFile(patient.path() + "-journal");
  for (const std::uint8_t byte :
       std::array<std::uint8_t, 8>{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7}) {
    journal.push_back(byte);
  }
  writeFile(patient.path() + "-journal", journal);
  const Result<TraceStore> store = TraceStore::open(patient.path(), TraceStore::Mode::ReadWrite);
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, ErrorCode::Damaged);
}

/// Writes the content; true if that failed with a clear error and left nothing under the name.
bool failsCleanly(const std::string& path, const Content& content) {
  const Status status = writeContent(path, content);
  return !status.ok() && status.error().code == ErrorCode::System &&
         !status.error().message.empty() && !std::filesystem::exists(path);
}

int inChild(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(body() ? 0 : 1);
  }
  int status = -1;
  return ::waitpid(child, &status, 0) == child ? status : -1;
}

TEST(DiskFull, byALimitIsAnErrorAndLeavesNothing) {
  const Directory directory;
  const Content content = smallContent();
  ASSERT_TRUE(writeContent(directory.file("whole.pft"), content).ok());
  const std::uintmax_t size = std::filesystem::file_size(directory.file("whole.pft"));
  EXPECT_EQ(inChild([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              bool good = true;
              for (std::uintmax_t limit = 0; limit < size; limit += 4096) {
                const rlimit most{limit, RLIM_INFINITY};
                good = good && ::setrlimit(RLIMIT_FSIZE, &most) == 0 &&
                       failsCleanly(directory.file("a.pft"), content);
              }
              return good;
            }),
            0);
  const std::filesystem::directory_iterator files(directory.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(DiskFull, ofASmallDiskIsAnErrorAndLeavesNothing) {
  const Directory directory;
  const Content content = smallContent();
  constexpr int kCannotMount = 77;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", directory.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
      ::_exit(kCannotMount);
    }
    bool good = failsCleanly(directory.file("a.pft"), content) &&
                std::filesystem::is_empty(directory.path());
    const Status status = writeContent(directory.file("a.pft"), content);
    good = good && status.error().message.find("full") != std::string::npos &&
           !status.error().advice.empty();
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotMount) {
    GTEST_SKIP() << "no right to mount a small disk";
  }
  EXPECT_EQ(status, 0);
}

TEST(DiskFull, inALaterSurveyKeepsTheFormer) {
  const Directory directory;
  const Content content = smallContent();
  ASSERT_TRUE(writeContent(directory.file("a.pft"), content).ok());
  Execution large = largeExecution(3, 60000);
  std::mt19937_64 noise;  // does not compress
  for (RankHistory& history : large.ranks) {
    for (Event& event : history.events) {
      event.bytes = noise();
    }
  }
  EXPECT_EQ(inChild([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              const rlimit most{400000, RLIM_INFINITY};
              Result<TraceStore> store =
                  TraceStore::open(directory.file("a.pft"), TraceStore::Mode::ReadWrite);
              return ::setrlimit(RLIMIT_FSIZE, &most) == 0 && store.ok() &&
                     !store->replaceExecution(large, {}, {}).ok() &&
                     dump(*store->readExecution()) == dump(content.execution);
            }),
            0);
  EXPECT_EQ(dump(*readContent(directory.file("a.pft"))), dump(content));
}

bool writeExecution(const std::string& path, const Execution& execution) {
  Result<TraceWriter> writer = TraceWriter::create(path);
  RunInfo run;
  run.ranks = static_cast<std::int32_t>(execution.ranks.size());
  writer->setRun(run);
  return writer->writeExecution(execution, {}, {}).ok() && writer->finish().ok();
}

constexpr int kKills = 40;

/// A moment within `whole`, and a little beyond.
useconds_t momentIn(std::chrono::steady_clock::duration whole, std::mt19937& random) {
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(whole).count();
  return static_cast<useconds_t>(static_cast<long>(random() % 1000) * micros / 700);
}

TEST(Kill, ofAWriterLeavesNothingUnderTheName) {
  const Directory directory;
  const std::string path = directory.file("a.pft");
  const Execution execution = largeExecution(4, 6000);
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(writeExecution(path, execution));
  const auto duration = std::chrono::steady_clock::now() - start;
  std::mt19937 random(3);
  int whole = 0;
  for (int i = 0; i < kKills; ++i) {
    std::filesystem::remove(path);
    const pid_t child = ::fork();
    if (child == 0) {
      ::_exit(writeExecution(path, execution) ? 0 : 1);
    }
    ::usleep(momentIn(duration, random));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (std::filesystem::exists(path)) {
      ++whole;
      EXPECT_TRUE(checkTrace(path).ok() && checkTrace(path)->empty());
    }
  }
  std::printf("killed %d times, %d had finished\n", kKills, whole);
}

TEST(Kill, duringALaterSurveyGivesTheOldOrTheNew) {
  const Directory directory;
  const std::string path = directory.file("a.pft");
  Execution first = largeExecution(4, 4000);
  Execution second = first;
  second.callNames[0] = "MPI_Ssend";
  const std::string old = dump(first);
  Content content;
  content.run.ranks = 4;
  content.execution = first;
  ASSERT_TRUE(writeContent(path, content).ok());
  std::chrono::steady_clock::duration duration{};
  {
    Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadWrite);
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(store.ok() && store->replaceExecution(first, {}, {}).ok());
    duration = 2 * (std::chrono::steady_clock::now() - start);
  }
  std::mt19937 random(5);
  int changed = 0;
  int undone = 0;
  for (int i = 0; i < kKills; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadWrite);
      for (bool forward = i % 2 == 0;; forward = !forward) {
        if (!store.ok() || !store->replaceExecution(forward ? second : first, {}, {}).ok()) {
          ::_exit(1);
        }
      }
    }
    ::usleep(momentIn(duration, random));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    undone += std::filesystem::exists(path + "-journal") ? 1 : 0;
    Result<TraceStore> store = TraceStore::open(path, TraceStore::Mode::ReadOnly);
    ASSERT_TRUE(store.ok()) << store.error().text();
    const Result<Execution> read = store->readExecution();
    ASSERT_TRUE(read.ok()) << read.error().text();
    const std::string now = dump(*read);
    changed += now != old ? 1 : 0;
    EXPECT_TRUE(now == old || now == dump(second));
    EXPECT_TRUE(store->verify()->empty());
  }
  std::printf("killed %d times, %d in the middle, %d times the new execution was there\n", kKills,
              undone, changed);
}

}  // namespace
}  // namespace pf::db

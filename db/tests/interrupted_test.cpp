// SPDX-License-Identifier: GPL-3.0-or-later
// Writers that are stopped in the middle: by a full disk, by a kill.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "db/tests/patient.h"

namespace pf::db {
namespace {

int inChild(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(body() ? 0 : 1);
  }
  int status = -1;
  return ::waitpid(child, &status, 0) == child ? status : -1;
}

/// Leaves `path` in the middle of a change that has reached the file in part.
void interruptChange(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    Result<Database> database = Database::open(path, Database::Access::Update);
    const bool good =
        database.ok() && database->execute("PRAGMA cache_size=1; BEGIN IMMEDIATE").ok() &&
        database->execute("UPDATE column_chunk SET crc32c = 99; UPDATE communicator SET name = 99")
            .ok();
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
}

TEST(Interrupted, isUndoneAtTheNextOpenForWriting) {
  const Content content = smallContent();
  const Patient patient(content);
  interruptChange(patient.path());
  ASSERT_GT(std::filesystem::file_size(patient.path() + "-journal"), 512U);
  ASSERT_NE(readFile(patient.path()), patient.bytes());
  EXPECT_TRUE(TraceStore::open(patient.path(), TraceStore::Mode::ReadWrite).ok());
  EXPECT_EQ(readFile(patient.path()), patient.bytes());
  EXPECT_FALSE(std::filesystem::exists(patient.path() + "-journal"));
}

/// Who only reads changes nothing: neither the trace nor its journal, nor does a copy stay.
TEST(Interrupted, isReadAsItWasBefore) {
  const Content content = smallContent();
  const Patient patient(content);
  interruptChange(patient.path());
  const std::vector<std::uint8_t> half = readFile(patient.path());
  const std::vector<std::uint8_t> journal = readFile(patient.path() + "-journal");
  const Directory temporary;
  ::setenv("TMPDIR", temporary.path().c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  const Result<Content> read = readContent(patient.path());
  const Result<std::vector<Finding>> found = checkTrace(patient.path());
  ::unsetenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(dump(*read), dump(content));
  EXPECT_TRUE(found.ok() && found->empty());
  EXPECT_EQ(readFile(patient.path()), half);
  EXPECT_EQ(readFile(patient.path() + "-journal"), journal);
  EXPECT_TRUE(std::filesystem::is_empty(temporary.path()));
}

/// What is damaged as well is looked at, and saved, as it was before the change.
TEST(Interrupted, isUndoneInTheCopyOfADamagedOne) {
  const Patient patient(smallContent());
  interruptChange(patient.path());
  patient.put(10, 0x5A);  // in the header of the file: of that page the journal knows nothing
  std::vector<std::uint8_t> journal = readFile(patient.path() + "-journal");
  const Result<SalvageReport> report = salvageTrace(patient.path(), patient.file("saved.pft"));
  ASSERT_TRUE(report.ok()) << report.error().text();
  EXPECT_TRUE(report->lost.empty());
  EXPECT_EQ(dump(*readContent(patient.file("saved.pft"))), dump(smallContent()));
  EXPECT_EQ(readFile(patient.path() + "-journal"), journal);
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
    const Result<TraceStore> store = TraceStore::open(patient.path(), TraceStore::Mode::ReadWrite);
    good = good && !store.ok() && store.error().code == ErrorCode::System &&
           !store.error().advice.empty();
    good = good && TraceStore::open(patient.path(), TraceStore::Mode::ReadOnly).ok();
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

/// A journal of `size` bytes or more that begins with `first` and ends in the name of another file:
/// SQLite deletes what is called so, a "super-journal".
std::vector<std::uint8_t> journalNaming(const std::string& name, std::size_t size,
                                        std::uint8_t first) {
  constexpr std::array<std::uint8_t, 8> kMagic{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
  std::vector<std::uint8_t> bytes(kMagic.begin(), kMagic.end());
  bytes[0] = first;
  bytes.resize(std::max<std::size_t>(28, size - std::min(size, name.size() + 16)));
  std::uint32_t sum = 0;
  for (const char letter : name) {
    bytes.push_back(static_cast<std::uint8_t>(letter));
    sum += static_cast<std::uint32_t>(static_cast<signed char>(letter));
  }
  for (const std::uint32_t word : {static_cast<std::uint32_t>(name.size()), sum}) {
    for (const unsigned shift : {24U, 16U, 8U, 0U}) {
      bytes.push_back(static_cast<std::uint8_t>(word >> shift));
    }
  }
  bytes.insert(bytes.end(), kMagic.begin(), kMagic.end());
  return bytes;
}

/// Opens in all ways; the file "victim" beside the trace must outlive them, as the trace must.
void openBeside(const Patient& patient, const std::vector<std::uint8_t>& journal) {
  const std::string beside = patient.path() + "-journal";
  writeFile(patient.file("victim"), {'t', 'h', 'e', 's', 'i', 's'});
  for (const auto mode : {TraceStore::Mode::ReadOnly, TraceStore::Mode::ReadWrite}) {
    writeFile(beside, journal);
    const Result<TraceStore> store = TraceStore::open(patient.path(), mode);
    ASSERT_EQ(store.ok(), journal.empty()) << journal.size();
    if (!store.ok()) {
      EXPECT_EQ(store.error().code, ErrorCode::Damaged);
      EXPECT_FALSE(store.error().advice.empty());
      EXPECT_EQ(readFile(beside), journal);
    }
  }
  static_cast<void>(checkTrace(patient.path()));
  EXPECT_EQ(readFile(patient.file("victim")).size(), 6U) << journal.size();
  EXPECT_EQ(readFile(patient.path()), patient.bytes());
}

TEST(Interrupted, journalThatNamesAnotherFileIsRefused) {
  const Patient patient(smallContent());
  const std::string victim = patient.file("victim");
  std::error_code ignored;
  const std::filesystem::path relative = std::filesystem::relative(victim, ignored);
  for (const std::string& name : {victim, relative.string()}) {
    for (const std::size_t size : {0U, 74U, 511U, 512U, 513U, 600U, 4096U}) {
      for (const std::uint8_t first : {std::uint8_t{0xD9}, std::uint8_t{0}}) {
        openBeside(patient, journalNaming(name, size, first));
      }
    }
  }
  openBeside(patient, {});
  interruptChange(patient.path());
  std::vector<std::uint8_t> journal = readFile(patient.path() + "-journal");
  const std::vector<std::uint8_t> naming = journalNaming(victim, 0, 0xD9);
  journal.insert(journal.end(), naming.begin() + 28, naming.end());
  writeFile(patient.path(), patient.bytes());
  openBeside(patient, journal);
}

/// Whatever is beside the trace under that name and was not written for it stays.
TEST(Interrupted, otherFilesThatAreCalledLikeAJournalStay) {
  const Patient patient(smallContent());
  for (const std::size_t size : {1U, 8U, 27U, 28U, 600U, 5000U}) {
    openBeside(patient, std::vector<std::uint8_t>(size, 'x'));
  }
  const std::string journal = patient.path() + "-journal";
  std::filesystem::remove(journal);
  for (const bool hard : {false, true}) {
    hard ? std::filesystem::create_hard_link(patient.file("victim"), journal)
         : std::filesystem::create_symlink(patient.file("victim"), journal);
    EXPECT_EQ(TraceStore::open(patient.path(), TraceStore::Mode::ReadWrite).error().code,
              ErrorCode::Damaged);
    EXPECT_TRUE(std::filesystem::exists(patient.file("victim")));
    EXPECT_TRUE(std::filesystem::remove(journal));
  }
}

/// The connection itself touches no other file, whatever was checked before.
TEST(Interrupted, noConnectionDeletesWhatAJournalNames) {
  for (const std::size_t size : {74U, 600U}) {
    const Patient patient(smallContent());
    const std::string victim = patient.file("victim");
    writeFile(victim, {'x'});
    writeFile(patient.path() + "-journal", journalNaming(victim, size, 0xD9));
    Result<Database> database = Database::open(patient.path(), Database::Access::Update);
    ASSERT_TRUE(database.ok());
    static_cast<void>(database->execute("SELECT count(*) FROM sqlite_schema"));
    EXPECT_TRUE(std::filesystem::exists(victim));
  }
}

/// A writer that lives has its journal beside the trace, too, and nobody undoes that.
TEST(Interrupted, aWriterAtWorkIsLeftAlone) {
  const Content content = smallContent();
  const Patient patient(content);
  Result<Database> writer = Database::open(patient.path(), Database::Access::Update);
  ASSERT_TRUE(writer->execute("BEGIN IMMEDIATE; UPDATE communicator SET name = 99").ok());
  ASSERT_GT(std::filesystem::file_size(patient.path() + "-journal"), 0U);
  EXPECT_EQ(inChild([&] {
              const Result<Content> read = readContent(patient.path());
              return read.ok() && dump(*read) == dump(content);
            }),
            0);
  EXPECT_TRUE(writer->execute("ROLLBACK").ok());
}

/// Writes the content; true if that failed with a clear error and left nothing under the name.
bool failsCleanly(const std::string& path, const Content& content) {
  const Status status = writeContent(path, content);
  return !status.ok() && status.error().code == ErrorCode::System &&
         !status.error().message.empty() && !std::filesystem::exists(path);
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

// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/rank/tests/rank_run.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <thread>

#include <gtest/gtest.h>

#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/engine/lanes.h"
#include "replay_engine/rank/engine/wrapper_support.h"

// Of a build for coverage: what was counted goes with a process that ends by _exit().
extern "C" __attribute__((weak)) void __gcov_dump();

namespace pf::test {
namespace {

constexpr std::size_t kSaidSize = 1 << 16;
constexpr std::chrono::seconds kLongest{20};

/// Memory that the child writes and the test reads.
char* g_said = nullptr;

void* shared(std::size_t size, int fd) {
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                              MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
  if (memory == MAP_FAILED) {
    std::perror("mmap");
    std::abort();
  }
  return memory;
}

/// In memory, where there is such a place: a run writes half a megabyte, and a disk may be busy.
std::string folderOfRuns() {
  return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : testing::TempDir();
}

/// The directory of one run, and the page in it.
class Place {
 public:
  explicit Place(const RunOptions& options) {
    std::string pattern = folderOfRuns() + "rank_run_XXXXXX";
    m_path = ::mkdtemp(pattern.data());
    const int fd = ::open(pagePath().c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || ::ftruncate(fd, kRankPageSize) != 0) {
      std::perror("the page of a rank");
      std::abort();
    }
    m_page = new (shared(kRankPageSize, fd)) RankPage();
    ::close(fd);
    configure(options);
  }
  ~Place() {
    ::munmap(m_page, kRankPageSize);
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  [[nodiscard]] RankPage& page() { return *m_page; }
  [[nodiscard]] std::string pagePath() const { return m_path + "/page"; }
  [[nodiscard]] std::vector<unsigned char> file(const char* name) const {
    std::ifstream file(m_path + name, std::ios::binary | std::ios::ate);
    std::vector<unsigned char> bytes(file ? static_cast<std::size_t>(file.tellg()) : 0);
    file.seekg(0).read(reinterpret_cast<char*>(bytes.data()),
                       static_cast<std::streamsize>(bytes.size()));
    return bytes;
  }

 private:
  void configure(const RunOptions& options) {
    m_page->magic = kRankPageMagic;
    m_page->version = kRankPageVersion;
    m_page->mode = options.mode;
    m_page->salt = 0x5A17;
    m_page->stopAt = options.stopAt;
    m_page->algorithm = options.algorithm;
    (m_path + "/rank.log").copy(m_page->logPath, sizeof m_page->logPath - 1);
    (m_path + "/board").copy(m_page->boardPath, sizeof m_page->boardPath - 1);
    (m_path + "/schedule").copy(m_page->schedulePath, sizeof m_page->schedulePath - 1);
    if (options.early) {
      m_page->launchMode = options.mode;
      (m_path + "/schedule").copy(m_page->earlySchedule, sizeof m_page->earlySchedule - 1);
    }
    std::ofstream(m_path + "/rank.group", std::ios::binary)
        .write(reinterpret_cast<const char*>(options.group.data()),
               static_cast<std::streamsize>(options.group.size() * sizeof(std::int32_t)));
    std::ofstream(m_path + "/schedule", std::ios::binary)
        .write(reinterpret_cast<const char*>(options.schedule.data()),
               static_cast<std::streamsize>(options.schedule.size()));
    m_page->configured = 1;
  }

  std::string m_path;
  RankPage* m_page = nullptr;
};

[[noreturn]] void runRank(const fake::Script& script, const Program& program,
                          const RunOptions& options, const std::string& page) {
  if (options.mode == 0) {
    ::unsetenv(kRankPageVariable);
  } else {
    ::setenv(kRankPageVariable, page.c_str(), 1);
  }
  fake::begin(script);
  if (options.early) {
    options.early();
  }
  MPI_Init(nullptr, nullptr);
  if (!options.fast) {
    g_rankOnly.fast = false;
  }
  if (options.threads) {
    tellThreadsApart();
  }
  fake::programBegins();
  program();
  MPI_Finalize();
  if (__gcov_dump != nullptr) {
    __gcov_dump();
  }
  _exit(0);
}

void wake(RankPage& page) {
  page.toRank.fetch_add(1);
  ::syscall(SYS_futex, &page.toRank, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// The agent's part: looks at the page, gives orders.
void answer(RankPage& page, RankRun& run) {
  const auto phase = static_cast<RankPhase>(page.phase.load());
  if (phase == RankPhase::Stopped && run.stoppedBefore == 0) {
    run.stoppedBefore = page.serial.load() + 1;
    run.saidBeforeStop = g_said;
    page.stopAt = 0;
    wake(page);
  }
  if (page.contentsAt.load() != 0 && page.contentsSeen.load() == 0) {
    page.contentsSeen = 1;
    wake(page);
  }
}

Ending endingOf(int status) {
  if (!WIFEXITED(status)) {
    return Ending::Crashed;
  }
  switch (WEXITSTATUS(status)) {
    case 0:
      return Ending::Finished;
    case fake::kWaitsForEver:
      return Ending::WaitsForEver;
    case fake::kFatalError:
      return Ending::FatalError;
    case fake::kNotFaked:
      return Ending::NotFaked;
    default:
      return Ending::Crashed;
  }
}

/// Until the rank has ended, or says that it has diverged.
Ending watch(pid_t child, RankPage& page, RankRun& run) {
  const auto until = std::chrono::steady_clock::now() + kLongest;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    const bool diverged = static_cast<RankPhase>(page.phase.load()) == RankPhase::Diverged;
    if (diverged || std::chrono::steady_clock::now() > until) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return diverged ? Ending::Diverged : Ending::WaitsForEver;
    }
    answer(page, run);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return endingOf(status);
}

void readPage(const RankPage& page, RankRun& run) {
  run.events = page.serial;
  run.divergedAt = page.divergedAt;
  run.call = page.waitCall;
  run.expected = page.expected;
  run.got = page.got;
  run.pastEnd = page.pastEnd != 0;
  run.otherContentsAt = page.contentsAt;
  run.requests = page.requests;
  for (std::uint64_t serial = 1; serial <= run.events; ++serial) {
    if (page.past[serial % kPageEvents].serial == serial) {
      run.past.push_back(page.past[serial % kPageEvents]);
    }
  }
  run.inCall = page.inCall;
  run.waitPeer = page.waitPeer;
  run.waitTag = page.waitTag;
}

}  // namespace

void say(const char* format, ...) {
  const std::size_t used = std::strlen(g_said);
  va_list arguments;
  va_start(arguments, format);
  const int more = std::vsnprintf(g_said + used, kSaidSize - used - 1, format, arguments);
  va_end(arguments);
  if (more >= 0 && used + static_cast<std::size_t>(more) + 2 < kSaidSize) {
    g_said[used + static_cast<std::size_t>(more)] = '\n';
  }
}

void sayTaken(const MPI_Status& status, int value) {
  say("took %d from %d tag %d", value, status.MPI_SOURCE, status.MPI_TAG);
}

RankRun run(const fake::Script& script, const Program& program, const RunOptions& options) {
  Place place(options);
  RankRun run;
  g_said = static_cast<char*>(shared(kSaidSize, -1));
  const pid_t child = ::fork();
  if (child == 0) {
    runRank(script, program, options, place.pagePath());
  }
  run.ending = watch(child, place.page(), run);
  readPage(place.page(), run);
  run.said = g_said;
  run.log = place.file("/rank.log");
  run.payload = place.file("/rank.payload");
  ::munmap(g_said, kSaidSize);
  return run;
}

RankRun record(std::uint32_t mode, const fake::Script& script, const Program& program) {
  return run(script, program, {.mode = mode});
}

RankRun replay(const RankRun& recorded, const fake::Script& script, const Program& program) {
  return run(script, program, {.mode = kReplay, .schedule = scheduleOf(recorded)});
}

RankLog logOf(const RankRun& run) {
  Result<RankLog> log = readLog(run.log, true);
  if (!log) {
    ADD_FAILURE() << log.error().message;
    return {};
  }
  return *std::move(log);
}

std::vector<unsigned char> scheduleOf(const RankRun& recorded) {
  return compileSchedule(logOf(recorded));
}

int exchange(const int* sent, int count, int dest, int sendTag, int* received, int source, int tag,
             MPI_Request* request) {
  if (passThrough(__builtin_frame_address(0))) {
    return fake::isendrecv(sent, count, dest, sendTag, received, source, tag, request);
  }
  const Inside inside;
  return onIsendrecv(PF_SITE(kCallIsendrecv), sent, count, MPI_INT, dest, sendTag, received, count,
                     MPI_INT, source, tag, MPI_COMM_WORLD, request);
}

int exchangeInPlace(int* values, int count, int dest, int sendTag, int source, int tag,
                    MPI_Request* request) {
  if (passThrough(__builtin_frame_address(0))) {
    const std::vector<int> copy(values, values + count);
    return fake::isendrecv(copy.data(), count, dest, sendTag, values, source, tag, request);
  }
  const Inside inside;
  return onIsendrecv_replace(PF_SITE(kCallIsendrecv_replace), values, count, MPI_INT, dest, sendTag,
                             source, tag, MPI_COMM_WORLD, request);
}

}  // namespace pf::test

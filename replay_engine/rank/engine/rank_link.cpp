// SPDX-License-Identifier: MIT
#include "replay_engine/rank/engine/rank_link.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "replay_engine/base/crc32c.h"
#include "replay_engine/rank/calls/shown_requests.h"
#include "replay_engine/rank/clocks/clocks.h"
#include "replay_engine/rank/engine/contents.h"
#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/engine/event_times.h"
#include "replay_engine/rank/engine/library_check.h"
#include "replay_engine/rank/engine/python_caller.h"
#include "replay_engine/rank/engine/python_lines.h"
#include "replay_engine/rank/engine/real_calls.h"
#include "replay_engine/rank/engine/send_gates.h"
#include "replay_engine/rank/forcing/shadow.h"
#include "replay_engine/rank/inputs/system_values.h"

// Outside of any namespace: a debugger that has stopped the rank finds it by its name.
extern "C" {
/// How many events the rank has begun; null before MPI_Init.
__attribute__((visibility("hidden"), used)) const std::atomic<std::uint64_t>* pf_events_begun =
    nullptr;
}

namespace pf {
namespace {

void futexWake(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT32_MAX, nullptr,
          nullptr, 0);
}

void say(const char* text) {
  char line[512];
  const int n =
      std::snprintf(line, sizeof line, "photofinish: rank %d: %s\n", g_engine.page->rank, text);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line, static_cast<std::size_t>(n));
}

RankPage* mapPage() {
  const char* path = std::getenv(kRankPageVariable);
  if (path == nullptr) {
    return nullptr;
  }
  const int fd = ::open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) {
    return nullptr;
  }
  void* mapped = mmap(nullptr, kRankPageSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (mapped == MAP_FAILED) {
    return nullptr;
  }
  auto* page = static_cast<RankPage*>(mapped);
  // One rank a page: a program that this rank starts finds it taken and runs as if we were not
  // there.
  std::uint32_t free = 0;
  if (page->magic != kRankPageMagic || page->version != kRankPageVersion ||
      !page->claimed.compare_exchange_strong(free, 1)) {
    munmap(mapped, kRankPageSize);
    return nullptr;
  }
  madvise(mapped, kRankPageSize, MADV_DONTFORK);
  return page;
}

void introduce(RankPage& page) {
  page.pid = getpid();
  PF_REAL(Comm_rank)(MPI_COMM_WORLD, &page.rank);
  PF_REAL(Comm_size)(MPI_COMM_WORLD, &page.size);
  PF_REAL(Query_thread)(&page.threadLevel);
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  PF_REAL(Get_library_version)(version, &length);
  putLibrary(page.mpiLibrary, sizeof page.mpiLibrary, version);
  const ssize_t n = readlink("/proc/self/exe", page.executable, sizeof page.executable - 1);
  page.executable[n > 0 ? n : 0] = '\0';
  sayPython(page);
  // Only now: the agent looks at any moment, and takes what it finds from Hello on.
  page.phase.store(static_cast<std::uint32_t>(RankPhase::Hello), std::memory_order_release);
}

void openLog(const RankPage& page) {
  char path[sizeof page.logPath];
  std::memcpy(path, page.logPath, sizeof path);
  path[sizeof path - 1] = '\0';
  if (!g_engine.log.open(path, page.salt)) {
    char text[2400];
    std::snprintf(text, sizeof text,
                  "not recorded, cannot make the log %s: %s. The program goes on.", path,
                  std::strerror(errno));
    g_engine.page->logFailed.store(static_cast<std::uint32_t>(errno));
    say(text);
    g_engine.record = g_engine.events = false;
    return;
  }
  LogHeader& header = g_engine.log.header();
  header.rank = page.rank;
  header.size = page.size;
  header.pid = page.pid;
  header.threadLevel = page.threadLevel;
  header.events = g_engine.events ? 1 : 0;
  header.statusSource = offsetof(MPI_Status, MPI_SOURCE);
  header.statusStride = sizeof(MPI_Status);
  header.statusTag = offsetof(MPI_Status, MPI_TAG);
  std::memcpy(header.mpiLibrary, page.mpiLibrary, sizeof header.mpiLibrary);
  std::memcpy(header.executable, page.executable, sizeof header.executable);
  for (auto& failedPolls : header.failedPolls) {
    failedPolls.store(std::uint64_t{0xFFFFFFFFU} << 32);
  }
  g_engine.choices.main().inHeader = header.failedPolls;
  header.headerCrc = crc32c(&header.salt, offsetof(LogHeader, commit) - offsetof(LogHeader, salt));
}

const JoinSteps* g_steps = nullptr;

extern "C" void pf_forget_in_child() {
  if (g_engine.copying) {
    return;
  }
  g_steps->inChild();
  g_rankOnly.active = g_rankOnly.fast = false;
  forgetPythonLines();
  g_engine.clocks = nullptr;
  g_engine.log.abandon();
  valuesForget();
}

}  // namespace

void sayOfRank(const char* given) {
  char text[1200];  // names of files are in it: none steers a terminal
  std::size_t size = 0;
  for (; given[size] != '\0' && size + 1 < sizeof text; ++size) {
    const auto byte = static_cast<unsigned char>(given[size]);
    const auto next = static_cast<unsigned char>(given[size + 1]);
    const bool c1 = byte == 0xC2 && next >= 0x80 && next < 0xA0;  // U+0080 to U+009F, as UTF-8
    text[size] = byte < 0x20 || byte == 0x7F || c1 ? '?' : given[size];
  }
  text[size] = '\0';
  if (g_engine.page != nullptr) {
    say(text);
    return;
  }
  char line[1300];
  const int n = std::snprintf(line, sizeof line, "photofinish: %s\n", text);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line, static_cast<std::size_t>(n));
}

void tellAgent() {
  g_engine.page->toAgent.fetch_add(1, std::memory_order_release);
  futexWake(g_engine.page->toAgent);
}

void waitForAgent(std::uint32_t seen) {
  const timespec soon{1, 0};
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&g_engine.page->toRank), FUTEX_WAIT, seen,
          &soon, nullptr, 0);
}

namespace {

/// Waits until the agent says how to run. False: it has gone.
bool awaitConfiguration(RankPage& page) {
  const pid_t parent = getppid();
  while (page.configured.load(std::memory_order_acquire) == 0) {
    const std::uint32_t seen = page.toRank.load(std::memory_order_acquire);
    if (page.configured.load(std::memory_order_acquire) != 0) {
      break;
    }
    if (getppid() != parent) {
      say("its agent has gone: the program runs unrecorded");
      return false;
    }
    waitForAgent(seen);
  }
  return true;
}

void takeModes(const RankPage& page) {
  const std::uint32_t mode = page.mode;
  g_engine.multiple = page.threadLevel == MPI_THREAD_MULTIPLE;
  g_engine.record = (mode & (kRecordChoices | kRecordEvents)) != 0;
  g_engine.events = (mode & kRecordEvents) != 0;
  g_engine.offers = g_engine.events && (mode & kOffers) != 0;
  g_engine.replay = (mode & kReplay) != 0;
  g_engine.jitter = (mode & kJitter) != 0;
  g_engine.holdAfter = (mode & kHoldAfter) != 0;
  const auto rankSeed = static_cast<std::uint64_t>(page.rank + 1) * 0xD1B54A32D192ED03U;
  g_engine.random = (page.jitterSeed * 0x9E3779B97F4A7C15U + rankSeed) | 1U;
}

[[noreturn]] void cannotReplay(const char* expected, const char* why) {
  diverge(CallPlace{kCallInit, __builtin_return_address(0), nullptr}, expected, why);
}

void openReplay(const RankPage& page) {
  const char* why = nullptr;
  if (!g_engine.choices.openSchedule(page.schedulePath, page.rank, page.size, &why)) {
    cannotReplay("a schedule for this rank", why);
  }
  g_engine.contents = startContents();
  if (g_engine.choices.header().threads != 0) {
    PF_REAL(Comm_dup)(MPI_COMM_WORLD, &g_engine.meeting);
  }
  if ((page.mode & kBoundedBuffers) != 0) {
    why = openSendGates(page.schedulePath, page.rank, page.size);
    if (why != nullptr) {
      cannotReplay("gates for this rank", why);
    }
    g_engine.holdAfter = true;
  }
}

/// What the clocks of races and the deliveries of a replay need, once communicators are known.
void startMatching(const RankPage& page) {
  g_engine.comms.start();
  if (g_engine.jitter) {
    startJitter();
  }
  if (const char* why = nullptr; g_engine.replay && !startShadow(&why)) {
    cannotReplay("tags for the deliveries of the recording", why);
  }
  if (g_engine.record &&
      g_engine.routes == nullptr) {  // statuses of routed ones say another source
    showRequests();
  }
  if ((page.mode & kRecordRaces) != 0 && g_engine.record) {
    startClocks();
  }
}

}  // namespace

bool joinAgent(const JoinSteps& steps) {
  RankPage* page = mapPage();
  if (page == nullptr) {
    return false;
  }
  g_engine.page = page;
  if (const char* const why = whyOtherLibrary(); why != nullptr) {
    endForOtherLibrary(why);
  }
  g_steps = &steps;
  if (const char* const why = steps.beforeHello(*page); why != nullptr) {
    page->rank = -1;
    say(why);
    std::abort();  // the program must not run as another job than the recorded one
  }
  pf_events_begun = &page->serial;
  page->outermostAt = reinterpret_cast<std::uint64_t>(&t_outermost);
  introduce(*page);
  prctl(PR_SET_PTRACER, getppid(), 0, 0, 0);
  tellAgent();
  if (!awaitConfiguration(*page)) {
    return false;
  }
  takeModes(*page);
  if (g_engine.record) {
    openLog(*page);
    if (g_engine.events) {
      startEventTimes();
    }
    if (const char* const why = steps.recordingOpened(*page); why != nullptr) {
      say(why);
    }
  }
  if (g_engine.replay) {
    offerPythonLines();
    openReplay(*page);
    if (const char* const why = steps.replayOpened(*page); why != nullptr) {
      cannotReplay("contents of messages from ranks that do not run", why);
    }
  }
  g_engine.contents = g_engine.contents || g_engine.events;
  if (g_engine.replay || g_engine.contents || g_leavesGroup != nullptr) {
    PF_REAL(Comm_dup)(MPI_COMM_SELF, &g_engine.nowhere);
    PF_REAL(Comm_set_errhandler)(g_engine.nowhere, MPI_ERRORS_RETURN);
  }
  keepFromChildren();
  static bool registered = false;
  if (!registered) {
    registered = true;
    pthread_atfork(nullptr, nullptr, pf_forget_in_child);
  }
  startMatching(*page);
  return true;
}

void passGate() {
  RankPage& page = *g_engine.page;
  if ((page.mode & kGate) != 0) {
    page.phase.store(static_cast<std::uint32_t>(RankPhase::Gated), std::memory_order_release);
    tellAgent();
    while (page.gateOpen.load(std::memory_order_acquire) == 0) {
      const std::uint32_t seen = page.toRank.load(std::memory_order_acquire);
      if (page.gateOpen.load(std::memory_order_acquire) == 0) {
        waitForAgent(seen);
      }
    }
    lookAtPythonLines();
  }
  page.phase.store(static_cast<std::uint32_t>(RankPhase::Running), std::memory_order_release);
  tellAgent();
}

}  // namespace pf

// SPDX-License-Identifier: GPL-3.0-or-later
// fake_rank STEP…: plays a rank on its page as the interposer does, without MPI.
//   init       MPI_Init: hello, wait for the configuration, event 1, gate
//   eN         N events                      fin      MPI_Finalize
//   wP:FILE    an event that waits in a call for rank P until FILE exists
//   t:FILE     an event that makes FILE      d        the replay diverges
//   sN         computes N ms                 pause    for ever
//   o:TEXT     a line on stdout              r:TEXT   a line on stderr
//   xN         exits with N                  kN       raises signal N
//   fds        prints its descriptors        env      prints what it got from the agent
//   page       prints how it was configured  count    counts SIGUSR1 from here; printed at the end
//   b          calls breakHere()             child    leaves a child that holds stdout for 3 s
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include "replay_engine/protocol/rank_page.h"

extern "C" __attribute__((noinline)) void breakHere(int value) {
  __asm__ volatile("" : : "r"(value) : "memory");
}

namespace {

using pf::RankPage;
using pf::RankPhase;

RankPage* g_page = nullptr;
volatile std::sig_atomic_t g_usr1 = 0;
bool g_counting = false;

void sleepMs(long ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

void tellAgent() {
  g_page->toAgent.fetch_add(1);
  ::syscall(SYS_futex, &g_page->toAgent, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void waitForAgent(std::uint32_t seen) {
  const timespec soon{1, 0};
  ::syscall(SYS_futex, &g_page->toRank, FUTEX_WAIT, seen, &soon, nullptr, 0);
}

template <typename Condition>
void waitUntil(Condition condition) {
  for (;;) {
    const std::uint32_t seen = g_page->toRank.load();
    if (condition()) {
      return;
    }
    waitForAgent(seen);
  }
}

void enter(RankPhase phase) {
  g_page->phase.store(static_cast<std::uint32_t>(phase));
  tellAgent();
}

bool isTraced() {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  char line[256];
  int tracer = 0;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, "TracerPid:", 10) == 0) {
      tracer = std::atoi(line + 10);
    }
  }
  std::fclose(file);
  return tracer != 0;
}

void stopIfOrdered() {
  const std::uint64_t next = g_page->serial.load() + 1;
  const auto mustStop = [next] {
    const std::uint64_t stopAt = g_page->stopAt.load();
    return stopAt != 0 && next >= stopAt;
  };
  if (!mustStop()) {
    return;
  }
  std::snprintf(g_page->waitCall, sizeof g_page->waitCall, "MPI_Fake");
  enter(RankPhase::Stopped);
  for (;;) {
    const std::uint32_t seen = g_page->toRank.load();
    if (!mustStop()) {
      break;
    }
    if (g_page->trapOnStop.load() != 0 && isTraced()) {
      g_page->trapOnStop.store(0);
      ::raise(SIGTRAP);
      continue;
    }
    waitForAgent(seen);
  }
  enter(RankPhase::Running);
}

void event() {
  stopIfOrdered();
  g_page->serial.fetch_add(1);
}

void init() {
  const int fd = ::open(std::getenv(pf::kRankPageVariable), O_RDWR | O_CLOEXEC);
  g_page = static_cast<RankPage*>(
      ::mmap(nullptr, pf::kRankPageSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  ::close(fd);
  g_page->pid = ::getpid();
  g_page->rank = std::atoi(std::getenv("OMPI_COMM_WORLD_RANK"));
  g_page->size = std::atoi(std::getenv("OMPI_COMM_WORLD_SIZE"));
  const char* level = std::getenv("FAKE_THREAD_LEVEL");
  g_page->threadLevel = level == nullptr ? 0 : std::atoi(level);
  static const void* const outermost =
      nullptr;  // one thread calls MPI, and is in no call that has a frame
  g_page->outermostAt = reinterpret_cast<std::uint64_t>(&outermost);
  std::snprintf(g_page->mpiLibrary, sizeof g_page->mpiLibrary, "Fake MPI 1.0");
  const ssize_t n = ::readlink("/proc/self/exe", g_page->executable, sizeof g_page->executable - 1);
  g_page->executable[n > 0 ? n : 0] = '\0';
  ::prctl(PR_SET_PTRACER, ::getppid(), 0, 0, 0);
  enter(RankPhase::Hello);
  waitUntil([] { return g_page->configured.load() != 0; });
  event();
  if ((g_page->mode & pf::kGate) != 0) {
    enter(RankPhase::Gated);
    waitUntil([] { return g_page->gateOpen.load() != 0; });
  }
  enter(RankPhase::Running);
}

void waitForFile(const std::string& step) {
  event();
  g_page->waitPeer.store(std::atoi(step.c_str() + 1));
  g_page->waitTag.store(7);
  g_page->inCall.store(1);
  const std::string file = step.substr(step.find(':') + 1);
  while (::access(file.c_str(), F_OK) != 0) {
    sleepMs(2);
  }
  g_page->inCall.store(0);
}

void diverge() {
  event();
  g_page->divergedAt = g_page->serial.load();
  std::snprintf(g_page->waitCall, sizeof g_page->waitCall, "MPI_Fake");
  std::snprintf(g_page->expected, sizeof g_page->expected, "source 1");
  std::snprintf(g_page->got, sizeof g_page->got, "source 2");
  enter(RankPhase::Diverged);
  waitUntil([] { return false; });
}

void printDescriptors() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink(entry.path(), error);
    if (std::stoi(entry.path().filename()) > 2 && target.string().rfind("/proc/", 0) != 0) {
      std::printf("fd %s %s\n", entry.path().filename().c_str(), target.c_str());
    }
  }
}

void printEnvironment() {
  std::printf("session %s\n", std::getenv("PHOTOFINISH_SESSION") == nullptr ? "hidden" : "seen");
  std::printf("preload %s\n", std::getenv("LD_PRELOAD"));
  std::printf("preloaded %d\n", ::dlsym(RTLD_DEFAULT, "pfTestPreloaded") != nullptr ? 1 : 0);
}

void printPage() {
  std::printf("mode %u log %s schedule %s salt %llu\n", g_page->mode, g_page->logPath,
              g_page->schedulePath, static_cast<unsigned long long>(g_page->salt));
}

void leaveChild() {
  if (::fork() == 0) {
    sleepMs(3000);
    ::_exit(0);
  }
}

void play(const std::string& step) {
  const long number = std::strtol(step.c_str() + 1, nullptr, 10);
  if (step == "init") {
    init();
  } else if (step == "fin") {
    event();
    enter(RankPhase::Finalized);
  } else if (step == "pause") {
    for (;;) {
      ::pause();
    }
  } else if (step == "fds") {
    printDescriptors();
  } else if (step == "env") {
    printEnvironment();
  } else if (step == "page") {
    printPage();
  } else if (step == "child") {
    leaveChild();
  } else if (step == "b") {
    breakHere(42);
  } else if (step == "d") {
    diverge();
  } else if (step == "count") {
    g_counting = true;
    std::signal(SIGUSR1, [](int) { g_usr1 = g_usr1 + 1; });
    std::printf("ready\n");
  } else if (step[0] == 'e') {
    for (long i = 0; i < number; ++i) {
      event();
      sleepMs(1);
    }
  } else if (step[0] == 'w') {
    waitForFile(step);
  } else if (step[0] == 't') {
    event();
    ::close(::open(step.c_str() + 2, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  } else if (step[0] == 's') {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(number);
    while (std::chrono::steady_clock::now() < end) {
      sleepMs(5);
    }
  } else if (step[0] == 'o') {
    std::printf("%s\n", step.c_str() + 2);
  } else if (step[0] == 'r') {
    std::fprintf(stderr, "%s\n", step.c_str() + 2);
  } else if (step[0] == 'x') {
    std::exit(static_cast<int>(number));
  } else if (step[0] == 'k') {
    ::raise(static_cast<int>(number));
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    play(argv[i]);
  }
  if (g_counting) {
    std::printf("usr1 %d\n", static_cast<int>(g_usr1));
  }
  return 0;
}

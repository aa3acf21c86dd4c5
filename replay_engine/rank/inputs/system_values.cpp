// SPDX-License-Identifier: MIT
#include "replay_engine/rank/inputs/system_values.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "replay_engine/base/crc32c.h"
#include "replay_engine/rank/engine/rank_link.h"
#include "replay_engine/rank/engine/records.h"

namespace pf {

SystemValues g_systemValues;
std::atomic<std::uintptr_t> g_callers[kCallers];

namespace {

/// The schedule that early values come from.
const unsigned char* g_schedule = nullptr;
std::size_t g_scheduleSize = 0;
std::int32_t g_scheduleRank = -1;

std::atomic<void*> g_notes[kNoteKinds];
bool g_noted[kNoteKinds];

extern "C" void pf_environment_in_child() {
  if (!g_engine.copying) {
    valuesForget();
  }
}

// -- before MPI_Init

bool mapSchedule(const char* path) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  struct stat info {};
  void* mapped = MAP_FAILED;
  if (fd >= 0 && fstat(fd, &info) == 0 &&
      info.st_size >= static_cast<off_t>(sizeof(ScheduleHeader))) {
    mapped = mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_SHARED, fd, 0);
  }
  if (fd >= 0) {
    ::close(fd);
  }
  if (mapped == MAP_FAILED) {
    return false;
  }
  if (!isSchedule(mapped)) {
    munmap(mapped, static_cast<std::size_t>(info.st_size));
    return false;
  }
  g_schedule = static_cast<const unsigned char*>(mapped);
  g_scheduleSize = static_cast<std::size_t>(info.st_size);
  g_scheduleRank = static_cast<const ScheduleHeader*>(mapped)->rank;
  return true;
}

const ScheduleHeader& schedule() {
  return *reinterpret_cast<const ScheduleHeader*>(g_schedule);
}

/// The streams up to MPI_Init, or from there on.
void openStreams(bool early) {
  for (std::size_t k = 0; k < kValueKinds; ++k) {
    ValueStream& stream = g_systemValues.streams[k];
    const ScheduleSection& all = schedule().values[k];
    const unsigned char* begin = g_schedule + all.offset;
    const unsigned char* join = begin + schedule().earlyValues[k];
    stream.live = false;
    if (early) {
      stream.at = begin;
      stream.end = join;
      continue;
    }
    // Differences go on over MPI_Init: what the program did not ask for early is read over.
    const bool bytes = shapeOf(static_cast<ValueKind>(k)) == ValueShape::Bytes;
    stream.at = stream.at == nullptr || bytes ? begin : stream.at;
    stream.end = begin + all.size;
    std::int64_t unused = 0;
    double unusedSeconds = 0;
    if (bytes) {
      stream.at = join;
    }
    while (stream.at < join) {
      if (static_cast<ValueKind>(k) == ValueKind::Wtime) {
        recallSeconds(&unusedSeconds);
      } else {
        recallNumber(static_cast<ValueKind>(k), &unused);
      }
    }
  }
}

bool isRecordedProgram() {
  char path[1024];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  path[n > 0 ? n : 0] = '\0';
  return pathHash(path) == schedule().executable;
}

/// The daemon makes the schedules while the program starts.
bool waitForSchedule(const char* path) {
  char made[2100];
  std::snprintf(made, sizeof made, "%s", path);
  if (char* slash = std::strrchr(made, '/'); slash != nullptr) {
    std::snprintf(slash, sizeof made - static_cast<std::size_t>(slash - made), "/%s",
                  kSchedulesMade);
  }
  const pid_t parent = getppid();
  for (int i = 0; i < 60000; ++i) {
    const bool last = ::access(made, F_OK) == 0 || getppid() != parent;
    if (::access(path, F_OK) == 0) {
      return true;
    }
    if (last) {
      return false;
    }
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
  return false;
}

void startReplay(const char* path) {
  if (path[0] == '\0' || !waitForSchedule(path) || !mapSchedule(path)) {
    return;
  }
  if (isRecordedProgram()) {
    g_systemValues.replay = true;
    openStreams(true);
  }
}

/// The clock of files stands still between ticks of the kernel.
constexpr std::int64_t kFilesLag = 12'000'000;

std::int64_t wallClock() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

const RankPage* mapLaunchPage() {
  const InsideLibc inside;
  const char* path = std::getenv(kRankPageVariable);
  const int fd = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) {
    return nullptr;
  }
  void* mapped = mmap(nullptr, kRankPageSize, PROT_READ, MAP_SHARED, fd, 0);
  ::close(fd);
  if (mapped == MAP_FAILED) {
    return nullptr;
  }
  const auto* page = static_cast<const RankPage*>(mapped);
  if (page->magic == kRankPageMagic && page->version == kRankPageVersion &&
      page->claimed.load() == 0) {
    return page;
  }
  unmapLaunchPage(page);
  return nullptr;
}

void unmapLaunchPage(const RankPage* page) {
  munmap(const_cast<RankPage*>(page), kRankPageSize);
}

namespace {

/// The first call that could count: what is to be done in this process?
void wakeUp() {
  g_systemValues.asleep = false;
  g_systemValues.started = wallClock() - kFilesLag;
  const RankPage* page = mapLaunchPage();
  if (page == nullptr) {
    return;
  }
  keepFromChildren();
  g_rankOnly.owner = &t_depth;
  g_systemValues.record = (page->launchMode & (kRecordChoices | kRecordEvents)) != 0;
  if ((page->launchMode & kReplay) != 0) {
    startReplay(page->earlySchedule);
  }
  if (!g_systemValues.record && !g_systemValues.replay) {
    g_rankOnly.owner = nullptr;
  }
  pthread_atfork(nullptr, nullptr, pf_environment_in_child);
  unmapLaunchPage(page);
}

}  // namespace

void* nextSymbolYet(const char* name) {
  const InsideLibc inside;
  return dlsym(RTLD_NEXT, name);
}

void* nextSymbol(const char* name) {
  const InsideLibc inside;
  void* found = nextSymbolYet(name);
  if (found == nullptr) {  // loaded for a module alone: it is not behind us
    if (void* library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD); library != nullptr) {
      found = dlsym(library, name);
    }
  }
  if (found == nullptr) {
    std::fprintf(stderr, "photofinish: the program calls %s, which this system does not have\n",
                 name);
    std::abort();
  }
  return found;
}

// -- whose call it is

namespace {

/// Who looks at what a call has returned looks at its errno as well.
class SameErrno {
 public:
  SameErrno() = default;
  ~SameErrno() { errno = m_errno; }
  SameErrno(const SameErrno&) = delete;
  SameErrno& operator=(const SameErrno&) = delete;

 private:
  const int m_errno = errno;
};

}  // namespace

bool askOther(void* caller) {
  const SameErrno sameErrno;
  if (g_systemValues.asleep) {
    if (t_depth != 0 || syscall(SYS_gettid) != syscall(SYS_getpid)) {
      return false;
    }
    const InsideLibc inside;
    wakeUp();
    return g_rankOnly.owner == &t_depth;
  }
  if (g_rankOnly.owner != nullptr && g_systemValues.joined && g_systemValues.record &&
      t_depth == 0 &&
      g_notes[static_cast<std::size_t>(NotGuaranteedKind::OtherThread)].load(
          std::memory_order_relaxed) == nullptr &&
      learnCaller(caller, __builtin_frame_address(0))) {
    noteUncovered(NotGuaranteedKind::OtherThread, caller);
  }
  return false;
}

bool leftMpi(void* caller, const void* frame) {
  constexpr std::ptrdiff_t kArguments = 96;  // as in passThrough()
  if (static_cast<const char*>(frame) + kArguments < t_outermost || !learnCaller(caller, frame)) {
    return false;
  }
  t_depth = 0;
  return true;
}

bool learnCaller(void* caller, const void* frame) {
  const SameErrno sameErrno;
  const InsideLibc inside;
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  std::atomic<std::uintptr_t>& slot = g_callers[(address ^ address >> 8) % kCallers];
  const std::uintptr_t known = slot.load(std::memory_order_relaxed);
  if (known >> 1 == address) {
    return (known & 1U) != 0;
  }
  bool programs = true;
  if (const char* const name = moduleOf(caller); name != nullptr) {
    constexpr const char* kSystems[] = {"libphotofinish", "libc.so", "ld-linux", "linux-vdso"};
    programs = !beginsWithOne(name, kModuleNames) && !beginsWithOne(name, kSystems);
  } else {
    // Code made at run time is the program's. Not so what GDB calls: it returns to the stack.
    constexpr std::ptrdiff_t kStack = std::ptrdiff_t{1} << 20;
    const std::ptrdiff_t above = static_cast<const char*>(caller) - static_cast<const char*>(frame);
    programs = above < 0 || above > kStack;
  }
  slot.store(address << 1 | (programs ? 1U : 0U), std::memory_order_relaxed);
  return programs;
}

void noteUncovered(NotGuaranteedKind kind, void* caller) {
  if (g_notes[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed) != nullptr) {
    return;
  }
  void* none = nullptr;
  // An address for what has no place.
  caller = caller != nullptr ? caller : reinterpret_cast<void*>(&noteUncovered);
  if (g_notes[static_cast<std::size_t>(kind)].compare_exchange_strong(none, caller)) {
    g_systemValues.notesWaiting.store(1, std::memory_order_release);
    g_systemValues.quick = false;  // the next record writes the note first
  }
}

// -- the life of a rank

void writeNotes() {
  if (!g_systemValues.joined || !g_engine.record) {
    return;
  }
  g_systemValues.notesWaiting.store(0, std::memory_order_relaxed);
  for (std::size_t i = 0; i < kNoteKinds; ++i) {
    void* caller = g_notes[i].load(std::memory_order_acquire);
    if (caller != nullptr && !g_noted[i]) {
      g_noted[i] = true;
      commitSite(RecordKind::Note,
                 CallPlace{static_cast<std::uint16_t>(kFirstNote + i), caller, nullptr});
      g_engine.log.publish();
    }
  }
  g_systemValues.quick = !g_engine.replay && !g_engine.threads;
}

void valuesJoin(bool joined) {
  if (g_systemValues.asleep) {
    g_systemValues.asleep = false;
    g_systemValues.started = wallClock() - kFilesLag;
  }
  g_systemValues.record = joined && g_engine.record;
  if (!joined || (!g_engine.record && !g_engine.replay)) {
    g_rankOnly.owner = nullptr;
    g_systemValues.replay = false;
    return;
  }
  g_rankOnly.owner = &t_depth;
  if (g_engine.record) {
    flushEarly();
  }
  g_systemValues.joined = true;
  keepAskedVariables();
  if (g_systemValues.notesWaiting.load(std::memory_order_relaxed) != 0) {
    writeNotes();
  }
  g_systemValues.quick = g_engine.record && !g_engine.replay && !g_engine.threads;
  if (!g_engine.replay) {
    return;
  }
  const RankPage& page = *g_engine.page;
  const bool early = g_systemValues.replay && g_scheduleRank == page.rank;
  if (!early) {
    std::memset(g_systemValues.streams, 0, sizeof g_systemValues.streams);
    g_systemValues.replay = mapSchedule(page.schedulePath);
  }
  if (!g_systemValues.replay) {
    return;
  }
  for (std::size_t k = 0; !early && k < kValueKinds; ++k) {
    if (schedule().earlyValues[k] != 0) {
      sayOfRank(page.earlySchedule[0] == '\0'
                    ? "the launcher did not tell the rank before MPI_Init: what the program asked "
                      "the system before it was not as recorded"
                    : "this program is not where it was recorded: what it asked the system before "
                      "MPI_Init was not as recorded");
      break;
    }
  }
  openStreams(false);
}

void giveBackValues() {
  madvise(const_cast<unsigned char*>(g_schedule), g_scheduleSize, MADV_DONTNEED);
}

void valuesShare() {
  g_systemValues.quick = false;
}

void valuesFlush() {
  if (g_systemValues.joined && g_systemValues.record) {
    const StateLock lock;
    keepAskedVariables();
    writeNotes();
  }
}

void valuesForget() {
  g_rankOnly.owner = nullptr;
  g_systemValues.record = false;
  g_systemValues.replay = false;
  g_systemValues.quick = false;
}

}  // namespace pf

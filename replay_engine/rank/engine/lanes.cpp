// SPDX-License-Identifier: MIT
// Which thread is which: pthread_create is ours, so that each thread of the application knows who
// made it.
#include "replay_engine/rank/engine/lanes.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "replay_engine/rank/engine/records.h"
#include "replay_engine/rank/engine/thread_order.h"
#include "replay_engine/rank/engine/wrapper_support.h"
#include "replay_engine/rank/inputs/system_values.h"

namespace pf {
namespace {

__thread Lane* t_lane __attribute__((tls_model("initial-exec"))) = nullptr;
__thread bool t_known __attribute__((tls_model("initial-exec"))) = false;

Lane g_mainThread;
Lane* g_live = nullptr;
std::uint32_t g_liveCount = 0;
bool g_threadsMade = false;  // by the application, ever
std::uint32_t g_strangers = 0;

/// Lanes by number. Of those that ended and are not needed any more only that is kept.
Lane** g_lanes = nullptr;
std::uint32_t g_laneCount = 0;
Lane g_gone;

template <typename T>
T* make() {
  void* room = std::calloc(1, sizeof(T));
  if (room == nullptr) {
    std::abort();  // the program cannot go on without memory either
  }
  return new (room) T;
}

pid_t taskId() {
  return static_cast<pid_t>(syscall(SYS_gettid));
}

void drop(Lane* lane) {
  while (lane != nullptr && lane != &g_mainThread && --lane->users == 0) {
    Lane* const parent = lane->parent;
    if (lane->choices != &g_engine.choices.main()) {
      std::free(lane->choices);
    }
    std::free(lane);
    lane = parent;
  }
}

void addLive(Lane& lane) {
  lane.next = g_live;
  if (g_live != nullptr) {
    g_live->previous = &lane;
  }
  g_live = &lane;
  ++g_liveCount;
}

void removeLive(Lane& lane) {
  (lane.previous != nullptr ? lane.previous->next : g_live) = lane.next;
  if (lane.next != nullptr) {
    lane.next->previous = lane.previous;
  }
  --g_liveCount;
}

void keep(Lane& lane) {
  if (lane.number >= g_laneCount) {
    const std::uint32_t size = lane.number + 16;
    auto** more = static_cast<Lane**>(std::realloc(g_lanes, size * sizeof(Lane*)));
    if (more == nullptr) {
      std::abort();  // the program cannot go on without memory either
    }
    for (std::uint32_t i = g_laneCount; i < size; ++i) {
      more[i] = nullptr;
    }
    g_lanes = more;
    g_laneCount = size;
  }
  g_lanes[lane.number] = &lane;
  ++lane.users;
}

/// The thread in the recording, null if it has none that was made this way.
const ScheduleLane* recorded(const Lane& lane, std::uint32_t* number) {
  const ChoiceStreams& choices = g_engine.choices;
  const ScheduleSection& section = choices.header().lanes;
  const auto* lanes = reinterpret_cast<const ScheduleLane*>(choices.section(section));
  const auto count = static_cast<std::uint32_t>(section.size / sizeof(ScheduleLane));
  const std::uint32_t parent = lane.parent != nullptr ? lane.parent->number + 1 : 0;
  for (std::uint32_t i = 1; i < count; ++i) {
    if (lanes[i].parent == parent && lanes[i].ordinal == lane.ordinal && lane.ordinal != 0) {
      *number = i;
      return &lanes[i];
    }
  }
  *number = count;
  return nullptr;
}

/// Fills `lane`, which has got its number.
void makeReady(Lane& lane, const ScheduleLane* schedule) {
  lane.choices = make<LaneChoices>();
  if (g_engine.record && lane.number <= kLanesInHeader) {
    lane.choices->inHeader = g_engine.log.header().laneFailedPolls[lane.number - 1];
    for (std::size_t k = 0; k < kChoiceKinds; ++k) {
      lane.choices->inHeader[k].store(std::uint64_t{0xFFFFFFFFU} << 32, std::memory_order_relaxed);
    }
  }
  if (g_engine.replay) {
    g_engine.choices.openLane(*lane.choices, schedule);
    if (schedule != nullptr) {
      lane.turns = schedule->turns;
      lane.lockTurns = schedule->lockTurns;
    }
  }
  lane.random = (g_engine.random ^ (lane.number * 0x9E3779B97F4A7C15U)) | 1U;
}

void logLane(const Lane& lane) {
  if (g_engine.record) {
    const std::uint32_t parent =
        lane.parent != nullptr && lane.number != 0 ? lane.parent->number + 1 : 0;
    g_engine.log.put<RecordKind::LaneMade>({lane.number, parent, lane.ordinal});
  }
}

/// Numbers a thread, and before it the one that made it.
void giveNumber(Lane& lane) {
  static std::uint32_t next = 1;
  if (lane.number != Lane::kNoLane) {
    return;
  }
  if (lane.parent != nullptr) {
    giveNumber(*lane.parent);
  }
  const ScheduleLane* schedule = nullptr;
  if (g_engine.replay) {
    std::uint32_t found = 0;
    schedule = recorded(lane, &found);
    next = next < found && schedule == nullptr ? found : next;
    lane.number = schedule != nullptr ? found : next++;
  } else {
    lane.number = next++;
  }
  makeReady(lane, schedule);
  keep(lane);
  logLane(lane);
}

/// A thread that our pthread_create did not make calls MPI: which one it is depends on who comes
/// first.
Lane* stranger(const CallPlace& place) {
  auto* lane = make<Lane>();
  if (g_strangers++ == 0 && g_engine.record) {
    noteUnsupported(CallPlace{kCallInit_thread, place.returnAddress, place.slot});
  }
  lane->ordinal = 1 + g_strangers;  // the main thread is 1
  lane->task = taskId();
  addLive(*lane);
  return lane;
}

pthread_key_t g_atEnd;

void atThreadEnd(void* value) {
  Lane* lane = static_cast<Lane*>(value);
  t_lane = nullptr;
  lockState();
  lane->ended = true;
  if (logsThreadOrder()) {
    logThreadEnd(*lane);
  }
  removeLive(*lane);
  showCalls();
  if (lane->number < g_laneCount && g_lanes[lane->number] == lane) {
    g_lanes[lane->number] = &g_gone;
    --lane->users;
    skipTurnsOfEnded();
  }
  drop(lane);
  unlockState();
}

struct LaneStart {
  void* (*routine)(void*);
  void* argument;
  Lane* lane;
};

void* runThread(void* argument) {
  const LaneStart start = *static_cast<LaneStart*>(argument);
  std::free(argument);
  t_lane = start.lane;
  t_known = true;
  start.lane->task = taskId();
  pthread_setspecific(g_atEnd, start.lane);
  return start.routine(start.argument);
}

CreateThread realCreate() {
  static std::atomic<void*> found;
  void* create = found.load(std::memory_order_relaxed);
  if (create == nullptr) {
    create = dlsym(RTLD_NEXT, "pthread_create");
    found.store(create, std::memory_order_relaxed);
  }
  return reinterpret_cast<CreateThread>(create);
}

/// What a new thread begins with. The lock is held.
LaneStart* prepare(Lane& parent, void* (*routine)(void*), void* argument) {
  auto* start = static_cast<LaneStart*>(std::malloc(sizeof(LaneStart)));
  void* room = std::calloc(1, sizeof(Lane));
  if (start == nullptr || room == nullptr) {
    std::free(start);
    std::free(room);
    return nullptr;
  }
  auto* lane = new (room) Lane;
  lane->parent = &parent;
  *start = LaneStart{routine, argument, lane};
  if (!g_threadsMade) {
    g_threadsMade = true;
    pthread_key_create(&g_atEnd, atThreadEnd);
  }
  lane->ordinal = ++parent.children;
  ++parent.users;
  addLive(*lane);  // from now on: it is to come
  return start;
}

}  // namespace

Lane* applicationThread() {
  if (!t_known) {
    t_known = true;
    if (taskId() == static_cast<pid_t>(syscall(SYS_getpid))) {  // no value of the environment's
      t_lane = &g_mainThread;
      g_mainThread.task = taskId();
      g_mainThread.ordinal = 1;
      lockState();
      addLive(g_mainThread);
      unlockState();
    }
  }
  return t_lane;
}

Lane& myLane(const CallPlace& place) {
  Lane* lane = applicationThread();
  if (lane == nullptr || lane->number == Lane::kNoLane) {
    lockState();
    if (lane == nullptr) {
      lane = t_lane = stranger(place);
    }
    giveNumber(*lane);
    unlockState();
  }
  return *lane;
}

Lane* findLane(std::uint32_t number, bool* ended) {
  Lane* lane = number < g_laneCount ? g_lanes[number] : nullptr;
  *ended = lane == &g_gone;
  return *ended ? nullptr : lane;
}

Lane* liveThreads() {
  return g_live;
}

std::uint32_t liveThreadCount() {
  return g_liveCount;
}

void startLanes() {
  Lane* lane = applicationThread();
  if (lane == nullptr) {
    lane = t_lane = make<Lane>();
    lane->task = taskId();
    addLive(*lane);
  }
  lane->number = 0;
  lane->choices = &g_engine.choices.main();
  lane->random = g_engine.random;
  keep(*lane);
}

void joinEarlierThreads() {
  if (g_threadsMade) {
    tellThreadsApart();
  }
}

void tellThreadsApart() {
  if (g_engine.threads || g_engine.page->threadLevel < MPI_THREAD_SERIALIZED) {
    return;
  }
  lockState();
  g_rankOnly.fast = false;
  resolveAll();  // not by several at once
  bool ended = false;
  Lane* const first = findLane(0, &ended);
  if (first != nullptr) {
    logLane(*first);
  }
  if (g_engine.replay) {
    const ScheduleSection& lanes = g_engine.choices.header().lanes;
    if (first != nullptr && lanes.size != 0) {
      const auto* schedule = reinterpret_cast<const ScheduleLane*>(g_engine.choices.section(lanes));
      first->turns = schedule->turns;
      first->lockTurns = schedule->lockTurns;
    }
    startTurns();
  }
  valuesShare();
  g_engine.threads = true;
  g_engine.page->outermostAt = 0;  // the first thread is not the only one to call MPI
  unlockState();
}

void noteThreads(void* caller, const void* frame) {
  constexpr const char* kComputing[] = {"libopenblas", "libblis", "libmkl_"};
  const char* const module = learnCaller(caller, frame) ? moduleOf(caller) : nullptr;
  if (module != nullptr && !beginsWithOne(module, kComputing)) {
    noteUncovered(NotGuaranteedKind::Threads, caller);
  }
}

}  // namespace pf

using namespace pf;

extern "C" PF_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                        void* (*routine)(void*), void* argument) __THROWNL {
  // MPI's own are made in one of its calls, or while its libraries are loaded: UCX makes one then,
  // which is before MPI_Init where Python imports mpi4py.
  const bool ofMpi = t_depth > 0 || isOfMpi(__builtin_return_address(0));
  if (!ofMpi) {
    noteThreads(__builtin_return_address(0), __builtin_frame_address(0));
  }
  Lane* const parent = ofMpi ? nullptr : applicationThread();
  LaneStart* start = nullptr;
  if (parent != nullptr) {
    lockState();
    start = prepare(*parent, routine, argument);
    unlockState();
  }
  if (ofMpi) {
    return createInternalThread(realCreate(), thread, attributes, routine, argument,
                                isOfMpi(__builtin_return_address(0)));
  }
  if (start == nullptr) {
    return realCreate()(thread, attributes, routine, argument);
  }
  if (g_rankOnly.active) {
    tellThreadsApart();
  }
  Lane* const lane = start->lane;
  if (logsThreadOrder()) {
    lockState();
    logThreadMade(*parent, lane->ordinal);
    unlockState();
  }
  const int error = realCreate()(thread, attributes, runThread, start);
  if (error != 0) {
    lockState();
    removeLive(*lane);
    drop(lane);
    unlockState();
    std::free(start);
  }
  return error;
}

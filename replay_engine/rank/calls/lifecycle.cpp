// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <span>

#include "replay_engine/rank/calls/launchers_place.h"
#include "replay_engine/rank/calls/request_batch.h"
#include "replay_engine/rank/clocks/clocks.h"
#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/engine/event_times.h"
#include "replay_engine/rank/engine/lanes.h"
#include "replay_engine/rank/engine/library_check.h"
#include "replay_engine/rank/engine/python_caller.h"
#include "replay_engine/rank/engine/rank_link.h"
#include "replay_engine/rank/engine/real_calls.h"
#include "replay_engine/rank/engine/records.h"
#include "replay_engine/rank/engine/send_halves.h"
#include "replay_engine/rank/engine/wrapper_support.h"
#include "replay_engine/rank/forcing/shadow.h"
#include "replay_engine/rank/group_recording/contents_of_group.h"
#include "replay_engine/rank/inputs/system_values.h"
#include "replay_engine/rank/partial_job/partial_job.h"
#include "replay_engine/rank/recording/choose_sink.h"
#include "replay_engine/rank/snapshots/snapshots.h"

namespace pf {

void* g_real[kCallCount];

namespace {

void* find(void* where, const char* name) {
  void* found = dlsym(where, name);
  // A library that was loaded for itself alone (Python's import) is not behind us: ask for it by
  // name.
  for (const char* library : kLibraryFiles) {
    if (found != nullptr) {
      break;
    }
    if (void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD); handle != nullptr) {
      found = dlsym(handle, name);
    }
  }
  return found;
}

/// Another library's handles and constants mean nothing to us.
void refuseForeign() {
  for (const char* file : kForeignFiles) {
    if (dlopen(file, RTLD_LAZY | RTLD_NOLOAD) != nullptr) {
      char why[256];
      std::snprintf(why, sizeof why,
                    "this program uses %s, but was started as one of %s: start it by the launcher "
                    "of its own MPI library",
                    kForeignLibrary, kLibrary);
      endForOtherLibrary(why);
    }
  }
}

void refuseWithout(const char* name) {
  char why[1200];
  if (const char* const file = loadedMpiFile(); hasStandardAbi(file)) {
    std::snprintf(
        why, sizeof why,
        "the program has loaded %.300s, which has the MPI standard's binary interface, after it "
        "began, and was started as one of %s: name that library before it begins, as in "
        "'LD_PRELOAD=%.300s photofinish record …', for its replay, too",
        file, kLibrary, file);
    endForOtherLibrary(why);
  }
  std::snprintf(why, sizeof why,
                "the program calls MPI, but no %s is loaded that has %s; its MPI library is %s",
                kLibrary, name, loadedMpiFile());
  endForOtherLibrary(why);
}

void* lookUp(void* where, const char* name) {
  void* found = find(where, name);
  if (found == nullptr) {
    refuseWithout(name);
  }
  return found;
}

/// PMPI_X behind us. What is newer than a library, that may have as MPIX_X.
void* findReal(std::uint16_t call) {
  char name[96];
  std::snprintf(name, sizeof name, "P%s", kCallNames[call]);
  if (void* const found = find(RTLD_NEXT, name); found != nullptr) {
    return found;
  }
  std::snprintf(name, sizeof name, "PMPIX%s", kCallNames[call] + std::strlen("MPI"));
  if (void* const found = find(RTLD_NEXT, name); found != nullptr) {
    return found;
  }
  // MPICH 5's libmpi_abi has MPI_File_close only.
  return dlsym(RTLD_NEXT, kCallNames[call]);
}

}  // namespace

void* resolveReal(std::uint16_t call) {
  static bool known = false;
  if (!known) {
    refuseForeign();
    known = true;
  }
  g_real[call] = findReal(call);
  if (g_real[call] == nullptr) {
    refuseWithout(kCallNames[call]);
  }
  return g_real[call];
}

void* resolveNext(const char* name, std::atomic<void*>& known) {
  void* found = known.load(std::memory_order_relaxed);
  if (found == nullptr) {
    found = lookUp(RTLD_NEXT, name);
    known.store(found, std::memory_order_relaxed);
  }
  return found;
}

bool resolveAll() {
  bool all = true;
  for (std::uint16_t i = 0; i < kWrappedCount; ++i) {
    void*& known = g_real[kWrapped[i]];
    if (known == nullptr) {
      known = findReal(kWrapped[i]);
      all = all && (known != nullptr || i >= kDeclaredCount);
    }
  }
  return all;
}

// The program itself may hold the object (copy relocation): not only what is behind us.
void* resolveObject(const char* name) {
  return lookUp(RTLD_DEFAULT, name);
}

namespace {

// -- layers below the engine

const char* joinJob(const RankPage& page) {
  const char* why = nullptr;
  return (page.launchMode & kReplayGroup) == 0 || startPartialJob(page, &why) ? nullptr : why;
}

const char* keepContents(const RankPage& page) {
  const char* why = nullptr;
  return (page.mode & kKeepContents) == 0 || startKeepingContents(page, &why) ? nullptr : why;
}

const char* openContents(const RankPage& page) {
  const char* why = nullptr;
  return (page.mode & kReplayGroup) == 0 || openPartialPayload(page, &why) ? nullptr : why;
}

constexpr JoinSteps kSteps = {joinJob, keepContents, openContents, abandonContents};

void begin(const CallPlace& place) {
  if (g_rankOnly.active) {
    return;
  }
  const bool joined = joinAgent(kSteps);
  valuesJoin(joined);
  if (!joined) {
    return;
  }
  chooseSink();
  startSnapshots(*g_engine.page);
  passGate();  // first: a rank may be told to stop before event 1, and would never come to its gate
  startLanes();
  beginEvent(place);
  sink().local(place);
  g_rankOnly.active = true;
  g_engine.world = MPI_COMM_WORLD;
  g_engine.noComm = MPI_COMM_NULL;
  g_rankOnly.fast = g_engine.record && !g_engine.events && !g_engine.replay && !g_engine.jitter &&
                    !g_engine.multiple && resolveAll();
  joinEarlierThreads();
}

/// Receives that were matched but never observed hold messages that no later receive can get: say
/// which.
void logMatched() {
  for (const Request& request : g_engine.requests) {
    if (!isReceive(request)) {
      continue;
    }
    MPI_Status status;
    int done = 0;
    MPI_Request handle = request.inner() != MPI_REQUEST_NULL ? request.inner() : request.handle;
    const InLayer look;
    if (PF_REAL(Request_get_status)(handle, &done, &status) != MPI_SUCCESS || done == 0) {
      continue;
    }
    restoreStatus(&status, request.routed());
    sink().matched(request, status);
  }
}

}  // namespace

namespace {

template <typename Initialize>
int startMpi(const CallPlace& place, Initialize initialize) {
  lookAtClocks();
  noteProcessBeforeMpi();
  findPython();
  int result = MPI_SUCCESS;
  {
    const LaunchersPlace launchers;
    result = initialize();
  }
  if (result == MPI_SUCCESS && t_depth == 1) {
    begin(place);
  }
  return result;
}

}  // namespace

int onInit(const CallPlace& place, int* argc, char*** argv) {
  return startMpi(place, [&] { return PF_REAL(Init)(argc, argv); });
}

int onInit_thread(const CallPlace& place, int* argc, char*** argv, int required, int* provided) {
  return startMpi(place, [&] { return PF_REAL(Init_thread)(argc, argv, required, provided); });
}

namespace {

/// The record ends.
void end(const CallPlace& place) {
  const StateLock lock;
  beginEvent(place);
  if (g_engine.replay && !g_engine.live && !g_engine.choices.allUsed(g_engine.serial)) {
    diverge(place, "more events before MPI_Finalize", "MPI_Finalize");
  }
  if (g_engine.record) {
    sink().local(place);
    logMatched();
    sink().ends();
    valuesFlush();
    endKeepingContents();
    g_engine.log.put<RecordKind::End>({});
    g_engine.log.close(true);
  }
  letLeftSendsGo();
  endTags();
  for (MPI_Comm* own : {&g_engine.nowhere, &g_engine.meeting}) {
    if (*own != MPI_Comm{}) {
      PF_REAL(Comm_free)(own);
    }
  }
  g_rankOnly.active = false;
}

}  // namespace

namespace {

int afterFinalize(int* flag) {
  *flag = 1;
  return MPI_SUCCESS;
}

/// Without its own threads the library would wait for them: all that is asked of it from now on is whether it has ended.
int finalizeSnapshot() {
  g_real[kCallFinalized] = reinterpret_cast<void*>(&afterFinalize);
  return MPI_SUCCESS;
}

}  // namespace

int onFinalize(const CallPlace& place) {
  g_rankOnly.fast = false;
  end(place);
  RankPage& page = *g_engine.page;
  page.waitPeer.store(-2, std::memory_order_relaxed);
  page.waitTag.store(-1, std::memory_order_relaxed);
  page.inCall.store(1U + place.call, std::memory_order_relaxed);
  jitterEnds();
  page.phase.store(static_cast<std::uint32_t>(RankPhase::Finalized), std::memory_order_release);
  tellAgent();
  keepLoaded();
  const int result = wasSnapshot() ? finalizeSnapshot() : PF_REAL(Finalize)();
  page.inCall.store(0, std::memory_order_relaxed);
  return result;
}

namespace {

/// MPI_Abort of MPICH 4.2.1 may return, before its launcher ends the process. What the rank did until then, to its MPI_Finalize
/// maybe, would be taken for a run that ended well.
void waitForEnd() {
  timespec until{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &until);
  until.tv_sec += 2;
  while (syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0 &&
         errno == EINTR) {  // signals of the program's
  }
}

}  // namespace

int onAbort(const CallPlace& place, MPI_Comm comm, int code) {
  {
    const StateLock lock;
    beginEvent(place);
    sink().local(place);
    if (g_engine.record && !followsClocks()) {
      logMatched();
      sink().publish();
    }
  }
  const InCall inCall(place, RecordKind::Padding, MPI_COMM_NULL, kNoPeer, -1);
  if ((g_engine.page->mode & kHoldAfter) != 0) {
    holdIfDue();
  }
  const int result = PF_REAL(Abort)(comm, code);
  waitForEnd();
  return result;
}

}  // namespace pf

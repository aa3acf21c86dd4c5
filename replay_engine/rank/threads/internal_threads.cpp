// SPDX-License-Identifier: MIT
// Threads that MPI starts for itself: nothing that they do is the program's.
#include <pthread.h>

#include <atomic>
#include <cstdlib>

#include "replay_engine/rank/inputs/system_values.h"

namespace pf {
namespace {

std::atomic<int> g_made = 0;
std::atomic<int> g_ended = 0;
pthread_key_t g_ofThread;
bool g_hasKey = false;
pthread_once_t g_once = PTHREAD_ONCE_INIT;

/// Called at a thread's end, also where it is cancelled, for a key that is not null.
void makeKey() {
  g_hasKey = pthread_key_create(&g_ofThread, [](void*) { g_ended.fetch_add(1); }) == 0;
}

struct Start {
  void* (*routine)(void*);
  void* argument;
  bool counted;
};

void* runInside(void* given) {
  const Start start = *static_cast<Start*>(given);
  std::free(given);
  t_depth = 1;
  t_outermost = kNeverLeft;
  if (start.counted) {
    pthread_setspecific(g_ofThread, &g_made);
  }
  return start.routine(start.argument);
}

}  // namespace

int createInternalThread(CreateThread create, pthread_t* thread, const pthread_attr_t* attributes,
                         void* (*routine)(void*), void* argument, bool ofMpi) {
  auto* start = static_cast<Start*>(std::malloc(sizeof(Start)));
  if (start == nullptr) {
    return create(thread, attributes, routine, argument);
  }
  pthread_once(&g_once, makeKey);
  const bool counted = ofMpi && g_hasKey;
  g_made.fetch_add(counted ? 1 : 0);
  *start = {routine, argument, counted};
  const int error = create(thread, attributes, runInside, start);
  if (error != 0) {
    g_made.fetch_sub(counted ? 1 : 0);
    std::free(start);
  }
  return error;
}

InternalThreads internalThreads() {
  const int ended = g_ended.load();
  return {g_made.load() - ended, ended};
}

}  // namespace pf

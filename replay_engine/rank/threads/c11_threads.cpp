// SPDX-License-Identifier: MIT
// ISO C's threads and locks (<threads.h>). glibc makes them of POSIX's by calls inside of it, which
// nobody can stand between: here they are made of POSIX's by calls that ours see.
#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/engine/lanes.h"
#include "replay_engine/rank/engine/wrapper_support.h"

namespace pf {
namespace {

static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t) &&
              sizeof(thrd_t) == sizeof(pthread_t));

pthread_mutex_t* posix(mtx_t* lock) {
  return reinterpret_cast<pthread_mutex_t*>(lock);
}
pthread_cond_t* posix(cnd_t* condition) {
  return reinterpret_cast<pthread_cond_t*>(condition);
}

int asIso(int error) {
  switch (error) {
    case 0:
      return thrd_success;
    case ENOMEM:
      return thrd_nomem;
    case ETIMEDOUT:
      return thrd_timedout;
    case EBUSY:
      return thrd_busy;
    default:
      return thrd_error;
  }
}

struct IsoStart {
  thrd_start_t routine;
  void* argument;
};

void* runIso(void* given) {
  const IsoStart start = *static_cast<IsoStart*>(given);
  std::free(given);
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(start.routine(start.argument)));
}

}  // namespace
}  // namespace pf

using namespace pf;

extern "C" PF_EXPORT int thrd_create(thrd_t* thread, thrd_start_t routine, void* argument) {
  auto* start = static_cast<IsoStart*>(std::malloc(sizeof(IsoStart)));
  if (start == nullptr) {
    return thrd_nomem;
  }
  *start = {routine, argument};
  if (t_depth == 0) {
    noteThreads(__builtin_return_address(0), __builtin_frame_address(0));
  }
  const int error = pthread_create(thread, nullptr, runIso, start);
  if (error != 0) {
    std::free(start);
  }
  return error == EAGAIN ? thrd_nomem : asIso(error);
}
extern "C" PF_EXPORT int thrd_join(thrd_t thread, int* result) {
  void* value = nullptr;
  const int error = pthread_join(thread, &value);
  if (error == 0 && result != nullptr) {
    *result = static_cast<int>(reinterpret_cast<std::intptr_t>(value));
  }
  return asIso(error);
}
extern "C" PF_EXPORT int mtx_lock(mtx_t* lock) {
  return asIso(pthread_mutex_lock(posix(lock)));
}
extern "C" PF_EXPORT int mtx_trylock(mtx_t* lock) {
  return asIso(pthread_mutex_trylock(posix(lock)));
}
extern "C" PF_EXPORT int mtx_timedlock(mtx_t* lock, const timespec* until) {
  return asIso(pthread_mutex_timedlock(posix(lock), until));
}
extern "C" PF_EXPORT int mtx_unlock(mtx_t* lock) {
  return asIso(pthread_mutex_unlock(posix(lock)));
}
extern "C" PF_EXPORT int cnd_wait(cnd_t* condition, mtx_t* lock) {
  return asIso(pthread_cond_wait(posix(condition), posix(lock)));
}
extern "C" PF_EXPORT int cnd_timedwait(cnd_t* condition, mtx_t* lock, const timespec* until) {
  return asIso(pthread_cond_timedwait(posix(condition), posix(lock), until));
}

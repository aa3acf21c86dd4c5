// SPDX-License-Identifier: MIT
// What threads let go, for others to go on behind them, and barriers; and locks that are taken if
// they are free, whose outcome is not recorded. None of it is a turn: only the order of threads is
// logged (thread_order.h), and in programs without threads these functions only pass on.
#include <pthread.h>
#include <semaphore.h>

#include "replay_engine/rank/engine/thread_order.h"
#include "replay_engine/rank/inputs/system_values.h"

using namespace pf;

#define PF_RELEASE(name, type)                        \
  PF_LIBC(int, name, type* object) {                  \
    if (ordersThreads(__builtin_return_address(0))) { \
      releases(object);                               \
    }                                                 \
    return PF_NEXT(name)(object);                     \
  }
PF_RELEASE(pthread_mutex_unlock, pthread_mutex_t)
PF_RELEASE(pthread_rwlock_unlock, pthread_rwlock_t)
PF_RELEASE(pthread_spin_unlock, pthread_spinlock_t)
PF_RELEASE(sem_post, sem_t)
#undef PF_RELEASE

#define PF_TRY(name, type)                                           \
  PF_LIBC(int, name, type* object) {                                 \
    const int result = PF_NEXT(name)(object);                        \
    if (result == 0 && ordersThreads(__builtin_return_address(0))) { \
      acquires(object);                                              \
    }                                                                \
    return result;                                                   \
  }
PF_TRY(pthread_spin_trylock, pthread_spinlock_t)
PF_TRY(pthread_rwlock_tryrdlock, pthread_rwlock_t)
PF_TRY(pthread_rwlock_trywrlock, pthread_rwlock_t)
PF_TRY(sem_trywait, sem_t)
#undef PF_TRY

PF_LIBC(int, pthread_barrier_wait, pthread_barrier_t* barrier) {
  const bool ordered = ordersThreads(__builtin_return_address(0));
  if (ordered) {
    arrives(barrier);
  }
  const int result = PF_NEXT(pthread_barrier_wait)(barrier);
  if (ordered) {
    leaves(barrier);
  }
  return result;
}

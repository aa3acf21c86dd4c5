// SPDX-License-Identifier: MIT
// Locks that the application's threads take: which thread has one first decides what the threads
// do, and so what they call. The order is recorded with that of the events (turns, lanes.h), once
// there are several threads; in all other programs these functions only pass on.
//
// A replay gives the turn first and takes the lock then. It does not need the signals of a
// condition: the order says when a thread came out of it.
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>

#include <cerrno>
#include <cstring>

#include "replay_engine/rank/engine/lanes.h"
#include "replay_engine/rank/engine/thread_order.h"
#include "replay_engine/rank/engine/wrapper_support.h"
#include "replay_engine/rank/inputs/system_values.h"

namespace pf {
namespace {

bool isOfC(void* function) {
  const char* const name = moduleOf(function);
  return name != nullptr &&
         (std::strncmp(name, "libc.", 5) == 0 || std::strncmp(name, "libpthread", 10) == 0);
}

/// The function behind us.
template <typename Function>
class RealLock {
 public:
  constexpr RealLock(const char* name, const char* version) : m_name(name), m_version(version) {}
  Function* get() {
    void* found = m_found.load(std::memory_order_relaxed);
    if (found == nullptr) [[unlikely]] {
      found = dlsym(RTLD_NEXT, m_name);
      if (m_version != nullptr && isOfC(found)) {  // the next one may be a sanitizer's
        void* const newer = dlvsym(RTLD_NEXT, m_name, m_version);
        found = newer != nullptr ? newer : found;
      }
      m_found.store(found, std::memory_order_relaxed);
    }
    return reinterpret_cast<Function*>(found);
  }

 private:
  const char* m_name;
  const char* m_version;
  std::atomic<void*> m_found = nullptr;
};

// Conditions have an older form of the same name. Looked for when the process begins, as NextRoutine says.
#define PF_BEHIND(name, version, ...)                            \
  constinit RealLock<int(__VA_ARGS__)> g_##name{#name, version}; \
  __attribute__((constructor)) void findBehind_##name() {        \
    g_##name.get();                                              \
  }
PF_BEHIND(pthread_mutex_lock, nullptr, pthread_mutex_t*)
PF_BEHIND(pthread_mutex_trylock, nullptr, pthread_mutex_t*)
PF_BEHIND(pthread_mutex_timedlock, nullptr, pthread_mutex_t*, const timespec*)
PF_BEHIND(pthread_mutex_clocklock, nullptr, pthread_mutex_t*, clockid_t, const timespec*)
PF_BEHIND(pthread_mutex_unlock, nullptr, pthread_mutex_t*)
PF_BEHIND(pthread_spin_lock, nullptr, pthread_spinlock_t*)
PF_BEHIND(pthread_rwlock_rdlock, nullptr, pthread_rwlock_t*)
PF_BEHIND(pthread_rwlock_wrlock, nullptr, pthread_rwlock_t*)
PF_BEHIND(pthread_cond_wait, "GLIBC_2.3.2", pthread_cond_t*, pthread_mutex_t*)
PF_BEHIND(pthread_cond_timedwait, "GLIBC_2.3.2", pthread_cond_t*, pthread_mutex_t*, const timespec*)
PF_BEHIND(pthread_cond_clockwait, nullptr, pthread_cond_t*, pthread_mutex_t*, clockid_t,
          const timespec*)
PF_BEHIND(sem_wait, nullptr, sem_t*)
PF_BEHIND(pthread_join, nullptr, pthread_t, void**)
#undef PF_BEHIND

/// Whether the call that returns to `caller` is one of the application's in a rank with several
/// threads. (An allocator may take locks, for us, too. UCX takes its own where it has patched mmap()
/// and its like, whoever calls these.)
inline bool isOrdered(void* caller) {
  return g_engine.threads && t_depth == 0 && g_rankOnly.active && !hasState() &&
         applicationThread() != nullptr && !isOfMpi(caller);
}

const CallPlace kPlace{kCallInit_thread, nullptr, nullptr};

/// Replay: whether the recording says when this thread takes its next lock.
bool isForced() {
  return g_engine.replay && !turnsUsedUp() && myLane().lockTurns > 0;
}

/// A wait for other threads: where they all wait, the rank does.
class Idle {
 public:
  Idle() { beginIdle(); }
  ~Idle() { endIdle(); }
  Idle(const Idle&) = delete;
  Idle& operator=(const Idle&) = delete;
};

void logOutcome(bool timeWasUp) {
  sink().chose(ChoiceKind::Lock, {timeWasUp ? 1U : 0U});
  sink().publish();
}

/// Replay: waits for the turn of this thread, and takes the lock by `take`.
template <typename Take>
int takeInTurn(Take take, bool mightFail = false, bool timeWasUp = false) {
  lockState();
  takeTurn(kPlace, true);
  if (mightFail) {
    logOutcome(timeWasUp);
  }
  pauseState();
  const int result = take();
  resumeState();
  unlockState();
  return result;
}

/// A lock was taken: files the turn.
void taken() {
  if (g_engine.record && (!g_engine.replay || turnsUsedUp())) {
    lockState();
    takeTurn(kPlace, true);
    unlockState();
  }
}

/// The same where it might have failed.
void takenOr(bool timeWasUp) {
  if (g_engine.record && (!g_engine.replay || turnsUsedUp())) {
    lockState();
    takeTurn(kPlace, true);
    logOutcome(timeWasUp);
    unlockState();
  }
}

/// For the order of the threads: this one has the lock now, if `result` says so.
int acquired(const volatile void* lock, int result) {
  if ((result == 0 || result == EOWNERDEAD) && ordersThreads()) {
    acquires(lock);
  }
  return result;
}

template <typename Take>
int takeLock(const volatile void* lock, Take take) {
  if (isForced()) {
    return acquired(lock, takeInTurn(take));
  }
  const int result = take();
  if (result == 0 || result == EOWNERDEAD) {
    taken();
  }
  return acquired(lock, result);
}

/// What the recording says of a lock that may fail.
NextChoice recordedLock(bool* timeWasUp) {
  const StateLock lock;
  const NextChoice verdict =
      isForced() ? g_engine.choices.next(ChoiceKind::Lock) : NextChoice::Live;
  if (verdict == NextChoice::Hit) {
    *timeWasUp = g_engine.choices.payload(ChoiceKind::Lock) != 0;
  } else if (verdict == NextChoice::FailedPoll) {
    sink().missed(ChoiceKind::Lock);
  }
  return verdict;
}

/// A lock, or a wait, that the recording says the end of.
template <typename Take>
int takeRecorded(bool timeWasUp, Take take) {
  const int result = takeInTurn(take, true, timeWasUp);
  return timeWasUp ? ETIMEDOUT : result;
}

template <typename Take>
int takeTimed(pthread_mutex_t* mutex, Take take) {
  bool timeWasUp = false;
  if (recordedLock(&timeWasUp) == NextChoice::Hit) {
    return acquired(mutex, takeRecorded(timeWasUp, [&] {
                      return timeWasUp ? 0 : g_pthread_mutex_lock.get()(mutex);
                    }));
  }
  const int result = take();
  if (result == 0 || result == ETIMEDOUT) {
    takenOr(result == ETIMEDOUT);
  }
  return acquired(mutex, result);
}

/// Likewise, of a thread that waits for a condition: it has let the mutex go, and has it again.
void letGo(pthread_mutex_t* mutex) {
  if (ordersThreads()) {
    releases(mutex);
  }
}
int hasAgain(pthread_mutex_t* mutex, int result) {
  acquired(mutex, 0);  // whatever it was that ended the wait
  return result;
}

template <typename Wait>
int waitTimed(pthread_mutex_t* mutex, Wait wait) {
  letGo(mutex);
  bool timeWasUp = false;
  if (recordedLock(&timeWasUp) == NextChoice::Hit) {
    g_pthread_mutex_unlock.get()(mutex);
    return hasAgain(mutex,
                    takeRecorded(timeWasUp, [&] { return g_pthread_mutex_lock.get()(mutex); }));
  }
  const int result = wait();
  if (result == 0 || result == ETIMEDOUT) {
    takenOr(result == ETIMEDOUT);
  }
  return hasAgain(mutex, result);
}

}  // namespace
}  // namespace pf

using namespace pf;

extern "C" PF_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) __THROWNL {
  auto* const next = g_pthread_mutex_lock.get();
  return isOrdered(__builtin_return_address(0)) ? takeLock(mutex, [&] { return next(mutex); })
                                                : next(mutex);
}
extern "C" PF_EXPORT int pthread_spin_lock(pthread_spinlock_t* lock) __THROWNL {
  auto* const next = g_pthread_spin_lock.get();
  return isOrdered(__builtin_return_address(0)) ? takeLock(lock, [&] { return next(lock); })
                                                : next(lock);
}
extern "C" PF_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* lock) __THROWNL {
  auto* const next = g_pthread_rwlock_rdlock.get();
  return isOrdered(__builtin_return_address(0)) ? takeLock(lock, [&] { return next(lock); })
                                                : next(lock);
}
extern "C" PF_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* lock) __THROWNL {
  auto* const next = g_pthread_rwlock_wrlock.get();
  return isOrdered(__builtin_return_address(0)) ? takeLock(lock, [&] { return next(lock); })
                                                : next(lock);
}
extern "C" PF_EXPORT int sem_wait(sem_t* semaphore) {
  auto* const next = g_sem_wait.get();
  if (!isOrdered(__builtin_return_address(0))) {
    return next(semaphore);
  }
  if (isForced()) {
    return acquired(semaphore, takeInTurn([&] { return next(semaphore); }));
  }
  int result = 0;
  {
    const Idle idle;
    result = next(semaphore);
  }
  if (result == 0) {
    taken();
  }
  return acquired(semaphore, result);
}

extern "C" PF_EXPORT int pthread_join(pthread_t thread, void** result) {
  auto* const next = g_pthread_join.get();
  if (!isOrdered(__builtin_return_address(0))) {
    return next(thread, result);
  }
  int error = 0;
  {
    const Idle idle;
    error = next(thread, result);
  }
  if (error == 0 && ordersThreads()) {
    logJoined(thread);
  }
  return error;
}

extern "C" PF_EXPORT int pthread_mutex_trylock(pthread_mutex_t* mutex) __THROWNL {
  auto* const next = g_pthread_mutex_trylock.get();
  if (!isOrdered(__builtin_return_address(0))) {
    return next(mutex);
  }
  bool timeWasUp = false;
  const NextChoice verdict = recordedLock(&timeWasUp);
  if (verdict == NextChoice::FailedPoll) {
    return EBUSY;
  }
  if (verdict == NextChoice::Hit) {
    return acquired(mutex, takeRecorded(false, [&] { return g_pthread_mutex_lock.get()(mutex); }));
  }
  const int result = acquired(mutex, next(mutex));
  if (result == 0) {
    takenOr(false);
  } else if (g_engine.record) {
    const StateLock lock;
    sink().missed(ChoiceKind::Lock);
  }
  return result;
}

extern "C" PF_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex,
                                                 const timespec* limit) __THROWNL {
  auto* const next = g_pthread_mutex_timedlock.get();
  timespec moved;
  limit = onKernelsClock(CLOCK_REALTIME, limit, &moved);
  return isOrdered(__builtin_return_address(0))
             ? takeTimed(mutex, [&] { return next(mutex, limit); })
             : next(mutex, limit);
}
extern "C" PF_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                                 const timespec* limit) __THROWNL {
  auto* const next = g_pthread_mutex_clocklock.get();
  timespec moved;
  limit = onKernelsClock(clock, limit, &moved);
  return isOrdered(__builtin_return_address(0))
             ? takeTimed(mutex, [&] { return next(mutex, clock, limit); })
             : next(mutex, clock, limit);
}

extern "C" PF_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  auto* const next = g_pthread_cond_wait.get();
  if (!isOrdered(__builtin_return_address(0))) {
    return next(condition, mutex);
  }
  letGo(mutex);
  if (isForced()) {
    g_pthread_mutex_unlock.get()(mutex);
    return hasAgain(mutex, takeInTurn([&] { return g_pthread_mutex_lock.get()(mutex); }));
  }
  int result = 0;
  {
    const Idle idle;
    result = next(condition, mutex);
  }
  taken();
  return hasAgain(mutex, result);
}
extern "C" PF_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                                const timespec* limit) {
  auto* const next = g_pthread_cond_timedwait.get();
  timespec moved;
  limit = onKernelsClock(clockOf(limit), limit, &moved);
  return isOrdered(__builtin_return_address(0))
             ? waitTimed(mutex, [&] { return next(condition, mutex, limit); })
             : next(condition, mutex, limit);
}
extern "C" PF_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                                clockid_t clock, const timespec* limit) {
  auto* const next = g_pthread_cond_clockwait.get();
  timespec moved;
  limit = onKernelsClock(clock, limit, &moved);
  return isOrdered(__builtin_return_address(0))
             ? waitTimed(mutex, [&] { return next(condition, mutex, clock, limit); })
             : next(condition, mutex, clock, limit);
}

// In a replay the program's clock is the recorded one, the kernel's is not: what waits until a time
// would not wait at all. Such times are moved by the difference between the two.
#include "environment.h"
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

namespace pf {
namespace {

constexpr std::int64_t kNano = 1'000'000'000;
/// Clocks that count from a start of the machine do not get here.
constexpr std::int64_t kSinceTheEpoch = 1'000'000'000;

/// `until` on the kernel's clock; `moved` is room for it.
const timespec* onKernelsClock(clockid_t clock, const timespec* until, timespec* moved) {
  if (!g_environment.replay || &t_depth != g_environment.owner || t_depth > 0 || until == nullptr) {
    return until;
  }
  const std::int64_t told = clock == CLOCK_MONOTONIC ? g_environment.monotonic : g_environment.wall;
  const InsideLibc inside;
  timespec now{};
  if (told == 0 || clock_gettime(clock, &now) != 0) {
    return until;
  }
  const std::int64_t left = until->tv_sec * kNano + until->tv_nsec - told;
  const std::int64_t then = now.tv_sec * kNano + now.tv_nsec + left;
  *moved = {then > 0 ? then / kNano : 0, then > 0 ? then % kNano : 0};
  return moved;
}

/// The clock of a condition variable is among its attributes: the times themselves tell.
clockid_t clockOf(const timespec* until) {
  return until != nullptr && until->tv_sec < kSinceTheEpoch ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

}  // namespace
}  // namespace pf

using namespace pf;

PF_LIBC(int, pthread_cond_timedwait, pthread_cond_t* condition, pthread_mutex_t* mutex,
        const timespec* until) {
  timespec moved;
  return PF_NEXT(pthread_cond_timedwait)(condition, mutex,
                                         onKernelsClock(clockOf(until), until, &moved));
}

PF_LIBC(int, pthread_cond_clockwait, pthread_cond_t* condition, pthread_mutex_t* mutex,
        clockid_t clock, const timespec* until) {
  timespec moved;
  return PF_NEXT(pthread_cond_clockwait)(condition, mutex, clock,
                                         onKernelsClock(clock, until, &moved));
}

PF_LIBC(int, pthread_mutex_timedlock, pthread_mutex_t* mutex, const timespec* until) {
  timespec moved;
  return PF_NEXT(pthread_mutex_timedlock)(mutex, onKernelsClock(CLOCK_REALTIME, until, &moved));
}

PF_LIBC(int, pthread_mutex_clocklock, pthread_mutex_t* mutex, clockid_t clock,
        const timespec* until) {
  timespec moved;
  return PF_NEXT(pthread_mutex_clocklock)(mutex, clock, onKernelsClock(clock, until, &moved));
}

PF_LIBC(int, sem_clockwait, sem_t* semaphore, clockid_t clock, const timespec* until) {
  timespec moved;
  return PF_NEXT(sem_clockwait)(semaphore, clock, onKernelsClock(clock, until, &moved));
}

PF_LIBC(int, sem_timedwait, sem_t* semaphore, const timespec* until) {
  timespec moved;
  return PF_NEXT(sem_timedwait)(semaphore, onKernelsClock(CLOCK_REALTIME, until, &moved));
}

PF_LIBC(int, clock_nanosleep, clockid_t clock, int flags, const timespec* until, timespec* left) {
  timespec moved;
  const bool absolute = (flags & TIMER_ABSTIME) != 0;
  return PF_NEXT(clock_nanosleep)(clock, flags,
                                  absolute ? onKernelsClock(clock, until, &moved) : until, left);
}

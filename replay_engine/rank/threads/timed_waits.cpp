// SPDX-License-Identifier: MIT
// In a replay the program's clock is the recorded one, the kernel's is not: what waits until a time
// would not wait at all. Such times are moved by the difference between the two. (Waits for mutexes
// and conditions: thread_locks.cpp.)
#include <semaphore.h>
#include <time.h>

#include "replay_engine/rank/engine/thread_order.h"
#include "replay_engine/rank/inputs/system_values.h"

namespace pf {
namespace {

constexpr std::int64_t kNanoOfSecond = 1'000'000'000;
/// Clocks that count from a start of the machine do not get here.
constexpr std::int64_t kSinceTheEpoch = 1'000'000'000;

}  // namespace

const timespec* onKernelsClock(clockid_t clock, const timespec* until, timespec* moved) {
  if (!g_systemValues.replay || &t_depth != g_rankOnly.owner || t_depth > 0 || until == nullptr) {
    return until;
  }
  const std::int64_t told =
      clock == CLOCK_MONOTONIC ? g_systemValues.monotonic : g_systemValues.wall;
  const InsideLibc inside;
  timespec now{};
  if (told == 0 || clock_gettime(clock, &now) != 0) {
    return until;
  }
  const std::int64_t left = until->tv_sec * kNanoOfSecond + until->tv_nsec - told;
  const std::int64_t then = now.tv_sec * kNanoOfSecond + now.tv_nsec + left;
  *moved = {then > 0 ? then / kNanoOfSecond : 0, then > 0 ? then % kNanoOfSecond : 0};
  return moved;
}

clockid_t clockOf(const timespec* until) {
  return until != nullptr && until->tv_sec < kSinceTheEpoch ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

}  // namespace pf

using namespace pf;

PF_LIBC(int, sem_clockwait, sem_t* semaphore, clockid_t clock, const timespec* until) {
  timespec moved;
  const int result = PF_NEXT(sem_clockwait)(semaphore, clock, onKernelsClock(clock, until, &moved));
  if (result == 0 && ordersThreads(__builtin_return_address(0))) {
    acquires(semaphore);
  }
  return result;
}

PF_LIBC(int, sem_timedwait, sem_t* semaphore, const timespec* until) {
  timespec moved;
  const int result =
      PF_NEXT(sem_timedwait)(semaphore, onKernelsClock(CLOCK_REALTIME, until, &moved));
  if (result == 0 && ordersThreads(__builtin_return_address(0))) {
    acquires(semaphore);
  }
  return result;
}

PF_LIBC(int, clock_nanosleep, clockid_t clock, int flags, const timespec* until, timespec* left) {
  timespec moved;
  const bool absolute = (flags & TIMER_ABSTIME) != 0;
  return PF_NEXT(clock_nanosleep)(clock, flags,
                                  absolute ? onKernelsClock(clock, until, &moved) : until, left);
}

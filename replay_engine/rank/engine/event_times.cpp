// SPDX-License-Identifier: MIT
#include "replay_engine/rank/engine/event_times.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/inputs/system_values.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstring>
#include <ctime>

namespace pf {

EventClock g_eventClock;

namespace {

constexpr std::uint64_t kNanoseconds = 1000000000;

/// What the clocks show at a tick.
struct ClockLook {
  std::uint64_t ticks = 0;
  std::uint64_t monotonic = 0;  ///< nanoseconds
  std::uint64_t realTime = 0;   ///< nanoseconds
};
ClockLook g_firstLook;
std::uint64_t g_began = 0;  ///< ticks: of what the first event's time counts from

std::uint64_t systemClock(clockid_t clock) {
  timespec now{};
  syscall(SYS_clock_gettime, clock, &now);  // no value of the program's
  return static_cast<std::uint64_t>(now.tv_sec) * kNanoseconds +
         static_cast<std::uint64_t>(now.tv_nsec);
}

inline std::uint64_t ticks() {
#if defined(__x86_64__)
  if (g_eventClock.counts) [[likely]] {
    constexpr unsigned kShift = 4;  // 6 ns or so: then most differences are a byte
    return __builtin_ia32_rdtsc() >> kShift;
  }
#endif
  return systemClock(CLOCK_MONOTONIC);
}

/// Whether the kernel has the counter for its clock, or does not say, and the processor says that
/// it never changes its speed.
bool counterIsSteady() {
#if defined(__x86_64__)
  constexpr unsigned kPowerManagement = 0x80000007;
  constexpr unsigned kInvariant = 1U << 8;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (g_tscTraps || __get_cpuid(kPowerManagement, &a, &b, &c, &d) == 0 || (d & kInvariant) == 0) {
    return false;
  }
  char name[16] = {};
  const int file = ::open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                          O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return true;
  }
  const ssize_t size = ::read(file, name, sizeof name - 1);
  ::close(file);
  return size <= 0 || std::strncmp(name, "tsc", 3) == 0;
#else
  return false;
#endif
}

/// Of a few looks the one that took the shortest time.
ClockLook look() {
  constexpr int kTries = 5;
  ClockLook best;
  std::uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t before = ticks();
    const std::uint64_t monotonic = systemClock(CLOCK_MONOTONIC);
    const std::uint64_t after = ticks();
    if (after - before < shortest) {
      shortest = after - before;
      best.ticks = before + (after - before) / 2;
      best.monotonic = monotonic;
    }
  }
  const std::uint64_t between = systemClock(CLOCK_MONOTONIC) - best.monotonic;
  best.realTime = systemClock(CLOCK_REALTIME) - between;
  return best;
}

void logClock(const ClockLook& seen) {
  g_engine.log.put<RecordKind::Clock>({seen.ticks, seen.monotonic, seen.realTime});
  g_eventClock.noted = seen.ticks;
}

}  // namespace

void lookAtClocks() {
  g_eventClock.counts = counterIsSteady();
  g_firstLook = look();
}

void startEventTimes() {
  constexpr double kLooksASecond = 20;
  if (g_firstLook.monotonic == 0) {  // MPI_Init was not ours to see
    lookAtClocks();
  }
  const ClockLook now = look();
  const std::uint64_t past = now.monotonic - g_firstLook.monotonic;
  const std::uint64_t passed = now.ticks - g_firstLook.ticks;
  const double speed = past == 0 ? 1 : static_cast<double>(passed) / static_cast<double>(past);
  g_eventClock.interval =
      static_cast<std::uint64_t>(speed * (static_cast<double>(kNanoseconds) / kLooksASecond));
  if (past != 0) {
    logClock(g_firstLook);
  }
  logClock(now);
  g_eventClock.last = g_began = now.ticks;
  g_eventClock.inCall = 0;
}

void stampBegin() {
  EventClock& clock = g_eventClock;
  const std::uint64_t now = ticks();
  if (now - clock.noted > clock.interval) [[unlikely]] {
    logClock(look());
    if (clock.last ==
        g_began) {  // no event yet, after a wait at the gate: it counts from this look
      clock.last = g_began = clock.noted;
    }
  }
  const std::uint64_t gap = now > clock.last ? now - clock.last : 0;
  if ((gap | clock.inCall) < 0x80) [[likely]] {  // the record as put() writes it
    g_engine.log.addWord(
        static_cast<std::uint64_t>(RecordKind::Time) | gap << 8 | clock.inCall << 16, 3);
  } else {
    g_engine.log.put<RecordKind::Time>({gap, clock.inCall});
  }
  clock.last += gap;
  clock.inCall = 0;
  clock.moment = false;
}

void stampEnd() {
  EventClock& clock = g_eventClock;
  if (clock.moment) {
    return;
  }
  const std::uint64_t now = ticks();
  if (now > clock.last) {
    clock.inCall += now - clock.last;
    clock.last = now;
  }
}

}  // namespace pf

// Delays that provoke orders of messages which are seldom without them. Short delays at every call
// change little: all ranks are as slow as each other. What makes a message late that always comes
// early is one rank that stands back while others go on: so a rank changes its pace every few
// events, and a slow one waits before it sends for longer than most computations between two
// messages take.
#include "engine.h"
#include "real_calls.h"
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>

namespace pf {
namespace {

enum class Pace : std::uint8_t { Brisk, Uneven, Slow, Halting };

constexpr long kShort = 2'000'000;  ///< nanoseconds, at most: an uneven pace
constexpr long kLong = 60'000'000;  ///< a slow one
/// Long runs must not take for ever: what a rank may wait in all, at its start and for each event.
constexpr long kAtFirst = 200'000'000;
constexpr long kEachEarlyEvent = 2'000'000;
constexpr long kEachEvent = 200'000;
constexpr std::uint64_t kEarly = 200;
constexpr std::uint32_t kLongestPhase = 32;

struct Phase {
  Pace pace = Pace::Brisk;
  std::uint32_t left = 0;  ///< events
  long credit = kAtFirst;
  long load = 0;  ///< factor of long pauses: others must get on in them; 0 = not looked yet
};
Phase g_phase;

/// xorshift64*
std::uint64_t next() {
  std::uint64_t& x = g_engine.random;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  return (x * 0x2545F4914F6CDD1DULL) >> 33;
}

bool sends(std::uint16_t call) {
  const char* name = kCallNames[call];
  return std::strstr(name, "send") != nullptr || std::strstr(name, "Send") != nullptr ||
         std::strstr(name, "_Start") != nullptr;
}

/// More on a machine where several processes share a core: 1 to 4.
long loadFactor() {
  char text[128];
  const int fd = ::open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd < 0 ? -1 : ::read(fd, text, sizeof text - 1);
  ::close(fd);
  text[n > 0 ? n : 0] = '\0';
  long running = 0;
  if (std::sscanf(text, "%*s %*s %*s %ld/", &running) != 1) {
    return 1;
  }
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const long factor = cores > 0 ? running / (2 * cores) : 1;
  return factor < 1 ? 1 : factor > 4 ? 4 : factor;
}

void changePace() {
  const std::uint64_t r = next();
  constexpr Pace kPaces[] = {Pace::Brisk, Pace::Brisk,   Pace::Uneven,  Pace::Slow,
                             Pace::Slow,  Pace::Halting, Pace::Halting, Pace::Halting};
  g_phase.pace = kPaces[r % 8];
  g_phase.left = 1 + static_cast<std::uint32_t>((r >> 3) % kLongestPhase);
}

long longPause(std::uint64_t r) {
  return g_phase.load * (kLong / 2 + static_cast<long>(r % (kLong / 2)));
}

/// Half of the time none.
long shortPause(std::uint64_t r) {
  return (r & 1U) != 0 ? static_cast<long>((r >> 1) % kShort) : 0;
}

long pauseBefore(std::uint16_t call) {
  const std::uint64_t r = next();
  const bool first = g_engine.serial <= 1;  // ranks come out of MPI_Init one after another
  switch (g_phase.pace) {
    case Pace::Slow:
      return sends(call) || first ? longPause(r) : static_cast<long>(r % kShort);
    case Pace::Halting:  // at receives, too: what piles up meanwhile is seen in another order
      return first || (r >> 26) % 6 == 0 ? longPause(r) : shortPause(r);
    case Pace::Uneven:
      return shortPause(r);
    case Pace::Brisk:
      break;
  }
  return 0;
}

}  // namespace

void jitterBefore(std::uint16_t call) {
  if (g_phase.load == 0) {
    // A replay takes the recorded orders anyway: there it is enough that ranks are late at times.
    g_phase.load = g_engine.replay ? 1 : loadFactor();
    g_phase.credit = g_engine.replay ? kAtFirst / 4 : kAtFirst * g_phase.load;
  }
  if (g_phase.left == 0) {
    changePace();
  }
  --g_phase.left;
  if (g_phase.credit < kAtFirst) {
    g_phase.credit += g_engine.serial < kEarly ? kEachEarlyEvent : kEachEvent;
  }
  long pause = pauseBefore(call);
  pause = pause < g_phase.credit ? pause : g_phase.credit;
  g_phase.credit -= pause;
  if (pause > 0) {
    const timespec time{pause / 1'000'000'000, pause % 1'000'000'000};
    nanosleep(&time, nullptr);
  }
}

int provokedSource(int source, int tag, MPI_Comm comm) {
  const bool asks = g_engine.jitter && g_engine.record && !g_engine.replay && !g_engine.threads;
  if (!asks || !isWild(source) || (tag < 0 && tag != MPI_ANY_TAG) || (next() & 1U) != 0) {
    return source;
  }
  int inter = 0;
  int size = 0;
  PF_REAL(Comm_test_inter)(comm, &inter);
  if (inter != 0) {
    PF_REAL(Comm_remote_size)(comm, &size);
  } else {
    PF_REAL(Comm_size)(comm, &size);
  }
  const auto begin = static_cast<int>(next() % 0x40000000U);
  for (int i = 0; i < size; ++i) {
    const int candidate = (begin + i) % size;
    int there = 0;
    if (PF_REAL(Iprobe)(candidate, tag, comm, &there, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
        there != 0) {
      return candidate;
    }
  }
  return source;
}

}  // namespace pf

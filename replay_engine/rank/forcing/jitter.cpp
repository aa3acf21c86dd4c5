// SPDX-License-Identifier: MIT
// Runs that are unlike others, to provoke orders of messages which are seldom without. Short delays
// at every call change little: all ranks are as slow as each other. What makes a message late that
// always comes early is one rank that stands back while others go on. In a recording that is most
// of all a rank that is held until the others have nothing left to do: priorities as in PCT
// (Burckhardt et al., A randomized scheduler with probabilistic guarantees of finding bugs, 2010),
// or one rank that is starved, as rr's chaos mode does. In a part of the runs, and in replays, a
// rank changes its pace every few events instead, and a slow one waits before it sends for longer
// than most computations between two messages take.
#include "replay_engine/rank/forcing/jitter.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "replay_engine/rank/engine/engine.h"

namespace pf {

Jitter g_jitter;

namespace {

enum class Pace : std::uint8_t { Brisk, Uneven, Slow, Halting };

constexpr long kShort = 2'000'000;  ///< nanoseconds, at most: an uneven pace
constexpr long kLong = 60'000'000;  ///< a slow one
/// Long runs must not take for ever: what a rank may wait in all, at its start and for each event.
constexpr long kAtFirst = 200'000'000;
constexpr long kAtFirstHeld = 400'000'000;
constexpr long kEachEarlyEvent = 2'000'000;
constexpr long kEachEvent = 200'000;
constexpr long kEachLateEvent = 20'000;
constexpr std::uint64_t kEarly = 200;
constexpr std::uint64_t kLate = 5000;
constexpr long kHeldMost = 250'000'000;
/// For which all others must have waited: longer than one takes to see that a message is there; in
/// some runs longer than what programs take for "nothing more will come".
constexpr long kGrace = 2'000'000;
constexpr long kLongGrace = 40'000'000;
constexpr std::uint32_t kLongestPhase = 32;
/// What all ranks together may lose, and the part of the run's time that they may besides: if each
/// of them waits for each other's delays, the run takes twice as long, and twice this. In a recording
/// the one that is held waits for the others.
constexpr std::int64_t kReplayLoses = 3'000'000'000;
constexpr std::int64_t kRecordingLoses = 8'000'000'000;
constexpr std::int64_t kPartOfTime = 2;
/// And how often each may pause: on a busy machine whoever has slept waits for a processor, and who
/// waits for him gives up his own.
constexpr std::uint64_t kPauses = 128;
constexpr std::uint64_t kEventsAPause = 256;

struct Phase {
  Pace pace = Pace::Brisk;
  std::uint32_t left = 0;  ///< events
  long load = 1;           ///< factor of long pauses: others must get on in them
};
Phase g_phase;

std::uint64_t scramble(std::uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

bool mayPause() {
  static std::atomic<std::uint64_t> pauses = 0;
  const std::uint64_t events =
      g_engine.page->serial.load(std::memory_order_relaxed);  // by any thread
  if (pauses.load(std::memory_order_relaxed) >= kPauses + events / kEventsAPause) {
    return false;
  }
  pauses.fetch_add(1, std::memory_order_relaxed);
  return true;
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
  const std::uint64_t r = nextRandom();
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
  const std::uint64_t r = nextRandom();
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

long refill() {
  const std::uint64_t serial = g_engine.serial;
  return serial < kEarly ? kEachEarlyEvent : serial < kLate ? kEachEvent : kEachLateEvent;
}

void pauseByPace(std::uint16_t call) {
  if (g_phase.left == 0) {
    changePace();
  }
  --g_phase.left;
  const long pause = std::min(pauseBefore(call), g_jitter.credit);
  if (pause > 0 && mayPause()) {
    spend(pause);
  }
}

/// A rank of a recording, before an event.
void standBack(std::uint16_t call) {
  Jitter& own = g_jitter;
  own.board.say(RankPace::Running);
  if (own.dropsAt != 0 && g_engine.serial >= own.dropsAt) {
    own.dropsAt = 0;
    own.board.setPriority(1 + nextRandom() % 0x10000U);
  }
  const auto never = [] { return false; };
  switch (own.way) {
    case JitterWay::Order:
      if (sends(call)) {
        holdUntilQuiet(RankPace::Held, true, never);
      }
      break;
    case JitterWay::Starve:
      if (own.victim == g_engine.page->rank && g_engine.serial >= own.from && sends(call)) {
        holdUntilQuiet(RankPace::Held, true, never);
      }
      break;
    case JitterWay::PileUp:
      if (const long pause = shortPause(nextRandom());
          pause > 0 && pause < own.credit && mayPause()) {
        spend(pause);
      }
      break;
    case JitterWay::Pace:
      pauseByPace(call);
      break;
  }
}

void chooseWay(const RankPage& page) {
  constexpr JitterWay kWays[] = {JitterWay::Pace,   JitterWay::Pace,   JitterWay::Order,
                                 JitterWay::Order,  JitterWay::Starve, JitterWay::Starve,
                                 JitterWay::Starve, JitterWay::PileUp};
  Jitter& own = g_jitter;
  const std::uint64_t r = scramble(page.jitterSeed);
  own.seed = r;
  own.way = kWays[r % 8];
  own.piles = own.way == JitterWay::PileUp || (own.way != JitterWay::Pace && (r >> 11) % 4 != 0);
  own.favours = own.way != JitterWay::Pace && (r >> 13) % 4 != 0;
  own.grace = ((r >> 15) % 4 == 0 ? kLongGrace : kGrace) * g_phase.load;
  own.most = kHeldMost * g_phase.load;
  own.victim = static_cast<int>((r >> 20) % static_cast<std::uint64_t>(std::max(page.size, 1)));
  own.from = (r >> 40) % 2 == 0 ? 0 : std::uint64_t{1} << ((r >> 41) % 8);
  if (own.way == JitterWay::Order && nextRandom() % 2 == 0) {
    own.dropsAt = (std::uint64_t{1} << (nextRandom() % 10)) + nextRandom() % 4;
  }
  own.board.setPriority(jitterPriority(page.rank));
}

}  // namespace

std::uint64_t nextRandom() {  // xorshift64*
  std::uint64_t& x = g_engine.random;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  return (x * 0x2545F4914F6CDD1DULL) >> 33;
}

std::uint64_t jitterPriority(int worldRank) {
  if (g_jitter.way == JitterWay::Starve && worldRank == g_jitter.victim) {
    return 1;
  }
  return scramble(g_jitter.seed + static_cast<std::uint64_t>(worldRank) + 1) | 0x100000U;
}

bool mayHold() {
  return g_jitter.credit > 4 * g_jitter.grace && mayLose();
}

bool mayLose() {
  const std::int64_t elapsed = jitterNow() - g_jitter.begun;
  return g_jitter.lost.load(std::memory_order_relaxed) <
         g_jitter.share + elapsed / (kPartOfTime * g_jitter.ranks);
}

void lose(long nanoseconds) {
  if (nanoseconds <= 0 || !mayLose()) {
    return;
  }
  const std::int64_t before = jitterNow();
  const timespec time{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  nanosleep(&time, nullptr);
  g_jitter.lost.fetch_add(jitterNow() - before, std::memory_order_relaxed);
}

std::int64_t jitterNow() {
  timespec now{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);  // no value of the program's
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

void spend(long nanoseconds) {
  if (nanoseconds <= 0) {
    return;
  }
  g_jitter.credit -= nanoseconds;
  lose(nanoseconds);
}

void startJitter() {
  const RankPage& page = *g_engine.page;
  g_jitter.begun = jitterNow();
  g_jitter.ranks = std::max(page.size, 1);
  g_jitter.share = (g_engine.replay ? kReplayLoses : kRecordingLoses) / g_jitter.ranks;
  if (g_engine.replay) {
    // A replay takes the recorded orders anyway: there it is enough that ranks are late at times.
    g_jitter.credit = kAtFirst / 4;
    return;
  }
  g_phase.load = loadFactor();
  g_jitter.share *= g_phase.load;
  g_jitter.credit = kAtFirst * g_phase.load;
  char path[sizeof page.boardPath + 8];
  std::snprintf(path, sizeof path, "%.*s.jitter", static_cast<int>(sizeof page.boardPath) - 1,
                page.boardPath);
  if (g_engine.record && page.size > 1 && g_jitter.board.open(path, page.rank, page.size)) {
    g_jitter.credit = kAtFirstHeld * g_phase.load;
    chooseWay(page);
  }
}

void jitterBefore(std::uint16_t call) {
  if (g_jitter.credit < kAtFirst) {
    g_jitter.credit += refill();
  }
  if (g_engine.replay) {
    pauseByPace(call);
  } else {
    standBack(call);
  }
}

void jitterPause(std::uint64_t& x) {
  // xorshift64*; half of the time nothing, else up to 2 ms.
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  const std::uint64_t r = (x * 0x2545F4914F6CDD1DULL) >> 33;
  if ((r & 1U) != 0 && mayPause()) {
    lose(static_cast<long>((r >> 1) % kShort));
  }
}

void jitterInCall(bool inside) {
  g_jitter.board.say(inside ? RankPace::Waiting : RankPace::Running);
}

void jitterMissed() {
  g_jitter.board.say(RankPace::Polling);
  // What comes between two polls is what programs do not expect.
  if (g_jitter.piles && nextRandom() % 32 == 0 && mayHold()) {
    holdUntilQuiet(RankPace::Polling, false, [] { return false; });
  }
}

void jitterEnds() {
  g_jitter.board.say(RankPace::Gone);
}

}  // namespace pf

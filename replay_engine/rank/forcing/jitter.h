// SPDX-License-Identifier: MIT
// Recordings with jitter: how this run is to be unlike others, by its seed. Private to jitter.cpp
// and jittered_choices.cpp; the rest of the interposer uses engine.h.
#pragma once

#include <atomic>
#include <cstdint>

#include "replay_engine/rank/forcing/jitter_board.h"

namespace pf {

/// What a run with jitter does, the same in all of its ranks.
enum class JitterWay : std::uint8_t {
  Pace,    ///< each rank changes its pace every few events
  Order,   ///< ranks have priorities: one sends only when those above it wait
  Starve,  ///< one rank sends only when all others wait
  PileUp,  ///< receivers wait until nobody else can go on, and take anything
};

struct Jitter {
  JitterWay way = JitterWay::Pace;
  bool piles = false;         ///< wildcards wait for more messages before they choose
  bool favours = false;       ///< and take those of ranks with high priorities first
  std::uint64_t seed = 0;     ///< of the run, not of the rank
  std::uint64_t from = 0;     ///< Starve: from this event of the rank on
  std::uint64_t dropsAt = 0;  ///< Order: event at which this rank goes below all others; 0 = none
  int victim = -1;            ///< Starve: world rank
  long grace = 0;             ///< nanoseconds for which all others must have waited
  long most = 0;              ///< and the most that one call is held
  long credit = 0;            ///< nanoseconds that this rank may still lose
  std::int64_t begun = 0;     ///< when the run began, as jitterNow()
  std::int64_t share = 0;     ///< of what the run may lose in any case: this rank's, nanoseconds
  std::int64_t ranks = 1;     ///< that lose time one after another, at worst
  std::atomic<std::int64_t> lost = 0;  ///< nanoseconds, as the clock has it, by all threads
  JitterBoard board;
};
extern Jitter g_jitter;

/// Random, of this rank.
std::uint64_t nextRandom();
/// Priority of a rank before any change.
std::uint64_t jitterPriority(int worldRank);
/// Whether there is time left for holding a call.
bool mayHold();
/// Nanoseconds, for measuring.
std::int64_t jitterNow();
/// Whether there is time left for any delay: by all of them together a replay takes at most twice as
/// long as without, and 6 s; a recording, twice and 16 s (where the machine is busy, 64 s).
bool mayLose();
/// Sleeps for `nanoseconds` if mayLose().
void lose(long nanoseconds);
/// The same, of the rank's credit.
void spend(long nanoseconds);

/// Holds this rank until no other rank runs (`abovePriority`: none that goes before it), or until
/// `enough()`, or as long as it may.
template <typename Enough>
void holdUntilQuiet(RankPace as, bool abovePriority, Enough enough) {
  constexpr long kLook = 250'000;
  constexpr long kSurely = 20;  ///< graces: whoever waits now sleeps
  if (!g_jitter.board.isOpen() || !mayHold()) {
    return;
  }
  g_jitter.board.say(as);
  const std::int64_t start = jitterNow();
  const std::int64_t end =
      start + (g_jitter.credit < g_jitter.most ? g_jitter.credit : g_jitter.most);
  std::uint64_t moved = ~std::uint64_t{0};
  std::int64_t quietSince = start;
  bool noted = false;
  for (std::int64_t now = start; !enough(); now = jitterNow()) {
    const std::uint64_t moves = g_jitter.board.moved();
    if (moves != moved || !g_jitter.board.quiet(abovePriority)) {
      moved = moves;
      quietSince = now;
      noted = false;
    } else if (!noted) {
      g_jitter.board.noteTimes();
      noted = true;
    }
    const std::int64_t quietFor = now - quietSince;
    if (quietFor >= kSurely * g_jitter.grace ||
        (noted && quietFor >= g_jitter.grace && g_jitter.board.allHaveRun())) {
      break;
    }
    if (now >= end || !mayLose()) {
      g_jitter.board.expectNoMore();
      break;
    }
    spend(kLook);
  }
  if (as != RankPace::Polling) {  // it goes on polling
    g_jitter.board.say(RankPace::Running);
  }
}

}  // namespace pf

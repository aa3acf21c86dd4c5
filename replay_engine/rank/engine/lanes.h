// SPDX-License-Identifier: MIT
// The threads of a rank, told apart the same way in a recording and in its replays, and the order
// of what they do.
//
// A thread's identity is who made it and how-manieth of its maker's threads it is: that does not
// depend on time. Those that call MPI get a *lane*, a number, when they first do. A *turn* is an
// ordered operation of a lane: an event, or a lock taken. All turns of a rank have one order, that
// in which a recording took the engine's lock; what MPI's matching sees (posts, sends, probes that
// hit) is handed to MPI before the lock is released, so that this order is the matching order. What
// blocks does so without the lock, and its end is an event of its own. A replay gives the turn to
// the lane that the recording names next.
//
// Threads are told apart once the application makes one, in a rank with MPI_THREAD_SERIALIZED or
// more: g_engine.threads. Until then, and in all other ranks, none of this is in the way.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "replay_engine/rank/engine/choice_stream.h"
#include "replay_engine/rank/engine/engine.h"

namespace pf {

/// What a thread of the application is at, for the others that wait for it.
enum class Doing : std::uint8_t { Computing, InMpi, WaitingForTurn };

struct Lane {
  Lane* parent = nullptr;
  std::uint32_t ordinal = 0;   ///< how-manieth thread of its parent, from 1
  std::uint32_t children = 0;  ///< threads that it has made
  std::uint32_t users = 1;     ///< itself, its children, the table of lanes
  std::uint32_t number = kNoLane;
  pid_t task = 0;
  std::atomic<Doing> doing = Doing::Computing;
  bool ended = false;
  std::uint32_t turns = 0;      ///< replay: those of the recording that are left
  std::uint32_t lockTurns = 0;  ///< and of locks among them
  std::uint64_t random = 1;     ///< state of the jitter
  std::uint64_t events = 0;     ///< turns of it that are none of locks
  std::uint64_t changes = 0;    ///< of what it has done or knows of other threads (thread_order.h)
  LaneChoices* choices = nullptr;
  Lane* next = nullptr;  ///< of the threads that there are
  Lane* previous = nullptr;

  static constexpr std::uint32_t kNoLane = 0xFFFFFFFFU;
};

/// The calling thread's; null in threads that are not the application's.
Lane* applicationThread();
/// The same with a number; for a thread of unknown origin, too, which is told at `place`.
Lane& myLane(const CallPlace& place = CallPlace{kCallInit_thread, nullptr, nullptr});
/// The calling thread runs MPI_Init.
void startLanes();
/// Its MPI_Init is done: threads that it made before count, too.
void joinEarlierThreads();
/// Several threads from now on.
void tellThreadsApart();
/// The application makes one: what they share without locks is in no record. Not of threads that
/// only compute for their maker.
void noteThreads(void* caller, const void* frame);
/// The lane of this number, null if there is none (yet, or any more: `ended`).
Lane* findLane(std::uint32_t number, bool* ended);
/// All threads of the application that have not ended (behind the engine's lock).
Lane* liveThreads();
std::uint32_t liveThreadCount();

/// The engine's lock is held: waits for this thread's turn (and lets the lock go meanwhile). The
/// turn ends with the lock. `place` is for the report of a divergence.
void takeTurn(const CallPlace& place, bool ofLock = false);
/// Without the lock, but with the turn: others may go on up to theirs.
void pauseState();
void resumeState();
/// For a moment so.
void yieldState();
/// Whether this thread has the engine's lock: what it calls is ours.
bool hasState();
/// A replay has used up the recorded order.
bool turnsUsedUp();
/// Replay: begins with the recorded order.
void startTurns();
/// Replay: turns of a thread that has ended are not waited for.
void skipTurnsOfEnded();

/// As InCall, in a rank with several threads: its page shows a call once all of them are in one.
void enterCall(const CallPlace& place, MPI_Comm comm, int peer, int tag);
void leaveCall();
/// A thread has ended: the others may now all be in calls.
void showCalls();
/// The calling thread waits for others of its rank, until endIdle().
void beginIdle();
void endIdle();

}  // namespace pf

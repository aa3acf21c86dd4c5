// SPDX-License-Identifier: MIT
// What orders the threads of a rank among themselves, as the application makes it: logged beside
// the events where these are logged, so that a race between messages of two threads can be told
// from two sends that the program puts in order (RecordKind::Ordered; log/thread_links.h reads it).
//
// A thread *releases* an object when others may go on behind it (unlock, sem_post), and *acquires*
// it when it goes on behind them. Nothing is logged for a thread that takes again what only it has
// had, as one that polls behind a lock does. A condition orders by its mutex.
#pragma once

#include "replay_engine/rank/engine/lanes.h"

namespace pf {

/// Whether this rank's log holds the order of its threads.
inline bool logsThreadOrder() {
  return g_engine.threads && g_engine.events && g_engine.record && g_rankOnly.active;
}
/// Whether what the calling thread does now is part of it, where it is the application that does it.
inline bool ordersThreads() {
  return logsThreadOrder() && t_depth == 0 && !hasState() && applicationThread() != nullptr;
}

/// The same of the call that returns to `caller`.
inline bool ordersThreads(void* caller) {
  return ordersThreads() && !isOfMpi(caller);
}

/// Before the calling thread lets it go.
void releases(const volatile void* object);
/// Once it has it.
void acquires(const volatile void* object);
/// Before it waits at a barrier, and once it goes on.
void arrives(const void* barrier);
void leaves(const void* barrier);

/// The engine's lock is held: `parent` is about to make its thread number `ordinal`.
void logThreadMade(const Lane& parent, std::uint32_t ordinal);
/// The engine's lock is held: the calling thread ends.
void logThreadEnd(const Lane& lane);
/// The calling thread has joined another one.
void logJoined(unsigned long thread);

}  // namespace pf

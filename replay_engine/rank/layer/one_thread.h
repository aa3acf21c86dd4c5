// SPDX-License-Identifier: MIT
// MPI_THREAD_MULTIPLE: in which order several threads are told of what comes from outside, nothing says. So layers know
// what one thread does, the one that called MPI_Init. Where another one comes to what has to do with ranks outside, a
// recording keeps contents up to there, and a replay ends there. Threads that call MPI in turn need none of this.
#pragma once

#include <sched.h>

#include <atomic>

#include "replay_engine/rank/engine/real_calls.h"
#include "replay_engine/rank/layer/not_alone.h"

namespace pf {

/// Its t_layer; null: any thread may be told.
inline const int* g_layerThread = nullptr;

inline void beforeEvent(const CallPlace& place, MPI_Comm comm) {
  if (g_layerThread != &t_layer && comm != MPI_COMM_NULL) {
    notAlone(place, comm);
  }
}
/// The calling thread runs MPI_Init.
inline void beginOneThread() {
  g_layerThread = &t_layer;
  g_beforeEvent = beforeEvent;
}
inline bool isLayerThread() {
  return g_layerThread == nullptr || g_layerThread == &t_layer;
}

/// Before `call` tells of what comes from outside. False: another thread calls, and the layer has been told.
inline bool mayBeTold(std::uint16_t call) {
  if (isLayerThread()) {
    return true;
  }
  notAlone(outermostCall(call));
  return false;
}

/// Holds what a layer knows of handles, where several threads ask for it.
class LayerLock {
 public:
  LayerLock() : m_locks(g_layerThread != nullptr && g_engine.threads) {
    while (m_locks && s_held.exchange(true, std::memory_order_acquire))
      [[unlikely]] {
        sched_yield();
      }
  }
  ~LayerLock() {
    if (m_locks) [[unlikely]] {
      s_held.store(false, std::memory_order_release);
    }
  }
  LayerLock(const LayerLock&) = delete;
  LayerLock& operator=(const LayerLock&) = delete;

 private:
  static inline std::atomic<bool> s_held = false;
  const bool m_locks;
};

}  // namespace pf

// SPDX-License-Identifier: MIT
// Routines that a group which is replayed alone cannot do, on a communicator with ranks outside. What a layer does when the
// program comes to one: a recording keeps contents up to it, a replay ends there.
#pragma once

#include "replay_engine/rank/engine/engine.h"

namespace pf {

/// `comm` null: whatever the communicator is.
using NotAlone = void (*)(const CallPlace& place, const MPI_Comm* comm);
inline NotAlone g_notAlone = nullptr;

inline void notAlone(const CallPlace& place, MPI_Comm comm) {
  if (g_notAlone != nullptr) [[unlikely]] {
    g_notAlone(place, &comm);
  }
}
inline void notAlone(const CallPlace& place) {
  if (g_notAlone != nullptr) [[unlikely]] {
    g_notAlone(place, nullptr);
  }
}

}  // namespace pf

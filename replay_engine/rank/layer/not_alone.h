// SPDX-License-Identifier: MIT
// Routines that a group which is replayed alone cannot do, on a communicator with ranks outside. What a layer does when the
// program comes to one: a recording keeps contents up to it, a replay ends there.
#pragma once

#include "replay_engine/rank/engine/engine.h"

namespace pf {

/// `comm` null: whatever the communicator is.
using NotAlone = void (*)(const CallPlace& place, const MPI_Comm* comm);
inline NotAlone g_notAlone = nullptr;

/// The program frees a request, perhaps of a receive that goes on: when it is done, nobody is told.
using LetGo = void (*)(const CallPlace& place, MPI_Request request);
inline LetGo g_letGo = nullptr;

inline void letRequestGo(const CallPlace& place, MPI_Request request) {
  if (g_letGo != nullptr) [[unlikely]] {
    g_letGo(place, request);
  }
}

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

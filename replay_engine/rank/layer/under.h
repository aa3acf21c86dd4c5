// SPDX-License-Identifier: MIT
// A layer between the engine and the MPI library: some of the routines in g_real are ours, and PF_UNDER(Recv)(…) is what
// was there before. What MPI calls itself while it is in a routine of the layer is none of the layer's business.
#pragma once

#include "replay_engine/rank/engine/real_calls.h"

namespace pf {

inline void* g_under[kCallCount];
/// Before the first putOver(): a routine that the MPI library does not have stays as it is. (Without this, it has to be there.)
void beginLayer();
inline bool g_layerHasBegun = false;

/// From now on the engine gets `ours`, where the MPI library has this routine.
template <typename Routine>
void putOver(std::uint16_t call, Routine* ours) {
  void* const before = g_layerHasBegun ? g_real[call] : real(call);
  void* const routine = reinterpret_cast<void*>(ours);
  if (before != nullptr && before != routine) {
    g_under[call] = before;
    g_real[call] = routine;
  }
}

}  // namespace pf

/// Puts `routine` in the place of MPI_name; its type has to be the same.
#define PF_PUT_OVER(name, routine) \
  ::pf::putOver(::pf::kCall##name, static_cast<decltype(&MPI_##name)>(routine))
/// The routine below ours.
#define PF_UNDER(name) (reinterpret_cast<decltype(&MPI_##name)>(::pf::g_under[::pf::kCall##name]))

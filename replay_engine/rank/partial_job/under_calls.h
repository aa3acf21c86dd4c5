// SPDX-License-Identifier: MIT
// What this layer has put itself over: the table of real calls (real_calls.h) as it was before.
#pragma once

#include <cstdint>

#include "replay_engine/rank/engine/real_calls.h"

namespace pf {

inline void* g_under[kCallCount];

/// From now on PF_REAL(…) of this call is `routine`. A second time it changes nothing.
inline void putOver(std::uint16_t call, void* routine) {
  void* const before = real(call);
  if (before != routine) {
    g_under[call] = before;
    g_real[call] = routine;
  }
}

}  // namespace pf

/// The routine below ours.
#define PF_UNDER(name) (reinterpret_cast<decltype(&MPI_##name)>(::pf::g_under[::pf::kCall##name]))
/// Puts `routine` in the place of MPI_name; its type has to be the same.
#define PF_PUT_OVER(name, routine) \
  ::pf::putOver(::pf::kCall##name, \
                reinterpret_cast<void*>(static_cast<decltype(&MPI_##name)>(routine)))

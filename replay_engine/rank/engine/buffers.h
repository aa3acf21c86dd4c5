// SPDX-License-Identifier: MIT
// Notes which memory receives fill, for "which message filled this": in replays, while a debugger
// is attached.
#pragma once

#include "replay_engine/base/noted_buffers.h"
#include "replay_engine/rank/engine/engine.h"

namespace pf {

void keepBuffer(std::uint32_t post, const void* buffer, int count, MPI_Datatype datatype);
void logRoom(std::uint32_t post, int count, MPI_Datatype datatype);

/// `post`: number of the receive, or kNoPost.
inline void noteBuffer(std::uint32_t post, const void* buffer, int count, MPI_Datatype datatype) {
  if (g_engine.replay && g_engine.page->debugger.load(std::memory_order_relaxed) != 0)
      [[unlikely]] {
    keepBuffer(post, buffer, count, datatype);
  }
  if (g_engine.contents && g_engine.events && g_engine.record) {
    logRoom(post, count, datatype);
  }
}

}  // namespace pf

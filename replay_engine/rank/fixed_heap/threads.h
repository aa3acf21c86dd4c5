// SPDX-License-Identifier: MIT
// Whose memory a call is about.
#pragma once

#include "replay_engine/rank/fixed_heap/heap.h"

namespace pf::memory {

/// Whose call it is that returns to `caller`; null: not the program's, but MPI's or ours.
ThreadHeaps* ownerOf(const void* caller, const void* frame);

/// Whether libc or the loader calls. A stream's buffer is as large as what it is connected to
/// wants.
bool isLibc(const void* caller);
bool isStreamBuffer(const void* caller);

}  // namespace pf::memory

#define PF_MEMORY __attribute__((visibility("default"), noinline))
#define PF_CALLER __builtin_return_address(0)
#define PF_OWNER() ::pf::memory::ownerOf(PF_CALLER, __builtin_frame_address(0))

// SPDX-License-Identifier: MIT
// Which memory each receive of a replayed rank fills, as the interposer keeps it in the rank while
// a debugger is attached, and the debugger reads it there. Nothing of it in a recording.
#pragma once

#include <cstdint>

namespace pf {

/// Posts that a call does not name: a receive of a matched message.
inline constexpr std::uint32_t kNoPost = 0xFFFFFFFFU;

/// One posted receive: bytes [begin, end) may be written by the message that it takes.
struct NotedBuffer {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint32_t post;  ///< index of the receive of its rank, in posting order, or kNoPost
  std::uint32_t reserved;
  std::uint64_t serial;  ///< events begun when it was noted
};
static_assert(sizeof(NotedBuffer) == 32);

/// What the rank has at kNotedBuffersSymbol.
struct NotedBuffers {
  std::uint64_t count;
  std::uint64_t entries;  ///< address of the first NotedBuffer
  std::uint64_t capacity;
};
inline constexpr const char* kNotedBuffersSymbol = "pf_noted_buffers";

}  // namespace pf

// SPDX-License-Identifier: MIT
#include "replay_engine/rank/engine/buffers.h"

#include <sys/mman.h>

#include "replay_engine/rank/engine/contents.h"
#include "replay_engine/rank/engine/real_calls.h"

extern "C" {
/// A debugger finds it by its name.
__attribute__((visibility("hidden"), used)) pf::NotedBuffers pf_noted_buffers = {0, 0, 0};
}

namespace pf {
namespace {

/// Room for one more. False: there is no memory for it, and nothing is noted.
bool grow() {
  NotedBuffers& all = pf_noted_buffers;
  if (all.count < all.capacity) {
    return true;
  }
  constexpr std::uint64_t kFirst = 4096;
  const std::uint64_t capacity = all.capacity == 0 ? kFirst : 2 * all.capacity;
  void* const place =
      all.capacity == 0
          ? mmap(nullptr, capacity * sizeof(NotedBuffer), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
          : mremap(reinterpret_cast<void*>(all.entries), all.capacity * sizeof(NotedBuffer),
                   capacity * sizeof(NotedBuffer), MREMAP_MAYMOVE);
  if (place == MAP_FAILED) {
    return false;
  }
  all.entries = reinterpret_cast<std::uint64_t>(place);
  all.capacity = capacity;
  return true;
}

}  // namespace

void logRoom(std::uint32_t post, int count, MPI_Datatype datatype) {
  const std::uint64_t size = post != kNoPost && !g_engine.threads ? sizeOfType(datatype) : 0;
  if (size != 0 && count >= 0) {
    g_engine.log.put<RecordKind::Room>({post, static_cast<std::uint64_t>(count) * size});
  }
}

void keepBuffer(std::uint32_t post, const void* buffer, int count, MPI_Datatype datatype) {
  MPI_Aint low = 0;
  MPI_Aint size = 0;
  MPI_Aint bound = 0;
  MPI_Aint extent = 0;
  if (count <= 0 || PF_REAL(Type_get_true_extent)(datatype, &low, &size) != MPI_SUCCESS ||
      PF_REAL(Type_get_extent)(datatype, &bound, &extent) != MPI_SUCCESS || !grow()) {
    return;
  }
  const MPI_Aint last = (count - 1) * extent;  // below 0 where the extent is
  const auto first = reinterpret_cast<std::uint64_t>(buffer) + static_cast<std::uint64_t>(low);
  NotedBuffers& all = pf_noted_buffers;
  reinterpret_cast<NotedBuffer*>(all.entries)[all.count] = {
      first + static_cast<std::uint64_t>(last < 0 ? last : 0),
      first + static_cast<std::uint64_t>(size) + static_cast<std::uint64_t>(last > 0 ? last : 0),
      post, 0, g_engine.serial};
  ++all.count;
}

}  // namespace pf

// SPDX-License-Identifier: MIT
#include "replay_engine/base/large_vector.h"

#include <sys/mman.h>

#include <cstdint>

namespace pf {
namespace {

constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20U;
constexpr std::size_t kLarge = 2 * kHugePage;

}  // namespace

void useHugePages(void* begin, std::size_t bytes) {
  if (bytes < kLarge) {
    return;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t end = (address + bytes) / kHugePage * kHugePage;
  ::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

}  // namespace pf

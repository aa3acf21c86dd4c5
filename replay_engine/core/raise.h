// Component-wise maximum of clocks, as vector instructions. Private to core.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace pf {

#if defined(__GNUC__) && !defined(__clang__)
#define PF_VECTORIZE __attribute__((optimize("O3")))  // -O2 leaves loops of unknown length alone
#else
#define PF_VECTORIZE
#endif

/// Says whether `into` changed.
PF_VECTORIZE inline bool raise(std::span<std::uint32_t> into, std::span<const std::uint32_t> from) {
  std::uint32_t changed = 0;
  std::uint32_t* const to = into.data();
  const std::uint32_t* const other = from.data();
  const std::size_t size = into.size();
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t higher = to[i] < other[i] ? other[i] : to[i];
    changed |= higher ^ to[i];
    to[i] = higher;
  }
  return changed != 0;
}

}  // namespace pf

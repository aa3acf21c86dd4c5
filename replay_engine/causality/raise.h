// SPDX-License-Identifier: GPL-3.0-or-later
// Component-wise maximum of clocks, as vector instructions. Private to the analysis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pf {

/// Says whether `to` changed; both have `size` components.
bool raiseMany(std::uint32_t* to, const std::uint32_t* from, std::size_t size);

/// Says whether `into` changed.
inline bool raise(std::span<std::uint32_t> into, std::span<const std::uint32_t> from) {
  constexpr std::size_t kFew = 16;  // for which a call is not worth while
  if (into.size() >= kFew) {
    return raiseMany(into.data(), from.data(), into.size());
  }
  std::uint32_t changed = 0;
  for (std::size_t i = 0; i < into.size(); ++i) {
    const std::uint32_t higher = into[i] < from[i] ? from[i] : into[i];
    changed |= higher ^ into[i];
    into[i] = higher;
  }
  return changed != 0;
}

}  // namespace pf

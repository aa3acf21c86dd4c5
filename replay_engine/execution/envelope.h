// SPDX-License-Identifier: GPL-3.0-or-later
// Private to the analysis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "replay_engine/execution/execution.h"

namespace pf {

/// What messages are matched by, at one destination. A receive's can have kAnySource and kAnyTag.
struct Envelope {
  Rank source = kAnySource;
  std::uint32_t comm = kNone;
  Tag tag = kAnyTag;
  friend bool operator==(const Envelope&, const Envelope&) = default;
};

struct EnvelopeHash {
  std::size_t operator()(const Envelope& envelope) const {
    const std::uint64_t low =
        (std::uint64_t{envelope.comm} << 32U) | static_cast<std::uint32_t>(envelope.tag);
    const std::uint64_t mixed =
        (low ^ (std::uint64_t{static_cast<std::uint32_t>(envelope.source)} << 17U)) *
        0x9E3779B97F4A7C15ULL;
    return std::hash<std::uint64_t>{}(mixed ^ (mixed >> 29U));
  }
};

}  // namespace pf

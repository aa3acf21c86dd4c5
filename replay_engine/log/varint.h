// SPDX-License-Identifier: GPL-3.0-or-later
// Varints (replay_engine/log_format/log_format.h) to the end of a vector.
#pragma once

#include <cstdint>
#include <vector>

namespace pf {

inline void putVarint(std::vector<unsigned char>& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<unsigned char>(value | 0x80U));
    value >>= 7;
  }
  out.push_back(static_cast<unsigned char>(value));
}

}  // namespace pf

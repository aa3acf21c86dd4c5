// SPDX-License-Identifier: GPL-3.0-or-later
// Varints and records (replay_engine/log_format/log_format.h) in a vector.
#pragma once

#include <cstdint>
#include <vector>

#include "replay_engine/log_format/log_format.h"
#include "replay_engine/log_format/record_writer.h"

namespace pf {

inline void putVarint(std::vector<unsigned char>& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<unsigned char>(value | 0x80U));
    value >>= 7;
  }
  out.push_back(static_cast<unsigned char>(value));
}

/// A record, but for its rest.
template <RecordKind kind>
[[nodiscard]] std::vector<unsigned char> madeRecord(const FieldsOf<kind>& fields) {
  unsigned char bytes[kMaxRecord];
  return {bytes, putRecord<kind>(bytes, fields)};
}

}  // namespace pf

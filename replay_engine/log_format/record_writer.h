// SPDX-License-Identifier: MIT
// Writes records of a log (record_kinds.h), in a rank and where a log is made anew.
#pragma once

#include <cstdint>
#include <type_traits>

#include "replay_engine/log_format/record_kinds.h"

namespace pf {

inline unsigned char* putVarint(unsigned char* p, std::uint64_t value) {
  while (value >= 0x80) {
    *p++ = static_cast<unsigned char>(value | 0x80);
    value >>= 7;
  }
  *p++ = static_cast<unsigned char>(value);
  return p;
}

inline unsigned char* putKind(unsigned char* p, RecordKind kind) {
  *p = static_cast<unsigned char>(kind);
  return p + 1;
}

/// Writes the fields of a record (log_format/record_kinds.h).
struct FieldWriter {
  unsigned char* p;

  template <typename Field>
  void operator()(const char* /*name*/, const Field& field) {
    using Unsigned = std::make_unsigned_t<Field>;
    p = putVarint(p, static_cast<Unsigned>(field));
  }
  void plus(const char* /*name*/, std::int32_t field, std::int32_t shift) {
    p = putVarint(p, static_cast<std::uint32_t>(field + shift));
  }
  void byte(const char* /*name*/, std::uint8_t field) { *p++ = field; }
  void fixed(const char* /*name*/, const std::uint64_t& field) {
    __builtin_memcpy(p, &field, sizeof field);
    p += sizeof field;
  }
  void rest(const char* /*name*/, RestForm /*form*/) {}
};

/// A record, but for its rest. `kind`: one that has these fields.
template <typename Fields>
inline unsigned char* putRecord(unsigned char* p, RecordKind kind, const Fields& fields) {
  FieldWriter writer{putKind(p, kind)};
  Fields::fields(fields, writer);
  return writer.p;
}
template <RecordKind kind>
inline unsigned char* putRecord(unsigned char* p, const FieldsOf<kind>& fields) {
  return putRecord(p, kind, fields);
}

}  // namespace pf

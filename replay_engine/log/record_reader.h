// SPDX-License-Identifier: GPL-3.0-or-later
// Reads varints out of the records of one block. Reading past the end gives zeros and sets bad().
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "replay_engine/log_format/log_format.h"

namespace pf {

class RecordReader {
 public:
  explicit RecordReader(std::span<const unsigned char> bytes)
      : m_at(bytes.data()), m_end(bytes.data() + bytes.size()) {}

  [[nodiscard]] bool atEnd() const { return m_at >= m_end || m_bad; }
  [[nodiscard]] bool bad() const { return m_bad; }
  [[nodiscard]] std::span<const unsigned char> rest() const { return {m_at, m_end}; }

  RecordKind kind() { return static_cast<RecordKind>(byte()); }
  std::uint8_t byte() {
    if (m_at >= m_end) {
      m_bad = true;
      return 0;
    }
    return *m_at++;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t b = byte();
      value |= std::uint64_t{b & 0x7FU} << shift;
      if (b < 0x80) {
        return value;
      }
    }
    m_bad = true;
    return value;
  }
  std::uint32_t number32() { return static_cast<std::uint32_t>(number()); }
  /// A number that was written with `shift` added.
  std::int32_t shifted(std::uint32_t shift) {
    return static_cast<std::int32_t>(number32() - shift);
  }
  std::uint64_t fixed64() {
    std::uint64_t value = 0;
    if (m_end - m_at < 8) {
      m_bad = true;
      return 0;
    }
    std::memcpy(&value, m_at, 8);
    m_at += 8;
    return value;
  }
  std::string text(std::size_t length) {
    if (static_cast<std::size_t>(m_end - m_at) < length) {
      m_bad = true;
      return {};
    }
    std::string value(reinterpret_cast<const char*>(m_at), length);
    m_at += length;
    return value;
  }

 private:
  const unsigned char* m_at;
  const unsigned char* m_end;
  bool m_bad = false;
};

/// Reads the fields of a record, but for its rest (log_format/record_kinds.h).
struct FieldReader {
  RecordReader& in;

  template <typename Field>
  void operator()(const char* /*name*/, Field& field) {
    field = static_cast<Field>(in.number());
  }
  void plus(const char* /*name*/, std::int32_t& field, std::int32_t shift) {
    field = in.shifted(static_cast<std::uint32_t>(shift));
  }
  void byte(const char* /*name*/, std::uint8_t& field) { field = in.byte(); }
  void fixed(const char* /*name*/, std::uint64_t& field) { field = in.fixed64(); }
  void rest(const char* /*name*/, RestForm /*form*/) {}
};

/// The fields of a record of this kind, which was read. Those beyond the end are zeros, and `in` is bad.
template <RecordKind kind>
[[nodiscard]] FieldsOf<kind> fieldsOf(RecordReader& in) {
  FieldsOf<kind> fields;
  FieldReader reader{in};
  FieldsOf<kind>::fields(fields, reader);
  return fields;
}

}  // namespace pf

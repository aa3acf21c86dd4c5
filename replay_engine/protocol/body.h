// SPDX-License-Identifier: GPL-3.0-or-later
// Bodies of messages: fields as tag (u8), length (u32), value, in ascending order of tags.
//
// A field that is not there keeps its default. An unknown tag with kOptionalField set is skipped,
// any other unknown tag is refused: so a newer peer decides, field by field, what an older one may
// ignore. The same list of fields (a struct's `visit`) drives writer and reader, so they cannot
// differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "replay_engine/base/result.h"
#include "replay_engine/protocol/little_endian.h"

namespace pf::protocol {

inline constexpr std::uint8_t kOptionalField = 0x80;

class BodyWriter {
 public:
  template <typename T>
  void operator()(std::uint8_t tag, const T& value) {
    appendLittleEndian(m_out, tag);
    const std::size_t lengthAt = m_out.size();
    appendLittleEndian(m_out, std::uint32_t{0});
    put(value);
    std::string length;
    appendLittleEndian(length, static_cast<std::uint32_t>(m_out.size() - lengthAt - 4));
    m_out.replace(lengthAt, 4, length);
  }

  [[nodiscard]] std::string take() { return std::move(m_out); }

 private:
  template <typename T>
  void put(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      m_out.push_back(value ? '\1' : '\0');
    } else if constexpr (std::is_integral_v<T>) {
      appendLittleEndian(m_out, value);
    } else if constexpr (std::is_enum_v<T>) {
      appendLittleEndian(m_out, static_cast<std::underlying_type_t<T>>(value));
    } else {
      BodyWriter nested;
      T::visit(value, nested);
      const std::string bytes = nested.take();
      appendLittleEndian(m_out, static_cast<std::uint32_t>(bytes.size()));
      m_out += bytes;
    }
  }
  void put(const std::string& value) { m_out += value; }
  template <typename T>
  void put(const std::vector<T>& values) {
    for (const T& value : values) {
      put(value);
    }
  }

  std::string m_out;
};

/// Reads what BodyWriter wrote. After the first error nothing more is read; finish() tells.
class BodyReader {
 public:
  explicit BodyReader(std::string_view bytes) : m_rest(bytes) {}

  template <typename T>
  void operator()(std::uint8_t tag, T& value) {
    if (std::optional<std::string_view> bytes = field(tag)) {
      if (!get(*bytes, value) || !bytes->empty()) {
        fail("field " + std::to_string(tag) + " has a value that cannot be");
      }
    }
  }

  /// Call after the last field.
  [[nodiscard]] Status finish();

 private:
  /// The value of field `tag`, if that is the next field that is known.
  [[nodiscard]] std::optional<std::string_view> field(std::uint8_t tag);
  void fail(std::string what);

  template <typename T>
  [[nodiscard]] static bool take(std::string_view& bytes, T& value) {
    if (bytes.size() < sizeof(T)) {
      return false;
    }
    value = readLittleEndian<T>(bytes.data());
    bytes.remove_prefix(sizeof(T));
    return true;
  }

  template <typename T>
  [[nodiscard]] static bool get(std::string_view& bytes, T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = 0;
      const bool ok = take(bytes, byte) && byte <= 1;
      value = byte == 1;
      return ok;
    } else if constexpr (std::is_integral_v<T>) {
      return take(bytes, value);
    } else if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> number{};
      if (!take(bytes, number) || number > static_cast<std::underlying_type_t<T>>(lastOf(T{}))) {
        return false;
      }
      value = static_cast<T>(number);
      return true;
    } else {
      std::uint32_t size = 0;
      if (!take(bytes, size) || size > bytes.size()) {
        return false;
      }
      BodyReader nested(bytes.substr(0, size));
      bytes.remove_prefix(size);
      T::visit(value, nested);
      return nested.finish().ok();
    }
  }
  [[nodiscard]] static bool get(std::string_view& bytes, std::string& value) {
    value = bytes;
    bytes = {};
    return true;
  }
  template <typename T>
  [[nodiscard]] static bool get(std::string_view& bytes, std::vector<T>& values) {
    values.clear();
    while (!bytes.empty()) {
      T value{};
      if (!get(bytes, value)) {
        return false;
      }
      values.push_back(std::move(value));
    }
    return true;
  }

  std::string_view m_rest;
  std::uint8_t m_lastTag = 0;
  std::optional<Error> m_error;
};

}  // namespace pf::protocol

// SPDX-License-Identifier: GPL-3.0-or-later
// Integers as little-endian bytes, whatever the machine.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

namespace pf::protocol {

template <typename T>
void appendLittleEndian(std::string& out, T value) {
  static_assert(std::is_integral_v<T>);
  const auto bits = static_cast<std::make_unsigned_t<T>>(value);
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out.push_back(static_cast<char>((bits >> (8 * i)) & 0xFFU));
  }
}

/// Reads sizeof(T) bytes at `bytes`.
template <typename T>
[[nodiscard]] T readLittleEndian(const char* bytes) {
  using Bits = std::make_unsigned_t<T>;
  Bits bits = 0;
  for (std::size_t i = sizeof(T); i-- > 0;) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if constexpr (sizeof(T) > 1) {
      bits = static_cast<Bits>((bits << 8U) | byte);
    } else {
      bits = static_cast<Bits>(byte);
    }
  }
  return static_cast<T>(bits);
}

}  // namespace pf::protocol

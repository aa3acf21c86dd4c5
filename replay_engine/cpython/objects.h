// SPDX-License-Identifier: MIT
// Python's objects, as far as they lie alike from 3.11 to 3.13. Nothing is allocated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "replay_engine/cpython/layout.h"
#include "replay_engine/cpython/memory.h"

namespace pf::cpython {

// Offsets of members, in bytes.
inline constexpr std::uint64_t kType = 8;
inline constexpr std::uint64_t kTypeName = 24;
inline constexpr std::uint64_t kTypeFlags = 168;
/// ob_size; of a str: length; of a dict: ma_used; of an int: also lv_tag
inline constexpr std::uint64_t kSize = 16;
inline constexpr std::uint64_t kBytes = 32;  ///< of bytes: the first one

/// Bits of a type's flags (Py_TPFLAGS_…_SUBCLASS).
enum class Base : unsigned {
  Int = 24,
  List = 25,
  Tuple = 26,
  Bytes = 27,
  Str = 28,
  Dict = 29,
  Type = 31
};
[[nodiscard]] bool isA(Memory& memory, std::uint64_t object, Base base);

/// Where the characters of a str lie, each of `width` bytes, the lowest first.
struct StrData {
  std::uint64_t at = 0;
  std::size_t width = 0;  ///< 1, 2 or 4
  std::size_t length = 0;
};
/// Nothing: it is no str, or cannot be read.
[[nodiscard]] std::optional<StrData> strData(Memory& memory, const Layout& layout,
                                             std::uint64_t object);

/// A character as UTF-8, up to U+1FFFFF.
class Utf8 {
 public:
  explicit Utf8(std::uint32_t character);
  [[nodiscard]] std::string_view view() const { return {m_bytes.data(), m_size}; }

 private:
  std::array<char, 4> m_bytes{};
  std::size_t m_size = 0;
};

}  // namespace pf::cpython

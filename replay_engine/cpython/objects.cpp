// SPDX-License-Identifier: MIT
#include "replay_engine/cpython/objects.h"

namespace pf::cpython {

bool isA(Memory& memory, std::uint64_t object, Base base) {
  const std::uint64_t type = readPointer(memory, object + kType);
  const auto flags = readNumber<std::uint64_t>(memory, type + kTypeFlags);
  return flags && (*flags >> static_cast<unsigned>(base) & 1U) != 0;
}

std::optional<StrData> strData(Memory& memory, const Layout& layout, std::uint64_t object) {
  constexpr std::uint64_t kState = 32;
  const auto state = readNumber<std::uint32_t>(memory, object + kState);
  const auto length = readNumber<std::int64_t>(memory, object + kSize);
  if (!state || !length || *length < 0 || !isA(memory, object, Base::Str)) {
    return std::nullopt;
  }
  const std::size_t width = *state >> 2U & 7U;  // interned: 2 bits, kind: 3, compact, ascii
  const bool compact = (*state >> 5U & 1U) != 0;
  const bool ascii = (*state >> 6U & 1U) != 0;
  if (width != 1 && width != 2 && width != 4) {
    return std::nullopt;
  }
  const std::uint64_t at = !compact ? readPointer(memory, object + layout.compactSize)
                                    : object + (ascii ? layout.asciiSize : layout.compactSize);
  return StrData{at, width, static_cast<std::size_t>(*length)};
}

Utf8::Utf8(std::uint32_t character) {
  const auto add = [this](std::uint32_t byte) { m_bytes[m_size++] = static_cast<char>(byte); };
  const auto tail = [&](unsigned shift) { add(0x80U | (character >> shift & 0x3FU)); };
  if (character < 0x80) {
    add(character);
  } else if (character < 0x800) {
    add(0xC0U | character >> 6U);
    tail(0);
  } else if (character < 0x10000) {
    add(0xE0U | character >> 12U);
    tail(6);
    tail(0);
  } else {
    add(0xF0U | character >> 18U);
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace pf::cpython

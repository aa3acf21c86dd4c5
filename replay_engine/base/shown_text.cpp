// SPDX-License-Identifier: MIT
#include "replay_engine/base/shown_text.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace pf {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t size = 0;  ///< 0: no UTF-8
};

/// The character at the start of `text`, which is not empty.
Character next(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) {
    return {first, 1};
  }
  const std::size_t size = first >= 0xF0 && first < 0xF5   ? 4
                           : first >= 0xE0 && first < 0xF0 ? 3
                           : first >= 0xC2 && first < 0xE0 ? 2
                                                           : 0;
  if (size == 0 || size > text.size()) {
    return {};
  }
  std::uint32_t code = first & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80U) {
      return {};
    }
    code = (code << 6U) | (byte & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool good = code >= kLeast[size] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
  return good ? Character{code, size} : Character{};
}

bool isControl(std::uint32_t code) {
  return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0);
}

/// Of the direction of writing, and line ends that only some programs take for such.
bool turns(std::uint32_t code) {
  return code == 0x61C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string shown(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character character = next(text);
    std::array<char, 16> escaped{};
    if (character.size == 0) {
      std::snprintf(escaped.data(), escaped.size(), "\\x%02x",
                    static_cast<unsigned>(static_cast<unsigned char>(text[0])));
    } else if (isControl(character.code)) {
      std::snprintf(escaped.data(), escaped.size(), "\\x%02x", character.code);
    } else if (turns(character.code)) {
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", character.code);
    }
    const std::size_t size = character.size == 0 ? 1 : character.size;
    out += escaped[0] != 0 ? std::string_view(escaped.data()) : text.substr(0, size);
    text.remove_prefix(size);
  }
  return out;
}

void tell(std::string_view text) {
  std::fprintf(stderr, "photofinish: %s\n", shown(text).c_str());
}

}  // namespace pf

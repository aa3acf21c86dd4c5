// SPDX-License-Identifier: GPL-3.0-or-later
// Text for GDB's Python.
#pragma once

#include <string>
#include <string_view>

namespace pf::mi {

/// `text` as a Python string literal without any control character.
[[nodiscard]] inline std::string pythonLiteral(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || c == '\'' || c == '\\') {
      out += "\\x";
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace pf::mi

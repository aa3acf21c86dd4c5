// SPDX-License-Identifier: MIT
#include "replay_engine/base/percent_text.h"

namespace pf {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

}  // namespace

std::string percentEncoded(std::string_view bytes) {
  std::string out;
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte > 0x20 && byte < 0x7F && each != '%') {
      out += each;
    } else {
      out += '%';
      out += kHexDigits[byte >> 4U];
      out += kHexDigits[byte & 15U];
    }
  }
  return out;
}

std::optional<std::string> percentDecoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const bool there = i + 2 < text.size();
    const std::size_t high = there ? kHexDigits.find(text[i + 1]) : std::string_view::npos;
    const std::size_t low = there ? kHexDigits.find(text[i + 2]) : std::string_view::npos;
    if (high == std::string_view::npos || low == std::string_view::npos) {
      return std::nullopt;
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

}  // namespace pf

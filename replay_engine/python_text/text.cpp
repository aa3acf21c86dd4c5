// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/python_text/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "replay_engine/cpython/objects.h"

namespace pf::python_text {
namespace {

void appendUtf8(std::string& out, std::uint32_t c) {
  out += cpython::Utf8(c).view();
}

/// Control characters, halves of pairs, what is no character, and what turns the direction of a line.
bool isPrintable(std::uint32_t c) {
  const auto within = [c](std::uint32_t first, std::uint32_t last) {
    return c >= first && c <= last;
  };
  return !(c < 0x20 || within(0x7F, 0xA0) || c == 0xAD || within(0x200B, 0x200F) ||
           within(0x2028, 0x202F) || within(0x205F, 0x206F) || within(0xD800, 0xF8FF) ||
           c == 0xFEFF || within(0xFFF0, 0xFFFB) || (c & 0xFFFEU) == 0xFFFE || c > 0xEFFFF);
}

void appendEscaped(std::string& out, std::uint32_t c) {
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const int width = c < 0x100 ? 2 : c < 0x10000 ? 4 : 8;
  out += c < 0x100 ? "\\x" : c < 0x10000 ? "\\u" : "\\U";
  for (int digit = width - 1; digit >= 0; --digit) {
    out += "0123456789abcdef"[c >> (4 * digit) & 15U];
  }
}

/// `most`: characters from here on are escaped.
std::string quoted(const std::vector<std::uint32_t>& characters, bool cut, std::uint32_t most) {
  const auto has = [&](std::uint32_t c) {
    return std::find(characters.begin(), characters.end(), c) != characters.end();
  };
  const char quote = has('\'') && !has('"') ? '"' : '\'';
  std::string out(1, quote);
  for (const std::uint32_t c : characters) {
    if (c == static_cast<std::uint32_t>(quote) || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c < most && isPrintable(c)) {
      appendUtf8(out, c);
    } else {
      appendEscaped(out, c);
    }
  }
  out += quote;
  return cut ? out + "…" : out;
}

/// The shortest digits that are this number again, with an exponent below 1e-4 and from 1e16 on.
template <typename Float>
std::string shortest(Float value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-inf" : "inf";
  }
  std::array<char, 64> text{};
  const Float size = std::fabs(value);
  const bool small = size != 0 && size < Float(1e-4);
  const auto format =
      small || size >= Float(1e16) ? std::chars_format::scientific : std::chars_format::fixed;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format).ptr;
  std::string out(text.data(), end);
  return format == std::chars_format::fixed && out.find('.') == std::string::npos ? out + ".0"
                                                                                  : out;
}

template <typename Float>
std::string complexOf(Float real, Float imaginary) {
  const auto bare = [](Float value) {
    const std::string text = shortest(value);
    return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
  };
  const std::string end = bare(imaginary) + "j";
  if (real == 0 && !std::signbit(real)) {
    return end;
  }
  return "(" + bare(real) + (end.front() == '-' ? "" : "+") + end + ")";
}

}  // namespace

std::string quotedText(const std::vector<std::uint32_t>& characters, bool cut) {
  return quoted(characters, cut, 0x110000);
}

std::string quotedBytes(std::string_view bytes, bool cut) {
  std::vector<std::uint32_t> characters;
  for (const char byte : bytes) {
    characters.push_back(static_cast<unsigned char>(byte));
  }
  return "b" + quoted(characters, cut, 0x80);
}

std::string plainText(const std::vector<std::uint32_t>& characters) {
  std::string out;
  for (const std::uint32_t c : characters) {
    isPrintable(c) ? appendUtf8(out, c) : appendEscaped(out, c);
  }
  return out;
}

std::string floatText(double value) {
  return shortest(value);
}

std::string floatText(float value) {
  return shortest(value);
}

std::string complexText(double real, double imaginary) {
  return complexOf(real, imaginary);
}

std::string complexText(float real, float imaginary) {
  return complexOf(real, imaginary);
}

std::string integerText(std::vector<std::uint32_t> digits, bool negative) {
  constexpr std::uint32_t kBillion = 1000000000;
  std::string out;
  while (!digits.empty() && digits.back() == 0) {
    digits.pop_back();
  }
  while (!digits.empty()) {
    std::uint64_t rest = 0;
    for (std::size_t i = digits.size(); i-- > 0;) {
      rest = rest << 30U | (digits[i] & 0x3FFFFFFFU);
      digits[i] = static_cast<std::uint32_t>(rest / kBillion);
      rest %= kBillion;
    }
    while (!digits.empty() && digits.back() == 0) {
      digits.pop_back();
    }
    std::string part = std::to_string(rest);
    part.insert(0, digits.empty() ? 0 : 9 - part.size(), '0');
    out.insert(0, part);
  }
  return out.empty() ? "0" : (negative ? "-" : "") + out;
}

}  // namespace pf::python_text

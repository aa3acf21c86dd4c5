// SPDX-License-Identifier: GPL-3.0-or-later
// An expression with the format of its value in front, as GDB's print has it: "/x flags".
#pragma once

#include <string>
#include <string_view>

namespace pf::mi {

/// x: hexadecimal, z: with leading zeros, d: decimal, u: unsigned, o: octal, t: binary, a: address, c: character, f: floating
/// point, s: string. GDB manual, "Output Formats".
inline constexpr std::string_view kValueFormats = "xzduotacfs";

struct AskedValue {
  char format = 0;  ///< 0: as its type says
  std::string expression;

  friend bool operator==(const AskedValue&, const AskedValue&) = default;
};

/// What is no format stays part of the expression.
[[nodiscard]] inline AskedValue askedValue(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t first = text.find_first_not_of(kBlanks);
  const std::string_view asked = text.substr(first == std::string_view::npos ? 0 : first);
  if (asked.size() > 3 && asked[0] == '/' &&
      kValueFormats.find(asked[1]) != std::string_view::npos &&
      kBlanks.find(asked[2]) != std::string_view::npos) {
    if (const std::size_t at = asked.find_first_not_of(kBlanks, 2); at != std::string_view::npos) {
      return {asked[1], std::string(asked.substr(at))};
    }
  }
  return {0, std::string(text)};
}

/// GDB/MI's name of a format that variable objects have too; empty: they have none such (GDB manual, "-var-set-format").
[[nodiscard]] constexpr std::string_view varFormat(char format) {
  switch (format) {
    case 'x':
      return "hexadecimal";
    case 'z':
      return "zero-hexadecimal";
    case 'd':
      return "decimal";
    case 'o':
      return "octal";
    case 't':
      return "binary";
    default:
      return {};
  }
}

}  // namespace pf::mi

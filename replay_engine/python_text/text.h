// SPDX-License-Identifier: GPL-3.0-or-later
// Python's values as Python writes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pf::python_text {

/// As UTF-8, quoted and escaped as repr() does. `cut`: there was more, which "…" says.
[[nodiscard]] std::string quotedText(const std::vector<std::uint32_t>& characters, bool cut);
/// The same of bytes: b'…'.
[[nodiscard]] std::string quotedBytes(std::string_view bytes, bool cut);
/// As UTF-8, without quotes; what cannot be printed is escaped.
[[nodiscard]] std::string plainText(const std::vector<std::uint32_t>& characters);
/// As repr() of a float.
[[nodiscard]] std::string floatText(double value);
/// As NumPy writes one of 32 bits.
[[nodiscard]] std::string floatText(float value);
/// As repr() of a complex: 2j, (1-2j).
[[nodiscard]] std::string complexText(double real, double imaginary);
/// As NumPy writes one of 64 bits, in Python's form.
[[nodiscard]] std::string complexText(float real, float imaginary);
/// In decimal, of digits of 30 bits, the lowest first.
[[nodiscard]] std::string integerText(std::vector<std::uint32_t> digits, bool negative);

}  // namespace pf::python_text

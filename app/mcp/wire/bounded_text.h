// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of answers that are kept short, and say what was left out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pf::headless {

/// Bytes of the text of an answer: what a model reads at once.
inline constexpr std::size_t kMostText = 24000;
/// Bytes of a line: a value may be an array.
inline constexpr std::size_t kMostOfLine = 4000;

/// Whole lines as far as they fit, the first ones; and a last one that says how many are left out, and `advice` how to see them.
/// Lines that are too long are cut, which they say.
class BoundedText {
 public:
  explicit BoundedText(std::size_t most = kMostText) : m_most(most) {}

  /// Lines, with or without an end.
  void add(std::string_view text);
  [[nodiscard]] bool isEmpty() const { return m_text.empty() && m_leftOut == 0; }
  [[nodiscard]] std::string take(const std::string& advice) const;

 private:
  void addLine(std::string_view line);

  std::size_t m_most;
  std::string m_text;
  std::size_t m_leftOut = 0;  ///< lines
};

}  // namespace pf::headless

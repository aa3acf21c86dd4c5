// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/command.h"

#include <random>

#include <gtest/gtest.h>

namespace pf::mi {
namespace {

TEST(Quote, EscapesAndRefuses) {
  EXPECT_EQ(*quote("plain"), "\"plain\"");
  EXPECT_EQ(*quote("a \"b\" \\c"), R"("a \"b\" \\c")");
  EXPECT_EQ(*quote("src \303\251"), "\"src \303\251\"");
  EXPECT_EQ(*quote(""), "\"\"");
  for (const char* bad : {"a\nshell touch x", "a\rb", "a\tb", "\033[2J", "\177"}) {
    const auto quoted = quote(bad);
    ASSERT_FALSE(quoted.ok()) << bad;
    EXPECT_EQ(quoted.error().code, ErrorCode::Usage);
    EXPECT_FALSE(quoted.error().advice.empty());
  }
  EXPECT_FALSE(quote(std::string("a\0b", 3)).ok());
}

/// Undoes the quoting as GDB does; nothing if it is not exactly one argument.
std::optional<std::string> unquoted(const std::string& text) {
  std::string out;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      return i + 1 == text.size() ? std::optional(out) : std::nullopt;
    }
    if (text[i] == '\\') {
      ++i;
    }
    out += text[i];
  }
  return std::nullopt;
}

TEST(Quote, RandomTextIsAlwaysOneArgument) {
  std::mt19937 random(20240607);
  std::uniform_int_distribution<int> byte(0, 255);
  std::uniform_int_distribution<int> length(0, 40);
  for (int i = 0; i < 100000; ++i) {
    std::string text;
    const bool printable = i % 2 == 0;
    for (int n = length(random); n > 0; --n) {
      const int b = byte(random);
      text += static_cast<char>(printable && b < 0x20 ? '"' : b);
    }
    const auto quoted = quote(text);
    if (quoted) {
      EXPECT_EQ(quoted->find('\n'), std::string::npos);
      EXPECT_EQ(unquoted(*quoted), text);
    }
  }
}

}  // namespace
}  // namespace pf::mi

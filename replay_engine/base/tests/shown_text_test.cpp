// SPDX-License-Identifier: MIT
#include "replay_engine/base/shown_text.h"

#include <gtest/gtest.h>

namespace pf {
namespace {

TEST(ShownText, leavesTextAlone) {
  for (const char* text : {"", "main.c:57", "a\tb\nc", "naïve · 東京 → 🙂", "a\\b"}) {
    EXPECT_EQ(shown(text), text);
  }
}

TEST(ShownText, makesVisibleWhatSteersATerminal) {
  EXPECT_EQ(shown("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
  EXPECT_EQ(shown("a\rb\bc\x7f"), "a\\x0db\\x08c\\x7f");
  EXPECT_EQ(shown(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(shown("\xc2\x9b"
                  "31m"),
            "\\x9b31m");  // CSI as UTF-8
  EXPECT_EQ(shown("\x9b"
                  "31m"),
            "\\x9b31m");  // and as a byte
}

TEST(ShownText, makesVisibleWhatTurnsTheDirection) {
  EXPECT_EQ(shown("a\u202eb\u2066c\u200fd\u2028"), "a\\u202eb\\u2066c\\u200fd\\u2028");
}

TEST(ShownText, makesVisibleWhatIsNoUtf8) {
  EXPECT_EQ(shown("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(shown("\xc3"), "\\xc3");
  EXPECT_EQ(shown("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair
  EXPECT_EQ(shown("\xc0\xaf\xf8"), "\\xc0\\xaf\\xf8");  // too long; no such first byte
}

}  // namespace
}  // namespace pf

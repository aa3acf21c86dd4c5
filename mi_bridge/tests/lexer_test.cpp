// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/lexer.h"

#include <vector>

#include <gtest/gtest.h>

namespace pf::mi {
namespace {

struct StringCase {
  const char* source;
  std::string text;
};

class LexerString : public ::testing::TestWithParam<StringCase> {};

TEST_P(LexerString, Unescapes) {
  Lexer lexer(GetParam().source);
  const Lexeme lexeme = lexer.next();
  EXPECT_EQ(lexeme.kind, LexemeKind::String);
  EXPECT_EQ(lexeme.text, GetParam().text);
  EXPECT_EQ(lexer.next().kind, LexemeKind::End);
}

INSTANTIATE_TEST_SUITE_P(
    Escapes, LexerString,
    ::testing::Values(StringCase{R"("")", ""}, StringCase{R"("plain")", "plain"},
                      StringCase{R"("a\"b\\c\'d")", "a\"b\\c'd"},
                      StringCase{R"("\n\t\r\a\b\f\v\e")", "\n\t\r\a\b\f\v\033"},
                      StringCase{R"("caf\303\251")", "caf\303\251"},
                      StringCase{R"("\0")", std::string(1, '\0')}, StringCase{R"("\1234")", "S4"},
                      StringCase{R"("\78")", "\a8"}, StringCase{R"("\x41\x7g\xg")", "A\agxg"},
                      StringCase{R"("\777")", "\377"}, StringCase{R"("\q")", "q"},
                      StringCase{"\"raw \303\251 \t\"", "raw \303\251 \t"}));

TEST(Lexer, WordsAndSymbols) {
  Lexer lexer("^done,gdb-result-var={[]}");
  std::vector<std::string> texts;
  for (Lexeme l = lexer.next(); l.kind != LexemeKind::End; l = lexer.next()) {
    texts.push_back(l.text);
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"^", "done", ",", "gdb-result-var", "=", "{", "[", "]",
                                             "}"}));
}

TEST(Lexer, BadEndsTheLine) {
  for (const char* line : {"\"open", "\"open\\", "\"\\1", "\"\\x", " ", "\x01", "\xff", "#"}) {
    Lexer lexer(line);
    EXPECT_EQ(lexer.next().kind, LexemeKind::Bad) << line;
    EXPECT_EQ(lexer.next().kind, LexemeKind::End) << line;
  }
}

TEST(LineSplitter, LinesAcrossChunks) {
  LineSplitter splitter;
  std::vector<std::string> lines;
  const auto sink = [&lines](std::string_view line, bool) { lines.emplace_back(line); };
  for (const char* part : {"ab", "c\r\nde", "\n\n", "rest"}) {
    splitter.feed(part, sink);
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"abc", "de", ""}));
  splitter.reset();
  splitter.feed("x\n", sink);
  EXPECT_EQ(lines.back(), "x");
}

TEST(LineSplitter, LongLineIsCut) {
  LineSplitter splitter(1000);
  std::vector<std::pair<std::string, bool>> lines;
  const auto sink = [&lines](std::string_view line, bool cut) { lines.emplace_back(line, cut); };
  for (int i = 0; i < 100; ++i) {
    splitter.feed(i == 0 ? "17^done,x=\"" + std::string(300, 'a') : std::string(300, 'a'), sink);
  }
  splitter.feed("\"\nnext\n", sink);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[0].second);
  EXPECT_EQ(lines[0].first.size(), LineSplitter::kKeptOfLongLine);
  EXPECT_EQ(lines[0].first.substr(0, 7), "17^done");
  EXPECT_EQ(lines[1], (std::pair<std::string, bool>{"next", false}));
}

}  // namespace
}  // namespace pf::mi

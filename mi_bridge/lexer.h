// SPDX-License-Identifier: GPL-3.0-or-later
// Splits one line of GDB/MI into lexemes, and the byte stream of GDB into lines.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace pf::mi {

enum class LexemeKind {
  End,
  Word,    ///< a variable name or class: letters, digits and - _ . : @ $
  String,  ///< a C string, already unescaped
  Symbol,  ///< one character of ^*+=~@&,{}[]
  Bad,     ///< anything else; `text` says what is wrong
};

struct Lexeme {
  LexemeKind kind = LexemeKind::End;
  std::string text;
  std::size_t offset = 0;

  [[nodiscard]] bool is(char symbol) const {
    return kind == LexemeKind::Symbol && text.size() == 1 && text[0] == symbol;
  }
};

/// Reads lexemes of one line (without its newline) from the left. Never fails: what cannot be read
/// is a lexeme of kind Bad, and after it every lexeme is End.
class Lexer {
 public:
  explicit Lexer(std::string_view line) : m_line(line) {}

  [[nodiscard]] Lexeme next();
  [[nodiscard]] std::size_t offset() const { return m_offset; }

 private:
  [[nodiscard]] Lexeme string();
  [[nodiscard]] bool unescape(std::string& text);
  [[nodiscard]] Lexeme bad(std::size_t offset, std::string what);

  std::string_view m_line;
  std::size_t m_offset = 0;
};

/// Cuts bytes into lines. A line longer than the limit is handed over once, cut to
/// `kKeptOfLongLine` bytes and marked so, and the rest of it is dropped: memory stays bounded
/// whatever GDB sends.
class LineSplitter {
 public:
  static constexpr std::size_t kDefaultLimit = std::size_t{8} << 20U;
  static constexpr std::size_t kKeptOfLongLine = 256;
  using Sink = std::function<void(std::string_view line, bool cut)>;

  explicit LineSplitter(std::size_t limit = kDefaultLimit) : m_limit(limit) {}

  /// Calls `sink` for each complete line, without "\n" or "\r\n".
  void feed(std::string_view bytes, const Sink& sink);
  /// Forgets an unfinished line (a new GDB).
  void reset();

 private:
  std::size_t m_limit;
  std::string m_partial;
  bool m_dropping = false;
};

}  // namespace pf::mi

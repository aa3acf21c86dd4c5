// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/lexer.h"

#include <algorithm>
#include <utility>

namespace pf::mi {
namespace {

bool isWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == ':' || c == '$';
}

bool isSymbol(char c) {
  return std::string_view("^*+=~@&,{}[]").find(c) != std::string_view::npos;
}

int octalDigit(char c) {
  return c >= '0' && c <= '7' ? c - '0' : -1;
}

int hexDigit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// The byte that a one-letter escape stands for, or -1.
int simpleEscape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    case 'e':
      return 033;
    default:
      return -1;
  }
}

}  // namespace

Lexeme Lexer::bad(std::size_t offset, std::string what) {
  m_offset = m_line.size();
  return {LexemeKind::Bad, std::move(what), offset};
}

Lexeme Lexer::next() {
  const std::size_t start = m_offset;
  if (start >= m_line.size()) {
    return {LexemeKind::End, {}, m_line.size()};
  }
  const char c = m_line[start];
  if (c == '"') {
    return string();
  }
  if (isSymbol(c)) {
    ++m_offset;
    return {LexemeKind::Symbol, std::string(1, c), start};
  }
  while (m_offset < m_line.size() && isWordByte(m_line[m_offset])) {
    ++m_offset;
  }
  if (m_offset == start) {
    return bad(start, "a byte that MI does not have here");
  }
  return {LexemeKind::Word, std::string(m_line.substr(start, m_offset - start)), start};
}

Lexeme Lexer::string() {
  const std::size_t start = m_offset++;
  std::string text;
  while (m_offset < m_line.size()) {
    const std::size_t plain = std::min(m_line.find_first_of("\"\\", m_offset), m_line.size());
    text.append(m_line.substr(m_offset, plain - m_offset));
    m_offset = plain + 1;
    if (plain == m_line.size()) {
      break;
    }
    if (m_line[plain] == '"') {
      return {LexemeKind::String, std::move(text), start};
    }
    if (!unescape(text)) {
      break;
    }
  }
  return bad(start, "a string without end");
}

/// Reads what follows a backslash. False at the end of the line.
bool Lexer::unescape(std::string& text) {
  if (m_offset >= m_line.size()) {
    return false;
  }
  const char c = m_line[m_offset];
  if (octalDigit(c) >= 0) {
    unsigned byte = 0;
    for (int digits = 0; digits < 3 && m_offset < m_line.size(); ++digits, ++m_offset) {
      const int digit = octalDigit(m_line[m_offset]);
      if (digit < 0) {
        break;
      }
      byte = byte * 8 + static_cast<unsigned>(digit);
    }
    text += static_cast<char>(byte & 0xffU);
    return true;
  }
  ++m_offset;
  if (c == 'x' && m_offset < m_line.size() && hexDigit(m_line[m_offset]) >= 0) {
    unsigned byte = 0;
    for (int digits = 0; digits < 2 && m_offset < m_line.size(); ++digits, ++m_offset) {
      const int digit = hexDigit(m_line[m_offset]);
      if (digit < 0) {
        break;
      }
      byte = byte * 16 + static_cast<unsigned>(digit);
    }
    text += static_cast<char>(byte);
    return true;
  }
  const int simple = simpleEscape(c);
  text += simple >= 0 ? static_cast<char>(simple) : c;  // \" \\ \' and unknown ones: the character
  return true;
}

void LineSplitter::feed(std::string_view bytes, const Sink& sink) {
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::string_view part = bytes.substr(0, newline);
    if (!m_dropping && m_partial.size() + part.size() > m_limit) {
      m_partial.append(part.substr(0, kKeptOfLongLine));
      m_partial.resize(std::min(m_partial.size(), kKeptOfLongLine));
      m_partial.shrink_to_fit();
      m_dropping = true;
    }
    if (newline == std::string_view::npos) {
      if (!m_dropping) {
        m_partial.append(part);
      }
      return;
    }
    bytes.remove_prefix(newline + 1);
    if (!m_dropping) {
      m_partial.append(part);
    }
    std::string line = std::exchange(m_partial, {});
    const bool cut = std::exchange(m_dropping, false);
    if (!cut && !line.empty() && line.back() == '\r') {
      line.pop_back();
    }
    sink(line, cut);
  }
}

void LineSplitter::reset() {
  m_partial.clear();
  m_dropping = false;
}

}  // namespace pf::mi

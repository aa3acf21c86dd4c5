// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/parser.h"

#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "mi_bridge/lexer.h"

namespace pf::mi {
namespace {

/// Number of leading digits: the token of a record.
std::size_t tokenLength(std::string_view line) {
  std::size_t length = 0;
  while (length < line.size() && line[length] >= '0' && line[length] <= '9') {
    ++length;
  }
  return length;
}

std::optional<std::uint64_t> tokenOf(std::string_view digits) {
  std::uint64_t token = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), token);
  const bool whole = error == std::errc() && stop == digits.data() + digits.size();
  return whole && !digits.empty() ? std::optional(token) : std::nullopt;
}

ResultClass resultClassOf(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, ResultClass>, 5> kClasses{
      {{"done", ResultClass::Done},
       {"running", ResultClass::Running},
       {"connected", ResultClass::Connected},
       {"error", ResultClass::Error},
       {"exit", ResultClass::Exit}}};
  for (const auto& [name, value] : kClasses) {
    if (name == word) {
      return value;
    }
  }
  return ResultClass::Other;
}

class Parser {
 public:
  explicit Parser(std::string_view line) : m_line(line), m_lexer(line) {
    m_token = tokenLength(line);
  }

  Result<Record> record();
  [[nodiscard]] std::size_t errorOffset() const { return m_errorOffset; }

 private:
  std::optional<Record> body();
  std::optional<Record> stream(StreamKind kind);
  std::optional<Record> result();
  std::optional<Record> async(AsyncKind kind);
  bool results(Value::Fields& fields);
  bool fields(Value::Fields& fields, char close, int depth);
  bool field(Value::Field& field, int depth);
  bool value(Value& value, int depth);
  void advance() { m_current = m_lexer.next(); }
  bool fail(std::string what);
  bool atEnd();

  std::string_view m_line;
  Lexer m_lexer;
  std::size_t m_token = 0;
  Lexeme m_current;
  std::size_t m_errorOffset = 0;
  std::string m_error;
};

bool Parser::fail(std::string what) {
  if (m_error.empty()) {
    m_error = m_current.kind == LexemeKind::Bad ? m_current.text : std::move(what);
    m_errorOffset = m_token + m_current.offset;
  }
  return false;
}

bool Parser::atEnd() {
  return m_current.kind == LexemeKind::End || fail("text after the end of the record");
}

Result<Record> Parser::record() {
  const std::string_view trimmed = m_line.substr(0, m_line.find_last_not_of(' ') + 1);
  if (trimmed == "(gdb)") {
    return Record(PromptRecord{});
  }
  m_lexer = Lexer(m_line.substr(m_token));
  if (auto parsed = body()) {
    return std::move(*parsed);
  }
  std::string shown(m_line.substr(0, 80));
  return Error{ErrorCode::Peer,
               "not a record of GDB/MI: " + m_error + " at offset " +
                   std::to_string(m_errorOffset) + " of " + toMiString(shown),
               {}};
}

std::optional<Record> Parser::body() {
  advance();
  if (m_current.kind == LexemeKind::Symbol) {
    switch (m_current.text[0]) {
      case '^':
        return result();
      case '*':
        return async(AsyncKind::Exec);
      case '+':
        return async(AsyncKind::Status);
      case '=':
        return async(AsyncKind::Notify);
      case '~':
        return stream(StreamKind::Console);
      case '@':
        return stream(StreamKind::Target);
      case '&':
        return stream(StreamKind::Log);
      default:
        break;
    }
  }
  fail("no record starts like this");
  return std::nullopt;
}

std::optional<Record> Parser::stream(StreamKind kind) {
  if (m_token != 0) {
    fail("a stream record has no token");
    return std::nullopt;
  }
  advance();
  if (m_current.kind != LexemeKind::String) {
    fail("a string is expected");
    return std::nullopt;
  }
  std::string text = std::move(m_current.text);
  advance();
  if (!atEnd()) {
    return std::nullopt;
  }
  return Record(StreamRecord{kind, std::move(text)});
}

std::optional<Record> Parser::result() {
  advance();
  if (m_current.kind != LexemeKind::Word) {
    fail("a result class is expected");
    return std::nullopt;
  }
  ResultRecord record;
  record.token = tokenOf(m_line.substr(0, m_token));
  record.resultClass = resultClassOf(m_current.text);
  Value::Fields fields;
  if (!results(fields)) {
    return std::nullopt;
  }
  record.results = Value::tuple(std::move(fields));
  return Record(std::move(record));
}

std::optional<Record> Parser::async(AsyncKind kind) {
  advance();
  if (m_current.kind != LexemeKind::Word) {
    fail("an async class is expected");
    return std::nullopt;
  }
  AsyncRecord record;
  record.token = tokenOf(m_line.substr(0, m_token));
  record.kind = kind;
  record.asyncClass = std::move(m_current.text);
  Value::Fields fields;
  if (!results(fields)) {
    return std::nullopt;
  }
  record.results = Value::tuple(std::move(fields));
  return Record(std::move(record));
}

/// ( "," result )* up to the end of the line.
bool Parser::results(Value::Fields& fields) {
  advance();
  while (m_current.is(',')) {
    advance();
    if (!field(fields.emplace_back(), 1)) {
      return false;
    }
  }
  return atEnd();
}

/// The inside of a tuple or list, up to and with its closing bracket.
bool Parser::fields(Value::Fields& fields, char close, int depth) {
  advance();
  if (m_current.is(close)) {
    advance();
    return true;
  }
  for (;;) {
    if (!field(fields.emplace_back(), depth)) {
      return false;
    }
    if (m_current.is(close)) {
      advance();
      return true;
    }
    if (!m_current.is(',')) {
      return fail(std::string("a comma or '") + close + "' is expected");
    }
    advance();
  }
}

/// name "=" value, or a bare value.
bool Parser::field(Value::Field& field, int depth) {
  if (m_current.kind == LexemeKind::Word) {
    field.name = std::move(m_current.text);
    advance();
    if (!m_current.is('=')) {
      return fail("'=' is expected");
    }
    advance();
  }
  return value(field.value, depth);
}

bool Parser::value(Value& value, int depth) {
  if (m_current.kind == LexemeKind::String) {
    value = Value::constant(std::move(m_current.text));
    advance();
    return true;
  }
  const bool tuple = m_current.is('{');
  if (!tuple && !m_current.is('[')) {
    return fail("a value is expected");
  }
  if (depth >= kMaxDepth) {
    return fail("values are nested too deep");
  }
  Value::Fields inside;
  if (!fields(inside, tuple ? '}' : ']', depth + 1)) {
    return false;
  }
  value = tuple ? Value::tuple(std::move(inside)) : Value::list(std::move(inside));
  return true;
}

}  // namespace

Result<Record> parseRecord(std::string_view line, std::size_t* errorOffset) {
  Parser parser(line);
  auto record = parser.record();
  if (!record && errorOffset != nullptr) {
    *errorOffset = parser.errorOffset();
  }
  return record;
}

std::optional<std::uint64_t> resultTokenOf(std::string_view line) {
  const std::size_t length = tokenLength(line);
  if (length == 0 || length >= line.size() || line[length] != '^') {
    return std::nullopt;
  }
  return tokenOf(line.substr(0, length));
}

}  // namespace pf::mi

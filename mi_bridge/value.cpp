// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/value.h"

#include <charconv>
#include <utility>

namespace pf::mi {
namespace {

const Value& invalidValue() {
  static const Value kInvalid;
  return kInvalid;
}

void appendEscaped(std::string& out, unsigned char byte) {
  switch (byte) {
    case '"':
    case '\\':
      out += '\\';
      out += static_cast<char>(byte);
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      break;
  }
  if (byte >= 0x20 && byte < 0x7f) {
    out += static_cast<char>(byte);
    return;
  }
  out += '\\';
  out += static_cast<char>('0' + (byte >> 6U));
  out += static_cast<char>('0' + ((byte >> 3U) & 7U));
  out += static_cast<char>('0' + (byte & 7U));
}

std::optional<std::uint64_t> parseUnsigned(std::string_view text) {
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    text.remove_prefix(2);
    base = 16;
  }
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc() || stop != end || text.empty()) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

Value Value::constant(std::string text) {
  Value value;
  value.m_kind = Kind::Const;
  value.m_text = std::move(text);
  return value;
}

Value Value::tuple(Fields fields) {
  Value value;
  value.m_kind = Kind::Tuple;
  value.m_fields = std::move(fields);
  return value;
}

Value Value::list(Fields fields) {
  Value value;
  value.m_kind = Kind::List;
  value.m_fields = std::move(fields);
  return value;
}

const Value& Value::operator[](std::string_view name) const {
  for (const Field& field : m_fields) {
    if (field.name == name) {
      return field.value;
    }
  }
  return invalidValue();
}

const Value& Value::at(std::size_t index) const {
  return index < m_fields.size() ? m_fields[index].value : invalidValue();
}

std::optional<std::int64_t> Value::parseInteger(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) {
    text.remove_prefix(1);
  }
  const auto number = parseUnsigned(text);
  if (!number || *number > static_cast<std::uint64_t>(INT64_MAX)) {
    return std::nullopt;
  }
  const auto magnitude = static_cast<std::int64_t>(*number);
  return negative ? -magnitude : magnitude;
}

std::uint64_t Value::toAddress(std::string_view name) const {
  return parseUnsigned((*this)[name].text()).value_or(0);
}

std::string Value::toMi() const {
  if (m_kind == Kind::Const) {
    return toMiString(m_text);
  }
  if (m_kind == Kind::Invalid) {
    return {};
  }
  std::string out(1, m_kind == Kind::Tuple ? '{' : '[');
  for (const Field& field : m_fields) {
    if (out.size() > 1) {
      out += ',';
    }
    if (!field.name.empty()) {
      out += field.name;
      out += '=';
    }
    out += field.value.toMi();
  }
  out += m_kind == Kind::Tuple ? '}' : ']';
  return out;
}

bool operator==(const Value& left, const Value& right) {
  return left.m_kind == right.m_kind && left.m_text == right.m_text &&
         left.m_fields == right.m_fields;
}

std::string toMiString(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    appendEscaped(out, static_cast<unsigned char>(c));
  }
  return out + '"';
}

}  // namespace pf::mi

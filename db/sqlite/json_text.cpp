// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/sqlite/json_text.h"

#include <array>
#include <charconv>
#include <cstdint>

namespace pf::db {
namespace {

unsigned byteAt(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

/// Length of the valid UTF-8 character at `i`, 0 if there is none. Surrogates are none.
std::size_t characterLength(std::string_view text, std::size_t i) {
  const unsigned first = byteAt(text, i);
  if (first < 0x80) {
    return 1;
  }
  const std::size_t length = first >= 0xF0 ? 4 : (first >= 0xE0 ? 3 : 2);
  if (first < 0xC2 || first > 0xF4 || text.size() - i < length) {
    return 0;
  }
  for (std::size_t k = 1; k < length; ++k) {
    if ((byteAt(text, i + k) & 0xC0U) != 0x80U) {
      return 0;
    }
  }
  const unsigned second = byteAt(text, i + 1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second >= 0xA0;
  const bool beyond = first == 0xF4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

void appendEscape(std::string& out, unsigned unit) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\u";
  for (const unsigned shift : {12U, 8U, 4U, 0U}) {
    out += kDigits[(unit >> shift) & 0xFU];
  }
}

void appendString(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = characterLength(text, i);
    if (length == 0) {
      appendEscape(out, 0xDC00U + byteAt(text, i));
    } else if (length == 1 && byteAt(text, i) < 0x20) {
      appendEscape(out, byteAt(text, i));
    } else {
      if (text[i] == '"' || text[i] == '\\') {
        out += '\\';
      }
      out += text.substr(i, length);
    }
    i += length == 0 ? 1 : length;
  }
  out += '"';
}

/// Reads the string that begins after the quote at `json[i - 1]`; leaves `i` after its closing
/// quote.
bool readString(std::string_view json, std::size_t& i, std::string& value) {
  while (i < json.size()) {
    const char c = json[i++];
    if (c == '"') {
      return true;
    }
    if (c != '\\') {
      value += c;
      continue;
    }
    if (i >= json.size()) {
      return false;
    }
    const char kind = json[i++];
    if (kind == '"' || kind == '\\') {
      value += kind;
      continue;
    }
    unsigned unit = 0;
    if (kind != 'u' || json.size() - i < 4 ||
        std::from_chars(json.data() + i, json.data() + i + 4, unit, 16).ptr !=
            json.data() + i + 4) {
      return false;
    }
    i += 4;
    if (unit >= 0xDC80 && unit <= 0xDCFF) {
      unit -= 0xDC00;
    } else if (unit >= 0x20) {
      return false;
    }
    value += static_cast<char>(static_cast<unsigned char>(unit));
  }
  return false;
}

}  // namespace

std::string jsonOf(const std::vector<std::string>& values) {
  std::string out = "[";
  for (const std::string& value : values) {
    if (out.size() > 1) {
      out += ',';
    }
    appendString(out, value);
  }
  return out + "]";
}

std::string jsonOf(const std::vector<Rank>& values) {
  std::string out = "[";
  for (const Rank value : values) {
    if (out.size() > 1) {
      out += ',';
    }
    out += std::to_string(value);
  }
  return out + "]";
}

bool fromJson(std::string_view json, std::vector<std::string>& values) {
  values.clear();
  if (json == "[]") {
    return true;
  }
  std::size_t i = 0;
  char expected = '[';
  while (i + 1 < json.size() && json[i] == expected && json[i + 1] == '"') {
    i += 2;
    if (!readString(json, i, values.emplace_back())) {
      return false;
    }
    expected = ',';
  }
  return expected == ',' && i + 1 == json.size() && json[i] == ']';
}

bool fromJson(std::string_view json, std::vector<Rank>& values) {
  values.clear();
  if (json == "[]") {
    return true;
  }
  const char* at = json.data();
  const char* const end = at + json.size();
  char expected = '[';
  while (at != end && *at == expected) {
    const auto [next, error] = std::from_chars(at + 1, end, values.emplace_back());
    if (error != std::errc()) {
      return false;
    }
    at = next;
    expected = ',';
  }
  return expected == ',' && end - at == 1 && *at == ']';
}

}  // namespace pf::db

#include "protocol/world.h"

#include <array>
#include <cstdint>
#include <optional>

namespace pf::protocol {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

std::string plain(const std::string& text) {
  std::string out;
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte > 0x20 && byte < 0x7F && each != '%') {
      out += each;
    } else {
      out += '%';
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    }
  }
  return out;
}

std::optional<std::string> unplain(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const std::size_t high = i + 2 < text.size() ? kDigits.find(text[i + 1]) : std::string::npos;
    const std::size_t low = i + 2 < text.size() ? kDigits.find(text[i + 2]) : std::string::npos;
    if (high == std::string::npos || low == std::string::npos) {
      return std::nullopt;
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

}  // namespace

std::string factText(const WorldFact& fact) {
  return plain(fact.kind) + " " + plain(fact.name) + " " + plain(fact.value);
}

bool factFromText(std::string_view line, WorldFact& fact) {
  std::array<std::string*, 3> fields{&fact.kind, &fact.name, &fact.value};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t end = i + 1 < fields.size() ? line.find(' ') : line.size();
    if (end == std::string_view::npos) {
      return false;
    }
    std::optional<std::string> text = unplain(line.substr(0, end));
    if (!text) {
      return false;
    }
    *fields[i] = std::move(*text);
    line.remove_prefix(end < line.size() ? end + 1 : end);
  }
  return !fact.kind.empty() && fact.kind.find(' ') == std::string::npos;
}

}  // namespace pf::protocol

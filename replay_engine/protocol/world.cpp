// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/protocol/world.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace pf::protocol {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

/// Variables that change what a program does: how it finds its libraries, how many threads it
/// makes (and so the order of its sums), how it reads and sorts text. Not those of the MPI library:
/// launchers put what belongs to one run there.
constexpr std::array<std::string_view, 8> kNames{
    "LD_LIBRARY_PATH", "LD_PRELOAD", "LANG",          "LANGUAGE", "TZ",
    "PYTHONHASHSEED",  "PYTHONPATH", "GLIBC_TUNABLES"};
constexpr std::array<std::string_view, 6> kFamilies{"LC_",  "OMP_", "GOMP_",
                                                    "KMP_", "MKL_", "OPENBLAS_"};

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

bool variableMatters(std::string_view name) {
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         std::any_of(kFamilies.begin(), kFamilies.end(), [&](std::string_view family) {
           return name.substr(0, family.size()) == family;
         });
}

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

// SPDX-License-Identifier: MIT
#include "replay_engine/cpython/location_table.h"

#include <cstddef>
#include <limits>

namespace pf::cpython {
namespace {

constexpr int kUnit = 2;  ///< bytes of an instruction's word

/// The numbers behind an entry's first byte: 6 bits a byte, the lowest first; bit 6: more follow.
class Varints {
 public:
  Varints(std::string_view table, std::size_t at) : m_table(table), m_at(at) {}

  [[nodiscard]] std::int64_t nextSigned() {
    std::uint64_t value = 0;
    bool more = true;
    for (unsigned shift = 0; more && shift < 36 && m_at < m_table.size(); shift += 6) {
      const auto byte = static_cast<unsigned char>(m_table[m_at++]);
      value |= static_cast<std::uint64_t>(byte & 0x3FU) << shift;
      more = (byte & 0x40U) != 0;
    }
    const auto half = static_cast<std::int64_t>(value >> 1U);
    return (value & 1U) != 0 ? -half : half;
  }

 private:
  std::string_view m_table;
  std::size_t m_at;
};

/// PyCodeLocationInfoKind.
enum Kind : unsigned { OneLine0 = 10, OneLine2 = 12, NoColumns = 13, Long = 14, None = 15 };

std::int64_t lineDelta(unsigned kind, std::string_view table, std::size_t at) {
  if (kind == NoColumns || kind == Long) {
    return Varints(table, at + 1).nextSigned();
  }
  return kind >= OneLine0 && kind <= OneLine2 ? kind - OneLine0 : 0;
}

}  // namespace

int lineAt(std::string_view table, int firstLine, std::int64_t offset) {
  if (offset < 0) {
    return firstLine;
  }
  std::int64_t line = firstLine;
  std::int64_t end = 0;
  for (std::size_t at = 0; at < table.size();) {
    const auto first = static_cast<unsigned char>(table[at]);
    const unsigned kind = first >> 3U & 15U;
    line += lineDelta(kind, table, at);
    end += (static_cast<std::int64_t>(first & 7U) + 1) * kUnit;
    if (offset < end) {
      const bool known = kind != None && line > 0 && line <= std::numeric_limits<int>::max();
      return known ? static_cast<int>(line) : 0;
    }
    do {
      ++at;
    } while (at < table.size() && (static_cast<unsigned char>(table[at]) & 0x80U) == 0);
  }
  return 0;
}

}  // namespace pf::cpython

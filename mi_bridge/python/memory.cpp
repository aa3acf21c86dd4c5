// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/python/memory.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace pf::mi::python {

/// In pieces that cross no boundary: the string may end at the last byte that can be read.
std::string readCString(Memory& memory, std::uint64_t address, std::size_t most) {
  constexpr std::size_t kPiece = 64;
  std::string text;
  std::array<char, kPiece> piece{};
  while (text.size() < most) {
    const std::uint64_t at = address + text.size();
    const std::size_t size = kPiece - at % kPiece;
    if (!memory.read(at, piece.data(), size)) {
      break;
    }
    const std::string_view part(piece.data(), size);
    const std::size_t end = part.find('\0');
    text += part.substr(0, end);
    if (end != std::string_view::npos) {
      break;
    }
  }
  text.resize(std::min(text.size(), most));
  return text;
}

}  // namespace pf::mi::python

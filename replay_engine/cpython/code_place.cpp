// SPDX-License-Identifier: MIT
#include "replay_engine/cpython/code_place.h"

#include <algorithm>
#include <cstring>

#include "replay_engine/cpython/location_table.h"
#include "replay_engine/cpython/objects.h"

namespace pf::cpython {
namespace {

bool isCode(Memory& memory, std::uint64_t object) {
  const std::uint64_t name = readPointer(memory, readPointer(memory, object + kType) + kTypeName);
  char text[sizeof "code"];
  return memory.read(name, text, sizeof text) && std::memcmp(text, "code", sizeof text) == 0;
}

/// Halves of pairs, and what is no character, are "?".
std::uint32_t shownCharacter(std::uint32_t c) {
  return (c >= 0xD800 && c < 0xE000) || c > 0x10FFFF || c == 0 ? '?' : c;
}

/// False: it is no str, cannot be read, or there is no room for all of it.
template <std::size_t Most>
bool appendStr(Memory& memory, const Layout& layout, std::uint64_t object, BoundedText<Most>& to) {
  const std::optional<StrData> str = strData(memory, layout, object);
  if (!str) {
    return false;
  }
  char piece[256];
  const std::size_t atOnce = sizeof piece / str->width;
  for (std::size_t done = 0; done < str->length;) {
    const std::size_t count = std::min(atOnce, str->length - done);
    if (!memory.read(str->at + done * str->width, piece, count * str->width)) {
      return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t character = 0;  // the lowest byte comes first
      std::memcpy(&character, piece + i * str->width, str->width);
      if (!to.append(Utf8(shownCharacter(character)).view())) {
        return false;
      }
    }
    done += count;
  }
  return true;
}

std::string_view copyTable(Memory& memory, std::uint64_t object, std::span<char> to) {
  const auto size = readNumber<std::int64_t>(memory, object + kSize);
  if (!size || *size <= 0 || !isA(memory, object, Base::Bytes)) {
    return {};
  }
  const std::size_t count = std::min(to.size(), static_cast<std::size_t>(*size));
  return memory.read(object + kBytes, to.data(), count) ? std::string_view(to.data(), count)
                                                        : std::string_view();
}

}  // namespace

bool describe(Memory& memory, const Layout& layout, Instruction instruction, std::span<char> table,
              CodePlace& place) {
  const std::uint64_t code = instruction.code;
  place.file.clear();
  place.function.clear();
  const auto first = readNumber<std::int32_t>(memory, code + layout.codeFirstLine);
  if (!first || !isCode(memory, code) ||
      !appendStr(memory, layout, readPointer(memory, code + layout.codeFile), place.file) ||
      place.file.view().empty()) {
    return false;
  }
  (void)appendStr(memory, layout, readPointer(memory, code + layout.codeQualifiedName),
                  place.function);
  const std::string_view lines =
      copyTable(memory, readPointer(memory, code + layout.codeLineTable), table);
  place.line = lineAt(lines, *first,
                      static_cast<std::int64_t>(instruction.at - (code + layout.codeInstructions)));
  return true;
}

bool isOfImports(const CodePlace& place) {
  constexpr std::string_view kBegin = "<frozen importlib";
  const std::string_view file = place.file.view();  // a rank has no functions of it that throw
  return file.size() >= kBegin.size() &&
         std::memcmp(file.data(), kBegin.data(), kBegin.size()) == 0;
}

bool describeCaller(Memory& memory, const Layout& layout, std::uint64_t thread,
                    std::span<char> table, CodePlace& place) {
  FrameWalk frames(memory, layout, thread);
  for (Instruction at = frames.next(); at.known(); at = frames.next()) {
    if (!describe(memory, layout, at, table, place)) {
      return false;
    }
    if (!isOfImports(place)) {
      return true;
    }
  }
  return false;
}

}  // namespace pf::cpython

// SPDX-License-Identifier: MIT
#include "replay_engine/cpython/code_place.h"

#include <algorithm>
#include <cstring>

#include "replay_engine/cpython/location_table.h"

namespace pf::cpython {
namespace {

// Members that lie at the same place from 3.11 to 3.13.
constexpr std::uint64_t kType = 8;
constexpr std::uint64_t kTypeName = 24;
constexpr std::uint64_t kTypeFlags = 168;
constexpr std::uint64_t kSize = 16;
constexpr std::uint64_t kBytes = 32;
constexpr std::uint64_t kStrState = 32;
constexpr unsigned kBytesFlag = 27;  ///< Py_TPFLAGS_BYTES_SUBCLASS
constexpr unsigned kStrFlag = 28;    ///< Py_TPFLAGS_UNICODE_SUBCLASS

bool isA(Memory& memory, std::uint64_t object, unsigned flag) {
  const std::uint64_t type = readPointer(memory, object + kType);
  const auto flags = readNumber<std::uint64_t>(memory, type + kTypeFlags);
  return flags && (*flags >> flag & 1U) != 0;
}

bool isCode(Memory& memory, std::uint64_t object) {
  const std::uint64_t name = readPointer(memory, readPointer(memory, object + kType) + kTypeName);
  char text[sizeof "code"];
  return memory.read(name, text, sizeof text) && std::memcmp(text, "code", sizeof text) == 0;
}

/// A character as UTF-8; halves of pairs, and what is no character, as "?".
template <std::size_t Most>
bool appendCharacter(BoundedText<Most>& to, std::uint32_t c) {
  char out[4];
  std::size_t count = 0;
  const auto tail = [&](unsigned shift) {
    out[count++] = static_cast<char>(0x80U | (c >> shift & 0x3FU));
  };
  if ((c >= 0xD800 && c < 0xE000) || c > 0x10FFFF || c == 0) {
    c = '?';
  }
  if (c < 0x80) {
    out[count++] = static_cast<char>(c);
  } else if (c < 0x800) {
    out[count++] = static_cast<char>(0xC0U | c >> 6U);
    tail(0);
  } else if (c < 0x10000) {
    out[count++] = static_cast<char>(0xE0U | c >> 12U);
    tail(6);
    tail(0);
  } else {
    out[count++] = static_cast<char>(0xF0U | c >> 18U);
    tail(12);
    tail(6);
    tail(0);
  }
  return to.append({out, count});
}

/// False: it is no str, cannot be read, or there is no room for all of it.
template <std::size_t Most>
bool appendStr(Memory& memory, const Layout& layout, std::uint64_t object, BoundedText<Most>& to) {
  const auto state = readNumber<std::uint32_t>(memory, object + kStrState);
  const auto length = readNumber<std::int64_t>(memory, object + kSize);
  if (!state || !length || *length < 0 || !isA(memory, object, kStrFlag)) {
    return false;
  }
  const std::uint32_t width = *state >> 2U & 7U;  // interned: 2 bits, kind: 3, compact, ascii
  const bool compact = (*state >> 5U & 1U) != 0;
  const bool ascii = (*state >> 6U & 1U) != 0;
  if (width != 1 && width != 2 && width != 4) {
    return false;
  }
  const std::uint64_t data = !compact ? readPointer(memory, object + layout.compactSize)
                                      : object + (ascii ? layout.asciiSize : layout.compactSize);
  char piece[256];
  const std::size_t atOnce = sizeof piece / width;
  for (std::size_t done = 0; done < static_cast<std::size_t>(*length);) {
    const std::size_t count = std::min(atOnce, static_cast<std::size_t>(*length) - done);
    if (!memory.read(data + done * width, piece, count * width)) {
      return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t character = 0;  // the lowest byte comes first
      std::memcpy(&character, piece + i * width, width);
      if (!appendCharacter(to, character)) {
        return false;
      }
    }
    done += count;
  }
  return true;
}

std::string_view copyTable(Memory& memory, std::uint64_t object, std::span<char> to) {
  const auto size = readNumber<std::int64_t>(memory, object + kSize);
  if (!size || *size <= 0 || !isA(memory, object, kBytesFlag)) {
    return {};
  }
  const std::size_t count = std::min(to.size(), static_cast<std::size_t>(*size));
  return memory.read(object + kBytes, to.data(), count) ? std::string_view(to.data(), count)
                                                        : std::string_view();
}

/// A frame that only says that the interpreter was entered, of 3.12 and later.
bool isEntry(Memory& memory, const Layout& layout, std::uint64_t frame) {
  return layout.frameIsEntry == 0 && frame != 0 &&
         readNumber<std::uint8_t>(memory, frame + layout.frameOwner) == kOwnedByCStack;
}

}  // namespace

FrameWalk::FrameWalk(Memory& memory, const Layout& layout, std::uint64_t thread)
    : m_memory(memory),
      m_layout(layout),
      m_frame(readPointer(
          memory, (layout.hasCframe ? readPointer(memory, thread + layout.cframe) : thread) +
                      layout.currentFrame)) {}

Instruction FrameWalk::next() {
  Instruction found;
  while (m_frame != 0 && m_left-- > 0 && !found.known()) {
    if (!isEntry(m_memory, m_layout, m_frame)) {
      found = {readPointer(m_memory, m_frame + m_layout.frameCode),
               readPointer(m_memory, m_frame + m_layout.frameInstruction)};
    }
    m_frame = readPointer(m_memory, m_frame + m_layout.framePrevious);
  }
  return found;
}

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

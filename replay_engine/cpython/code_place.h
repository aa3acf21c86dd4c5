// SPDX-License-Identifier: MIT
// The place in a program's Python where a thread stands, in words. Nothing is allocated: a rank asks this of itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "replay_engine/cpython/layout.h"
#include "replay_engine/cpython/memory.h"

namespace pf::cpython {

/// Text of at most `Most` bytes.
template <std::size_t Most>
class BoundedText {
 public:
  /// False: there is no room for it.
  bool append(std::string_view bytes) {
    if (bytes.size() > Most - m_size) {
      return false;
    }
    std::memcpy(m_bytes.data() + m_size, bytes.data(), bytes.size());
    m_size += bytes.size();
    return true;
  }
  void clear() { m_size = 0; }
  [[nodiscard]] std::string_view view() const { return {m_bytes.data(), m_size}; }

 private:
  std::array<char, Most> m_bytes{};
  std::size_t m_size = 0;
};

inline constexpr std::size_t kLongestFile = 300;  ///< bytes of UTF-8: a record of a log has room
inline constexpr std::size_t kLongestFunction = 200;  ///< the same; what is longer is cut

struct CodePlace {
  BoundedText<kLongestFile> file;          ///< as the code was compiled
  BoundedText<kLongestFunction> function;  ///< qualified
  std::int32_t line = 0;                   ///< 0: the instruction has none
};

/// An instruction of Python, as it lies in memory. All zero: none.
struct Instruction {
  std::uint64_t code = 0;  ///< the code object
  std::uint64_t at = 0;

  [[nodiscard]] bool known() const { return code != 0; }
};

/// The frames of a thread, the innermost one first. Of a list that does not end the beginning. `MemoryOf`: as Memory.
template <typename MemoryOf>
class FrameWalk {
 public:
  /// `thread`: address of CPython's PyThreadState.
  FrameWalk(MemoryOf& memory, const Layout& layout, std::uint64_t thread)
      : m_memory(memory), m_layout(layout) {
    const std::uint64_t holder =
        layout.hasCframe ? readPointer(memory, thread + layout.cframe) : thread;
    m_frame = readPointer(memory, holder + layout.currentFrame);
  }

  /// Where the next frame is; unknown: there is none.
  [[nodiscard]] Instruction next() {
    Instruction found;
    while (m_frame != 0 && m_left-- > 0 && !found.known()) {
      if (!isEntry()) {
        found = {readPointer(m_memory, m_frame + m_layout.frameCode),
                 readPointer(m_memory, m_frame + m_layout.frameInstruction)};
      }
      m_frame = readPointer(m_memory, m_frame + m_layout.framePrevious);
    }
    return found;
  }

 private:
  /// It only says that the interpreter was entered (3.12 and later).
  [[nodiscard]] bool isEntry() const {
    return m_layout.frameIsEntry == 0 &&
           readNumber<std::uint8_t>(m_memory, m_frame + m_layout.frameOwner) == kOwnedByCStack;
  }

  MemoryOf& m_memory;
  const Layout& m_layout;
  std::uint64_t m_frame = 0;
  int m_left = 512;  ///< frames
};

/// Where an instruction is. `table`: where its code's location table is copied to; of one that is larger the beginning is
/// looked at. False: this is no code object that can be read, or its file's name is too long.
[[nodiscard]] bool describe(Memory& memory, const Layout& layout, Instruction instruction,
                            std::span<char> table, CodePlace& place);

/// The same of the thread's innermost frame that is the program's: where MPI is called while mpi4py is imported, that of the
/// import statement, as in Python's tracebacks.
[[nodiscard]] bool describeCaller(Memory& memory, const Layout& layout, std::uint64_t thread,
                                  std::span<char> table, CodePlace& place);
/// Whether it is a place in the machinery of imports.
[[nodiscard]] bool isOfImports(const CodePlace& place);

}  // namespace pf::cpython

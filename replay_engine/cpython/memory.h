// SPDX-License-Identifier: MIT
// Memory of a process that is looked at, and that may hold anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace pf::cpython {

class Memory {
 public:
  /// Copies `size` bytes from `address` on to `to`. False: not all of them can be read now, and `to` holds anything.
  [[nodiscard]] virtual bool read(std::uint64_t address, void* to, std::size_t size) = 0;

 protected:
  ~Memory() = default;  // nobody owns one as such
};

/// A number at `address`, in this machine's order of bytes; nothing if it cannot be read. `MemoryOf`: as Memory.
template <typename T, typename MemoryOf>
[[nodiscard]] std::optional<T> readNumber(MemoryOf& memory, std::uint64_t address) {
  T value{};
  return memory.read(address, &value, sizeof value) ? std::optional<T>(value) : std::nullopt;
}

/// The same of a pointer, and of what a null pointer stands for: 0.
template <typename MemoryOf>
[[nodiscard]] std::uint64_t readPointer(MemoryOf& memory, std::uint64_t address) {
  return readNumber<std::uint64_t>(memory, address).value_or(0);
}

}  // namespace pf::cpython

// SPDX-License-Identifier: MIT
// A heap of one thread: blocks of fixed sizes, cut one after the other from its range, and lists of
// those that were freed. Where a block lies depends on the thread's own calls only.
#pragma once

#include "replay_engine/rank/fixed_heap/layout.h"

namespace pf::memory {

/// Addresses that are given out one after the other.
struct Range {
  std::uintptr_t at = 0;
  std::uintptr_t ready = 0;  ///< mapped up to here
  std::uintptr_t end = 0;
};

/// Maps anonymous memory just there. Not through mmap(), which is ours.
bool mapAt(std::uintptr_t address, std::size_t size);

struct ThreadHeaps;

enum class HeapKind : std::uint32_t { Program, Libc };

class Heap {
 public:
  constexpr explicit Heap(HeapKind kind) : m_kind(kind) {}

  /// 16-byte aligned, or as `alignment` (a power of two) says. Null: there is no memory. `fresh`:
  /// its bytes are 0.
  void* allocate(ThreadHeaps& owner, std::size_t size, std::size_t alignment, bool* fresh);
  /// A block of any thread's heap of this kind.
  void release(void* block);

  Range range;

 private:
  struct Freed {
    Freed* next;
  };
  static constexpr std::size_t kClasses = 212;

  void* cut(ThreadHeaps& owner, std::size_t size);

  const HeapKind m_kind;
  Freed* m_freed[kClasses] = {};
};

/// Bytes from `block` to its end.
std::size_t usableSize(const void* block);
/// Which heap it is of; ends the process if it is none that is in use.
HeapKind kindOf(const void* block);

/// What one thread of the program has.
struct ThreadHeaps {
  std::uint64_t key =
      0;  ///< the same in each run: made of who made the thread, and how-manieth of it
  std::uint32_t children = 0;
  std::uint32_t slots = 0;  ///< taken so far
  Heap program{HeapKind::Program};
  Heap libc{HeapKind::Libc};
  Range maps;
  ThreadHeaps* spare = nullptr;      ///< of threads that this one has joined
  ThreadHeaps* nextSpare = nullptr;  ///< in such a list
  ThreadHeaps* nextOfAll = nullptr;
  void* (*routine)(void*) = nullptr;  ///< while it starts
  void* argument = nullptr;
  unsigned long thread = 0;  ///< pthread_t, to be found by it; 0: it is not to be joined

  Heap& heap(HeapKind kind) { return kind == HeapKind::Program ? program : libc; }
};

/// Slots of the threads' range, of `size` bytes together; 0: none is left.
std::uintptr_t takeSlots(ThreadHeaps& owner, std::size_t size);

}  // namespace pf::memory

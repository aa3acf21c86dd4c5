// SPDX-License-Identifier: MIT
// Where the program's memory is, with --same-addresses: in address ranges of its own, which depend
// on nothing but what the program asks for, in which order, and in which of its threads. What MPI
// and the interposer ask for in between comes from libc (its heap and places of the kernel's
// choosing, in a range of their own), so it cannot shift the program's.
//
//   one heap a thread, without locks   a block that a thread frees is used again by that thread
//                                      only: who frees first, of two threads, changes nothing
//   what libc allocates for the        has a heap of its own in each thread: buffers of streams
//   program (strdup, fopen ...)        differ in size with what standard output is
#pragma once

#include <cstddef>
#include <cstdint>

namespace pf::memory {

inline constexpr std::uintptr_t kTiB = std::uintptr_t{1} << 40;

// The kernel puts programs below the first of these, or above 0x550000000000; libraries and stacks
// are at 0x7f0000000000 and above.
inline constexpr std::uintptr_t kProgramBegin = 16 * kTiB;  ///< the main thread's heap
inline constexpr std::uintptr_t kLibcBegin = 24 * kTiB;     ///< libc's for it
inline constexpr std::uintptr_t kThreadsBegin = 26 * kTiB;  ///< slots that threads take
inline constexpr std::uintptr_t kHeapsEnd = 42 * kTiB;
inline constexpr std::uintptr_t kMapsBegin = 42 * kTiB;  ///< the main thread's mmap()
inline constexpr std::uintptr_t kMapsEnd = 50 * kTiB;
inline constexpr std::uintptr_t kBreakBegin = 50 * kTiB;  ///< sbrk()
inline constexpr std::uintptr_t kBreakEnd = 51 * kTiB;
inline constexpr std::uintptr_t kGuestsBegin =
    56 * kTiB;  ///< mmap() and shmat() of MPI and of ours
inline constexpr std::uintptr_t kGuestsEnd = 72 * kTiB;

inline constexpr std::size_t kSlotSize = std::size_t{256} << 20;
inline constexpr std::size_t kSlots = (kHeapsEnd - kThreadsBegin) / kSlotSize;

inline constexpr std::size_t kPage = 4096;
inline constexpr std::size_t kStep = std::size_t{1} << 20;     ///< heaps grow by this
inline constexpr std::size_t kMapStep = std::size_t{2} << 20;  ///< a huge page

constexpr std::uintptr_t roundUp(std::uintptr_t value, std::uintptr_t to) {
  return (value + to - 1) / to * to;
}

/// Whether a block is of one of the program's heaps.
inline bool isPrograms(const void* block) {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  return address >= kProgramBegin && address < kHeapsEnd;
}

}  // namespace pf::memory

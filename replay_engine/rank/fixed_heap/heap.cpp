// SPDX-License-Identifier: MIT
#include "replay_engine/rank/fixed_heap/heap.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace pf::memory {
namespace {

constexpr std::uint32_t kInUse = 0x50466D75;
constexpr std::uint32_t kFree = 0x50466D66;
constexpr std::size_t kSmall = 1024;                     ///< up to here in steps of 16
constexpr std::size_t kGiveBack = std::size_t{1} << 18;  ///< larger ones: their pages go back

struct Header {
  std::uint16_t sizeClass;
  std::uint16_t kind;
  std::uint32_t state;
  std::uint64_t back;  ///< from an aligned block to the one it is in
};
static_assert(sizeof(Header) == 16);

std::atomic<std::uint8_t> g_slotTaken[kSlots];

std::size_t classOf(std::size_t size) {
  if (size <= kSmall) {
    return size == 0 ? 1 : (size + 15) / 16;
  }
  const auto power = static_cast<std::size_t>(63 - std::countl_zero(size - 1));
  const std::size_t step = std::size_t{1} << (power - 2);
  return 64 + (power - 10) * 4 + (size + step - 1) / step - 4;
}

std::size_t sizeOf(std::size_t sizeClass) {
  if (sizeClass <= 64) {
    return sizeClass * 16;
  }
  const std::size_t power = (sizeClass - 65) / 4 + 10;
  return ((sizeClass - 65) % 4 + 5) << (power - 2);
}

Header* headerOf(void* block) {
  return static_cast<Header*>(block) - 1;
}

const Header* headerOf(const void* block) {
  return static_cast<const Header*>(block) - 1;
}

[[noreturn]] void complain(const char* text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
  std::abort();
}

}  // namespace

bool mapAt(std::uintptr_t address, std::size_t size) {
  const int before = errno;
  const long mapped = syscall(SYS_mmap, address, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0L);
  errno = before;
  return mapped == static_cast<long>(address);
}

std::uintptr_t takeSlots(ThreadHeaps& owner, std::size_t size) {
  const std::size_t count = roundUp(size, kSlotSize) / kSlotSize;
  std::uint64_t hash = (owner.key + ++owner.slots) * 0x9E3779B97F4A7C15U;
  hash ^= hash >> 29;
  for (std::size_t tried = 0; count < kSlots && tried < kSlots; ++tried) {
    const std::size_t first = (hash + tried) % (kSlots - count);
    std::size_t taken = 0;
    while (taken < count && g_slotTaken[first + taken].exchange(1) == 0) {
      ++taken;
    }
    if (taken == count) {
      return kThreadsBegin + first * kSlotSize;
    }
    while (taken > 0) {
      g_slotTaken[first + --taken] = 0;
    }
  }
  return 0;
}

void* Heap::cut(ThreadHeaps& owner, std::size_t size) {
  if (range.end - range.at < size) {
    // What is left of the slot is not used: the next one begins with its hash.
    const std::uintptr_t begin = takeSlots(owner, size);
    if (begin == 0) {
      return nullptr;
    }
    range = {begin, begin, begin + roundUp(size, kSlotSize)};
  }
  if (range.ready - range.at < size) {
    const std::size_t missing = roundUp(size - (range.ready - range.at), kStep);
    if (!mapAt(range.ready, missing)) {
      return nullptr;
    }
    range.ready += missing;
  }
  void* block = reinterpret_cast<void*>(range.at);
  range.at += size;
  return block;
}

void* Heap::allocate(ThreadHeaps& owner, std::size_t size, std::size_t alignment, bool* fresh) {
  *fresh = false;
  if (size >= kTiB || alignment >= kTiB) {  // their sum may be small
    return nullptr;
  }
  const std::size_t room = alignment > 16 ? size + alignment : size;
  if (room >= kTiB) {
    return nullptr;
  }
  const std::size_t sizeClass = classOf(room);
  void* block = m_freed[sizeClass];
  if (block != nullptr) {
    m_freed[sizeClass] = m_freed[sizeClass]->next;
  } else {
    void* made = cut(owner, sizeof(Header) + sizeOf(sizeClass));
    if (made == nullptr) {
      return nullptr;
    }
    *fresh = true;
    block = static_cast<Header*>(made) + 1;
  }
  *headerOf(block) = {static_cast<std::uint16_t>(sizeClass), static_cast<std::uint16_t>(m_kind),
                      kInUse, 0};
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  if (alignment > 16 && address % alignment != 0) {
    const std::uintptr_t aligned = roundUp(address, alignment);
    block = reinterpret_cast<void*>(aligned);
    *headerOf(block) = *(reinterpret_cast<Header*>(address) - 1);
    headerOf(block)->back = aligned - address;
  }
  return block;
}

void Heap::release(void* block) {
  Header* header = headerOf(block);
  header->state = kFree;
  block = static_cast<char*>(block) - header->back;
  header = headerOf(block);
  header->state = kFree;
  const std::size_t size = sizeOf(header->sizeClass);
  if (size >= kGiveBack) {
    const auto begin = roundUp(reinterpret_cast<std::uintptr_t>(block) + sizeof(Freed), kPage);
    const auto end = (reinterpret_cast<std::uintptr_t>(block) + size) / kPage * kPage;
    const int before = errno;
    syscall(SYS_madvise, begin, end - begin, MADV_DONTNEED);
    errno = before;
  }
  auto* freed = static_cast<Freed*>(block);
  freed->next = m_freed[header->sizeClass];
  m_freed[header->sizeClass] = freed;
}

std::size_t usableSize(const void* block) {
  const Header* header = headerOf(block);
  return sizeOf(header->sizeClass) - header->back;
}

HeapKind kindOf(const void* block) {
  const Header* header = headerOf(block);
  if (header->state == kInUse) {
    return static_cast<HeapKind>(header->kind);
  }
  complain(header->state == kFree ? "photofinish: the program frees memory twice\n"
                                  : "photofinish: the program frees what is no memory, or has "
                                    "written before its begin\n");
}

}  // namespace pf::memory

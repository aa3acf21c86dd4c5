// SPDX-License-Identifier: MIT
// mmap, shmat and sbrk: the program's mappings in its own range, MPI's and ours in another one.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "replay_engine/rank/fixed_heap/threads.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

using namespace pf::memory;

namespace {

std::atomic<std::uintptr_t> g_guests = kGuestsBegin;
std::uintptr_t g_break = kBreakBegin;
std::uintptr_t g_breakReady = kBreakBegin;

/// Room with a gap behind it, so that the kernel makes no one mapping of two.
std::uintptr_t roomFor(std::size_t size) {
  return roundUp(size + kPage, kMapStep);
}

std::uintptr_t guestsPlace(std::size_t size) {
  const std::uintptr_t place = g_guests.fetch_add(roomFor(size));
  return place < kGuestsEnd - roomFor(size) ? place : 0;
}

/// 0: there is none, the kernel has to find one.
std::uintptr_t programsPlace(ThreadHeaps& owner, std::size_t size) {
  Range& maps = owner.maps;
  const std::size_t room = roomFor(size);
  if (maps.end - maps.at < room) {
    const std::uintptr_t begin = takeSlots(owner, room);
    if (begin == 0) {
      return 0;
    }
    maps = {begin, begin, begin + roundUp(room, kSlotSize)};
  }
  const std::uintptr_t place = maps.at;
  maps.at += room;
  return place;
}

/// The kernel's own call, as libc's makes it.
void* mapFor(ThreadHeaps* owner, void* wish, std::size_t size, int protection, int flags, int fd,
             off_t offset) {
  std::uintptr_t place = reinterpret_cast<std::uintptr_t>(wish);
  int how = flags;
  if (wish == nullptr && size > 0 && size < kTiB && (flags & MAP_32BIT) == 0 &&
      (flags & MAP_FIXED) == 0) {
    place = owner == nullptr ? guestsPlace(size) : programsPlace(*owner, size);
    how |= owner != nullptr && place != 0 ? MAP_FIXED_NOREPLACE : 0;
  }
  const long mapped = syscall(SYS_mmap, place, size, protection, how, fd, offset);
  if (mapped == -1 && errno == EEXIST && (flags & MAP_FIXED_NOREPLACE) == 0) {
    return reinterpret_cast<void*>(syscall(SYS_mmap, wish, size, protection, flags, fd, offset));
  }
  return reinterpret_cast<void*>(mapped);
}

int setBreak(std::uintptr_t wanted) {
  const bool inRange = wanted >= kBreakBegin && wanted <= kBreakEnd;
  const std::size_t missing =
      inRange && wanted > g_breakReady ? roundUp(wanted - g_breakReady, kStep) : 0;
  if (!inRange || (missing > 0 && !mapAt(g_breakReady, missing))) {
    errno = ENOMEM;
    return -1;
  }
  g_breakReady += missing;
  if (wanted < g_break) {  // what is grown into again is 0
    const std::uintptr_t begin = roundUp(wanted, kPage);
    syscall(SYS_madvise, begin, roundUp(g_break, kPage) - begin, MADV_DONTNEED);
  }
  g_break = wanted;
  return 0;
}

}  // namespace

extern "C" {

PF_MEMORY void* mmap(void* wish, std::size_t size, int protection, int flags, int fd,
                     off_t offset) noexcept {
  return mapFor(PF_OWNER(), wish, size, protection, flags, fd, offset);
}

PF_MEMORY void* mmap64(void* wish, std::size_t size, int protection, int flags, int fd,
                       off64_t offset) noexcept {
  return mapFor(PF_OWNER(), wish, size, protection, flags, fd, offset);
}

PF_MEMORY void* shmat(int segment, const void* wish, int flags) noexcept {
  std::uintptr_t place = reinterpret_cast<std::uintptr_t>(wish);
  shmid_ds info{};
  if (wish == nullptr && shmctl(segment, IPC_STAT, &info) == 0) {
    ThreadHeaps* owner = PF_OWNER();
    place = owner == nullptr ? guestsPlace(info.shm_segsz) : programsPlace(*owner, info.shm_segsz);
  }
  return reinterpret_cast<void*>(syscall(SYS_shmat, segment, place, flags));
}

/// A break of the program's own: libc's heap, which others use, moves the kernel's.
PF_MEMORY int brk(void* to) noexcept {
  if (PF_OWNER() == nullptr) {
    return reinterpret_cast<decltype(&brk)>(dlsym(RTLD_NEXT, "brk"))(to);
  }
  return setBreak(reinterpret_cast<std::uintptr_t>(to));
}

PF_MEMORY void* sbrk(std::intptr_t by) noexcept {
  if (PF_OWNER() == nullptr) {
    return reinterpret_cast<decltype(&sbrk)>(dlsym(RTLD_NEXT, "sbrk"))(by);
  }
  const std::uintptr_t before = g_break;
  return by != 0 && setBreak(before + static_cast<std::uintptr_t>(by)) != 0
             ? reinterpret_cast<void*>(-1)
             : reinterpret_cast<void*>(before);
}

}  // extern "C"

// SPDX-License-Identifier: MIT
// malloc and its like: the program's blocks from the heap of its thread, all others from libc.
#include <dlfcn.h>

#include <cerrno>
#include <cstring>

#include "replay_engine/rank/fixed_heap/threads.h"

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

using namespace pf::memory;

namespace {

/// Null: libc is to make it.
ThreadHeaps* forBlock(const void* caller, const void* frame) {
  ThreadHeaps* owner = ownerOf(caller, frame);
  return owner != nullptr && isStreamBuffer(caller) ? nullptr : owner;
}

void* make(ThreadHeaps& owner, const void* caller, std::size_t size, std::size_t alignment,
           bool* fresh) {
  const HeapKind kind = isLibc(caller) ? HeapKind::Libc : HeapKind::Program;
  void* block = owner.heap(kind).allocate(owner, size, alignment, fresh);
  if (block == nullptr) {
    errno = ENOMEM;
  }
  return block;
}

void* makeAligned(ThreadHeaps* owner, const void* caller, std::size_t size, std::size_t alignment) {
  std::size_t power = 16;
  while (power < alignment && power < kTiB) {
    power *= 2;
  }
  bool fresh = false;
  return owner == nullptr ? __libc_memalign(alignment, size)
                          : make(*owner, caller, size, power, &fresh);
}

std::size_t usable(void* block) {
  if (isPrograms(block)) {
    return usableSize(block);
  }
  static std::size_t (*next)(void*) = nullptr;
  if (next == nullptr) {
    next = reinterpret_cast<decltype(next)>(dlsym(RTLD_NEXT, "malloc_usable_size"));
  }
  return next(block);
}

void letGo(ThreadHeaps* owner, void* block) {
  if (!isPrograms(block)) {
    __libc_free(block);
    return;
  }
  const HeapKind kind = kindOf(block);
  // What MPI frees of the program's is not used again: when it does so may differ between runs.
  if (owner != nullptr) {
    owner->heap(kind).release(block);
  }
}

void* remake(ThreadHeaps* owner, const void* caller, void* block, std::size_t size) {
  if (owner == nullptr && !isPrograms(block)) {
    return __libc_realloc(block, size);
  }
  const std::size_t before = usable(block);
  if (owner != nullptr && isPrograms(block)) {
    static_cast<void>(kindOf(block));  // is it one?
    if (size <= before && (before <= 256 || size > before / 2)) {
      return block;
    }
  }
  bool fresh = false;
  void* made = owner == nullptr ? __libc_malloc(size) : make(*owner, caller, size, 16, &fresh);
  if (made != nullptr) {
    std::memcpy(made, block, before < size ? before : size);
    letGo(owner, block);
  }
  return made;
}

}  // namespace

extern "C" {

PF_MEMORY void* malloc(std::size_t size) {
  bool fresh = false;
  ThreadHeaps* owner = forBlock(PF_CALLER, __builtin_frame_address(0));
  return owner == nullptr ? __libc_malloc(size) : make(*owner, PF_CALLER, size, 16, &fresh);
}

PF_MEMORY void free(void* block) {
  if (block != nullptr) {
    letGo(isPrograms(block) ? PF_OWNER() : nullptr, block);
  }
}

PF_MEMORY void* calloc(std::size_t count, std::size_t each) {
  std::size_t size = 0;
  if (__builtin_mul_overflow(count, each, &size)) {
    errno = ENOMEM;
    return nullptr;
  }
  ThreadHeaps* owner = forBlock(PF_CALLER, __builtin_frame_address(0));
  if (owner == nullptr) {
    return __libc_calloc(count, each);
  }
  bool fresh = false;
  void* block = make(*owner, PF_CALLER, size, 16, &fresh);
  return block == nullptr || fresh ? block : std::memset(block, 0, size);
}

PF_MEMORY void* realloc(void* block, std::size_t size) {
  ThreadHeaps* owner = forBlock(PF_CALLER, __builtin_frame_address(0));
  if (block == nullptr) {
    bool fresh = false;
    return owner == nullptr ? __libc_malloc(size) : make(*owner, PF_CALLER, size, 16, &fresh);
  }
  if (size == 0) {
    letGo(owner, block);
    return nullptr;
  }
  return remake(owner, PF_CALLER, block, size);
}

PF_MEMORY void* reallocarray(void* block, std::size_t count, std::size_t each) {
  std::size_t size = 0;
  if (__builtin_mul_overflow(count, each, &size)) {
    errno = ENOMEM;
    return nullptr;
  }
  ThreadHeaps* owner = forBlock(PF_CALLER, __builtin_frame_address(0));
  if (block == nullptr) {
    bool fresh = false;
    return owner == nullptr ? __libc_malloc(size) : make(*owner, PF_CALLER, size, 16, &fresh);
  }
  return remake(owner, PF_CALLER, block, size);
}

PF_MEMORY void* memalign(std::size_t alignment, std::size_t size) {
  return makeAligned(PF_OWNER(), PF_CALLER, size, alignment);
}

PF_MEMORY void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return makeAligned(PF_OWNER(), PF_CALLER, size, alignment);
}

PF_MEMORY int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  if (alignment % sizeof(void*) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) {
    return EINVAL;
  }
  const int before = errno;
  void* block = makeAligned(PF_OWNER(), PF_CALLER, size, alignment);
  errno = before;
  if (block == nullptr) {
    return ENOMEM;
  }
  *out = block;
  return 0;
}

PF_MEMORY void* valloc(std::size_t size) {
  return makeAligned(PF_OWNER(), PF_CALLER, size, kPage);
}

PF_MEMORY void* pvalloc(std::size_t size) {
  constexpr std::size_t kMost = SIZE_MAX - kPage;  // more would be rounded up to nothing
  return makeAligned(PF_OWNER(), PF_CALLER, roundUp(size < kMost ? size : kMost, kPage), kPage);
}

PF_MEMORY std::size_t malloc_usable_size(void* block) {
  return block == nullptr ? 0 : usable(block);
}

}  // extern "C"

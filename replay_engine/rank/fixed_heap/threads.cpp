// SPDX-License-Identifier: MIT
#include "replay_engine/rank/fixed_heap/threads.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <new>

/// Of libphotofinish_mpi.so. Null: it is not there, and then all is the program's.
extern "C" __attribute__((weak)) bool pf_is_guests_memory(const void* caller, const void* frame);

namespace pf::memory {
namespace {

struct Code {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  [[nodiscard]] bool has(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - begin < end - begin;
  }
};
Code g_libc;
Code g_loader;
Code g_streamBuffer;

constinit ThreadHeaps g_main;
std::atomic<ThreadHeaps*> g_all = nullptr;
__thread ThreadHeaps* t_memory __attribute__((tls_model("initial-exec"))) = nullptr;
__thread bool t_foreign __attribute__((tls_model("initial-exec"))) = false;

ThreadHeaps* mainsMemory() {
  if (g_main.program.range.end == 0) {
    g_main.program.range = {kProgramBegin, kProgramBegin, kLibcBegin};
    g_main.libc.range = {kLibcBegin, kLibcBegin, kThreadsBegin};
    g_main.maps = {kMapsBegin, kMapsEnd, kMapsEnd};
  }
  t_memory = &g_main;
  return t_memory;
}

Code codeOf(const void* address) {
  Code wanted;
  struct Search {
    std::uintptr_t address;
    Code* found;
  } search{reinterpret_cast<std::uintptr_t>(address), &wanted};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* given) {
        auto& s = *static_cast<Search*>(given);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[i];
          const Code code{info->dlpi_addr + segment.p_vaddr,
                          info->dlpi_addr + segment.p_vaddr + segment.p_memsz};
          if (segment.p_type == PT_LOAD && code.has(reinterpret_cast<void*>(s.address))) {
            *s.found = code;
            return 1;
          }
        }
        return 0;
      },
      &search);
  return wanted;
}

__attribute__((constructor)) void start() {
  // What is left to libc's heap neither shifts mappings nor makes more of them.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_ARENA_MAX, 1);
  g_libc = codeOf(reinterpret_cast<void*>(&::getppid));
  if (void* loader = dlsym(RTLD_DEFAULT, "__tls_get_addr"); loader != nullptr) {
    g_loader = codeOf(loader);
  }
  void* buffer = dlsym(RTLD_DEFAULT, "_IO_file_doallocate");
  Dl_info info;
  void* symbol = nullptr;
  if (buffer != nullptr && dladdr1(buffer, &info, &symbol, RTLD_DL_SYMENT) != 0 &&
      symbol != nullptr) {
    const auto begin = reinterpret_cast<std::uintptr_t>(buffer);
    g_streamBuffer = {begin, begin + static_cast<ElfW(Sym)*>(symbol)->st_size};
  }
}

}  // namespace

ThreadHeaps* ownerOf(const void* caller, const void* frame) {
  ThreadHeaps* memory = t_memory;
  if (memory == nullptr && !t_foreign) {
    // A thread that pthread_create did not make for the program has nothing of its own.
    memory = syscall(SYS_gettid) == syscall(SYS_getpid) ? mainsMemory() : nullptr;
    t_foreign = memory == nullptr;
  }
  const bool guests =
      memory == nullptr || (pf_is_guests_memory != nullptr && pf_is_guests_memory(caller, frame));
  return guests ? nullptr : memory;
}

bool isLibc(const void* caller) {
  return g_libc.has(caller) || g_loader.has(caller);
}

bool isStreamBuffer(const void* caller) {
  return g_streamBuffer.has(caller);
}

namespace {

void* runThread(void* given) {
  auto* memory = static_cast<ThreadHeaps*>(given);
  t_memory = memory;
  memory->thread = pthread_self();
  return memory->routine(memory->argument);
}

/// For the next thread that `parent` makes.
ThreadHeaps* makeMemory(ThreadHeaps& parent) {
  if (ThreadHeaps* spare = parent.spare; spare != nullptr) {
    parent.spare = spare->nextSpare;
    return spare;
  }
  ThreadHeaps seed;
  seed.key = (parent.key ^ ++parent.children) * 0xD1B54A32D192ED03U + 0x632BE59BD9B4E019U;
  const std::uintptr_t slot = takeSlots(seed, kSlotSize);
  if (slot == 0 || !mapAt(slot, kStep)) {
    return nullptr;
  }
  auto* memory = new (reinterpret_cast<void*>(slot)) ThreadHeaps;
  memory->key = seed.key;
  memory->slots = seed.slots;
  memory->program.range = {slot + roundUp(sizeof(ThreadHeaps), kPage), slot + kStep,
                           slot + kSlotSize};
  memory->nextOfAll = g_all.load();
  while (!g_all.compare_exchange_weak(memory->nextOfAll, memory)) {
  }
  return memory;
}

/// The program's thread of this name; it is not to be found again.
ThreadHeaps* takeOut(pthread_t thread) {
  for (ThreadHeaps* memory = g_all.load(); memory != nullptr; memory = memory->nextOfAll) {
    if (memory->thread == thread) {
      memory->thread = 0;
      return memory;
    }
  }
  return nullptr;
}

template <typename Function>
Function* behind(std::atomic<void*>& found, const char* name) {
  void* next = found.load(std::memory_order_relaxed);
  if (next == nullptr) {
    next = dlsym(RTLD_NEXT, name);
    found.store(next, std::memory_order_relaxed);
  }
  return reinterpret_cast<Function*>(next);
}

}  // namespace
}  // namespace pf::memory

using namespace pf::memory;

extern "C" PF_MEMORY int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                        void* (*routine)(void*), void* argument) noexcept {
  static std::atomic<void*> found;
  auto* next = behind<decltype(pthread_create)>(found, "pthread_create");
  // The interposer calls this one for the program: only whether the thread is inside of MPI counts.
  ThreadHeaps* parent = ownerOf(nullptr, __builtin_frame_address(0));
  ThreadHeaps* memory = parent != nullptr ? makeMemory(*parent) : nullptr;
  if (memory == nullptr) {
    return next(thread, attributes, routine, argument);
  }
  memory->routine = routine;
  memory->argument = argument;
  const int error = next(thread, attributes, runThread, memory);
  if (error != 0) {
    memory->nextSpare = parent->spare;
    parent->spare = memory;
  }
  return error;
}

extern "C" PF_MEMORY int pthread_join(pthread_t thread, void** result) {
  static std::atomic<void*> found;
  const int error = behind<decltype(pthread_join)>(found, "pthread_join")(thread, result);
  ThreadHeaps* joiner = ownerOf(nullptr, __builtin_frame_address(0));
  ThreadHeaps* memory = error == 0 ? takeOut(thread) : nullptr;
  if (joiner != nullptr && memory != nullptr) {
    memory->nextSpare = joiner->spare;
    joiner->spare = memory;
  }
  return error;
}

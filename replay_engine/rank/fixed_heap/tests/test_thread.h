// SPDX-License-Identifier: GPL-3.0-or-later
// Threads of a program that a test makes up, each with address ranges of its own; and who asks for
// memory, which threads.cpp says of a real program.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "replay_engine/rank/fixed_heap/heap.h"

namespace pf::memory::test {

/// No two have the same ranges, nor those of a process' first thread: a sanitizer's memory may be there.
struct TestThread : ThreadHeaps {
  TestThread();
  /// From its heap of the program; null where there is none.
  void* take(std::size_t size, std::size_t alignment = 16, bool* fresh = nullptr);
  void give(void* block) { program.release(block); }
};

inline std::uintptr_t addressOf(const void* block) {
  return reinterpret_cast<std::uintptr_t>(block);
}

/// What `made` returns in a child process: nothing that it takes is taken here.
std::vector<std::uintptr_t> inAProcess(const std::function<std::vector<std::uintptr_t>()>& made);

/// Who calls until the end of the scope.
class Calls {
 public:
  enum class As { Program, Libc, StreamBuffer };
  explicit Calls(ThreadHeaps* owner, As as = As::Program);  ///< null: MPI
  ~Calls();
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

 private:
  ThreadHeaps* const m_owner;
  const As m_as;
};

}  // namespace pf::memory::test

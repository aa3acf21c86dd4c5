// SPDX-License-Identifier: MIT
#include "replay_engine/rank/engine/python_caller.h"

#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace pf {
namespace {

/// Of this process; what cannot be read is no reason to crash.
class OwnMemory final : public cpython::Memory {
 public:
  [[nodiscard]] bool read(std::uint64_t address, void* to, std::size_t size) override {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    const iovec from{reinterpret_cast<void*>(address), size};
    const iovec here{to, size};
    return process_vm_readv(getpid(), &here, 1, &from, 1, 0) == static_cast<ssize_t>(size);
  }
};

using ThreadState = void* (*)();
ThreadState g_threadState = nullptr;  ///< null: no Python that is known
cpython::Layout g_layout;
std::uint64_t g_runtime = 0;
std::uint64_t g_version = 0;

/// The same of structures that the interpreter is using just now, without asking the system whether they are there.
struct LiveMemory {
  static bool read(std::uint64_t address, void* to, std::size_t size) {
    constexpr std::uint64_t kNullPage = 4096;
    if (address < kNullPage) {
      return false;  // behind a null pointer
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    std::memcpy(to, reinterpret_cast<const void*>(address), size);
    return true;
  }
};
LiveMemory g_interpreter;

/// A layout that is wrong does not get by: a thread has a pointer to its interpreter, and that one to the runtime.
bool fits(cpython::Memory& memory, std::uint64_t runtime, std::uint64_t thread) {
  const std::uint64_t interpreter = readPointer(memory, thread + g_layout.threadInterpreter);
  return interpreter != 0 &&
         (g_layout.interpreterRuntime == 0 ||
          readPointer(memory, interpreter + g_layout.interpreterRuntime) == runtime);
}

}  // namespace

void findPython() {
  void* const runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
  const void* const version = runtime != nullptr ? dlsym(RTLD_DEFAULT, "Py_Version") : nullptr;
  if (version == nullptr) {
    (void)dlerror();  // what it would tell is not the program's
    return;
  }
  const auto threadState =
      reinterpret_cast<ThreadState>(dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"));
  OwnMemory memory;
  const auto at = reinterpret_cast<std::uint64_t>(runtime);
  const auto number =
      cpython::readNumber<std::uint64_t>(memory, reinterpret_cast<std::uint64_t>(version));
  if (threadState != nullptr && number &&
      findLayout(memory, at, *number, g_layout) == cpython::LayoutProblem::None &&
      fits(memory, at, reinterpret_cast<std::uint64_t>(threadState()))) {
    g_threadState = threadState;
    g_runtime = at;
    g_version = *number;
  }
}

void sayPython(RankPage& page) {
  if (g_threadState != nullptr && gettid() == getpid()) {
    page.pythonRuntime = g_runtime;
    page.pythonVersion = g_version;
    page.pythonThread = reinterpret_cast<std::uint64_t>(g_threadState());
  }
}

cpython::Instruction pythonCaller() {
  if (g_threadState == nullptr) [[likely]] {
    return {};
  }
  const auto thread = reinterpret_cast<std::uint64_t>(g_threadState());
  return thread == 0 ? cpython::Instruction{}
                     : cpython::FrameWalk(g_interpreter, g_layout, thread).next();
}

std::uint64_t identityOf(const cpython::Instruction& caller) {
  if (!caller.known()) {
    return 0;
  }
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15ULL;
  std::uint64_t hash = caller.code;
  for (const std::uint64_t part :
       {caller.at, cpython::readPointer(g_interpreter, caller.code + g_layout.codeFile),
        cpython::readPointer(g_interpreter, caller.code + g_layout.codeLineTable),
        std::uint64_t{
            cpython::readNumber<std::uint32_t>(g_interpreter, caller.code + g_layout.codeFirstLine)
                .value_or(0)}}) {
    hash = (hash ^ part) * kOdd;
    hash ^= hash >> 29U;
  }
  return hash | 1U;
}

const cpython::CodePlace* describe(const cpython::Instruction& caller) {
  static std::array<char, std::size_t{256} << 10U> table;  // of the locations of one code object
  static cpython::CodePlace place;
  OwnMemory memory;
  const bool known =
      cpython::describe(memory, g_layout, caller, table, place) &&
      (!isOfImports(place) ||
       describeCaller(memory, g_layout, reinterpret_cast<std::uint64_t>(g_threadState()), table,
                      place));
  return known ? &place : nullptr;
}

}  // namespace pf

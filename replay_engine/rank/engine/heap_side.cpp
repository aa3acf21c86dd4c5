// SPDX-License-Identifier: MIT
// Tells replay_engine/rank/fixed_heap (--same-addresses) whose memory is asked for: the program's, or MPI's
// and ours.
#include <link.h>

#include <cstring>

#include "replay_engine/rank/engine/engine.h"

namespace pf {
namespace {

struct Code {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  [[nodiscard]] bool has(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - begin < end - begin;
  }
};

Code g_ours;
Code g_program;
Code g_library;  ///< of C++: operator new

Code codeIn(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
      const std::uintptr_t begin = info.dlpi_addr + segment.p_vaddr;
      return {begin, begin + segment.p_memsz};
    }
  }
  return {};
}

/// Once all libraries that the program is linked with are there: their constructors ran before.
__attribute__((constructor)) void findCode() {
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void*) {
        const Code code = codeIn(*info);
        if (g_program.end == 0) {  // the program itself comes first
          g_program = code;
        } else if (code.has(reinterpret_cast<void*>(&findCode))) {
          g_ours = code;
        } else if (std::strstr(info->dlpi_name, "/libstdc++.so") != nullptr) {
          g_library = code;
        }
        return 0;
      },
      nullptr);
}

}  // namespace
}  // namespace pf

using namespace pf;

/// `caller`, of a function with this frame, asks for memory; null: somebody does.
extern "C" __attribute__((visibility("default"))) bool pf_is_guests_memory(const void* caller,
                                                                           const void* frame) {
  if (t_depth == 0) {
    return g_ours.has(caller);
  }
  // What a callback asks for is the program's, and MPI may have been left by a jump.
  constexpr std::ptrdiff_t kArguments = 96;  // as in passThrough()
  return !g_program.has(caller) && !g_library.has(caller) &&
         static_cast<const char*>(frame) + kArguments < t_outermost;
}

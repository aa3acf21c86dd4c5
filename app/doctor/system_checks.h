// SPDX-License-Identifier: GPL-3.0-or-later
// What the kernel, its file systems and the screen allow.
#pragma once

#include <cstdint>
#include <string>

#include "app/doctor/check.h"

namespace pf::app {

/// `traced`: a process may trace its child. `scope`: kernel.yama.ptrace_scope as text, may be empty.
[[nodiscard]] Check ptraceCheck(bool traced, const std::string& scope, bool root);
/// The processor's watchpoints: what stops a rank where a value changes.
[[nodiscard]] Check watchpointCheck(bool work);
/// The trap of the cycle counter: what `record --rdtsc` lives by.
[[nodiscard]] Check cycleCounterCheck(bool traps);
/// kernel.core_pattern, and the limit of a core file's bytes.
[[nodiscard]] Check coreCheck(const std::string& pattern, std::uint64_t limit);
/// Bytes of /dev/shm, of which some are free; 0 of 0: it is not there.
[[nodiscard]] Check sharedMemoryCheck(std::uint64_t size, std::uint64_t free, bool writable);
/// Free bytes where recordings are made, and how long a write of `bytes` to the disk itself took.
[[nodiscard]] Check diskCheck(const std::string& directory, std::uint64_t free, std::uint64_t bytes,
                              double seconds);
/// Where a session directory can be made, or why not.
[[nodiscard]] Check sessionCheck();
[[nodiscard]] Check namespaceCheck(bool works);
/// `window`: the program of the window is there. `display`: DISPLAY or WAYLAND_DISPLAY, may be empty.
[[nodiscard]] Check displayCheck(bool window, const std::string& display);

/// All of them for this machine and the working directory. Writes some mebibytes there for a moment.
[[nodiscard]] Checks systemChecks(const std::string& programs);

}  // namespace pf::app

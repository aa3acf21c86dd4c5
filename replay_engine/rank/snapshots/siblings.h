// SPDX-License-Identifier: MIT
// Processes that the page names: it is shared with the program, which may have written over it.
#pragma once

#include <sys/types.h>

namespace pf {

/// Whether it is a child of this process' parent, the agent, and runs the same program: a copy of it. Its GDB is none.
[[nodiscard]] bool isSibling(pid_t pid);
/// Whether there is no such process any more, or only how it has ended.
[[nodiscard]] bool hasEnded(pid_t pid);

}  // namespace pf

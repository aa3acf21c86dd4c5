// SPDX-License-Identifier: GPL-3.0-or-later
// What /proc says of a process.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "replay_engine/base/process_state.h"

namespace pf::agent {

/// True if `pid` lives and is `ancestor` or was started by it, over at most 64 generations.
[[nodiscard]] bool isDescendant(pid_t pid, pid_t ancestor);
/// The process below `ancestor` that is `pid` to itself, in a namespace of processes of its own (a container); 0: there is none.
[[nodiscard]] pid_t nestedProcess(pid_t pid, pid_t ancestor);
/// Whether `signal` waits for the whole process `pid`, which blocks it.
[[nodiscard]] bool isPending(pid_t pid, int signal);

}  // namespace pf::agent

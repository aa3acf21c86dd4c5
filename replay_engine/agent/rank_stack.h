// SPDX-License-Identifier: GPL-3.0-or-later
// The stack of a rank that has no debugger.
#pragma once

#include <sys/types.h>

#include <vector>

#include "replay_engine/base/result.h"
#include "replay_engine/protocol/messages.h"

namespace pf::agent {

/// Frames of the first thread of `pid`, the innermost one first, at most 64. Inside of an MPI call
/// they begin with the program's caller of MPI and are read while the rank goes on undisturbed;
/// elsewhere the thread is stopped for some milliseconds, unless a debugger is there
/// (`hasDebugger`). An error where nothing can be read.
[[nodiscard]] Result<std::vector<protocol::CodePlace>> stackOf(pid_t pid, const RankPage& page,
                                                               bool hasDebugger);

}  // namespace pf::agent

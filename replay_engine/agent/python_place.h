// SPDX-License-Identifier: GPL-3.0-or-later
// The line of Python that a rank calls MPI from, read from outside while it waits.
#pragma once

#include <sys/types.h>

#include <string>

#include "replay_engine/protocol/rank_page.h"

namespace pf::agent {

/// "prog.py:12 (Worker.run)", of the first thread of `pid`, which is inside of an MPI call; nothing in it steers a terminal.
/// Empty: it runs no Python that is known, other threads call MPI, too, or it cannot be read.
[[nodiscard]] std::string pythonPlaceOf(pid_t pid, const RankPage& page);

}  // namespace pf::agent

// SPDX-License-Identifier: MIT
// What keeps this process from being copied: what fork() does not copy (threads, children, timers), and what a copy shares with
// it, so that it would not go back (pipes, sockets, shared memory, files that are written and read).
//
// Only what is the program's: not what it got from who started it, nor what the MPI library had when MPI_Init returned. What
// comes later is taken for the program's, whoever made it: rather no snapshot than a wrong value.
#pragma once

#include <cstdint>

#include "replay_engine/protocol/rank_page.h"

namespace pf {

/// MPI_Init is about to return: what there is now and was not before is the MPI library's.
void noteProcessBehindMpi();
/// Reads a few files of /proc: for when a snapshot is to be made. What is looked at is gone or there when this returns.
[[nodiscard]] SnapshotObstacle obstacleInProcess();
/// Regular files that the program has open.
[[nodiscard]] std::uint32_t regularFilesOfProgram();

}  // namespace pf

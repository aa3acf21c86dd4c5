// SPDX-License-Identifier: MIT
// Copies of this process, made by fork() just before events: snapshots. Each sleeps until its agent wakes it; it then leaves
// a copy of itself in its place and becomes the rank, where it stood. A replay of one rank goes back so without running again
// from its begin: no other process has to go back with it.
//
// How far apart: a few events at first, and twice as far whenever all places are taken, with every second one given up.
// So they cover the run with a distance that grows with it. The one before event 1 always stays.
//
// A copy has the thread that made it and no other. MPI libraries may do without the threads that they start for themselves
// (they run when something comes from elsewhere); a program may not, so nothing is copied while it has any. What else a copy
// would not have, or would share with the rank, is in obstacles.h. Copies that sleep already do no harm when the program gets
// such a thing: they do not have it. Only a lock on a file that was open before is theirs, too: they are given up for it.
//
// Handlers that the program has for fork() (pthread_atfork) are not run in a copy, where libc has _Fork (glibc 2.34).
//
// GDB's `checkpoint` is the same (gdb/linux-fork.c), but refuses processes with any other thread. As there, offsets of files
// go back with the rank, what was written does not.
#pragma once

namespace pf {

struct RankPage;

/// MPI_Init is called, and MPI has nothing of its own yet: what the program has.
void noteProcessBeforeMpi();
/// From event 1 on, if the page says so. The rank has joined its agent, and MPI_Init returns.
void startSnapshots(const RankPage& page);
/// Whether this process was a snapshot: MPI's own threads are not there, so MPI_Finalize cannot end what they do.
[[nodiscard]] bool wasSnapshot();

}  // namespace pf

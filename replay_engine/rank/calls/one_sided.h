// SPDX-License-Identifier: MIT
// One-sided communication (MPI 3.1, chapter 11): what a rank fetches from windows. Whose update
// came first MPI decides, and a recording cannot see it; but what Fetch_and_op, Compare_and_swap,
// Get_accumulate, and a Get under a lock brought back is recorded at the end of its epoch, where
// the program may first look, and given back in a replay. (A Get without a lock sees what the epoch
// before has left: the same each time.) What is in a window afterwards is not covered: the calls
// that update it without telling are noted as always. So are fetches of several threads and large
// ones.
#pragma once

#include "replay_engine/rank/engine/engine.h"

namespace pf {

inline constexpr int kEveryTarget = -1;
inline constexpr int kMostFetched = 65536;  ///< bytes

/// A call has returned that will bring `count` elements of `type` from rank `target` of the window.
void fetches(const CallPlace& place, void* to, int count, MPI_Datatype type, int target,
             MPI_Win win);
/// The same, if the window is locked.
void getsUnderLock(const CallPlace& place, void* to, int count, MPI_Datatype type, int target,
                   MPI_Win win);
/// What was fetched from `target` is there.
void fetched(int target, MPI_Win win);
/// MPI_Win_lock, MPI_Win_lock_all (1); MPI_Win_unlock … (-1).
void locks(MPI_Win win, int change);

}  // namespace pf

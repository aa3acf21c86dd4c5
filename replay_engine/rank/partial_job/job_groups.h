// SPDX-License-Identifier: MIT
// MPI_Group of a job of which only some ranks are there: arrays of ranks of the recorded
// MPI_COMM_WORLD, with handles of our own. What is done with groups is arithmetic alone (MPI 3.1,
// section 6.3). Groups of the library go on to the library; MPI_GROUP_EMPTY is the library's and
// stands beside ours everywhere.
#pragma once

#include "replay_engine/rank/engine/mpi_header.h"

namespace pf {

/// MPI's routines for groups know ours from now on. `ownWorldRank`: this rank in the recorded
/// MPI_COMM_WORLD.
void installGroups(int ownWorldRank);
/// The ranks must be distinct. Of none MPI_GROUP_EMPTY; MPI_GROUP_NULL: there is no memory, or
/// `size` is negative.
MPI_Group makeGroup(const int* worldRanks, int size);
/// Ranks of the recorded MPI_COMM_WORLD, valid until the group is freed. Null: neither ours nor
/// MPI_GROUP_EMPTY.
const int* membersOfGroup(MPI_Group group, int* size);

}  // namespace pf

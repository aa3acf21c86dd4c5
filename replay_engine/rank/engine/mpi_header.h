// SPDX-License-Identifier: MIT
// <mpi.h>, and what differs between the MPI libraries.
#pragma once

#include <mpi.h>

namespace pf {
/// The object `name` of the MPI library; ends the process with a clear line if there is none.
void* resolveObject(const char* name);
}  // namespace pf

#if defined(OPEN_MPI)
#include "replay_engine/rank/engine/library_open_mpi.h"
#elif defined(MPICH_VERSION)
#include "replay_engine/rank/engine/library_mpich.h"
#elif defined(MPI_ABI_VERSION)
#include "replay_engine/rank/engine/library_abi.h"
#else
#error "an MPI library that this interposer does not know"
#endif

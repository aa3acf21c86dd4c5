// SPDX-License-Identifier: MIT
// MPI_Pack and MPI_Unpack (MPI 3.1, 4.2) of what a call names, MPI_BOTTOM too: MPICH takes a null buffer there for an error.
#pragma once

#include "replay_engine/rank/engine/mpi_header.h"

namespace pf {

/// Arguments and result as of MPI_Pack.
int packElements(const void* buffer, int count, MPI_Datatype type, void* to, int room,
                 int* position, MPI_Comm comm);
/// Arguments and result as of MPI_Unpack.
int unpackElements(const void* from, int bytes, int* position, void* buffer, int count,
                   MPI_Datatype type, MPI_Comm comm);

}  // namespace pf

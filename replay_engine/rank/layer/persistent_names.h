// SPDX-License-Identifier: MIT
// Routines that make persistent collectives (MPI 4.0, 6.13), by the blocking ones: PF_INIT_OF(Bcast) is MPI_Bcast_init. Open MPI 4.1
// has them by other names, if it was built so.
#pragma once

#include "replay_engine/rank/engine/mpi_header.h"

#if MPI_VERSION >= 4 || \
    (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)  // which says that it is MPI 3.1
#define PF_INIT_OF(Name) MPI_##Name##_init
#elif defined(OPEN_MPI)
#include <mpi-ext.h>
#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) && OMPI_HAVE_MPI_EXT_PCOLLREQ
#define PF_INIT_OF(Name) MPIX_##Name##_init
#endif
#endif

#if defined(PF_INIT_OF)
#define PF_WITH_INIT(X)   \
  X(Bcast)                \
  X(Gather)               \
  X(Gatherv)              \
  X(Scatter)              \
  X(Scatterv)             \
  X(Allgather)            \
  X(Allgatherv)           \
  X(Alltoall)             \
  X(Alltoallv)            \
  X(Alltoallw)            \
  X(Reduce)               \
  X(Allreduce)            \
  X(Reduce_scatter)       \
  X(Reduce_scatter_block) \
  X(Scan)                 \
  X(Exscan)               \
  X(Neighbor_allgather)   \
  X(Neighbor_allgatherv)  \
  X(Neighbor_alltoall)    \
  X(Neighbor_alltoallv)   \
  X(Neighbor_alltoallw)
#else
#define PF_WITH_INIT(X)
#endif

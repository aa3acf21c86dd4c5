// SPDX-License-Identifier: MIT
// Collectives with large counts (MPI 4.0, 6), by the blocking and the non-blocking ones: of Bcast and Ibcast there are MPI_Bcast_c,
// MPI_Ibcast_c and MPI_Bcast_init_c.
#pragma once

#include "replay_engine/rank/engine/mpi_header.h"

#if MPI_VERSION >= 4
#define PF_HAS_LARGE_COUNTS 1
// clang-format off
#define PF_WITH_LARGE(X) \
  X(Bcast, Ibcast) \
  X(Gather, Igather) \
  X(Gatherv, Igatherv) \
  X(Scatter, Iscatter) \
  X(Scatterv, Iscatterv) \
  X(Allgather, Iallgather) \
  X(Allgatherv, Iallgatherv) \
  X(Alltoall, Ialltoall) \
  X(Alltoallv, Ialltoallv) \
  X(Alltoallw, Ialltoallw) \
  X(Reduce, Ireduce) \
  X(Allreduce, Iallreduce) \
  X(Reduce_scatter, Ireduce_scatter) \
  X(Reduce_scatter_block, Ireduce_scatter_block) \
  X(Scan, Iscan) \
  X(Exscan, Iexscan) \
  X(Neighbor_allgather, Ineighbor_allgather) \
  X(Neighbor_allgatherv, Ineighbor_allgatherv) \
  X(Neighbor_alltoall, Ineighbor_alltoall) \
  X(Neighbor_alltoallv, Ineighbor_alltoallv) \
  X(Neighbor_alltoallw, Ineighbor_alltoallw)
// clang-format on
#else
#define PF_WITH_LARGE(X)
#endif

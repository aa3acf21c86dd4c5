/* SPDX-License-Identifier: GPL-3.0-or-later
 * Collectives of four ranks, each with another size, on all, on halves, and between halves. groups_test.py has the
 * numbers. */
#include <mpi.h>

static char out[1000], in[1000];
static int numbers[100], sums[100];

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const MPI_Comm world = MPI_COMM_WORLD;
  MPI_Request request;

  MPI_Bcast(out, 10, MPI_CHAR, 1, world);
  MPI_Ibcast(out, 11, MPI_CHAR, 2, world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Scatter(out, 20, MPI_CHAR, in, 20, MPI_CHAR, 0, world);
  MPI_Gather(out, 30, MPI_CHAR, in, 30, MPI_CHAR, 3, world);
  if (rank == 3) {
    MPI_Gather(MPI_IN_PLACE, 0, MPI_CHAR, in, 31, MPI_CHAR, 3, world);
  } else {
    MPI_Gather(out, 31, MPI_CHAR, in, 31, MPI_CHAR, 3, world);
  }
  MPI_Allgather(out, 40, MPI_CHAR, in, 40, MPI_CHAR, world);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_CHAR, in, 41, MPI_CHAR, world);
  MPI_Alltoall(out, 50, MPI_CHAR, in, 50, MPI_CHAR, world);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_CHAR, in, 51, MPI_CHAR, world);
  MPI_Reduce(numbers, sums, 8, MPI_INT, MPI_SUM, 0, world);
  MPI_Reduce(rank == 1 ? MPI_IN_PLACE : numbers, sums, 9, MPI_INT, MPI_SUM, 1, world);
  MPI_Allreduce(numbers, sums, 10, MPI_INT, MPI_SUM, world);
  MPI_Iallreduce(MPI_IN_PLACE, sums, 11, MPI_INT, MPI_SUM, world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Reduce_scatter_block(numbers, sums, 12, MPI_INT, MPI_SUM, world);
  MPI_Scan(numbers, sums, 13, MPI_INT, MPI_SUM, world);
  MPI_Exscan(numbers, sums, 14, MPI_INT, MPI_SUM, world);

  MPI_Comm half, between;
  MPI_Comm_split(world, rank / 2, rank, &half);
  MPI_Allgather(out, 100, MPI_CHAR, in, 100, MPI_CHAR, half);
  MPI_Intercomm_create(half, 0, world, rank < 2 ? 2 : 0, 5, &between);
  const int here = rank == 0 ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : 0;  /* rank 0 is the root */
  MPI_Allgather(out, 7, MPI_CHAR, in, 7, MPI_CHAR, between);
  MPI_Alltoall(out, 3, MPI_CHAR, in, 3, MPI_CHAR, between);
  MPI_Bcast(out, 5, MPI_CHAR, here, between);
  MPI_Scatter(out, 6, MPI_CHAR, in, 6, MPI_CHAR, here, between);
  MPI_Gather(out, 8, MPI_CHAR, in, 8, MPI_CHAR, here, between);
  MPI_Reduce(numbers, sums, 15, MPI_INT, MPI_SUM, here, between);
  MPI_Allreduce(numbers, sums, 16, MPI_INT, MPI_SUM, between);

  const int counts[4] = {12, 12, 12, 12}, at[4] = {0, 12, 24, 36};
  MPI_Alltoallv(out, counts, at, MPI_CHAR, in, counts, at, MPI_CHAR, world);
  MPI_Scatterv(out, counts, at, MPI_CHAR, in, 12, MPI_CHAR, 0, world);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}

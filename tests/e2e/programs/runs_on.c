/* SPDX-License-Identifier: GPL-3.0-or-later
 * A rank leaves MPI_Gather before others have come to it, and sends what one of them is polling for: of a rank that gives
 * a little to the root, and of a root that takes nothing, Open MPI asks no more. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, ranks, received = 0;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int count = 0; count < 2; ++count) {
    int mine = rank + 1, all[64];
    const int root = count == 0 ? 0 : 1;
    if (rank == 1) {
      MPI_Request request;
      int from, done = 0;
      MPI_Irecv(&from, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
      while (!done) MPI_Testall(1, &request, &done, MPI_STATUSES_IGNORE);
      received += from;
    }
    MPI_Gather(&mine, count, MPI_INT, all, count, MPI_INT, root, comm);
    if (rank == 0) MPI_Send(&mine, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    for (int i = 0; rank == root && i < ranks * count; ++i) received += 10 * all[i];
  }
  printf("rank %d of %d received %016x\n", rank, ranks, (unsigned)received);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}

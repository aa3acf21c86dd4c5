/* SPDX-License-Identifier: GPL-3.0-or-later
 * Wrong in one order of arrival only, which it tells by its exit status, behind MPI_Finalize. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, ranks, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) {
    for (int i = 1, last = 0; i < ranks; ++i) {
      int from;
      MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      wrong += from < last;
      last = from;
    }
    if (wrong) printf("WRONG ANSWER\n");
  } else {
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return wrong ? 1 : 0;
}

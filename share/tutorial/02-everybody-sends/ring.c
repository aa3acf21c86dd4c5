/* SPDX-License-Identifier: GPL-3.0-or-later
 * Ranks in a ring: each gives its numbers to the right and gets those of its left neighbour.
 * ring [NUMBERS], 100000 of them by default. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void exchange(const double* mine, double* theirs, int numbers, int left, int right) {
  MPI_Send(mine, numbers, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);
  MPI_Recv(theirs, numbers, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int numbers = argc > 1 ? atoi(argv[1]) : 100000;
  const int right = (rank + 1) % ranks;
  const int left = (rank + ranks - 1) % ranks;
  double* mine = malloc((size_t)numbers * sizeof(double));
  double* theirs = malloc((size_t)numbers * sizeof(double));
  for (int i = 0; i < numbers; ++i) mine[i] = rank;
  exchange(mine, theirs, numbers, left, right);
  if (rank == 0) printf("rank 0 got the numbers of rank %g\n", theirs[0]);
  free(mine);
  free(theirs);
  MPI_Finalize();
  return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rank 0 takes as many rounds of messages as the file `rounds` in its directory says, from whoever comes first; without
 * the file it aborts. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, rounds = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  FILE* file = fopen("rounds", "r");
  if (file == NULL || fscanf(file, "%d", &rounds) != 1) {
    fprintf(stderr, "needs_file: no rounds\n");
    MPI_Abort(MPI_COMM_WORLD, 7);
  }
  fclose(file);
  for (int i = 0; i < rounds; ++i) {
    int value = rank;
    if (rank == 0) {
      for (int other = 1; other < size; ++other) {
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    } else {
      MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}

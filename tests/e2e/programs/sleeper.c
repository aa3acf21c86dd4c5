/* SPDX-License-Identifier: GPL-3.0-or-later */
// Rank 0 waits while rank 1 sleeps for 50 ms; round trips before and after, a barrier, a wait of a non-blocking receive.
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static void sleepMs(long ms) {
  const struct timespec pause = {0, ms * 1000000L};
  nanosleep(&pause, NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank;
  for (int round = 0; round < 200; ++round) {
    if (round == 100 && rank == 1) {
      sleepMs(50);
    }
    if (rank == 0) {
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&value, 1, MPI_INT, 1, round, MPI_COMM_WORLD);
    } else if (rank == 1) {
      MPI_Send(&value, 1, MPI_INT, 0, round, MPI_COMM_WORLD);
      MPI_Recv(&value, 1, MPI_INT, 0, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  int sent = rank;
  MPI_Sendrecv(&sent, 1, MPI_INT, rank ^ 1, 7, &value, 1, MPI_INT, rank ^ 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Request request;
  if (rank == 1) {
    MPI_Irecv(&value, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (rank == 0) {
    sleepMs(30);
    MPI_Send(&value, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 * Each rank squares its number. Rank 0 takes the squares as they come, and prints them in the order of ranks. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#define MOST 16

/* 0: they are right. */
static int check(const int* squares, int ranks) {
  int wrong = 0;
  for (int rank = 1; rank < ranks; ++rank) {
    printf("rank %d: %d\n", rank, squares[rank]);
    wrong |= squares[rank] != rank * rank;
  }
  return wrong;
}

static int collect(int ranks) {
  int incoming[MOST], squares[MOST];
  MPI_Request requests[MOST];
  for (int i = 0; i < ranks - 1; ++i) {
    MPI_Irecv(&incoming[i], 1, MPI_INT, i + 1, 0, MPI_COMM_WORLD, &requests[i]);
  }
  for (int done = 0; done < ranks - 1; ++done) {
    int which = 0;
    MPI_Waitany(ranks - 1, requests, &which, MPI_STATUS_IGNORE);
    squares[done + 1] = incoming[which];
  }
  return check(squares, ranks);
}

int main(int argc, char** argv) {
  int rank, ranks, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > MOST) {
    MPI_Finalize();
    return 2;
  }
  if (rank == 0) {
    wrong = collect(ranks);
  } else {
    const int square = rank * rank;
    usleep((useconds_t)square * 10000); /* larger squares take longer */
    MPI_Send(&square, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return wrong;
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 * Eight ranks in four pairs, a rank and the one four further on: much between them, little along a ring, one broadcast
 * and one reduction. groups_test.py has the numbers. */
#include <mpi.h>
#include <string.h>

enum { Large = 1000, LargeRounds = 100, Small = 16, SmallRounds = 5 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  const int partner = (rank + ranks / 2) % ranks;
  char out[Large], in[Large];
  memset(out, rank, sizeof out);
  for (int i = 0; i < LargeRounds; ++i) {
    MPI_Sendrecv(out, Large, MPI_CHAR, partner, 1, in, Large, MPI_CHAR, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  MPI_Request ring[2];  /* sizes of such sends are in no event of their own */
  MPI_Send_init(out, Small, MPI_CHAR, (rank + 1) % ranks, 2, MPI_COMM_WORLD, &ring[0]);
  MPI_Recv_init(in, Large, MPI_CHAR, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &ring[1]);
  for (int i = 0; i < SmallRounds; ++i) {
    MPI_Startall(2, ring);
    MPI_Waitall(2, ring, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&ring[0]);
  MPI_Request_free(&ring[1]);

  int shared[64] = {0};
  MPI_Bcast(shared, 64, MPI_INT, 0, MPI_COMM_WORLD);
  double mine[8] = {rank}, sum[8];
  MPI_Allreduce(mine, sum, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}

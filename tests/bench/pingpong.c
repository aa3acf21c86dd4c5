/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ping-pong of two ranks: pingpong [BYTES=8] [ROUND_TRIPS=4000]; us is one way. */
#include <mpi.h>

#include "timing.h"

static void round_trips(char *buffer, int bytes, int trips, int rank)
{
    for (int i = 0; i < trips; ++i) {
        if (rank == 0)
            MPI_Send(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(buffer, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank;
    double seconds[ROUNDS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int bytes = argument(argc, argv, 1, 8);
    const int trips = argument(argc, argv, 2, 4000);
    char *buffer = calloc(1, (size_t)bytes);
    round_trips(buffer, bytes, trips, rank);
    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        round_trips(buffer, bytes, trips, rank);
        seconds[round] = MPI_Wtime() - start;
    }
    if (rank == 0)
        report("pingpong", seconds, ROUNDS, 2L * trips, bytes);
    free(buffer);
    MPI_Finalize();
    return 0;
}

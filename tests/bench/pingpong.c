/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ping-pong of two ranks: pingpong [BYTES=8] [ROUND_TRIPS=4000]; us is one way. Further ranks sleep until it is over. */
#include <mpi.h>
#include <unistd.h>

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

static void sleep_until_told(void)
{
    int told = 0;
    while (!told) {
        usleep(2000);
        MPI_Iprobe(0, 2, MPI_COMM_WORLD, &told, MPI_STATUS_IGNORE);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size;
    double seconds[ROUNDS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 1) {
        sleep_until_told();
        MPI_Finalize();
        return 0;
    }
    const int bytes = argument(argc, argv, 1, 8);
    const int trips = argument(argc, argv, 2, 4000);
    char *buffer = calloc(1, (size_t)bytes);
    round_trips(buffer, bytes, trips, rank);
    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Sendrecv(NULL, 0, MPI_BYTE, 1 - rank, 3, NULL, 0, MPI_BYTE, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const double start = MPI_Wtime();
        round_trips(buffer, bytes, trips, rank);
        seconds[round] = MPI_Wtime() - start;
    }
    for (int other = 2; rank == 0 && other < size; ++other)
        MPI_Send(NULL, 0, MPI_BYTE, other, 2, MPI_COMM_WORLD);
    if (rank == 0)
        report("pingpong", seconds, ROUNDS, 2L * trips, bytes);
    free(buffer);
    MPI_Finalize();
    return 0;
}

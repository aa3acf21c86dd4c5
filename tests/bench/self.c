/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One rank that sends to itself and takes it from anybody: self [BYTES=8] [MESSAGES=4000]; us a message. */
#include <mpi.h>

#include "timing.h"

static void messages(char *out, char *in, int bytes, int times, int rank)
{
    for (int i = 0; i < times; ++i) {
        MPI_Send(out, bytes, MPI_BYTE, rank, 1, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank;
    double seconds[ROUNDS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int bytes = argument(argc, argv, 1, 8);
    const int times = argument(argc, argv, 2, 4000);
    char *out = calloc(1, (size_t)bytes), *in = calloc(1, (size_t)bytes);
    messages(out, in, bytes, times, rank);
    for (int round = 0; round < ROUNDS; ++round) {
        const double start = MPI_Wtime();
        messages(out, in, bytes, times, rank);
        seconds[round] = MPI_Wtime() - start;
    }
    report("self", seconds, ROUNDS, times, bytes);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}

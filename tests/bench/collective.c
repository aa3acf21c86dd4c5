/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One collective of 8 bytes, again and again: collective barrier|allreduce|bcast [CALLS=1000]; us a call. */
#include <mpi.h>
#include <string.h>

#include "timing.h"

enum kind { BARRIER, ALLREDUCE, BCAST };

static void calls(enum kind kind, int times)
{
    double value = 1.0, sum = 0.0;
    for (int i = 0; i < times; ++i) {
        if (kind == ALLREDUCE)
            MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        else if (kind == BCAST)
            MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        else
            MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank;
    double seconds[ROUNDS];
    const char *which = argc > 1 ? argv[1] : "barrier";
    const enum kind kind = strcmp(which, "allreduce") == 0 ? ALLREDUCE : strcmp(which, "bcast") == 0 ? BCAST : BARRIER;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int times = argument(argc, argv, 2, 1000);
    calls(kind, times);
    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        calls(kind, times);
        seconds[round] = MPI_Wtime() - start;
    }
    if (rank == 0)
        report(which, seconds, ROUNDS, times, 8);
    MPI_Finalize();
    return 0;
}

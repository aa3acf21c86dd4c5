/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Polls with Iprobe, and prints how often it polled in vain: a replay has to fail as often. */
#include <mpi.h>

#include "arrivals.h"

int main(int argc, char **argv)
{
    int rank, size;
    struct arrivals arrivals = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        long misses = 0;
        for (int i = 1; i < size; ++i) {
            int value, flag = 0;
            MPI_Status status;
            for (;;) {
                MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &flag, &status);
                if (flag)
                    break;
                ++misses;
            }
            MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            arrived(&arrivals, " %d after %ld misses,", status.MPI_SOURCE, misses);
        }
        print_arrivals(&arrivals, rank);
    } else {
        MPI_Send(&rank, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The wildcard may take the message that the receive after it waits for by name: a hang. */
#include <mpi.h>

#include "arrivals.h"

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        int value;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        printf("rank 0: first from %d\n", status.MPI_SOURCE);
        fflush(stdout);
        MPI_Recv(&value, 1, MPI_INT, 2, 1, MPI_COMM_WORLD, &status);
        printf("rank 0: then from %d\n", status.MPI_SOURCE);
        fflush(stdout);
    } else {
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Race-free: each sender waits for a token that rank 0 gives only after the receive before. */
#include <mpi.h>

#include "arrivals.h"

int main(int argc, char **argv)
{
    int rank, size, token = 0;
    struct arrivals arrivals = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        for (int next = 1; next < size; ++next) {
            int value;
            MPI_Status status;
            MPI_Send(&token, 1, MPI_INT, next, 2, MPI_COMM_WORLD);
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            arrived(&arrivals, " %d", status.MPI_SOURCE);
        }
        print_arrivals(&arrivals, rank);
    } else {
        MPI_Recv(&token, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

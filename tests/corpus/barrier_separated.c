/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Race-free: one sender a phase, and a barrier between the phases. */
#include <mpi.h>

#include "arrivals.h"

int main(int argc, char **argv)
{
    int rank, size;
    struct arrivals arrivals = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int sender = 1; sender < size; ++sender) {
        if (rank == 0) {
            int value;
            MPI_Status status;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            arrived(&arrivals, " %d from %d", value, status.MPI_SOURCE);
        } else if (rank == sender) {
            MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        print_arrivals(&arrivals, rank);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Race-free: all messages come from one sender, so they cannot overtake each other. */
#include <mpi.h>

#include "arrivals.h"

int main(int argc, char **argv)
{
    int rank;
    struct arrivals arrivals = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < 4; ++i) {
            int value;
            MPI_Status status;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            arrived(&arrivals, " %d tag %d", value, status.MPI_TAG);
        }
        print_arrivals(&arrivals, rank);
    } else if (rank == 1) {
        for (int i = 0; i < 4; ++i)
            MPI_Send(&i, 1, MPI_INT, 0, 1 + i % 2, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

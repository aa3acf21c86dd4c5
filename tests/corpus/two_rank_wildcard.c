/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Race-free: with two ranks a wildcard has one possible sender. */
#include <mpi.h>

#include "arrivals.h"

int main(int argc, char **argv)
{
    int rank, value = 0;
    struct arrivals arrivals = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int other = 1 - rank;
    for (int i = 0; i < 3; ++i) {
        MPI_Status status;
        if (rank == 0)
            MPI_Send(&value, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        arrived(&arrivals, " %d from %d", value, status.MPI_SOURCE);
        value = value * 3 + 1 + rank;
        if (rank == 1)
            MPI_Send(&value, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
    }
    print_arrivals(&arrivals, rank);
    MPI_Finalize();
    return 0;
}

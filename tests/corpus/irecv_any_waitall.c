/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wildcard receives posted in advance: which buffer holds whose value is decided by arrival. */
#include <mpi.h>

#include "arrivals.h"

int main(int argc, char **argv)
{
    int rank;
    struct arrivals arrivals = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        int values[3];
        MPI_Request requests[3];
        MPI_Status statuses[3];
        for (int i = 0; i < 3; ++i)
            MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(3, requests, statuses);
        for (int i = 0; i < 3; ++i)
            arrived(&arrivals, " %d from %d,", values[i], statuses[i].MPI_SOURCE);
        print_arrivals(&arrivals, rank);
    } else {
        const int value = 100 * rank;
        MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

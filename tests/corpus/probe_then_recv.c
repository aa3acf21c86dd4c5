/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The wildcard is in the probe; the receive after it names the source that the probe found. */
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
        for (int i = 1; i < size; ++i) {
            int values[8], count;
            MPI_Status status;
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_INT, &count);
            MPI_Recv(values, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            arrived(&arrivals, " %d ints from %d,", count, status.MPI_SOURCE);
        }
        print_arrivals(&arrivals, rank);
    } else {
        const int values[8] = {rank, rank, rank, rank, rank, rank, rank, rank};
        MPI_Send(values, 2 * rank, MPI_INT, 0, 5 + rank, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

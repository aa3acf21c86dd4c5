/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wildcard receives of messages too large for the eager protocol: the send waits for its match. */
#include <mpi.h>
#include <stdlib.h>

#include "arrivals.h"

enum { DOUBLES = 40000 };

int main(int argc, char **argv)
{
    int rank, size;
    struct arrivals arrivals = {0};
    double *field = malloc(DOUBLES * sizeof *field);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        for (int i = 0; i < 2 * (size - 1); ++i) {
            double sum = 0.0;
            MPI_Status status;
            MPI_Recv(field, DOUBLES, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            for (int k = 0; k < DOUBLES; ++k)
                sum += field[k];
            arrived(&arrivals, " %d:%.0f", status.MPI_SOURCE, sum);
        }
        print_arrivals(&arrivals, rank);
    } else {
        for (int i = 0; i < 2; ++i) {
            for (int k = 0; k < DOUBLES; ++k)
                field[k] = rank + i;
            MPI_Send(field, DOUBLES, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        }
    }
    free(field);
    MPI_Finalize();
    return 0;
}

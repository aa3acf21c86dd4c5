/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wildcards in Sendrecv and in Sendrecv_replace. */
#include <mpi.h>

#include "arrivals.h"

int main(int argc, char **argv)
{
    int rank, size, value;
    struct arrivals arrivals = {0};
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        for (int worker = 1; worker < size; ++worker) {
            MPI_Sendrecv(&worker, 1, MPI_INT, worker, 1, &value, 1, MPI_INT, MPI_ANY_SOURCE, 1,
                         MPI_COMM_WORLD, &status);
            arrived(&arrivals, " %d from %d,", value, status.MPI_SOURCE);
        }
        for (int worker = 1; worker < size; ++worker) {
            value = worker;
            MPI_Sendrecv_replace(&value, 1, MPI_INT, worker, 2, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD,
                                 &status);
            arrived(&arrivals, " %d from %d,", value, status.MPI_SOURCE);
        }
        print_arrivals(&arrivals, rank);
    } else {
        for (int tag = 1; tag <= 2; ++tag) {
            const int mine = 10 * tag + rank;
            MPI_Send(&mine, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
            MPI_Recv(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}

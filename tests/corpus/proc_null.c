/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chain with MPI_PROC_NULL at its ends, in every kind of call, before some wildcard receives. */
#include <mpi.h>

#include "arrivals.h"

static int shift(int rank, int size)
{
    const int left = rank == 0 ? MPI_PROC_NULL : rank - 1;
    const int right = rank == size - 1 ? MPI_PROC_NULL : rank + 1;
    int from_left = -1, from_right = -1, from_sendrecv = -1;
    MPI_Request requests[4];
    MPI_Irecv(&from_left, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&from_right, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&rank, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 2, &from_sendrecv, 1, MPI_INT, left, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    return 100 * (from_left + 1) + 10 * (from_right + 1) + from_sendrecv + 1;
}

int main(int argc, char **argv)
{
    int rank, size;
    struct arrivals arrivals = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int sum = shift(rank, size);
    if (rank == 0) {
        int value, flag;
        MPI_Status status;
        MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &status);
        arrived(&arrivals, " %d, null probe %d %d", sum, flag, status.MPI_SOURCE == MPI_PROC_NULL);
        MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 1; i < size; ++i) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
            arrived(&arrivals, ", %d from %d", value, status.MPI_SOURCE);
        }
        print_arrivals(&arrivals, rank);
    } else {
        MPI_Send(&sum, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sparse exchange by non-blocking consensus: nobody knows how many messages it will get. */
#include <mpi.h>

#include "arrivals.h"

static void exchange(struct arrivals *arrivals, int rank, int size)
{
    int done = 0, in_barrier = 0;
    MPI_Request sends[2], barrier = MPI_REQUEST_NULL;
    for (int i = 0; i < 2; ++i)
        MPI_Issend(&rank, 1, MPI_INT, (rank + 1 + i) % size, 7, MPI_COMM_WORLD, &sends[i]);
    while (!done) {
        int flag;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, &status);
        if (flag) {
            int value;
            MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            arrived(arrivals, " %d", value);
        }
        if (in_barrier) {
            MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
        } else {
            MPI_Testall(2, sends, &in_barrier, MPI_STATUSES_IGNORE);
            if (in_barrier)
                MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        }
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    struct arrivals arrivals = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    exchange(&arrivals, rank, size);
    print_arrivals(&arrivals, rank);
    MPI_Finalize();
    return 0;
}

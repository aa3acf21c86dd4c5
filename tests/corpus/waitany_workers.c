/* SPDX-License-Identifier: GPL-3.0-or-later */
/* No wildcard: every receive names its source. What varies is the request that Waitany takes. */
#include <mpi.h>

#include "arrivals.h"

enum { WORKERS = 3, ROUNDS = 2 };

static void run_master(struct arrivals *arrivals)
{
    int values[WORKERS], left[WORKERS];
    MPI_Request requests[WORKERS];
    for (int w = 0; w < WORKERS; ++w) {
        left[w] = ROUNDS - 1;
        MPI_Irecv(&values[w], 1, MPI_INT, w + 1, 1, MPI_COMM_WORLD, &requests[w]);
    }
    for (int i = 0; i < WORKERS * ROUNDS; ++i) {
        int w;
        MPI_Waitany(WORKERS, requests, &w, MPI_STATUS_IGNORE);
        arrived(arrivals, " %d", values[w]);
        if (left[w]-- > 0)
            MPI_Irecv(&values[w], 1, MPI_INT, w + 1, 1, MPI_COMM_WORLD, &requests[w]);
    }
}

int main(int argc, char **argv)
{
    int rank;
    struct arrivals arrivals = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        run_master(&arrivals);
        print_arrivals(&arrivals, rank);
    } else {
        for (int round = 0; round < ROUNDS; ++round) {
            const int value = 10 * rank + round;
            MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Testsome over three wildcard receives; most tests fail, and their number is printed. */
#include <mpi.h>

#include "arrivals.h"

enum { SENDERS = 3 };

static void run_receiver(struct arrivals *arrivals)
{
    int values[SENDERS], done = 0;
    long failed = 0;
    MPI_Request requests[SENDERS];
    for (int i = 0; i < SENDERS; ++i)
        MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[i]);
    while (done < SENDERS) {
        int count, indices[SENDERS];
        MPI_Status statuses[SENDERS];
        MPI_Testsome(SENDERS, requests, &count, indices, statuses);
        failed += count == 0;
        for (int i = 0; i < count; ++i)
            arrived(arrivals, " [%d] %d from %d,", indices[i], values[indices[i]], statuses[i].MPI_SOURCE);
        done += count;
    }
    arrived(arrivals, " after %ld failed tests", failed);
}

int main(int argc, char **argv)
{
    int rank;
    struct arrivals arrivals = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        run_receiver(&arrivals);
        print_arrivals(&arrivals, rank);
    } else {
        const int value = 7 * rank;
        MPI_Send(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

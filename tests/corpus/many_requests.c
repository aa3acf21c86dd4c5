/* SPDX-License-Identifier: GPL-3.0-or-later
 * Sixty wildcard receives at once, taken with Waitsome. The senders start twenty small sends each;
 * Open MPI gives all of these the same request handle.
 */
#include <mpi.h>

#include "arrivals.h"

enum { SENDERS = 3, EACH = 20, ALL = SENDERS * EACH };

static void run_receiver(struct arrivals *arrivals)
{
    int values[ALL], indices[ALL], taken = 0;
    MPI_Request requests[ALL];
    MPI_Status statuses[ALL];
    for (int i = 0; i < ALL; ++i)
        MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[i]);
    while (taken < ALL) {
        int count;
        MPI_Waitsome(ALL, requests, &count, indices, statuses);
        arrived(arrivals, " |");
        for (int i = 0; i < count; ++i)
            arrived(arrivals, " %d:%d", indices[i], values[indices[i]]);
        taken += count;
    }
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
        int values[EACH];
        MPI_Request requests[EACH];
        for (int i = 0; i < EACH; ++i) {
            values[i] = 100 * rank + i;
            MPI_Isend(&values[i], 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Waitall(EACH, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

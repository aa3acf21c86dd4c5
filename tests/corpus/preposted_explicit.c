/* SPDX-License-Identifier: GPL-3.0-or-later
 * A wildcard receive posted before an explicit one, and completed after it. Checked in the order
 * of completion, the first message of rank 1 seems to have had nowhere else to go.
 */
#include <mpi.h>

#include "arrivals.h"

static void run_receiver(struct arrivals *arrivals)
{
    int wild, named, last;
    MPI_Request any, one;
    MPI_Status status;
    MPI_Irecv(&wild, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &any);
    MPI_Irecv(&named, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &one);
    MPI_Wait(&one, MPI_STATUS_IGNORE);
    arrived(arrivals, " named %d", named);
    MPI_Wait(&any, &status);
    arrived(arrivals, " wild %d from %d", wild, status.MPI_SOURCE);
    MPI_Recv(&last, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
    arrived(arrivals, " last %d from %d", last, status.MPI_SOURCE);
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
        for (int value = 10 * rank; value < 10 * rank + (rank == 1 ? 2 : 1); ++value)
            MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

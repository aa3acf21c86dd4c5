/* SPDX-License-Identifier: GPL-3.0-or-later
 * A receive by source that a test finds unfinished, and wildcards that complete before it: the one
 * that was posted first could have had its message, however many came between.
 */
#include <mpi.h>
#include <unistd.h>

#include "arrivals.h"

enum { MANY = 8 };

static void take_any(struct arrivals *arrivals)
{
    int value;
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
    arrived(arrivals, " %d", value);
}

static void run_receiver(struct arrivals *arrivals)
{
    int named, done;
    MPI_Request request;
    take_any(arrivals);
    MPI_Irecv(&named, 1, MPI_INT, 2, 1, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    for (int i = 0; i < MANY; ++i)
        take_any(arrivals);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    arrived(arrivals, " named %d", named);
    take_any(arrivals);
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
        if (rank == 2)
            usleep(50000);
        for (int value = 100 * rank; value < 100 * rank + (rank == 1 ? MANY + 1 : 2); ++value)
            MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

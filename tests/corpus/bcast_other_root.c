/* SPDX-License-Identifier: GPL-3.0-or-later
 * A broadcast between two sends that does not order them: it comes from rank 1, which knows nothing
 * of what rank 0 has received.
 */
#include <mpi.h>

#include "arrivals.h"

static void take(struct arrivals *arrivals)
{
    int value;
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
    arrived(arrivals, " %d", status.MPI_SOURCE);
}

int main(int argc, char **argv)
{
    int rank, step = 1;
    struct arrivals arrivals = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 3)
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    if (rank == 0)
        take(&arrivals);
    MPI_Bcast(&step, 1, MPI_INT, 1, MPI_COMM_WORLD);
    if (rank == 2)
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    if (rank == 0) {
        take(&arrivals);
        print_arrivals(&arrivals, rank);
    }
    MPI_Finalize();
    return 0;
}

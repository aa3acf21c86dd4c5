/* SPDX-License-Identifier: GPL-3.0-or-later
 * All messages are sent before a barrier and received after it. They race: any of them could be
 * taken first, although Open MPI happens to look through its senders in a fixed order.
 */
#include <mpi.h>

#include "arrivals.h"

int main(int argc, char **argv)
{
    int rank, size;
    struct arrivals arrivals = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank != 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        for (int i = 1; i < size; ++i) {
            int value;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            arrived(&arrivals, " %d", value);
        }
        print_arrivals(&arrivals, rank);
    }
    MPI_Finalize();
    return 0;
}

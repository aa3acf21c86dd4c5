/* SPDX-License-Identifier: GPL-3.0-or-later
 * The same tag on four communicators: the world, a copy of it, the even ranks, and all ranks in
 * reverse order. Only the copy and the reversed one have several possible senders.
 */
#include <mpi.h>

#include "arrivals.h"

static void take(struct arrivals *arrivals, const char *name, MPI_Comm comm)
{
    int value;
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, &status);
    arrived(arrivals, " %s:%d by %d", name, value, status.MPI_SOURCE);
}

int main(int argc, char **argv)
{
    int rank, size;
    struct arrivals arrivals = {0};
    MPI_Comm copy, even, reversed;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2 == 0 ? 0 : MPI_UNDEFINED, rank, &even);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    if (rank == 0) {
        for (int i = 1; i < size; ++i)
            take(&arrivals, "copy", copy);
        for (int i = 1; i < size; ++i)
            take(&arrivals, "reversed", reversed);
        take(&arrivals, "even", even);
        take(&arrivals, "world", MPI_COMM_WORLD);
        print_arrivals(&arrivals, rank);
    } else {
        MPI_Send(&rank, 1, MPI_INT, 0, 5, copy);
        MPI_Send(&rank, 1, MPI_INT, size - 1, 5, reversed);
        if (rank == 1)
            MPI_Send(&rank, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
        if (rank == 2)
            MPI_Send(&rank, 1, MPI_INT, 0, 5, even);
    }
    if (even != MPI_COMM_NULL)
        MPI_Comm_free(&even);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&reversed);
    MPI_Finalize();
    return 0;
}

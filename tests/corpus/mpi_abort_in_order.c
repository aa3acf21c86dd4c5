/* SPDX-License-Identifier: GPL-3.0-or-later
 * MPI_Abort as soon as rank 3's message is found before rank 1's. The receives are posted before a
 * barrier, so everything has been sent when it happens, and some of it is not received.
 */
#include <mpi.h>

#include "arrivals.h"

enum { SENDERS = 3, ABORT_CODE = 7 };

int main(int argc, char **argv)
{
    int rank, values[SENDERS], seen_first = 0;
    MPI_Request requests[SENDERS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < SENDERS; ++i)
            MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[i]);
    } else {
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < SENDERS; ++i) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        printf("rank 0: message %d is from %d\n", i, values[i]);
        fflush(stdout);
        seen_first |= values[i] == 1;
        if (values[i] == 3 && !seen_first)
            MPI_Abort(MPI_COMM_WORLD, ABORT_CODE);
    }
    MPI_Finalize();
    return 0;
}

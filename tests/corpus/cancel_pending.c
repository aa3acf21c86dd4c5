/* SPDX-License-Identifier: GPL-3.0-or-later
 * Two wildcard receives are cancelled: one that nobody will ever serve, and one whose message is on
 * its way, so that the cancel succeeds or not.
 */
#include <mpi.h>

#include "arrivals.h"

static int cancelled(MPI_Request *request)
{
    int flag;
    MPI_Status status;
    MPI_Cancel(request);
    MPI_Wait(request, &status);
    MPI_Test_cancelled(&status, &flag);
    return flag;
}

static void run_receiver(struct arrivals *arrivals, int senders)
{
    int value, late = 0, never;
    MPI_Request may_come, cannot_come;
    MPI_Irecv(&late, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &may_come);
    MPI_Irecv(&never, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &cannot_come);
    int in_vain = 0;
    for (int i = 0; i < senders; ++i) {
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        arrived(arrivals, " %d", status.MPI_SOURCE);
        if (i == 0)
            in_vain = cancelled(&may_come);
    }
    arrived(arrivals, " cancelled %d", in_vain);
    if (in_vain)
        MPI_Recv(&late, 1, MPI_INT, 2, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    arrived(arrivals, " late %d, cancelled %d", late, cancelled(&cannot_come));
}

int main(int argc, char **argv)
{
    int rank, size;
    struct arrivals arrivals = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        run_receiver(&arrivals, size - 1);
        print_arrivals(&arrivals, rank);
    } else {
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        if (rank == 2)
            MPI_Send(&rank, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 * Requests freed while active: a wildcard receive, whose completion is never observed but follows
 * from a later message of each sender, and the sends.
 */
#include <mpi.h>

#include "arrivals.h"

enum { SENDERS = 3 };

static void run_receiver(struct arrivals *arrivals)
{
    int values[SENDERS], end;
    MPI_Request requests[SENDERS];
    MPI_Status status;
    for (int i = 0; i < SENDERS; ++i)
        MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[i]);
    MPI_Request_free(&requests[0]);
    MPI_Wait(&requests[1], &status);
    arrived(arrivals, " second from %d", status.MPI_SOURCE);
    MPI_Wait(&requests[2], &status);
    arrived(arrivals, " third from %d", status.MPI_SOURCE);
    for (int source = 1; source <= SENDERS; ++source)
        MPI_Recv(&end, 1, MPI_INT, source, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    arrived(arrivals, " values %d %d %d", values[0], values[1], values[2]);
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
        int value = 5 * rank;
        MPI_Request request;
        MPI_Isend(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        MPI_Send(&rank, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

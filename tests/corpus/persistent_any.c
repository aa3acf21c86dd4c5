/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two persistent wildcard receives, polled with Testany and started again after each message. */
#include <mpi.h>

#include "arrivals.h"

enum { SLOTS = 2, SENDERS = 3, EACH = 2 };

static void run_receiver(struct arrivals *arrivals)
{
    int values[SLOTS];
    int started = SLOTS;
    MPI_Request requests[SLOTS];
    for (int i = 0; i < SLOTS; ++i)
        MPI_Recv_init(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[i]);
    MPI_Startall(SLOTS, requests);
    for (int taken = 0; taken < SENDERS * EACH; ++taken) {
        int index, flag = 0;
        MPI_Status status;
        while (!flag)
            MPI_Testany(SLOTS, requests, &index, &flag, &status);
        arrived(arrivals, " [%d] %d from %d,", index, values[index], status.MPI_SOURCE);
        if (started < SENDERS * EACH) {
            MPI_Start(&requests[index]);
            ++started;
        }
    }
    for (int i = 0; i < SLOTS; ++i)
        MPI_Request_free(&requests[i]);
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
        int value = 10 * rank;
        MPI_Request request;
        MPI_Send_init(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
        for (int i = 0; i < EACH; ++i, ++value) {
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&request);
    }
    MPI_Finalize();
    return 0;
}

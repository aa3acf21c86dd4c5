/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stolen: rank 0 waits for a message of rank 1 that its receive from any source, posted before, may have taken. Then it waits
 * for ever, and that receive is never waited for. Who of ranks 1 and 2 is late a limit says that nothing else depends on.
 * With "many" and "persistent" it has twelve such receives, of the latter kind the second time.
 * With another argument rank 0 ends early: "pending" crashes with that receive pending, "taken" behind its wait, "exit" exits. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void end_early(const char *how, int rank)
{
    int any = 0, other = 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(&any, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
        MPI_Recv(&other, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (strcmp(how, "taken") == 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (strcmp(how, "exit") == 0)
            exit(3);
        raise(SIGSEGV);
    }
    MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
}

/* Twelve of thirteen messages go to receives from any source: the last of rank 1 as well, unless it is late. */
static void many(int persistent, int rank, int late)
{
    enum { MANY = 12 };
    int any[MANY], first = 0;
    MPI_Request requests[MANY];
    MPI_Status statuses[MANY];
    if (rank == 0) {
        for (int i = 0; i < MANY; i++) {
            if (persistent) {
                MPI_Recv_init(&any[i], 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[i]);
                MPI_Start(&requests[i]);
            } else {
                MPI_Irecv(&any[i], 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[i]);
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Recv(&first, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Waitall(MANY, requests, statuses);
        printf("fine: all of them\n");
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == late)
            usleep(500000);
        for (int i = 0; i < MANY / 2 + (rank == 2); i++)
            MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank, late, any = 0, first = 0;
    struct rlimit queues;
    MPI_Request request;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    getrlimit(RLIMIT_MSGQUEUE, &queues);
    late = queues.rlim_cur == 0 ? 1 : 2;
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && (strcmp(argv[1], "many") == 0 || strcmp(argv[1], "persistent") == 0)) {
        many(strcmp(argv[1], "persistent") == 0, rank, late);
    } else if (argc > 1) {
        end_early(argv[1], rank);
    } else if (rank == 0) {
        MPI_Irecv(&any, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
        MPI_Recv(&first, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &status);
        MPI_Wait(&request, &status);
        printf("fine: the other one from %d\n", status.MPI_SOURCE);
    } else {
        if (rank == late)
            usleep(500000);
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What another order of the messages leads to, by the first word: named, follows, collective, left, ordered, unbuffered, onesided.
 * The recorded order is always the good one: rank 2 sends late. */
#include <mpi.h>

#include <string.h>
#include <unistd.h>

static void send_to_1(int rank, int late)
{
    if (late) usleep(100000);
    MPI_Send(&rank, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "named";
    int rank, value, sum = 0;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "named") == 0) {
        if (rank == 1) {
            MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &requests[0]);
            MPI_Irecv(&sum, 1, MPI_INT, 2, 7, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        } else if (rank != 3) {
            send_to_1(rank, rank == 2);
        }
    } else if (strcmp(what, "follows") == 0) { /* if the first is of rank 2, so is the second, and the third waits for ever */
        for (int i = 0; rank == 1 && i < 3; ++i)
            MPI_Recv(&value, 1, MPI_INT, i == 0 ? MPI_ANY_SOURCE : 2, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 0) send_to_1(rank, 0);
        for (int i = 0; rank == 2 && i < 2; ++i)
            send_to_1(rank, 1);
    } else if (strcmp(what, "collective") == 0) { /* the wait comes after a collective, in which all meet */
        if (rank == 1) MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &requests[0]);
        if (rank == 0) send_to_1(rank, 0);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 2) send_to_1(rank, 1);
        if (rank == 1) {
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
            MPI_Recv(&value, 1, MPI_INT, 2, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    } else if (strcmp(what, "left") == 0) {
        if (rank == 1) MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 0 || rank == 2) {
            if (rank == 2) usleep(100000);
            MPI_Isend(&rank, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &requests[0]);
            MPI_Request_free(&requests[0]);
        }
    } else if (strcmp(what, "ordered") == 0) { /* received before the collective, sent behind it */
        if (rank == 1) MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 0) send_to_1(rank, 0);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 2) send_to_1(rank, 0);
        if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 2, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(what, "unbuffered") == 0) { /* head to head */
        MPI_Send(&rank, 1, MPI_INT, rank ^ 1, 7, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, rank ^ 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Win window;
        int one = 1;
        MPI_Win_create(&sum, sizeof sum, sizeof sum, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_fence(0, window);
        MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_fence(0, window);
        MPI_Win_free(&window);
    }
    MPI_Finalize();
    return 0;
}

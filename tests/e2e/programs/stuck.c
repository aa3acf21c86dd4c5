/* SPDX-License-Identifier: GPL-3.0-or-later
 * stuck: two ranks that wait for each other, or not. Words in the environment variable STUCK: "past": rank 1 sends another
 * tag than rank 0 waits for, and goes on; "finish": it does not send and finishes; "busy": rank 2 computes for a minute;
 * "deadlock": in the end, ranks 0 and 1 send to each other and nobody receives. "barrier": rank 0 receives, and the others are in
 * a barrier; "gone": rank 0 is not in a collective that the others are in; "root": rank 1, the root, receives, and the others are in
 * its broadcast; "several": rank 0 waits for two messages of rank 1, which waits for one of rank 0.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int told(const char *word)
{
    const char *all = getenv("STUCK");
    return all && strstr(all, word);
}

static void take_word(int *value)
{
    MPI_Request request;
    MPI_Irecv(value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void embrace(int rank)
{
    MPI_Ssend(&rank, 1, MPI_INT, 1 - rank, 9, MPI_COMM_WORLD);
}

static void wait_for_two(int from)
{
    int values[2];
    MPI_Request requests[2];
    for (int i = 0; i < 2; ++i)
        MPI_Irecv(&values[i], 1, MPI_INT, from, 9 + i, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void receive(int from)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, from, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Without some rank. */
static void collective(int rank)
{
    int value = rank, sum;
    if (told("barrier"))
        rank == 0 ? receive(1) : (void)MPI_Barrier(MPI_COMM_WORLD);
    else if (told("gone") && rank != 0)
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (told("root"))
        rank == 1 ? receive(0) : (void)MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        take_word(&value);
        MPI_Send(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1 && !told("finish")) {
        MPI_Send(&rank, 1, MPI_INT, 0, told("past") ? 6 : 5, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 2 && told("busy")) {
        for (const time_t end = time(NULL) + 60; time(NULL) < end;)
            ++value;
    }
    if (rank < 2 && told("deadlock"))
        embrace(rank);
    if (rank < 2 && told("several"))
        rank == 0 ? wait_for_two(1) : receive(0);
    collective(rank);
    MPI_Finalize();
    return 0;
}

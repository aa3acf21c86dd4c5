/* SPDX-License-Identifier: GPL-3.0-or-later
 * stuck: two ranks that wait for each other, or not. Words in the environment variable STUCK: "past": rank 1 sends another
 * tag than rank 0 waits for, and goes on; "finish": it does not send and finishes; "busy": rank 2 computes for a minute;
 * "deadlock": in the end, ranks 0 and 1 send to each other and nobody receives.
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
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What MPI_Request_get_status_any, _some and _all (MPI 4.1) say, and when: the order of what is printed is MPI's choice. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { kMost = 8 };

static void wait_a_little(int rank, int round)
{
    usleep((useconds_t)((rank * 7 + round * 13) % 5 * 300));
}

static void receive(int size, int round)
{
    int values[kMost], left = size - 1, polls = 0;
    MPI_Request requests[kMost];
    for (int i = 0; i < size - 1; ++i)
        MPI_Irecv(&values[i], 1, MPI_INT, i + 1, round, MPI_COMM_WORLD, &requests[i]);
    if (round % 3 == 0) {
        while (left > 0) {
            int index = -1, flag = 0;
            MPI_Status status;
            MPI_Request_get_status_any(size - 1, requests, &index, &flag, &status);
            if (!flag) {
                ++polls;
                continue;
            }
            printf("any %d: %d of %d after %d polls\n", round, index, status.MPI_SOURCE, polls);
            MPI_Wait(&requests[index], MPI_STATUS_IGNORE);
            --left;
        }
    } else if (round % 3 == 1) {
        while (left > 0) { /* MPICH 5.0.2 tells of a request that stays once only */
            int count = 0, indices[kMost];
            MPI_Status statuses[kMost];
            MPI_Request_get_status_some(size - 1, requests, &count, indices, statuses);
            polls += count == 0;
            if (count <= 0)
                continue;
            printf("some %d:", round);
            for (int i = 0; i < count; ++i) {
                printf(" %d of %d", indices[i], statuses[i].MPI_SOURCE);
                MPI_Wait(&requests[indices[i]], MPI_STATUS_IGNORE);
            }
            printf(" after %d polls\n", polls);
            left -= count;
        }
    } else {
        int flag = 0;
        MPI_Status statuses[kMost];
        for (; !flag; ++polls)
            MPI_Request_get_status_all(size - 1, requests, &flag, statuses);
        printf("all %d: after %d polls, the last of %d\n", round, polls, statuses[size - 2].MPI_SOURCE);
        MPI_Waitall(size - 1, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < size - 1; ++i)
        printf("%d ", values[i]);
    printf("\n");
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 12; ++round) {
        if (rank == 0) {
            receive(size, round);
        } else {
            int value = 100 * rank + round;
            wait_a_little(rank, round);
            MPI_Send(&value, 1, MPI_INT, 0, round, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

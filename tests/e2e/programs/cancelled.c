/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the statuses of cancelled receives say: from a rank, from anyone, persistent ones, asked for by several calls, after others have used
 * the library's memory of requests. */
#include <mpi.h>
#include <stdio.h>

static int rank, size;
static unsigned hash = 2166136261U;

static void eat(const MPI_Status *status)
{
    int cancelled = 0, count = 0;
    MPI_Test_cancelled(status, &cancelled);
    MPI_Get_count(status, MPI_INT, &count);
    const int said[] = {cancelled, status->MPI_SOURCE, status->MPI_TAG, count};
    for (int i = 0; i < 4; ++i)
        hash = (hash ^ (unsigned)said[i]) * 16777619U;
    printf("rank %d: cancelled %d source %d tag %d count %d\n", rank, cancelled, said[1], said[2], count);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int got[4], index = 0, flag = 0, count = 0, indices[2];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    for (int way = 0; way < 7; ++way) {
        MPI_Irecv(got, 1, MPI_INT, previous, 40 + way, MPI_COMM_WORLD, requests);
        MPI_Send(&rank, 1, MPI_INT, next, 40 + way, MPI_COMM_WORLD);
        MPI_Wait(requests, statuses);
        eat(statuses);
        MPI_Irecv(got, 1, MPI_INT, next, 99, MPI_COMM_WORLD, requests);
        MPI_Irecv(got + 1, 1, MPI_INT, MPI_ANY_SOURCE, 98, MPI_COMM_WORLD, requests + 1);
        MPI_Cancel(requests);
        MPI_Cancel(requests + 1);
        if (way == 0) {
            MPI_Waitall(2, requests, statuses);
        } else if (way == 1) {
            MPI_Wait(&requests[0], &statuses[0]);
            MPI_Wait(&requests[1], &statuses[1]);
        } else if (way == 2) {
            for (int i = 0; i < 2; ++i)
                MPI_Waitany(2, requests, &index, &statuses[i]);
        } else if (way == 3) {
            for (int i = 0; i < 2; i += count)
                MPI_Waitsome(2, requests, &count, indices, &statuses[i]);
        } else if (way == 4) {
            for (flag = 0; !flag;)
                MPI_Testall(2, requests, &flag, statuses);
        } else if (way == 5) {
            for (int i = 0; i < 2; ++i)
                for (flag = 0; !flag;)
                    MPI_Test(&requests[i], &flag, &statuses[i]);
        } else {
            for (int i = 0; i < 2; ++i) {
                for (flag = 0; !flag;)
                    MPI_Request_get_status(requests[i], &flag, &statuses[i]);
                eat(&statuses[i]);
                MPI_Wait(&requests[i], &statuses[i]);
            }
        }
        eat(&statuses[0]);
        eat(&statuses[1]);
    }
    MPI_Recv_init(got, 1, MPI_INT, next, 97, MPI_COMM_WORLD, requests);
    MPI_Start(requests);
    MPI_Cancel(requests);
    MPI_Wait(requests, statuses);
    eat(statuses);
    MPI_Request_free(requests);
    printf("rank %d of %d received %016x\n", rank, size, hash);
    MPI_Finalize();
    return 0;
}

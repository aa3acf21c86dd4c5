/* SPDX-License-Identifier: GPL-3.0-or-later
 * Memory of a rank: memory [REQUESTS=20000]; kilobytes resident once the job runs, and bytes that a pending receive from
 * anybody takes.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long resident(void)
{
    char line[256];
    long kilobytes = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, "VmRSS: %ld", &kilobytes) == 1)
            break;
    if (status != NULL)
        fclose(status);
    return kilobytes;
}

/* What stays resident is measured behind a first use of all that follows, so that growth is that of the requests. */
static void messages(int times, int rank, int size)
{
    char in[8], out[8] = "";
    for (int i = 0; i < times; ++i) {
        MPI_Request request;
        MPI_Irecv(in, 8, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
        MPI_Send(out, 8, MPI_BYTE, (rank + 1) % size, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int count = argc > 1 ? atoi(argv[1]) : 20000;
    MPI_Request *requests = calloc((size_t)count, sizeof *requests);
    char *in = calloc((size_t)count, 8), out[8] = "";
    for (int i = 0; i < count; ++i)
        requests[i] = MPI_REQUEST_NULL;
    messages(10000, rank, size);
    MPI_Barrier(MPI_COMM_WORLD);
    const long before = resident();
    for (int i = 0; i < count; ++i)
        MPI_Irecv(in + 8 * i, 8, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[i]);
    const long after = resident();
    for (int i = 0; i < count; ++i)
        MPI_Send(out, 8, MPI_BYTE, rank, 2, MPI_COMM_WORLD);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    if (rank == 0)
        printf("bench=memory kilobytes=%ld each=%.1f\n", before, 1024.0 * (double)(after - before) / count);
    free(requests);
    free(in);
    MPI_Finalize();
    return 0;
}

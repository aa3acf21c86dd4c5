/* SPDX-License-Identifier: GPL-3.0-or-later
 * patient: all is well, and for a while every rank is inside of MPI. WHAT HOW_MUCH:
 *   operation SECONDS   a reduction whose operation takes that long
 *   exchange MIB        ranks 0 and 1 send so much to each other without blocking, and receive it
 *   calls N             each rank sends N small messages around
 *   looks N             rank 0 looks for a message of any rank, again once there is one, then receives it; N of each rank
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size, how_much;

static void slowly(void *in, void *out, int *count, MPI_Datatype *type)
{
    (void)type;
    const struct timespec while_ = {how_much, 0};
    nanosleep(&while_, NULL);
    for (int i = 0; i < *count; ++i)
        ((int *)out)[i] += ((int *)in)[i];
}

static int operation(void)
{
    int own = rank + 1, sum = 0;
    MPI_Op op;
    MPI_Op_create(slowly, 1, &op);
    MPI_Allreduce(&own, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    return sum;
}

static int exchange(void)
{
    const int bytes = how_much << 20;
    char *out = malloc((size_t)bytes), *in = calloc((size_t)bytes, 1);
    memset(out, rank + 1, (size_t)bytes);
    if (rank < 2) {
        MPI_Request request;
        MPI_Isend(out, bytes, MPI_CHAR, 1 - rank, 3, MPI_COMM_WORLD, &request);
        MPI_Recv(in, bytes, MPI_CHAR, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    const int result = in[bytes - 1];
    free(out);
    free(in);
    return result;
}

static int calls(void)
{
    int value = rank;
    for (int i = 0; i < how_much; ++i) {
        MPI_Request request;
        MPI_Isend(&i, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &request);
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return value;
}

static int looks(void)
{
    int forgotten = 0;
    for (int i = 0; rank != 0 && i < how_much; ++i)
        MPI_Send(&i, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < how_much * (size - 1); ++i) {
        int found = 0, again = 0, value;
        MPI_Status status;
        while (!found)
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &status);
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &again, &status);
        forgotten += !again;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    }
    return forgotten;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } all[] = {{"operation", operation}, {"exchange", exchange}, {"calls", calls}, {"looks", looks}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    how_much = argc > 2 ? atoi(argv[2]) : 1;
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        if (argc > 1 && strcmp(argv[1], all[i].name) == 0) {
            const int result = all[i].run();
            printf("rank %d: %d\n", rank, result);
            fflush(stdout);
        }
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 * contents FILE: messages and collectives of each form, one after another. The word in FILE names the form in which rank 1
 * sends something else than otherwise ("plain": none); "size" is another count, "gap" other bytes in the gaps of a type.
 * What right programs send is there, too: addresses, and memory that was never set. As a program whose input is replaced.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char word[32] = "plain";
static int rank, size;

static int is(const char *form)
{
    return rank == 1 && strcmp(word, form) == 0;
}

static int number(const char *form)
{
    return rank * 100 + (is(form) ? 7 : 1);
}

/* A name that demanglers of C++ take for a type. */
static void f(void)
{
    int data[9] = {number("send"), 2, 3, 4, 5, 6, 7, 8, 9};
    if (rank == 1)
        MPI_Send(data, is("size") ? 9 : 5, MPI_INT, 0, 1, MPI_COMM_WORLD);
    else if (rank == 0)
        MPI_Recv(data, 9, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void nonblocking(void)
{
    int data = number("isend"), other[2];
    MPI_Request request;
    if (rank == 1) {
        MPI_Isend(&data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 0) {
        MPI_Recv(other, 2, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void persistent(void)
{
    int data[2] = {number("start"), 3};
    MPI_Request request;
    if (rank == 1)
        MPI_Send_init(data, 2, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
    else if (rank == 0)
        MPI_Recv_init(data, 2, MPI_INT, 1, 3, MPI_COMM_WORLD, &request);
    else
        return;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

static void exchanges(void)
{
    int data = number("sendrecv"), got, both = number("replace");
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Sendrecv(&data, 1, MPI_INT, next, 4, &got, 1, MPI_INT, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(&both, 1, MPI_INT, next, 5, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Two of three integers move, in rows of four. */
static void with_gaps(void)
{
    int data[8] = {number("type"), is("gap") ? 9 : 1, 3, is("gap") ? 9 : 1, 5, 6, 7, 8};
    MPI_Datatype pair, spread;
    MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 4 * sizeof(int), &spread);
    MPI_Type_commit(&spread);
    if (rank == 1)
        MPI_Send(data, 2, spread, 0, 6, MPI_COMM_WORLD);
    else if (rank == 0)
        MPI_Recv(data, 2, spread, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&spread);
    MPI_Type_free(&pair);
}

static void collectives(void)
{
    int data[3] = {number("bcast"), 2, 3}, all[3 * 16], counts[16], places[16];
    for (int i = 0; i < size; ++i) {
        counts[i] = 1 + i % 2;
        places[i] = 2 * i;
    }
    MPI_Bcast(data, 3, MPI_INT, 1, MPI_COMM_WORLD);
    data[0] = number("reduce");
    if (is("operation"))
        MPI_Reduce(data, all, 3, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    else
        MPI_Reduce(data, all, 3, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    memset(all, 0, sizeof all);
    all[rank] = number("allgather");
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
    data[0] = number("gather");
    MPI_Gather(data, 2, MPI_INT, all, 2, MPI_INT, 0, MPI_COMM_WORLD);
    memset(all, 0, sizeof all);
    all[0] = number("scatterv");
    int mine[2];
    MPI_Scatterv(all, counts, places, MPI_INT, mine, counts[rank], MPI_INT, 1, MPI_COMM_WORLD);
    int each[16] = {number("alltoall")}, got[16];
    MPI_Request request;
    MPI_Ialltoall(each, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* 10 bytes of each 16 are the number; in the others is what differs from run to run. */
static void padded(void)
{
    long double data[3], got[3];
    memset(data, (int)((uintptr_t)data >> 12 & 0xFF), sizeof data);
    for (int i = 0; i < 3; ++i)
        data[i] = number("padded") + i;
    if (rank == 1)
        MPI_Send(data, 3, MPI_LONG_DOUBLE, 0, 8, MPI_COMM_WORLD);
    else if (rank == 0)
        MPI_Recv(got, 3, MPI_LONG_DOUBLE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The same within a type of the program. */
static void padded_parts(void)
{
    struct { double time; long double number; } data[8], got[8];
    const int ones[2] = {1, 1};
    const MPI_Aint places[2] = {0, 16};
    const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_LONG_DOUBLE};
    MPI_Datatype type;
    MPI_Type_create_struct(2, ones, places, types, &type);
    MPI_Type_commit(&type);
    memset(data, (int)((uintptr_t)data >> 12 & 0xFF), sizeof data);
    for (int i = 0; i < 8; ++i) {
        data[i].time = i;
        data[i].number = number("parts") + i;
    }
    for (int again = 0; again < 2; ++again)
        if (rank == 1)
            MPI_Send(data, 8, type, 0, 9, MPI_COMM_WORLD);
        else if (rank == 0)
            MPI_Recv(got, 8, type, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
}

/* As a word, what the C library leaves in memory that was freed may look like this. */
static void negative(void)
{
    int data[2] = {is("negative") ? -2 : -1, 7}, got[2];
    long large = is("large") ? 34300000002L : 34300000001L, other;
    if (rank == 1) {
        MPI_Send(data, 2, MPI_INT, 0, 10, MPI_COMM_WORLD);
        MPI_Send(&large, 1, MPI_LONG, 0, 10, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Recv(got, 2, MPI_INT, 1, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&other, 1, MPI_LONG, 1, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Other ones in each run. */
static void addresses(void)
{
    struct { void *heap, *stack, *code; long number; } data = {malloc(3000), &data, (void *)addresses, 5};
    char *fresh = malloc(40000), *room = malloc(40000);
    free(data.heap);
    if (rank == 1) {
        MPI_Send(&data, sizeof data, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
        MPI_Send(fresh, 40000, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Recv(room, 40000, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(room, 40000, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(fresh);
    free(room);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!file || fscanf(file, "%31s", word) != 1)
        strcpy(word, "plain");
    if (file)
        fclose(file);
    f();
    nonblocking();
    persistent();
    exchanges();
    with_gaps();
    addresses();
    padded();
    padded_parts();
    negative();
    collectives();
    if (rank == 0)
        printf("done\n");
    MPI_Finalize();
    return 0;
}

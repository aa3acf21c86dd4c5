/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every way to send: blocking, non-blocking and persistent, in the four modes. */
#include "families.h"

#include <stdlib.h>

enum { MODES = 4, TAG = 10 };

typedef int (*Send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*Isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static const Send blocking[MODES] = {MPI_Send, MPI_Bsend, MPI_Ssend, MPI_Rsend};
static const Isend nonblocking[MODES] = {MPI_Isend, MPI_Ibsend, MPI_Issend, MPI_Irsend};
static const Isend persistent[MODES] = {MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init};

/* Nothing, one element, an eager message, a rendezvous message. */
static const int sizes[] = {0, 1, COUNT, LARGE};

static void *attach(void)
{
    const int bytes = 8 * (LARGE * (int)sizeof(int) + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)bytes);
    MPI_Buffer_attach(buffer, bytes);
    return buffer;
}

static void detach(void *attached)
{
    void *buffer;
    int bytes;
    MPI_Buffer_detach(&buffer, &bytes);
    CHECK(buffer == attached);
    CHECK(bytes == 8 * (LARGE * (int)sizeof(int) + MPI_BSEND_OVERHEAD));
    free(buffer);
}

static void send_one(int kind, int mode, const int *data, int count, int to)
{
    MPI_Request request;
    if (kind == 0) {
        blocking[mode](data, count, MPI_INT, to, TAG, MPI_COMM_WORLD);
        return;
    }
    if (kind == 1) {
        nonblocking[mode](data, count, MPI_INT, to, TAG, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(request == MPI_REQUEST_NULL);
        return;
    }
    persistent[mode](data, count, MPI_INT, to, TAG, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request != MPI_REQUEST_NULL);
    MPI_Request_free(&request);
}

/* To the neighbour, whose receive is posted: a ready send may count on it. */
static void around(int kind, int mode)
{
    int *in = malloc(LARGE * sizeof *in), *out = malloc(LARGE * sizeof *out);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
        MPI_Request request;
        MPI_Status status;
        int count;
        memset(in, 0, LARGE * sizeof *in);
        make(out, sizes[s], my_rank * 100 + (int)s);
        MPI_Irecv(in, LARGE, MPI_INT, left_of(1), TAG, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        send_one(kind, mode, out, sizes[s], right_of(1));
        MPI_Wait(&request, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == sizes[s]);
        CHECK(status.MPI_SOURCE == left_of(1));
        take_made(in, sizes[s], left_of(1) * 100 + (int)s);
    }
    free(in);
    free(out);
}

/* All to rank 0, which takes them from anybody. */
static void together(int kind, int mode)
{
    int in[MAX_RANKS][COUNT], out[COUNT], from[MAX_RANKS] = {0};
    MPI_Request requests[MAX_RANKS];
    MPI_Status statuses[MAX_RANKS];
    if (my_rank == 0)
        for (int i = 1; i < ranks; ++i)
            MPI_Irecv(in[i], COUNT, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (my_rank != 0) {
        make(out, COUNT, my_rank);
        send_one(kind, mode, out, COUNT, 0);
        return;
    }
    MPI_Waitall(ranks - 1, requests + 1, statuses + 1);
    for (int i = 1; i < ranks; ++i) {
        chose(statuses[i].MPI_SOURCE);
        from[statuses[i].MPI_SOURCE] = i;
    }
    for (int source = 1; source < ranks; ++source) {
        CHECK(from[source] != 0);
        take_made(in[from[source]], COUNT, source);
    }
}

static void send_family(int how)
{
    const int kind = how / MODES, mode = how % MODES;
    void *buffer = mode == 1 ? attach() : NULL;
    around(kind, mode);
    together(kind, mode);
    if (buffer)
        detach(buffer);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One persistent request to every other rank, started together, three times with other data. */
static void startall(int unused)
{
    int out[MAX_RANKS][COUNT], in[COUNT], requests = 0;
    MPI_Request request[MAX_RANKS];
    (void)unused;
    for (int shift = 1; shift < ranks; ++shift)
        MPI_Send_init(out[shift], COUNT, MPI_INT, right_of(shift), TAG, MPI_COMM_WORLD, &request[requests++]);
    for (int round = 0; round < 3; ++round) {
        for (int shift = 1; shift < ranks; ++shift)
            make(out[shift], COUNT, my_rank * 1000 + right_of(shift) * 10 + round);
        MPI_Startall(requests, request);
        for (int shift = 1; shift < ranks; ++shift) {
            MPI_Recv(in, COUNT, MPI_INT, left_of(shift), TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            take_made(in, COUNT, left_of(shift) * 1000 + my_rank * 10 + round);
        }
        MPI_Waitall(requests, request, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < requests; ++i)
        MPI_Request_free(&request[i]);
}

const struct family send_families[] = {
    {"send", send_family, 0},       {"bsend", send_family, 1},       {"ssend", send_family, 2},
    {"rsend", send_family, 3},      {"isend", send_family, 4},       {"ibsend", send_family, 5},
    {"issend", send_family, 6},     {"irsend", send_family, 7},      {"send_init", send_family, 8},
    {"bsend_init", send_family, 9}, {"ssend_init", send_family, 10}, {"rsend_init", send_family, 11},
    {"startall", startall, 0},      {NULL, NULL, 0}};

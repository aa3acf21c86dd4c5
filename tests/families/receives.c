/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every way to receive and to probe, each with the source and the tag named and not named. */
#include "families.h"

#include <stdlib.h>

enum { TAG = 20 };

/* Fills the status; the message has come into the buffer when it returns. */
typedef void (*Receive)(int *buffer, int source, int tag, MPI_Status *status);

static void by_recv(int *buffer, int source, int tag, MPI_Status *status)
{
    MPI_Recv(buffer, COUNT, MPI_INT, source, tag, MPI_COMM_WORLD, status);
}

static void by_irecv(int *buffer, int source, int tag, MPI_Status *status)
{
    MPI_Request request;
    MPI_Irecv(buffer, COUNT, MPI_INT, source, tag, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, status);
}

static void by_recv_init(int *buffer, int source, int tag, MPI_Status *status)
{
    MPI_Request request;
    MPI_Recv_init(buffer, COUNT, MPI_INT, source, tag, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, status);
    MPI_Request_free(&request);
}

static void by_mrecv(int *buffer, int source, int tag, MPI_Status *status)
{
    MPI_Message message;
    MPI_Status probed;
    int count;
    MPI_Mprobe(source, tag, MPI_COMM_WORLD, &message, &probed);
    MPI_Get_count(&probed, MPI_INT, &count);
    CHECK(count == COUNT);
    MPI_Mrecv(buffer, count, MPI_INT, &message, status);
    CHECK(message == MPI_MESSAGE_NULL);
    CHECK(status->MPI_SOURCE == probed.MPI_SOURCE && status->MPI_TAG == probed.MPI_TAG);
}

static void by_imrecv(int *buffer, int source, int tag, MPI_Status *status)
{
    MPI_Message message;
    MPI_Request request;
    MPI_Status probed;
    int flag = 0, misses = 0;
    for (;; ++misses) {
        MPI_Improbe(source, tag, MPI_COMM_WORLD, &flag, &message, &probed);
        if (flag)
            break;
    }
    chose(misses);
    MPI_Imrecv(buffer, COUNT, MPI_INT, &message, &request);
    MPI_Wait(&request, status);
    CHECK(status->MPI_SOURCE == probed.MPI_SOURCE && status->MPI_TAG == probed.MPI_TAG);
}

static void by_probe(int *buffer, int source, int tag, MPI_Status *status)
{
    MPI_Status probed;
    int count;
    MPI_Probe(source, tag, MPI_COMM_WORLD, &probed);
    MPI_Get_count(&probed, MPI_INT, &count);
    CHECK(count == COUNT);
    MPI_Recv(buffer, count, MPI_INT, probed.MPI_SOURCE, probed.MPI_TAG, MPI_COMM_WORLD, status);
}

static void by_iprobe(int *buffer, int source, int tag, MPI_Status *status)
{
    MPI_Status probed;
    int flag = 0, misses = -1;
    while (!flag) {
        MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, &probed);
        ++misses;
    }
    chose(misses);
    MPI_Recv(buffer, COUNT, MPI_INT, probed.MPI_SOURCE, probed.MPI_TAG, MPI_COMM_WORLD, status);
}

/* What came from whom, to be hashed by source. */
struct box {
    int data[MAX_RANKS][COUNT], times[MAX_RANKS];
};

static void put(struct box *box, const int *data, const MPI_Status *status)
{
    int count;
    MPI_Get_count(status, MPI_INT, &count);
    CHECK(count == COUNT);
    CHECK(status->MPI_SOURCE >= 0 && status->MPI_SOURCE < ranks);
    chose(status->MPI_SOURCE);
    memcpy(box->data[status->MPI_SOURCE], data, COUNT * sizeof *data);
    ++box->times[status->MPI_SOURCE];
}

static void take_box(const struct box *box, int seed)
{
    for (int source = 0; source < ranks; ++source)
        if (source != my_rank) {
            CHECK(box->times[source] == 1);
            take_made(box->data[source], COUNT, seed + source * MAX_RANKS + my_rank);
        }
}

static int send_all(int seed, int tag, int out[][COUNT], MPI_Request *requests)
{
    for (int shift = 1; shift < ranks; ++shift) {
        const int to = right_of(shift);
        make(out[shift], COUNT, seed + my_rank * MAX_RANKS + to);
        MPI_Isend(out[shift], COUNT, MPI_INT, to, tag, MPI_COMM_WORLD, &requests[shift - 1]);
    }
    return ranks - 1;
}

/* Bit 0 of the way: any source; bit 1: any tag, each sender with its own. */
static int source_of(int way, int shift) { return way & 1 ? MPI_ANY_SOURCE : left_of(shift); }
static int tag_sent(int way) { return way & 2 ? TAG + my_rank : TAG; }
static int tag_asked(int way) { return way & 2 ? MPI_ANY_TAG : TAG; }

static void take_by(Receive receive)
{
    for (int way = 0; way < 4; ++way) {
        int out[MAX_RANKS][COUNT], in[COUNT];
        MPI_Request requests[MAX_RANKS];
        struct box box = {0};
        const int sends = send_all(way * 1000, tag_sent(way), out, requests);
        for (int shift = 1; shift < ranks; ++shift) {
            MPI_Status status;
            receive(in, source_of(way, shift), tag_asked(way), &status);
            CHECK(status.MPI_TAG == (way & 2 ? TAG + status.MPI_SOURCE : TAG));
            put(&box, in, &status);
        }
        MPI_Waitall(sends, requests, MPI_STATUSES_IGNORE);
        take_box(&box, way * 1000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void receive_family(int how)
{
    static const Receive receives[] = {by_recv,  by_irecv, by_recv_init, by_mrecv,
                                       by_imrecv, by_probe, by_iprobe};
    take_by(receives[how]);
}

/* Both forms of the call that sends and receives. */
static void sendrecv_family(int replace)
{
    for (int way = 0; way < 4; ++way) {
        struct box box = {0};
        for (int shift = 1; shift < ranks; ++shift) {
            const int to = right_of(shift);
            int out[COUNT], in[COUNT];
            MPI_Status status;
            make(out, COUNT, way * 1000 + my_rank * MAX_RANKS + to);
            if (replace)
                MPI_Sendrecv_replace(out, COUNT, MPI_INT, to, tag_sent(way), source_of(way, shift), tag_asked(way),
                                     MPI_COMM_WORLD, &status);
            else
                MPI_Sendrecv(out, COUNT, MPI_INT, to, tag_sent(way), in, COUNT, MPI_INT, source_of(way, shift),
                             tag_asked(way), MPI_COMM_WORLD, &status);
            put(&box, replace ? out : in, &status);
        }
        take_box(&box, way * 1000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* All receives posted before anything is sent, as persistent requests or not; completed in another order. */
static void posted_before(int persistent)
{
    for (int way = 0; way < 4; ++way) {
        int out[MAX_RANKS][COUNT], in[MAX_RANKS][COUNT];
        MPI_Request receives[MAX_RANKS], sends[MAX_RANKS];
        struct box box = {0};
        for (int i = 0; i < ranks - 1; ++i)
            (persistent ? MPI_Recv_init : MPI_Irecv)(in[i], COUNT, MPI_INT, source_of(way, i + 1), tag_asked(way),
                                                     MPI_COMM_WORLD, &receives[i]);
        if (persistent)
            MPI_Startall(ranks - 1, receives);
        MPI_Barrier(MPI_COMM_WORLD);
        const int started = send_all(way * 1000, tag_sent(way), out, sends);
        for (int i = ranks - 2; i >= 0; --i) {
            MPI_Status status;
            MPI_Wait(&receives[i], &status);
            put(&box, in[i], &status);
            if (persistent)
                MPI_Request_free(&receives[i]);
        }
        MPI_Waitall(started, sends, MPI_STATUSES_IGNORE);
        take_box(&box, way * 1000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The same persistent wildcard request, started again for every message. */
static void restarted(int unused)
{
    int out[MAX_RANKS][COUNT], in[COUNT];
    MPI_Request receive, sends[MAX_RANKS];
    struct box box = {0};
    (void)unused;
    MPI_Recv_init(in, COUNT, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &receive);
    const int started = send_all(7, TAG, out, sends);
    for (int i = 0; i < ranks - 1; ++i) {
        MPI_Status status;
        MPI_Start(&receive);
        MPI_Wait(&receive, &status);
        put(&box, in, &status);
    }
    MPI_Request_free(&receive);
    MPI_Waitall(started, sends, MPI_STATUSES_IGNORE);
    take_box(&box, 7);
}

/* Rendezvous messages from anybody, into a buffer that is sized by a probe. */
static void large_from_anybody(int unused)
{
    int *out = malloc(LARGE * sizeof *out), *in[MAX_RANKS] = {NULL};
    (void)unused;
    make(out, LARGE, my_rank);
    if (my_rank != 0)
        MPI_Send(out, LARGE - my_rank, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    for (int i = 1; my_rank == 0 && i < ranks; ++i) {
        MPI_Status status;
        int count;
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == LARGE - status.MPI_SOURCE);
        chose(status.MPI_SOURCE);
        in[status.MPI_SOURCE] = malloc((size_t)count * sizeof(int));
        MPI_Recv(in[status.MPI_SOURCE], count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
    for (int source = 1; my_rank == 0 && source < ranks; ++source) {
        CHECK(in[source] != NULL);
        if (in[source])
            take_made(in[source], LARGE - source, source);
        free(in[source]);
    }
    free(out);
}

const struct family receive_families[] = {
    {"recv", receive_family, 0},       {"irecv", receive_family, 1},      {"recv_init", receive_family, 2},
    {"mrecv", receive_family, 3},      {"imrecv", receive_family, 4},     {"probe", receive_family, 5},
    {"iprobe", receive_family, 6},     {"sendrecv", sendrecv_family, 0},  {"sendrecv_replace", sendrecv_family, 1},
    {"irecv_before", posted_before, 0}, {"recv_startall", posted_before, 1}, {"recv_restart", restarted, 0},
    {"large_any", large_from_anybody, 0}, {NULL, NULL, 0}};

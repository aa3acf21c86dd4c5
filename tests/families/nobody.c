/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MPI_PROC_NULL wherever a rank is asked for. */
#include "families.h"

enum { TAG = 50 };

static void check_nobody(const MPI_Status *status)
{
    int count = 1;
    CHECK(status->MPI_SOURCE == MPI_PROC_NULL);
    CHECK(status->MPI_TAG == MPI_ANY_TAG);
    MPI_Get_count(status, MPI_INT, &count);
    CHECK(count == 0);
    take_int(count);
}

static void sends(int unused)
{
    typedef int (*Isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    static const Isend later[] = {MPI_Isend, MPI_Ibsend, MPI_Issend, MPI_Irsend};
    static const Isend persistent[] = {MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init};
    int out = 1;
    MPI_Request requests[4];
    (void)unused;
    MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD);
    MPI_Bsend(&out, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD);
    MPI_Ssend(&out, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD);
    MPI_Rsend(&out, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD);
    for (int i = 0; i < 4; ++i)
        later[i](&out, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; ++i)
        persistent[i](&out, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &requests[i]);
    for (int round = 0; round < 2; ++round) {
        MPI_Startall(4, requests);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 4; ++i)
        MPI_Request_free(&requests[i]);
    take_int(out);
}

static void receives(int unused)
{
    int in = 9, done = 0;
    MPI_Request request;
    MPI_Status status;
    (void)unused;
    MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &status);
    check_nobody(&status);
    MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(&in, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    check_nobody(&status);
    MPI_Irecv(&in, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &done, &status);
    CHECK(done);
    check_nobody(&status);
    MPI_Recv_init(&in, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &request);
    for (int round = 0; round < 2; ++round) {
        MPI_Start(&request);
        MPI_Wait(&request, &status);
        check_nobody(&status);
    }
    MPI_Request_free(&request);
    MPI_Sendrecv(&my_rank, 1, MPI_INT, MPI_PROC_NULL, TAG, &in, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD,
                 &status);
    check_nobody(&status);
    MPI_Sendrecv_replace(&in, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &status);
    check_nobody(&status);
    CHECK(in == 9);
}

static void probes(int unused)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request request;
    MPI_Status status;
    int in = 9, flag = 0;
    (void)unused;
    MPI_Probe(MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &status);
    check_nobody(&status);
    MPI_Iprobe(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    CHECK(flag);
    check_nobody(&status);
    MPI_Mprobe(MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &message, &status);
    CHECK(message == MPI_MESSAGE_NO_PROC);
    check_nobody(&status);
    MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL);
    check_nobody(&status);
    flag = 0;
    MPI_Improbe(MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &flag, &message, &status);
    CHECK(flag && message == MPI_MESSAGE_NO_PROC);
    MPI_Imrecv(&in, 1, MPI_INT, &message, &request);
    MPI_Wait(&request, &status);
    check_nobody(&status);
    CHECK(in == 9);
}

/* A chain that is open at its ends, as programs really use it. */
static void chain(int unused)
{
    const int left = my_rank == 0 ? MPI_PROC_NULL : my_rank - 1;
    const int right = my_rank == ranks - 1 ? MPI_PROC_NULL : my_rank + 1;
    int in[2] = {-1, -1}, from_left = -1;
    MPI_Request requests[4];
    MPI_Status status;
    (void)unused;
    MPI_Irecv(&in[0], 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, right, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&my_rank, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&my_rank, 1, MPI_INT, right, TAG, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    CHECK(in[0] == my_rank - 1);
    CHECK(in[1] == (my_rank == ranks - 1 ? -1 : my_rank + 1));
    take(in, sizeof in);
    MPI_Sendrecv(&my_rank, 1, MPI_INT, right, TAG, &from_left, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &status);
    CHECK(from_left == my_rank - 1);
    CHECK(status.MPI_SOURCE == left);
    /* Sends to nobody, and takes from anybody the message that it sends to itself first. */
    MPI_Isend(&my_rank, 1, MPI_INT, my_rank, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Sendrecv(&my_rank, 1, MPI_INT, MPI_PROC_NULL, TAG, &from_left, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
                 &status);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK(from_left == my_rank && status.MPI_SOURCE == my_rank);
    take_int(from_left);
}

const struct family nobody_families[] = {{"proc_null_sends", sends, 0},
                                         {"proc_null_receives", receives, 0},
                                         {"proc_null_probes", probes, 0},
                                         {"proc_null_chain", chain, 0},
                                         {NULL, NULL, 0}};

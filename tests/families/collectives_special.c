/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collectives in odd company: several at a time, without data, between wildcard receives, on one rank. */
#include "families.h"

enum { TAG = 60, AT_ONCE = 4 };

/* Four outstanding on one communicator, taken in the order in which they complete. */
static void at_once(int some)
{
    int sum_in = my_rank + 1, sum = 0, root_data = my_rank == 0 ? 77 : 0, all[MAX_RANKS] = {0};
    int before = 0, left = AT_ONCE;
    MPI_Request requests[AT_ONCE];
    MPI_Iallreduce(&sum_in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(&root_data, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Iallgather(&my_rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &requests[2]);
    MPI_Iscan(&sum_in, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[3]);
    while (left > 0) {
        int indices[AT_ONCE], done = 1;
        if (some)
            MPI_Waitsome(AT_ONCE, requests, &done, indices, MPI_STATUSES_IGNORE);
        else
            MPI_Waitany(AT_ONCE, requests, indices, MPI_STATUS_IGNORE);
        for (int i = 0; i < done; ++i)
            chose(indices[i]);
        left -= done;
    }
    CHECK(sum == ranks * (ranks + 1) / 2 && root_data == 77);
    CHECK(all[ranks - 1] == ranks - 1 && before == (my_rank + 1) * (my_rank + 2) / 2);
    take_int(sum);
    take_int(root_data);
    take(all, sizeof all);
    take_int(before);
}

static void no_data(int unused)
{
    int in = 3, out = 4, counts[MAX_RANKS] = {0}, places[MAX_RANKS] = {0};
    MPI_Request request;
    (void)unused;
    MPI_Bcast(&in, 0, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Gather(&out, 0, MPI_INT, &in, 0, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatter(&out, 0, MPI_INT, &in, 0, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgather(&out, 0, MPI_INT, &in, 0, MPI_INT, MPI_COMM_WORLD);
    MPI_Allreduce(&out, &in, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(&out, &in, 0, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Alltoallv(&out, counts, places, MPI_INT, &in, counts, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Ibcast(&in, 0, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in == 3 && out == 4);
    take_int(in);
}

static void on_one_rank(int unused)
{
    int in = 0, out = my_rank + 5;
    MPI_Request request;
    MPI_Status status;
    (void)unused;
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    CHECK(in == out);
    MPI_Iallgather(&my_rank, 1, MPI_INT, &in, 1, MPI_INT, MPI_COMM_SELF, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in == my_rank);
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &request);
    MPI_Send(&out, 1, MPI_INT, 0, TAG, MPI_COMM_SELF);
    MPI_Wait(&request, &status);
    CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == TAG && in == out);
    take_int(in);
}

/* Non-blocking consensus: a barrier in progress while messages from anybody are still taken. */
static void consensus(int unused)
{
    long long sum = 0, expected = 0;
    int out = my_rank + 1, done = 0, entered = 0, polls = 0, received = 0;
    MPI_Request send, barrier = MPI_REQUEST_NULL;
    (void)unused;
    MPI_Issend(&out, 1, MPI_INT, right_of(1), TAG, MPI_COMM_WORLD, &send);
    while (!done) {
        int here = 0, in, sent = 0;
        MPI_Status status;
        ++polls;
        MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &here, &status);
        if (here) {
            MPI_Recv(&in, 1, MPI_INT, status.MPI_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum += in;
            ++received;
        }
        if (entered) {
            MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
            continue;
        }
        MPI_Test(&send, &sent, MPI_STATUS_IGNORE);
        if (sent) {
            MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
            entered = 1;
        }
    }
    chose(polls);
    expected = left_of(1) + 1;
    CHECK(received == 1 && sum == expected);
    take_int(sum);
}

/* Wildcard receives with a collective between them, and one posted across it. */
static void between_receives(int unused)
{
    int in[2] = {0}, sum = 0, across = 0;
    MPI_Request request;
    MPI_Status status;
    (void)unused;
    MPI_Irecv(&across, 1, MPI_INT, MPI_ANY_SOURCE, TAG + 1, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 2; ++i) {
        MPI_Send(&my_rank, 1, MPI_INT, right_of(1), TAG, MPI_COMM_WORLD);
        MPI_Allreduce(&my_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Recv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        CHECK(in[i] == left_of(1) && status.MPI_SOURCE == left_of(1));
    }
    MPI_Bcast(&sum, 1, MPI_INT, ranks - 1, MPI_COMM_WORLD);
    MPI_Send(&sum, 1, MPI_INT, left_of(1), TAG + 1, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    CHECK(across == ranks * (ranks - 1) / 2 && status.MPI_SOURCE == right_of(1));
    take(in, sizeof in);
    take_int(across);
}

const struct family collective_special_families[] = {
    {"icollectives_waitany", at_once, 0}, {"icollectives_waitsome", at_once, 1},
    {"collectives_no_data", no_data, 0},  {"collectives_self", on_one_rank, 0},
    {"consensus", consensus, 0},          {"collectives_between", between_receives, 0},
    {NULL, NULL, 0}};

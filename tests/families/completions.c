/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The completion calls on one request and on all of an array: Wait, Test, Waitall, Testall, cancel, free. */
#include "families.h"

enum { TAG = 30 };

/* Every rank has one receive for each other rank (any source or not), and the sends to match. */
struct exchange {
    int in[MAX_RANKS][COUNT], out[MAX_RANKS][COUNT], receives;
    MPI_Request receive[MAX_RANKS], send[MAX_RANKS];
    MPI_Status status[MAX_RANKS];
};

static void post(struct exchange *exchange, int any)
{
    memset(exchange->in, 0, sizeof exchange->in);
    exchange->receives = ranks - 1;
    for (int i = 0; i < exchange->receives; ++i)
        MPI_Irecv(exchange->in[i], COUNT, MPI_INT, any ? MPI_ANY_SOURCE : left_of(i + 1), TAG, MPI_COMM_WORLD,
                  &exchange->receive[i]);
    for (int i = 0; i < exchange->receives; ++i) {
        make(exchange->out[i], COUNT, my_rank * MAX_RANKS + right_of(i + 1));
        MPI_Isend(exchange->out[i], COUNT, MPI_INT, right_of(i + 1), TAG, MPI_COMM_WORLD, &exchange->send[i]);
    }
}

static void take_exchange(struct exchange *exchange)
{
    int from[MAX_RANKS], count;
    for (int source = 0; source < ranks; ++source)
        from[source] = -1;
    for (int i = 0; i < exchange->receives; ++i) {
        CHECK(exchange->receive[i] == MPI_REQUEST_NULL);
        MPI_Get_count(&exchange->status[i], MPI_INT, &count);
        CHECK(count == COUNT && exchange->status[i].MPI_TAG == TAG);
        chose(exchange->status[i].MPI_SOURCE);
        from[exchange->status[i].MPI_SOURCE] = i;
    }
    for (int source = 0; source < ranks; ++source)
        if (source != my_rank) {
            CHECK(from[source] >= 0);
            take_made(exchange->in[from[source] < 0 ? 0 : from[source]], COUNT, source * MAX_RANKS + my_rank);
        }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* As in the text books, and backwards. */
static void by_wait(struct exchange *exchange)
{
    for (int i = exchange->receives - 1; i >= 0; --i)
        MPI_Wait(&exchange->receive[i], &exchange->status[i]);
    for (int i = 0; i < exchange->receives; ++i)
        MPI_Wait(&exchange->send[i], MPI_STATUS_IGNORE);
}

/* Receives and sends in one array. */
static void by_waitall(struct exchange *exchange)
{
    MPI_Request all[2 * MAX_RANKS];
    MPI_Status statuses[2 * MAX_RANKS];
    const int n = exchange->receives;
    memcpy(all, exchange->send, (size_t)n * sizeof *all);
    memcpy(all + n, exchange->receive, (size_t)n * sizeof *all);
    MPI_Waitall(2 * n, all, statuses);
    memcpy(exchange->receive, all + n, (size_t)n * sizeof *all);
    memcpy(exchange->status, statuses + n, (size_t)n * sizeof *statuses);
}

static void by_test(struct exchange *exchange)
{
    for (int i = 0; i < exchange->receives; ++i) {
        int done = 0, misses = -1;
        while (!done) {
            MPI_Test(&exchange->receive[i], &done, &exchange->status[i]);
            ++misses;
        }
        chose(misses);
    }
    for (int i = 0; i < exchange->receives; ++i)
        for (int done = 0; !done;)
            MPI_Test(&exchange->send[i], &done, MPI_STATUS_IGNORE);
}

static void by_testall(struct exchange *exchange)
{
    int done = 0, misses = -1;
    while (!done) {
        MPI_Testall(exchange->receives, exchange->receive, &done, exchange->status);
        ++misses;
    }
    chose(misses);
    for (done = 0; !done;)
        MPI_Testall(exchange->receives, exchange->send, &done, MPI_STATUSES_IGNORE);
}

/* Looks until it is complete, then takes it with Wait. */
static void by_get_status(struct exchange *exchange)
{
    for (int i = 0; i < exchange->receives; ++i) {
        MPI_Status seen;
        int done = 0, misses = -1;
        while (!done) {
            MPI_Request_get_status(exchange->receive[i], &done, &seen);
            ++misses;
        }
        chose(misses);
        CHECK(exchange->receive[i] != MPI_REQUEST_NULL);
        MPI_Wait(&exchange->receive[i], &exchange->status[i]);
        CHECK(seen.MPI_SOURCE == exchange->status[i].MPI_SOURCE);
    }
    MPI_Waitall(exchange->receives, exchange->send, MPI_STATUSES_IGNORE);
}

static void completion_family(int how)
{
    static void (*const complete[])(struct exchange *) = {by_wait, by_waitall, by_test, by_testall, by_get_status};
    for (int any = 0; any < 2; ++any) {
        struct exchange exchange;
        post(&exchange, any);
        complete[how](&exchange);
        take_exchange(&exchange);
    }
}

/* A receive that nothing matches must come out cancelled. */
static void cancel(int any)
{
    MPI_Request request;
    MPI_Status status;
    int data = 5, cancelled = 0, done = 0;
    MPI_Irecv(&data, 1, MPI_INT, any ? MPI_ANY_SOURCE : right_of(1), TAG + 1, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &done, &status);
    CHECK(!done);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled && request == MPI_REQUEST_NULL);
    take_int(data);
}

/* Cancelled and freed: nobody asks what became of it, but the next receive of that kind must get the message. */
static void cancel_free(int any)
{
    int gone = 5, in = -1;
    MPI_Request request, send;
    MPI_Irecv(&gone, 1, MPI_INT, any ? MPI_ANY_SOURCE : left_of(1), TAG + 2, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(&my_rank, 1, MPI_INT, right_of(1), TAG + 2, MPI_COMM_WORLD, &send);
    MPI_Recv(&in, 1, MPI_INT, left_of(1), TAG + 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    CHECK(gone == 5 && in == left_of(1));
    take_int(in);
}

/* The message may have come, or not: then it is received a second time. The same data either way. */
static void cancel_race(int unused)
{
    (void)unused;
    for (int round = 0; round < 4; ++round) {
        int in = 0, cancelled = 0;
        const int out = element(my_rank, round);
        MPI_Request request, send;
        MPI_Status status;
        MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
        MPI_Isend(&out, 1, MPI_INT, right_of(1), TAG, MPI_COMM_WORLD, &send);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &cancelled);
        chose(cancelled);
        if (cancelled)
            MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        CHECK(status.MPI_SOURCE == left_of(1));
        CHECK(in == element(left_of(1), round));
        take_int(in);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Freed while active: the receive is complete when a later message of the same sender is there. */
static void request_free(int any)
{
    int first[COUNT] = {0}, out[COUNT], second;
    MPI_Request request;
    MPI_Irecv(first, COUNT, MPI_INT, any ? MPI_ANY_SOURCE : left_of(1), TAG, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
    make(out, COUNT, my_rank);
    MPI_Isend(out, COUNT, MPI_INT, right_of(1), TAG, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Send(&my_rank, 1, MPI_INT, right_of(1), TAG + 1, MPI_COMM_WORLD);
    MPI_Recv(&second, 1, MPI_INT, any ? MPI_ANY_SOURCE : left_of(1), TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(second == left_of(1));
    take_made(first, COUNT, left_of(1));
    MPI_Barrier(MPI_COMM_WORLD);
}

const struct family completion_families[] = {
    {"wait", completion_family, 0},    {"waitall", completion_family, 1},
    {"test", completion_family, 2},    {"testall", completion_family, 3},
    {"request_get_status", completion_family, 4}, {"cancel", cancel, 0},
    {"cancel_any", cancel, 1},         {"cancel_race", cancel_race, 0},
    {"cancel_free", cancel_free, 0},   {"cancel_free_any", cancel_free, 1},
    {"request_free", request_free, 0}, {"request_free_any", request_free, 1},
    {NULL, NULL, 0}};

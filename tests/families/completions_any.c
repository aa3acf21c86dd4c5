/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The completion calls that choose: Waitany, Waitsome, Testany, Testsome; null and inactive requests; generalized. */
#include "families.h"

enum { TAG = 40, EACH = 3, REQUESTS = MAX_RANKS * EACH };

/* Several messages from each other rank, so that there is much to choose from. */
struct pool {
    int in[REQUESTS], out[REQUESTS], count, left;
    MPI_Request receive[REQUESTS], send[REQUESTS];
    long long sum;
};

static void post(struct pool *pool, int any)
{
    pool->count = pool->left = 0;
    pool->sum = 0;
    for (int shift = 1; shift < ranks; ++shift)
        for (int i = 0; i < EACH; ++i, ++pool->count)
            MPI_Irecv(&pool->in[pool->count], 1, MPI_INT, any ? MPI_ANY_SOURCE : left_of(shift), TAG, MPI_COMM_WORLD,
                      &pool->receive[pool->count]);
    for (int i = 0; i < pool->count; ++i) {
        const int to = right_of(i % (ranks - 1) + 1);
        pool->out[i] = element(my_rank * MAX_RANKS + to, i / (ranks - 1));
        MPI_Isend(&pool->out[i], 1, MPI_INT, to, TAG, MPI_COMM_WORLD, &pool->send[i]);
    }
    pool->left = pool->count;
}

static void completed(struct pool *pool, int index, const MPI_Status *status)
{
    int count;
    CHECK(index >= 0 && index < pool->count);
    CHECK(pool->receive[index] == MPI_REQUEST_NULL);
    MPI_Get_count(status, MPI_INT, &count);
    CHECK(count == 1);
    chose(index);
    chose(status->MPI_SOURCE);
    pool->sum += pool->in[index] % 1000003;
    --pool->left;
}

static void by_waitany(struct pool *pool)
{
    while (pool->left > 0) {
        MPI_Status status;
        int index;
        MPI_Waitany(pool->count, pool->receive, &index, &status);
        completed(pool, index, &status);
    }
}

static void by_testany(struct pool *pool)
{
    int misses = 0;
    while (pool->left > 0) {
        MPI_Status status;
        int index, done;
        MPI_Testany(pool->count, pool->receive, &index, &done, &status);
        if (done)
            completed(pool, index, &status);
        else
            ++misses;
    }
    chose(misses);
}

static void by_waitsome(struct pool *pool)
{
    while (pool->left > 0) {
        MPI_Status statuses[REQUESTS];
        int indices[REQUESTS], done;
        MPI_Waitsome(pool->count, pool->receive, &done, indices, statuses);
        CHECK(done > 0);
        chose(done);
        for (int i = 0; i < done; ++i)
            completed(pool, indices[i], &statuses[i]);
    }
}

static void by_testsome(struct pool *pool)
{
    while (pool->left > 0) {
        MPI_Status statuses[REQUESTS];
        int indices[REQUESTS], done;
        MPI_Testsome(pool->count, pool->receive, &done, indices, statuses);
        chose(done);
        for (int i = 0; i < done; ++i)
            completed(pool, indices[i], &statuses[i]);
    }
}

static void any_family(int how)
{
    static void (*const complete[])(struct pool *) = {by_waitany, by_testany, by_waitsome, by_testsome};
    for (int any = 0; any < 2; ++any) {
        struct pool pool;
        long long expected = 0;
        post(&pool, any);
        complete[how](&pool);
        MPI_Waitall(pool.count, pool.send, MPI_STATUSES_IGNORE);
        for (int shift = 1; shift < ranks; ++shift)
            for (int i = 0; i < EACH; ++i)
                expected += element(left_of(shift) * MAX_RANKS + my_rank, i) % 1000003;
        CHECK(pool.sum == expected);
        take_int(pool.sum);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void null_requests(int unused)
{
    MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status, statuses[2];
    int index = 0, done = 0, indices[2], count = 7;
    (void)unused;
    MPI_Wait(&none[0], &status);
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 0);
    MPI_Test(&none[0], &done, &status);
    CHECK(done);
    MPI_Request_get_status(none[0], &done, &status);
    CHECK(done);
    MPI_Waitall(2, none, statuses);
    CHECK(statuses[1].MPI_SOURCE == MPI_ANY_SOURCE);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    MPI_Testall(2, none, &done, statuses);
    CHECK(done);
    MPI_Waitany(2, none, &index, &status);
    CHECK(index == MPI_UNDEFINED);
    MPI_Testany(2, none, &index, &done, &status);
    CHECK(done && index == MPI_UNDEFINED);
    MPI_Waitsome(2, none, &count, indices, statuses);
    CHECK(count == MPI_UNDEFINED);
    MPI_Testsome(2, none, &count, indices, MPI_STATUSES_IGNORE);
    CHECK(count == MPI_UNDEFINED);
    take_int(count);
}

/* Inactive persistent requests complete nothing, and do not disturb the active one beside them. */
static void inactive_requests(int unused)
{
    int in[2] = {0, 0}, done = 0, index = -1;
    MPI_Request requests[2];
    MPI_Status status;
    (void)unused;
    for (int i = 0; i < 2; ++i)
        MPI_Recv_init(&in[i], 1, MPI_INT, i ? MPI_ANY_SOURCE : left_of(1), TAG, MPI_COMM_WORLD, &requests[i]);
    MPI_Wait(&requests[0], &status);
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE);
    MPI_Testany(2, requests, &index, &done, MPI_STATUS_IGNORE);
    CHECK(done && index == MPI_UNDEFINED);
    MPI_Start(&requests[1]);
    MPI_Send(&my_rank, 1, MPI_INT, right_of(1), TAG, MPI_COMM_WORLD);
    MPI_Waitany(2, requests, &index, &status);
    CHECK(index == 1 && status.MPI_SOURCE == left_of(1));
    CHECK(in[1] == left_of(1));
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    take_int(in[1]);
}

struct job {
    int value, queries, freed, cancels;
};

static int query(void *extra, MPI_Status *status)
{
    struct job *job = extra;
    ++job->queries;
    MPI_Status_set_elements(status, MPI_INT, job->value);
    MPI_Status_set_cancelled(status, job->cancels > 0);
    status->MPI_SOURCE = my_rank;
    status->MPI_TAG = TAG;
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    struct job *job = extra;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    job->freed += rank == my_rank;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    struct job *job = extra;
    job->cancels += !complete;
    return MPI_SUCCESS;
}

/* Complete before it is waited for, among receives, and cancelled. */
static void grequest(int unused)
{
    struct job jobs[3] = {{.value = 3}, {.value = 4}, {.value = 5}};
    MPI_Request requests[4];
    MPI_Status statuses[4], status;
    int in = 0, count, done = 1, cancelled = 0;
    (void)unused;
    for (int i = 0; i < 3; ++i)
        MPI_Grequest_start(query, release, cancel, &jobs[i], &requests[i]);
    MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
    CHECK(!done);
    MPI_Grequest_complete(requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 3 && status.MPI_TAG == TAG && jobs[0].queries == 1 && jobs[0].freed == 1);
    MPI_Cancel(&requests[2]);
    MPI_Grequest_complete(requests[1]);
    MPI_Grequest_complete(requests[2]);
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[3]);
    MPI_Send(&my_rank, 1, MPI_INT, right_of(1), TAG, MPI_COMM_WORLD);
    MPI_Waitall(4, requests, statuses);
    MPI_Test_cancelled(&statuses[2], &cancelled);
    CHECK(cancelled && jobs[2].cancels == 1);
    CHECK(in == left_of(1) && statuses[3].MPI_SOURCE == left_of(1));
    MPI_Get_elements(&statuses[1], MPI_INT, &count);
    CHECK(count == 4);
    for (int i = 0; i < 3; ++i)
        take_int(jobs[i].freed * 10 + jobs[i].queries);
    take_int(in);
}

const struct family completion_any_families[] = {
    {"waitany", any_family, 0},         {"testany", any_family, 1}, {"waitsome", any_family, 2},
    {"testsome", any_family, 3},        {"null_requests", null_requests, 0},
    {"inactive_requests", inactive_requests, 0}, {"grequest", grequest, 0}, {NULL, NULL, 0}};

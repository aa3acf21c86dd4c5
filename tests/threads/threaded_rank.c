/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job of one rank whose threads do, on two communicators, all that threads do with MPI and with one another: for
 * threads_test, which preloads the interposer and looks at it with the thread sanitizer.
 *
 *     threaded_rank [THREADS=4] [ROUNDS=10]
 *
 * Prints a hash of what each thread received and of what was chosen for it. */
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 8 };
enum { RECEIVED = 1, COMPLETED = 2, PROBED = 3, NESTED = 4 }; /* tags of messages that any thread takes */

static int threads = 4, rounds = 10;
static MPI_Comm own[MOST];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t turn[MOST];
static long shared, arrived;

struct me {
    int number;
    uint64_t hash;
};

static void fold(struct me *me, long value)
{
    me->hash = (me->hash ^ (uint64_t)value) * UINT64_C(1099511628211);
}

static void with_itself(struct me *me, int round)
{
    const MPI_Comm comm = own[me->number];
    int out[2] = {round, me->number}, in[2] = {0, 0}, flag, cancelled;
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Isend(out, 2, MPI_INT, 0, round, comm, &requests[0]);
    MPI_Recv(in, 2, MPI_INT, 0, round, comm, &status);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    fold(me, in[0] + in[1]);
    MPI_Irecv(in, 2, MPI_INT, MPI_ANY_SOURCE, 50, comm, &requests[0]);
    MPI_Issend(out, 2, MPI_INT, 0, 50, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    fold(me, in[0]);
    MPI_Recv_init(in, 2, MPI_INT, 0, 51, comm, &requests[0]);
    MPI_Send_init(out, 2, MPI_INT, 0, 51, comm, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Irecv(in, 2, MPI_INT, MPI_ANY_SOURCE, 52, comm, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &cancelled);
    fold(me, cancelled);
    MPI_Iprobe(0, 53, comm, &flag, MPI_STATUS_IGNORE);
    fold(me, flag);
    MPI_Sendrecv(&out[0], 1, MPI_INT, 0, 54, &in[0], 1, MPI_INT, MPI_ANY_SOURCE, 54, comm, &status);
    MPI_Allreduce(&out[0], &in[0], 1, MPI_INT, MPI_SUM, comm);
    fold(me, in[0]);
}

static void received(struct me *me, int tag, int round)
{
    int in, out = me->number * 1000 + round;
    MPI_Send(&out, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    fold(me, in);
}

static void completed(struct me *me, int round)
{
    int in[2], out[2] = {me->number * 1000 + round, -round};
    MPI_Request sends[2], receives[2];
    for (int i = 0; i < 2; ++i)
        MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, COMPLETED, MPI_COMM_WORLD, &receives[i]);
    for (int i = 0; i < 2; ++i)
        MPI_Isend(&out[i], 1, MPI_INT, 0, COMPLETED, MPI_COMM_WORLD, &sends[i]);
    for (int done = 0; done < 2;) {
        int index = 0, count = 0, indices[2];
        if (me->number % 3 == 0) {
            MPI_Waitany(2, receives, &index, MPI_STATUS_IGNORE);
            indices[count++] = index;
        } else if (me->number % 3 == 1) {
            MPI_Testsome(2, receives, &count, indices, MPI_STATUSES_IGNORE);
        } else {
            int flag = 0;
            MPI_Testany(2, receives, &index, &flag, MPI_STATUS_IGNORE);
            if (flag)
                indices[count++] = index;
        }
        for (int i = 0; i < count; ++i, ++done) {
            fold(me, indices[i]);
            fold(me, in[indices[i]]);
        }
    }
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
}

static void probed(struct me *me, int round)
{
    int in, out = me->number * 1000 + round, flag = 0;
    MPI_Message message;
    MPI_Send(&out, 1, MPI_INT, 0, PROBED, MPI_COMM_WORLD);
    if (me->number % 2 == 0)
        MPI_Mprobe(MPI_ANY_SOURCE, PROBED, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    while (me->number % 2 != 0 && !flag)
        MPI_Improbe(MPI_ANY_SOURCE, PROBED, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    fold(me, in);
}

static void *nested(void *argument)
{
    received(argument, NESTED, 0);
    return NULL;
}

/* Locks decide what the next message holds. */
static void with_others(struct me *me, int round)
{
    struct timespec now;
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    fold(me, ++shared);
    pthread_mutex_unlock(&mutex);
    pthread_rwlock_rdlock(&rwlock);
    clock_gettime(CLOCK_MONOTONIC, &now);
    pthread_rwlock_unlock(&rwlock);
    if (pthread_rwlock_trywrlock(&rwlock) == 0)
        pthread_rwlock_unlock(&rwlock);
    sem_wait(&turn[me->number]);
    sem_post(&turn[(me->number + 1) % threads]);
    if (round % 4 == 0) {
        pthread_create(&thread, NULL, nested, me);
        pthread_join(thread, NULL);
    }
    if (MPI_Wtime() < 0)
        fold(me, 0);
}

static void *run(void *argument)
{
    struct me *me = argument;
    pthread_mutex_lock(&mutex);
    if (++arrived == threads)
        pthread_cond_broadcast(&changed);
    while (arrived < threads)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    for (int round = 0; round < rounds; ++round) {
        with_itself(me, round);
        received(me, RECEIVED, round);
        completed(me, round);
        probed(me, round);
        with_others(me, round);
        if (round % 5 == 0)
            pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct me all[MOST];
    pthread_t made[MOST];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    threads = argc > 1 ? atoi(argv[1]) : threads;
    rounds = argc > 2 ? atoi(argv[2]) : rounds;
    if (threads < 2 || threads > MOST || provided != MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "threaded_rank: bad use, or no MPI_THREAD_MULTIPLE\n");
        return 2;
    }
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int i = 0; i < threads; ++i) {
        sem_init(&turn[i], 0, i == 0);
        all[i] = (struct me){i, UINT64_C(14695981039346656037)};
        MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    }
    for (int i = 1; i < threads; ++i)
        pthread_create(&made[i], NULL, run, &all[i]);
    run(&all[0]);
    for (int i = 1; i < threads; ++i)
        pthread_join(made[i], NULL);
    for (int i = 0; i < threads; ++i) {
        printf("thread %d: %016llx\n", i, (unsigned long long)all[i].hash);
        MPI_Comm_free(&own[i]);
    }
    MPI_Finalize();
    return 0;
}

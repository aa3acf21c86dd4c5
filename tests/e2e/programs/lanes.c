/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lanes: threads that share one communicator, in several ways. What each thread received, in its order, goes into a hash
 * that each rank prints for each of its threads.
 *
 *     mpirun -n RANKS lanes WAY [THREADS] [ROUNDS]
 *
 * wildcard   all threads of rank 0 receive from any source
 * explicit   all threads of rank 0 receive from the same source with the same tag; the other ranks' threads send so
 * senders    all threads of all other ranks send to rank 0, whose main thread receives
 * tests      threads poll with MPI_Test, MPI_Testany and MPI_Testsome
 * waitany    threads wait with MPI_Waitany and MPI_Waitsome
 * probes     threads probe: MPI_Mprobe, MPI_Improbe, MPI_Iprobe (the last with a lock around it and its receive)
 * pool       rank 0's threads take tasks from a queue behind a mutex and a condition, ask any rank and take any answer
 * exchange   each thread has a communicator for collectives, and all exchange on one with MPI_Sendrecv(_replace), MPI_Ssend
 * heartbeat  as wildcard, while a thread that does not call MPI takes a lock from time to time
 * hang       as wildcard, and then each thread waits for a message that nobody sends
 * crash      as wildcard, and the first thread of rank 0 that has enough dies */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 16, TASKS = 40 };

static int rank, size, threads = 3, rounds = 12;
static MPI_Comm own[MOST];
static uint64_t hashes[MOST + 1];

struct me {
    int number;
    uint64_t hash;
};

static void fold(struct me *me, long long value)
{
    me->hash = (me->hash ^ (uint64_t)value) * UINT64_C(1099511628211);
}

static void fold_status(struct me *me, const MPI_Status *status, int value)
{
    fold(me, status->MPI_SOURCE * 100 + status->MPI_TAG);
    fold(me, value);
}

/* Time differs from run to run. */
static void work(void)
{
    usleep((useconds_t)(rand() % 300));
}

static int value_of(int thread, int round)
{
    return rank * 1000000 + thread * 10000 + round;
}

static void send_all(struct me *me, int tag)
{
    for (int round = 0; round < rounds; ++round) {
        const int value = value_of(me->number, round);
        work();
        MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    }
}

static void wildcard(struct me *me)
{
    if (rank != 0) {
        send_all(me, 1 + me->number % 2);
        return;
    }
    for (int i = 0; i < rounds * (size - 1); ++i) {
        int value;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        fold_status(me, &status, value);
        work();
    }
}

static void crash(struct me *me)
{
    if (rank != 0) {
        send_all(me, 1);
        pause();
    }
    for (int i = 0;; ++i) {
        int value;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        fold_status(me, &status, value);
        printf("thread %d got %d\n", me->number, value);
        fflush(stdout);
        if (i == rounds) {
            usleep(20000);
            raise(SIGSEGV);
        }
    }
}

static pthread_mutex_t beat = PTHREAD_MUTEX_INITIALIZER;
static atomic_int ending;

static void *beats(void *unused)
{
    for (int stop = 0; !stop; usleep(400)) {
        pthread_mutex_lock(&beat);
        stop = ending;
        pthread_mutex_unlock(&beat);
    }
    return unused;
}

static void heartbeat(struct me *me)
{
    pthread_t thread;
    if (me->number == 0)
        pthread_create(&thread, NULL, beats, NULL);
    wildcard(me);
    if (me->number == 0) {
        ending = 1; /* without the lock: nobody knows how many beats come after it */
        pthread_join(thread, NULL);
    }
}

static void hang(struct me *me)
{
    int value;
    wildcard(me);
    MPI_Recv(&value, 1, MPI_INT, (rank + 1) % size, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void explicit_sources(struct me *me)
{
    if (rank != 0) {
        send_all(me, 7);
        return;
    }
    for (int i = 0; i < rounds; ++i)
        for (int source = 1; source < size; ++source) {
            int value;
            MPI_Recv(&value, 1, MPI_INT, source, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            fold(me, value);
            work();
        }
}

static void senders(struct me *me)
{
    if (rank != 0)
        send_all(me, 3);
    else if (me->number == 0)
        for (int i = 0; i < threads * rounds * (size - 1); ++i) {
            int value;
            MPI_Recv(&value, 1, MPI_INT, 1 + i % (size - 1), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            fold(me, value);
        }
}

static void tests(struct me *me)
{
    if (rank != 0) {
        send_all(me, 1);
        return;
    }
    long polls = 0;
    for (int left = rounds * (size - 1); left > 0;) {
        MPI_Request requests[3];
        int values[3], done = 0, n = left < 3 ? left : 3;
        for (int i = 0; i < n; ++i)
            MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[i]);
        left -= n;
        while (done < n) {
            MPI_Status statuses[3];
            int flag = 0, index = 0, count = 0, indices[3];
            ++polls;
            if (me->number % 3 == 0) {
                MPI_Test(&requests[done], &flag, &statuses[0]);
                indices[0] = done;
                count = flag;
            } else if (me->number % 3 == 1) {
                MPI_Testany(n, requests, &index, &flag, &statuses[0]);
                indices[0] = index;
                count = flag && index != MPI_UNDEFINED;
            } else
                MPI_Testsome(n, requests, &count, indices, statuses);
            for (int i = 0; i < count; ++i, ++done) {
                fold(me, indices[i]);
                fold_status(me, &statuses[i], values[indices[i]]);
            }
        }
    }
    fold(me, polls);
}

static void waitany(struct me *me)
{
    if (rank != 0) {
        send_all(me, 1);
        return;
    }
    MPI_Request requests[4];
    int values[4];
    const int all = rounds * (size - 1);
    int posted = 0, done = 0;
    for (; posted < 4 && posted < all; ++posted)
        MPI_Irecv(&values[posted], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[posted]);
    const int n = posted;
    while (done < all) {
        MPI_Status statuses[4];
        int indices[4], count = 1;
        if (me->number % 2 == 0)
            MPI_Waitany(n, requests, &indices[0], &statuses[0]);
        else
            MPI_Waitsome(n, requests, &count, indices, statuses);
        for (int i = 0; i < count; ++i, ++done) {
            fold(me, indices[i]);
            fold_status(me, &statuses[i], values[indices[i]]);
            if (posted < all) {
                ++posted;
                MPI_Irecv(&values[indices[i]], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[indices[i]]);
            }
        }
        work();
    }
}

static void probes(struct me *me)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    if (rank != 0) {
        send_all(me, 1);
        return;
    }
    long polls = 0;
    for (int i = 0; i < rounds * (size - 1); ++i) {
        MPI_Message message;
        MPI_Status status;
        int value, flag = 0;
        if (me->number % 3 == 0) {
            MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &message, &status);
            MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
        } else if (me->number % 3 == 1) {
            for (; !flag; ++polls)
                MPI_Improbe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &message, &status);
            MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
        } else {
            MPI_Request request;
            pthread_mutex_lock(&one);
            MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
            pthread_mutex_unlock(&one);
            for (; !flag; ++polls)
                MPI_Request_get_status(request, &flag, &status);
            MPI_Wait(&request, &status);
        }
        fold_status(me, &status, value);
    }
    fold(me, polls);
}

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    int next, given, closed;
    uint64_t answers;
} queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0, 0};

static void serve(void)
{
    for (;;) {
        int task;
        MPI_Recv(&task, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (task < 0)
            return;
        const int answer = task * 10 + rank;
        work();
        MPI_Send(&answer, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
}

static void pool(struct me *me)
{
    if (rank != 0) {
        if (me->number == 0)
            serve();
        return;
    }
    if (me->number == 0) { /* fills the queue, and takes no task */
        for (int i = 0; i < TASKS; ++i) {
            if (i % 5 == 0)
                work();
            pthread_mutex_lock(&queue.mutex);
            ++queue.given;
            pthread_cond_signal(&queue.filled);
            pthread_mutex_unlock(&queue.mutex);
        }
        pthread_mutex_lock(&queue.mutex);
        queue.closed = 1;
        pthread_cond_broadcast(&queue.filled);
        pthread_mutex_unlock(&queue.mutex);
        return;
    }
    for (;;) {
        pthread_mutex_lock(&queue.mutex);
        while (queue.next == queue.given && !queue.closed)
            pthread_cond_wait(&queue.filled, &queue.mutex);
        const int task = queue.next < queue.given ? queue.next++ : -1;
        pthread_mutex_unlock(&queue.mutex);
        if (task < 0)
            return;
        int answer;
        MPI_Status status;
        MPI_Send(&task, 1, MPI_INT, 1 + task % (size - 1), 1, MPI_COMM_WORLD);
        MPI_Recv(&answer, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
        fold(me, task);
        fold_status(me, &status, answer);
        pthread_mutex_lock(&queue.mutex);
        queue.answers = (queue.answers ^ (uint64_t)answer) * UINT64_C(1099511628211);
        pthread_mutex_unlock(&queue.mutex);
    }
}

static void exchange(struct me *me)
{
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int round = 0; round < rounds; ++round) {
        int mine = value_of(me->number, round), taken = -1, sum = 0;
        MPI_Status status;
        MPI_Sendrecv(&mine, 1, MPI_INT, right, 5, &taken, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &status);
        fold_status(me, &status, taken);
        MPI_Sendrecv_replace(&mine, 1, MPI_INT, left, 6, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &status);
        fold_status(me, &status, mine);
        MPI_Allreduce(&taken, &sum, 1, MPI_INT, MPI_SUM, own[me->number]);
        fold(me, sum);
        if (rank % 2 == 0 && rank + 1 < size)
            MPI_Ssend(&mine, 1, MPI_INT, rank + 1, 8, MPI_COMM_WORLD);
        else if (rank % 2 == 1) {
            MPI_Recv(&taken, 1, MPI_INT, rank - 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            fold(me, taken);
        }
        if (round % 4 == 0)
            MPI_Barrier(own[me->number]);
    }
}

static const struct {
    const char *name;
    void (*run)(struct me *);
} ways[] = {{"wildcard", wildcard}, {"explicit", explicit_sources}, {"senders", senders}, {"tests", tests},
            {"waitany", waitany},   {"probes", probes},             {"pool", pool},       {"exchange", exchange},
            {"crash", crash},       {"hang", hang},
            {"heartbeat", heartbeat}};
static void (*way)(struct me *);

static void *run(void *argument)
{
    struct me me = {(int)(intptr_t)argument, UINT64_C(14695981039346656037)};
    way(&me);
    hashes[me.number] = me.hash;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t made[MOST];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; ++i)
        if (strcmp(argv[1], ways[i].name) == 0)
            way = ways[i].run;
    if (argc > 2)
        threads = atoi(argv[2]);
    if (argc > 3)
        rounds = atoi(argv[3]);
    if (way == NULL || threads < 1 || threads > MOST || provided != MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "lanes: bad use\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    srand((unsigned)getpid());
    for (int i = 0; i < threads; ++i)
        MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    for (int i = 1; i < threads; ++i)
        pthread_create(&made[i], NULL, run, (void *)(intptr_t)i);
    run((void *)0);
    for (int i = 1; i < threads; ++i)
        pthread_join(made[i], NULL);
    for (int other = 1; way == pool && rank == 0 && other < size; ++other) {
        const int none = -1;
        MPI_Send(&none, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
    }
    for (int i = 0; i < threads; ++i)
        printf("rank %d thread %d: %016llx\n", rank, i, (unsigned long long)hashes[i]);
    if (way == pool)
        printf("rank %d answers: %016llx\n", rank, (unsigned long long)queue.answers);
    fflush(stdout);
    for (int i = 0; i < threads; ++i)
        MPI_Comm_free(&own[i]);
    MPI_Finalize();
    return 0;
}

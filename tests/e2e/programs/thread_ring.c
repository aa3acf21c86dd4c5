/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thread_ring: the threads of each rank pass a token a thread round the ranks, each taken from any source: only one
 * message can come, so these do not race. Then each thread of rank 0 takes one message of each other rank: these do. A
 * lock decides in which order the threads change the tokens. Prints what each thread has seen. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 12, LAST = 50 };

static int rank, size;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned order;
static uint64_t seen[THREADS];

static int take(int thread, int tag)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    seen[thread] = seen[thread] * 31 + (unsigned)value;
    return value;
}

static void *run(void *number)
{
    const int thread = *(int *)number;
    unsigned random = (unsigned)(rank * THREADS + thread);
    int value = thread;
    for (int round = 0; round < ROUNDS; ++round) {
        if (rank != 0 || round != 0)
            value = take(thread, thread);
        usleep((useconds_t)(rand_r(&random) % 200));
        pthread_mutex_lock(&lock);
        order = order * 3 + (unsigned)thread;
        value += 1 + (int)(order % 5);
        pthread_mutex_unlock(&lock);
        MPI_Send(&value, 1, MPI_INT, (rank + 1) % size, thread, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        take(thread, thread);
        for (int other = 1; other < size; ++other)
            take(thread, LAST + thread);
    } else
        MPI_Send(&rank, 1, MPI_INT, 0, LAST + thread, MPI_COMM_WORLD);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, numbers[THREADS];
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < THREADS; ++i) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, run, &numbers[i]);
    }
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
        printf("rank %d thread %d: %016llx\n", rank, i, (unsigned long long)seen[i]);
    }
    MPI_Finalize();
    return 0;
}

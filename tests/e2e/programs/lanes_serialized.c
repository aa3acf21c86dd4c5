/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lanes_serialized: the threads of rank 0 share MPI by a mutex (MPI_THREAD_SERIALIZED) and take from any rank. Prints a
 * hash of what each thread got, and one of what all got in the order in which they did. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, EACH = 15 };
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static uint64_t hashes[THREADS], together;

static uint64_t fold(uint64_t hash, int value)
{
    return (hash ^ (uint64_t)value) * UINT64_C(1099511628211);
}

static void *take(void *argument)
{
    const int me = (int)(intptr_t)argument;
    for (int left = EACH; left > 0;) {
        int value, there = 0;
        MPI_Status status;
        if (pthread_mutex_trylock(&turn) != 0) {
            usleep(50);
            continue;
        }
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &there, &status);
        if (there) {
            MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            hashes[me] = fold(hashes[me], value);
            together = fold(together, value * THREADS + me);
            --left;
        }
        pthread_mutex_unlock(&turn);
        usleep((useconds_t)(rand() % 200));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    srand((unsigned)getpid());
    if (rank == 0) {
        pthread_t threads[THREADS];
        for (int i = 1; i < THREADS; ++i)
            pthread_create(&threads[i], NULL, take, (void *)(intptr_t)i);
        take((void *)0);
        for (int i = 1; i < THREADS; ++i)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < THREADS; ++i)
            printf("thread %d: %016llx\n", i, (unsigned long long)hashes[i]);
        printf("together: %016llx\n", (unsigned long long)together);
    } else
        for (int i = 0; i < THREADS * EACH / (size - 1); ++i) {
            const int value = rank * 1000 + i;
            usleep((useconds_t)(rand() % 200));
            MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
    MPI_Finalize();
    return 0;
}

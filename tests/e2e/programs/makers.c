/* SPDX-License-Identifier: GPL-3.0-or-later */
/* makers: four threads, each making communicators of one of its own, at any time. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 15 };

static MPI_Comm own[THREADS];
static MPI_Group all;
static int rank, made[THREADS];

static void keep(MPI_Comm comm, int thread)
{
    int size = 0;
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_size(comm, &size);
    made[thread] += size;
    MPI_Comm_free(&comm);
}

static void *make(void *argument)
{
    const int thread = (int)(long)argument;
    for (int i = 0; i < ROUNDS; ++i) {
        MPI_Comm comm;
        MPI_Comm_create(own[thread], all, &comm);
        keep(comm, thread);
        if (i % 3 == 0) {
            MPI_Comm_split(own[thread], rank % 2, rank, &comm);
            keep(comm, thread);
        } else if (i % 3 == 1) {
            MPI_Comm_dup(own[thread], &comm);
            keep(comm, thread);
        } else {
            MPI_Comm_create_group(own[thread], all, thread, &comm);
            keep(comm, thread);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        return 77;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int i = 0; i < THREADS; ++i)
        MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    for (long i = 0; i < THREADS; ++i)
        pthread_create(&threads[i], NULL, make, (void *)i);
    for (int i = 0; i < THREADS; ++i)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; ++i) {
        printf("%d ", made[i]);
        MPI_Comm_free(&own[i]);
    }
    printf("\n");
    MPI_Group_free(&all);
    MPI_Finalize();
    return 0;
}

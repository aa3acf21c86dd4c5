/* SPDX-License-Identifier: GPL-3.0-or-later */
/* threads: on each rank, a second thread exchanges numbers with the other ranks' second threads, on a communicator of
 * its own, while the first does the same on MPI_COMM_WORLD. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 50 };

static long exchange(MPI_Comm comm)
{
    int rank, size;
    long sum = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int round = 0; round < ROUNDS; ++round)
        for (int other = 0; other < size; ++other) {
            long value = rank * 1000 + round;
            if (other == rank)
                continue;
            MPI_Request request;
            MPI_Isend(&value, 1, MPI_LONG, other, 1, comm, &request);
            long taken;
            MPI_Recv(&taken, 1, MPI_LONG, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            sum += taken;
        }
    return sum;
}

static void *second(void *argument)
{
    static long sum;
    sum = exchange(*(MPI_Comm *)argument);
    return &sum;
}

int main(int argc, char **argv)
{
    int provided, rank;
    MPI_Comm comm;
    pthread_t thread;
    void *other;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    pthread_create(&thread, NULL, second, &comm);
    const long first = exchange(MPI_COMM_WORLD);
    pthread_join(thread, &other);
    printf("rank %d: %ld and %ld\n", rank, first, *(long *)other);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}

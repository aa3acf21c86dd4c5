/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads of one rank, each of which sends to itself on a communicator of its own, all at once:
 * threads [THREADS=2] [MESSAGES=1000]; us a message of one thread. With 1 the same, but a second thread has been made. */
#include <mpi.h>
#include <pthread.h>

#include "timing.h"

enum { MOST = 16 };

static pthread_barrier_t barrier;
static MPI_Comm own[MOST];
static int times;
static double seconds[ROUNDS];

static void messages(MPI_Comm comm)
{
    char out[8] = {0}, in[8];
    MPI_Request request;
    for (int i = 0; i < times; ++i) {
        MPI_Isend(out, 8, MPI_BYTE, 0, 1, comm, &request);
        MPI_Recv(in, 8, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void *run(void *number)
{
    const int first = *(int *)number == 0;
    messages(own[*(int *)number]);
    for (int round = 0; round < ROUNDS; ++round) {
        pthread_barrier_wait(&barrier);
        const double start = first ? MPI_Wtime() : 0;
        messages(own[*(int *)number]);
        pthread_barrier_wait(&barrier);
        if (first)
            seconds[round] = MPI_Wtime() - start;
    }
    return NULL;
}

static void *nothing(void *unused)
{
    return unused;
}

int main(int argc, char **argv)
{
    int provided, numbers[MOST];
    pthread_t made[MOST];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    const int threads = argument(argc, argv, 1, 2);
    times = argument(argc, argv, 2, 1000);
    if (threads < 1 || threads > MOST || provided != MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "threads: 1 to %d, with MPI_THREAD_MULTIPLE\n", MOST);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    pthread_create(&made[0], NULL, nothing, NULL);
    pthread_join(made[0], NULL);
    for (int i = 0; i < threads; ++i) {
        numbers[i] = i;
        MPI_Comm_dup(MPI_COMM_SELF, &own[i]);
    }
    for (int i = 1; i < threads; ++i)
        pthread_create(&made[i], NULL, run, &numbers[i]);
    run(&numbers[0]);
    for (int i = 1; i < threads; ++i)
        pthread_join(made[i], NULL);
    report("threads", seconds, ROUNDS, times, 8);
    for (int i = 0; i < threads; ++i)
        MPI_Comm_free(&own[i]);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two threads of rank 1 send with the same tag to rank 0, which asks for rank 1: only the order of the threads decides
 * what a receive gets.
 *
 *     two_threads [free | any | mutex | handshake | barrier | semaphore | joined]
 *
 * free       nothing orders the threads: every receive races as long as both have messages left
 * any        the same, but rank 0 takes from any rank
 * mutex      each send under a lock: the threads have an order, another one in each run, and no messages race
 * handshake  the second thread waits, by a condition, until the first has sent all
 * barrier    the threads take turns, a barrier after each
 * semaphore  likewise, by two semaphores
 * joined     the second thread is made when the first has ended */
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrivals.h"

enum { ROUNDS = 3, TAG = 7 };

static const char *way = "free";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t turns[2];
static int first_is_done;

static int by(const char *name)
{
    return strcmp(way, name) == 0;
}

static void send_one(int thread, int round)
{
    const int value = thread * 10 + round;
    if (by("mutex"))
        pthread_mutex_lock(&lock);
    MPI_Send(&value, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    if (by("mutex"))
        pthread_mutex_unlock(&lock);
}

static void *send_all(void *number)
{
    const int thread = *(int *)number;
    if (by("handshake") && thread == 1) {
        pthread_mutex_lock(&lock);
        while (!first_is_done)
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
    }
    for (int round = 0; round < ROUNDS; ++round)
        if (by("barrier")) {
            for (int turn = 0; turn < 2; ++turn) {
                if (turn == thread)
                    send_one(thread, round);
                pthread_barrier_wait(&barrier);
            }
        } else if (by("semaphore")) {
            sem_wait(&turns[thread]);
            send_one(thread, round);
            sem_post(&turns[1 - thread]);
        } else
            send_one(thread, round);
    if (by("handshake") && thread == 0) {
        pthread_mutex_lock(&lock);
        first_is_done = 1;
        pthread_mutex_unlock(&lock);
        pthread_cond_signal(&changed);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1)
        way = argv[1];
    if (provided < MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "two_threads: no MPI_THREAD_MULTIPLE\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rank == 1) {
        int numbers[2] = {0, 1};
        pthread_t threads[2];
        pthread_barrier_init(&barrier, NULL, 2);
        sem_init(&turns[0], 0, 1);
        sem_init(&turns[1], 0, 0);
        for (int i = 0; i < 2; ++i) {
            pthread_create(&threads[i], NULL, send_all, &numbers[i]);
            if (by("joined"))
                pthread_join(threads[i], NULL);
        }
        for (int i = 0; i < 2 && !by("joined"); ++i)
            pthread_join(threads[i], NULL);
    } else if (rank == 0) {
        struct arrivals arrivals = {0};
        for (int i = 0; i < 2 * ROUNDS; ++i) {
            int value;
            MPI_Recv(&value, 1, MPI_INT, by("any") ? MPI_ANY_SOURCE : 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            arrived(&arrivals, " %d", value);
        }
        print_arrivals(&arrivals, rank);
    }
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unknown_thread: a thread that the C library makes (SIGEV_THREAD) calls MPI while the main thread waits for it. */
#include <mpi.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

static sem_t done;
static int sum;

static void run(union sigval unused)
{
    int one = 1 + unused.sival_int;
    MPI_Comm_rank(MPI_COMM_WORLD, &one);
    ++one;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    sem_post(&done);
}

int main(int argc, char **argv)
{
    int provided;
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = run};
    const struct itimerspec once = {.it_value = {0, 1000000}};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    sem_init(&done, 0, 0);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &once, NULL);
    while (sem_wait(&done) != 0)
        ;
    printf("sum %d\n", sum);
    MPI_Finalize();
    return 0;
}

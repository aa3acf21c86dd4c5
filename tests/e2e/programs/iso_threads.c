/* SPDX-License-Identifier: GPL-3.0-or-later */
/* iso_threads [multiple]: threads and locks of <threads.h>. Each of two threads enters its number under a lock, or waits for a
 * condition in between; the order is printed. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>

enum { ROUNDS = 200 };

static mtx_t lock;
static cnd_t entered;
static uint64_t order = 1;
static int entries;

static int enter(void *argument)
{
    const int number = *(int *)argument;
    for (int i = 0; i < ROUNDS; ++i) {
        mtx_lock(&lock);
        order = order * 31 + (uint64_t)number;
        ++entries;
        cnd_broadcast(&entered);
        while (i == 10 && entries < 15) /* both are there */
            cnd_wait(&entered, &lock);
        mtx_unlock(&lock);
        for (volatile int work = 0; work < 2000 * (1 + (i + number) % 3); ++work)
            ;
    }
    return number;
}

int main(int argc, char **argv)
{
    int level, result[2], numbers[2] = {1, 2};
    thrd_t threads[2];
    MPI_Init_thread(&argc, &argv, argc > 1 && strcmp(argv[1], "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &level);
    mtx_init(&lock, mtx_plain);
    cnd_init(&entered);
    for (int i = 0; i < 2; ++i)
        if (thrd_create(&threads[i], enter, &numbers[i]) != thrd_success)
            MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < 2; ++i)
        thrd_join(threads[i], &result[i]);
    printf("order %llx of %d and %d\n", (unsigned long long)order, result[0], result[1]);
    MPI_Finalize();
    return 0;
}

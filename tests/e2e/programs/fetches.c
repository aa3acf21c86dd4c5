/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fetches: what each rank fetches from windows on rank 0 is MPI's choice: tickets, who has a lock, who wrote last. */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 40, NUMBERS = 400 };

static unsigned long hash = 1469598103934665603UL;

static void see(long value)
{
    hash = (hash ^ (unsigned long)value) * 1099511628211UL;
}

/* How often depends on the others. */
static void take_lock(int rank, MPI_Win win)
{
    const long free_ = 0, mine = rank + 1;
    long had = -1;
    while (had != 0) {
        MPI_Compare_and_swap(&mine, &free_, &had, MPI_LONG, 0, 1, win);
        MPI_Win_flush(0, win);
        see(had);
    }
}

static void give_lock(MPI_Win win)
{
    const long free_ = 0;
    long had;
    MPI_Fetch_and_op(&free_, &had, MPI_LONG, 0, 1, MPI_REPLACE, win);
    MPI_Win_flush(0, win);
    see(had);
}

int main(int argc, char **argv)
{
    int rank;
    long *window, own[NUMBERS], got[2 * NUMBERS];
    MPI_Win win;
    MPI_Datatype every_second, column;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate((2 + NUMBERS) * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    for (int i = 0; i < 2 + NUMBERS; ++i)
        window[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_vector(NUMBERS, 1, 2, MPI_LONG, &every_second);
    MPI_Type_commit(&every_second);
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < ROUNDS; ++round) {
        const long one = 1;
        long ticket;
        MPI_Fetch_and_op(&one, &ticket, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_flush_local(0, win);
        see(ticket);
        take_lock(rank, win);
        MPI_Get(got, NUMBERS, MPI_LONG, 0, 2, NUMBERS, MPI_LONG, win);
        MPI_Win_flush(0, win);
        for (int i = 0; i < NUMBERS; ++i) {
            see(got[i]);
            own[i] = 1000 * rank + round;
        }
        MPI_Put(own, NUMBERS, MPI_LONG, 0, 2, NUMBERS, MPI_LONG, win);
        MPI_Win_flush(0, win);
        give_lock(win);
        for (int i = 0; i < 2 * NUMBERS; ++i)
            got[i] = -1;
        MPI_Type_dup(every_second, &column);
        MPI_Get_accumulate(own, NUMBERS, MPI_LONG, got, 1, column, 0, 2, NUMBERS, MPI_LONG, MPI_SUM, win);
        MPI_Type_free(&column);
        MPI_Win_flush(0, win);
        for (int i = 0; i < 2 * NUMBERS; ++i)
            see(got[i]);
    }
    MPI_Win_unlock_all(win);
    printf("rank %d has seen %016lx\n", rank, hash);
    MPI_Type_free(&every_second);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One-sided communication: the windows, and every access between two fences or under a lock. */
#include "families.h"

#include <stdlib.h>

enum { CELLS = 8 };

static void clear(long *cells)
{
    for (int i = 0; i < CELLS; ++i)
        cells[i] = my_rank * 100 + i;
}

/* To the right neighbour with Put, from the left with Get, sums on rank 0: all between fences. */
static void fenced(MPI_Win win, long *cells)
{
    long mine = my_rank + 1000, got = -1, one = my_rank + 1;
    clear(cells);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(&mine, 1, MPI_LONG, right_of(1), 0, 1, MPI_LONG, win);
    MPI_Put(&mine, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win);
    MPI_Get(&got, 1, MPI_LONG, left_of(1), 1, 1, MPI_LONG, win);
    MPI_Accumulate(&one, 1, MPI_LONG, 0, 2, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(cells[0] == left_of(1) + 1000);
    CHECK(got == left_of(1) * 100 + 1);
    CHECK(cells[2] == my_rank * 100 + 2 + (my_rank == 0 ? ranks * (ranks + 1) / 2 : 0));
    take(cells, 3 * sizeof *cells);
    take_int(got);
}

static void create(int unused)
{
    long cells[CELLS];
    MPI_Win win;
    (void)unused;
    MPI_Win_create(cells, sizeof cells, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    fenced(win, cells);
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);
}

static void allocate(int unused)
{
    long *cells;
    MPI_Win win;
    (void)unused;
    MPI_Win_allocate(CELLS * sizeof *cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win);
    fenced(win, cells);
    MPI_Win_free(&win);
}

/* The neighbour's memory is read directly. */
static void allocate_shared(int unused)
{
    long *cells, *theirs;
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win win;
    (void)unused;
    MPI_Win_allocate_shared(CELLS * sizeof *cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win);
    MPI_Win_lock_all(0, win);
    clear(cells);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    MPI_Win_shared_query(win, right_of(1), &size, &unit, &theirs);
    CHECK(size == CELLS * (MPI_Aint)sizeof(long) && unit == sizeof(long));
    CHECK(theirs[3] == right_of(1) * 100 + 3);
    take_int(theirs[3]);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

static void dynamic(int unused)
{
    long *cells = malloc(CELLS * sizeof *cells), got = -1;
    MPI_Aint mine, theirs;
    MPI_Win win;
    (void)unused;
    clear(cells);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, cells, CELLS * sizeof *cells);
    MPI_Get_address(&cells[4], &mine);
    MPI_Sendrecv(&mine, 1, MPI_AINT, left_of(1), 1, &theirs, 1, MPI_AINT, right_of(1), 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Win_fence(0, win);
    MPI_Get(&got, 1, MPI_LONG, right_of(1), theirs, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    CHECK(got == right_of(1) * 100 + 4);
    take_int(got);
    MPI_Win_detach(win, cells);
    MPI_Win_free(&win);
    free(cells);
}

/*
 * All ranks take numbers from rank 0 in any order: each number exactly once. Compare and swap only in shared
 * memory: elsewhere Open MPI 4.1.4 crashes in it (osc/rdma over vader).
 */
static void counters(int shared)
{
    long *cells, one = 1, got = -1, expected_old = 0, sum = 0, accumulated = -1, winner = -1, zero = 0;
    const long claim = my_rank + 1;
    int winners = 0, won;
    MPI_Win win;
    (shared ? MPI_Win_allocate_shared : MPI_Win_allocate)(CELLS * sizeof *cells, sizeof *cells, MPI_INFO_NULL,
                                                          MPI_COMM_WORLD, &cells, &win);
    memset(cells, 0, CELLS * sizeof *cells);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Fetch_and_op(&one, &got, MPI_LONG, 0, 0, MPI_SUM, win);
    MPI_Get_accumulate(&one, 1, MPI_LONG, &accumulated, 1, MPI_LONG, 0, 1, 1, MPI_LONG, MPI_SUM, win);
    if (shared)
        MPI_Compare_and_swap(&claim, &zero, &winner, MPI_LONG, 0, 2, win);
    MPI_Win_flush(0, win);
    MPI_Win_unlock(0, win);
    won = winner == 0 || (!shared && my_rank == 0);
    MPI_Allreduce(&got, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&accumulated, &expected_old, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&won, &winners, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == ranks * (ranks - 1) / 2 && expected_old == sum && winners == 1);
    take_int(sum);
    take_int(winners);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
}

/* The forms with a request, completed among receives from anybody. */
static void requests(int unused)
{
    long *cells, mine = my_rank + 2000, got = -1, one = 1, before = -1;
    int in = -1;
    MPI_Request request[4], receive;
    MPI_Status status;
    MPI_Win win;
    (void)unused;
    MPI_Win_allocate(CELLS * sizeof *cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win);
    clear(cells);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 140, MPI_COMM_WORLD, &receive);
    MPI_Rput(&mine, 1, MPI_LONG, right_of(1), 0, 1, MPI_LONG, win, &request[0]);
    MPI_Rget(&got, 1, MPI_LONG, left_of(1), 1, 1, MPI_LONG, win, &request[1]);
    MPI_Raccumulate(&one, 1, MPI_LONG, 0, 2, 1, MPI_LONG, MPI_SUM, win, &request[2]);
    MPI_Rget_accumulate(&one, 1, MPI_LONG, &before, 1, MPI_LONG, right_of(1), 3, 1, MPI_LONG, MPI_SUM, win,
                        &request[3]);
    MPI_Send(&my_rank, 1, MPI_INT, right_of(1), 140, MPI_COMM_WORLD);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    MPI_Wait(&receive, &status);
    CHECK(in == left_of(1) && status.MPI_SOURCE == left_of(1));
    CHECK(got == left_of(1) * 100 + 1 && before == right_of(1) * 100 + 3);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, my_rank, 0, win);
    CHECK(cells[0] == left_of(1) + 2000 && cells[2] == my_rank * 100 + 2 + (my_rank == 0 ? ranks : 0));
    CHECK(cells[3] == my_rank * 100 + 4);
    take(cells, 4 * sizeof *cells);
    MPI_Win_unlock(my_rank, win);
    take_int(in);
    MPI_Win_free(&win);
}

const struct family rma_families[] = {{"win_create", create, 0},
                                      {"win_allocate", allocate, 0},
                                      {"win_allocate_shared", allocate_shared, 0},
                                      {"win_dynamic", dynamic, 0},
                                      {"rma_counters", counters, 0},
                                      {"rma_counters_shared", counters, 1},
                                      {"rma_requests", requests, 0},
                                      {NULL, NULL, 0}};

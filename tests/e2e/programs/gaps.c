/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gaps: elements with gaps in them, fetched while another rank writes them. A pair that was fetched whole
 * is (n, n); what lies in the gaps of the result is the program's own, before and after. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { PAIRS = 10, ROUNDS = 40, WRITES = 6, GAP = 0x5A };

typedef struct {
    long first;
    int second;
} pair;

static unsigned long seen = 1469598103934665603UL;
static long wrong;

static void see(long value)
{
    seen = (seen ^ (unsigned long)value) * 1099511628211UL;
}

static void look(const pair *pairs, int count)
{
    const unsigned char *bytes = (const unsigned char *)pairs;
    for (int i = 0; i < count; ++i) {
        see(pairs[i].first);
        wrong += pairs[i].first != pairs[i].second;
        for (size_t b = offsetof(pair, second) + sizeof(int); b < sizeof(pair); ++b)
            wrong += bytes[(size_t)i * sizeof(pair) + b] != GAP;
    }
}

/* The pairs from the last one to the first: an extent below 0 in memory, and a lower bound below 0. */
static MPI_Datatype backwards(void)
{
    const int lengths[2] = {1, 1};
    const MPI_Aint places[2] = {0, offsetof(pair, second)};
    const MPI_Datatype types[2] = {MPI_LONG, MPI_INT};
    MPI_Datatype one, row;
    MPI_Type_create_struct(2, lengths, places, types, &one);
    MPI_Type_create_resized(one, -(MPI_Aint)sizeof(pair), sizeof(pair), &row);
    MPI_Type_free(&one);
    MPI_Type_create_hvector(PAIRS, 1, -(MPI_Aint)sizeof(pair), row, &one);
    MPI_Type_free(&row);
    MPI_Type_commit(&one);
    return one;
}

/* Rank 0 holds the pairs; 2 writes all of them at once again and again, 1 fetches them meanwhile. */
static void accumulated(int rank, pair *window, MPI_Win win)
{
    pair own[PAIRS], got[2 * PAIRS];
    for (int round = 1; round <= ROUNDS; ++round) {
        memset(got, GAP, sizeof got);
        memset(own, 0, sizeof own);
        for (int i = 0; i < PAIRS; ++i)
            window[i].first = window[i].second = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_fence(0, win);
        for (int k = 0; rank == 2 && k < WRITES; ++k) {
            for (int i = 0; i < PAIRS; ++i)
                own[i].first = own[i].second = round * 1000 + k * 10 + i;
            MPI_Accumulate(own, PAIRS, MPI_LONG_INT, 0, 0, PAIRS, MPI_LONG_INT, MPI_REPLACE, win);
        }
        for (int k = 0; rank == 1 && k < 2; ++k)
            MPI_Get_accumulate(own, PAIRS, MPI_LONG_INT, got + PAIRS * k, PAIRS, MPI_LONG_INT, 0, 0, PAIRS, MPI_LONG_INT,
                               MPI_NO_OP, win);
        MPI_Win_fence(0, win);
        if (rank == 1)
            look(got, 2 * PAIRS);
    }
}

static void fetched_under_locks(int rank, MPI_Win win, MPI_Datatype reversed)
{
    pair own[PAIRS], got[PAIRS];
    memset(own, 0, sizeof own);
    for (int round = 1; round <= ROUNDS; ++round) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        if (rank == 2) {
            for (int i = 0; i < PAIRS; ++i)
                own[i].first = own[i].second = -round * 100 - i;
            MPI_Put(own, PAIRS, MPI_LONG_INT, 0, 0, PAIRS, MPI_LONG_INT, win);
        } else if (rank == 1) {
            memset(got, GAP, sizeof got);
            MPI_Get(got + PAIRS - 1, 1, reversed, 0, 0, PAIRS, MPI_LONG_INT, win);
        }
        MPI_Win_unlock(0, win);
        if (rank == 1)
            look(got, PAIRS);
    }
}

int main(int argc, char **argv)
{
    int rank;
    pair *window;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(PAIRS * sizeof(pair), sizeof(pair), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    accumulated(rank, window, win);
    MPI_Datatype reversed = backwards();
    MPI_Barrier(MPI_COMM_WORLD);
    fetched_under_locks(rank, win, reversed);
    MPI_Type_free(&reversed);
    MPI_Win_free(&win);
    printf("rank %d has seen %016lx, wrong: %ld\n", rank, seen, wrong);
    MPI_Finalize();
    return 0;
}

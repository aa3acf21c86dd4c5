/* SPDX-License-Identifier: GPL-3.0-or-later
 * MPIWiz, Table 3, ASP: all-pairs shortest paths by Floyd and Warshall's algorithm. Every rank has a block
 * of rows; at every step the owner of a row broadcasts it. Rank 0 takes the results as they come (Waitany).
 * asp [CITIES=256]
 */
#include "papers.h"

enum { RESULT = 1, FAR = 1 << 28, SEED = 17 };

/* About four roads from a city, so that most ways are of many roads. */
static int road(int n, int i, int j)
{
    const uint64_t bits = mixed(SEED + (uint64_t)i * (uint64_t)n + (uint64_t)j);
    return i == j ? 0 : bits % (uint64_t)n < 4 ? 1 + (int)(bits >> 40 & 1023) : FAR;
}

static void fill(int *rows, int n, int first, int end)
{
    for (int i = first; i < end; ++i)
        for (int j = 0; j < n; ++j)
            rows[(i - first) * n + j] = road(n, i, j);
}

/* Ways over city k, whose own ways are via. */
static void relax(int *rows, int count, const int *via, int n, int k)
{
    for (int i = 0; i < count; ++i) {
        const int to = rows[i * n + k];
        for (int j = 0; j < n; ++j)
            if (to + via[j] < rows[i * n + j])
                rows[i * n + j] = to + via[j];
    }
}

static void run(struct world world, int *rows, int n)
{
    const int first = first_of(n, world.size, world.rank);
    const int count = first_of(n, world.size, world.rank + 1) - first;
    int *via = room((size_t)n, sizeof *via);
    for (int k = 0, owner = 0; k < n; ++k) {
        while (k >= first_of(n, world.size, owner + 1))
            ++owner;
        if (owner == world.rank)
            memcpy(via, &rows[(k - first) * n], (size_t)n * sizeof *via);
        MPI_Bcast(via, n, MPI_INT, owner, MPI_COMM_WORLD);
        relax(rows, count, via, n, k);
    }
    free(via);
}

/* The sum of the ways is taken as the blocks come; it does not depend on their order. */
static int64_t collect(struct world world, const int *rows, int n, int *whole)
{
    const int count = (first_of(n, world.size, world.rank + 1) - first_of(n, world.size, world.rank)) * n;
    MPI_Request *requests = room((size_t)world.size, sizeof(MPI_Request));
    int64_t sum = 0;
    requests[0] = MPI_REQUEST_NULL;
    for (int from = 1; from < world.size; ++from) {
        const int first = first_of(n, world.size, from), end = first_of(n, world.size, from + 1);
        MPI_Irecv(&whole[first * n], (end - first) * n, MPI_INT, from, RESULT, MPI_COMM_WORLD,
                  &requests[from]);
    }
    memcpy(whole, rows, (size_t)count * sizeof *rows);
    for (int i = 0; i < world.size; ++i) {
        int from = 0;
        if (i > 0)
            MPI_Waitany(world.size, requests, &from, MPI_STATUS_IGNORE);
        const int first = first_of(n, world.size, from), end = first_of(n, world.size, from + 1);
        for (int cell = first * n; cell < end * n; ++cell)
            sum += whole[cell] < FAR ? whole[cell] : 0;
    }
    free(requests);
    return sum;
}

static int right(const int *whole, int n, int64_t sum)
{
    int *alone = room((size_t)n * n, sizeof *alone), *via = room((size_t)n, sizeof *via);
    fill(alone, n, 0, n);
    for (int k = 0; k < n; ++k) {
        memcpy(via, &alone[k * n], (size_t)n * sizeof *via);
        relax(alone, n, via, n, k);
    }
    for (int cell = 0; cell < n * n; ++cell)
        sum -= alone[cell] < FAR ? alone[cell] : 0;
    const int ok = sum == 0 && memcmp(whole, alone, (size_t)n * n * sizeof *alone) == 0;
    free(alone);
    free(via);
    return ok;
}

int main(int argc, char **argv)
{
    const struct world world = begin(&argc, &argv, 2);
    const int n = argument(argc, argv, 1, 256), rank = world.rank;
    const int first = first_of(n, world.size, rank), end = first_of(n, world.size, rank + 1);
    int *rows = room((size_t)(end - first) * n, sizeof *rows), ok = 1;
    int64_t sum = 0;
    fill(rows, n, first, end);
    run(world, rows, n);
    if (rank == 0) {
        int *whole = room((size_t)n * n, sizeof *whole);
        sum = collect(world, rows, n, whole);
        ok = right(whole, n, sum);
        free(whole);
    } else {
        MPI_Send(rows, (end - first) * n, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
    }
    free(rows);
    return verdict(world, "asp", ok, "cities=%d sum=%ld", n, (long)sum);
}

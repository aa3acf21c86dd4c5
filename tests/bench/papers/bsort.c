/* SPDX-License-Identifier: GPL-3.0-or-later
 * Yan, Tables 1 to 5, BSORT: bucket sort of random floats. Rank 0 sends every other rank the bounds of the
 * buckets and a part of the array; the workers exchange buckets, taken from anybody, and sort their own;
 * rank 0 takes the buckets back in order.
 * bsort [FLOATS=1000000]
 */
#include "papers.h"

enum { BOUNDS = 1, PART, BUCKET, SORTED, MASTER = 0, SEED = 1000000 };

static int ascending(const void *left, const void *right)
{
    const float a = *(const float *)left, b = *(const float *)right;
    return (a > b) - (a < b);
}

/* The same for every order of the floats. */
static uint64_t sum_of(const float *values, int n)
{
    uint64_t sum = 0;
    for (int i = 0; i < n; ++i) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        sum += mixed(bits);
    }
    return sum;
}

/* Squares of uniform numbers: the bounds, squared as well, make buckets of equal size. */
static void deal(float *values, int n, int workers)
{
    uint64_t state = SEED;
    float *bounds = room((size_t)workers + 1, sizeof *bounds);
    for (int i = 0; i < n; ++i) {
        const float root = (float)(next_random(&state) >> 40) / (float)(1 << 24);
        values[i] = root * root;
    }
    for (int i = 0; i <= workers; ++i)
        bounds[i] = (float)i / (float)workers * ((float)i / (float)workers);
    for (int worker = 0; worker < workers; ++worker) {
        const int first = first_of(n, workers, worker), end = first_of(n, workers, worker + 1);
        MPI_Send(bounds, workers + 1, MPI_FLOAT, worker + 1, BOUNDS, MPI_COMM_WORLD);
        MPI_Send(values + first, end - first, MPI_FLOAT, worker + 1, PART, MPI_COMM_WORLD);
    }
    free(bounds);
}

/* The buckets in order are the sorted array; returns how many floats came back. */
static int collect(float *values, int n, int workers)
{
    int have = 0, count;
    for (int worker = 1; worker <= workers; ++worker) {
        MPI_Status status;
        MPI_Recv(values + have, n - have, MPI_FLOAT, worker, SORTED, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_FLOAT, &count);
        have += count;
    }
    return have;
}

/* Puts the part's floats in the order of their buckets; starts[b] is where bucket b begins. */
static void split(const float *part, int count, const float *bounds, int workers, float *ordered, int *starts)
{
    int *bucket_of = room((size_t)count, sizeof *bucket_of), *fill = room((size_t)workers, sizeof *fill);
    for (int i = 0; i < count; ++i) {
        while (bucket_of[i] + 1 < workers && part[i] >= bounds[bucket_of[i] + 1])
            ++bucket_of[i];
        ++starts[bucket_of[i] + 1];
    }
    for (int bucket = 0; bucket < workers; ++bucket) {
        starts[bucket + 1] += starts[bucket];
        fill[bucket] = starts[bucket];
    }
    for (int i = 0; i < count; ++i)
        ordered[fill[bucket_of[i]]++] = part[i];
    free(bucket_of);
    free(fill);
}

/* Sends the buckets of the others, gathers the own one from anybody; returns its size. */
static int exchange(struct world world, const float *ordered, const int *starts, float *own, int most)
{
    const int workers = world.size - 1, me = world.rank - 1;
    MPI_Request *sends = room((size_t)workers, sizeof(MPI_Request));
    int have = starts[me + 1] - starts[me], sending = 0, count;
    memcpy(own, ordered + starts[me], (size_t)have * sizeof *own);
    for (int to = 0; to < workers; ++to)
        if (to != me)
            MPI_Isend(ordered + starts[to], starts[to + 1] - starts[to], MPI_FLOAT, to + 1, BUCKET,
                      MPI_COMM_WORLD, &sends[sending++]);
    for (int i = 1; i < workers; ++i) {
        MPI_Status status;
        MPI_Recv(own + have, most - have, MPI_FLOAT, MPI_ANY_SOURCE, BUCKET, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_FLOAT, &count);
        have += count;
    }
    MPI_Waitall(sending, sends, MPI_STATUSES_IGNORE);
    free(sends);
    return have;
}

static void work(struct world world, int n)
{
    const int workers = world.size - 1, me = world.rank - 1;
    const int count = first_of(n, workers, me + 1) - first_of(n, workers, me);
    float *bounds = room((size_t)workers + 1, sizeof *bounds), *part = room((size_t)count, sizeof *part);
    float *ordered = room((size_t)count, sizeof *ordered), *own = room((size_t)n, sizeof *own);
    int *starts = room((size_t)workers + 1, sizeof *starts);
    MPI_Recv(bounds, workers + 1, MPI_FLOAT, MASTER, BOUNDS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(part, count, MPI_FLOAT, MASTER, PART, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    split(part, count, bounds, workers, ordered, starts);
    const int have = exchange(world, ordered, starts, own, n);
    qsort(own, (size_t)have, sizeof *own, ascending);
    MPI_Send(own, have, MPI_FLOAT, MASTER, SORTED, MPI_COMM_WORLD);
    free(bounds);
    free(part);
    free(ordered);
    free(own);
    free(starts);
}

int main(int argc, char **argv)
{
    const struct world world = begin(&argc, &argv, 2);
    const int n = argument(argc, argv, 1, 1000000);
    int ok = 1;
    if (world.rank == MASTER) {
        float *values = room((size_t)n, sizeof *values);
        deal(values, n, world.size - 1);
        const uint64_t sum = sum_of(values, n);
        ok = collect(values, n, world.size - 1) == n && sum_of(values, n) == sum;
        for (int i = 1; i < n; ++i)
            ok = ok && values[i - 1] <= values[i];
        free(values);
    } else {
        work(world, n);
    }
    return verdict(world, "bsort", ok, "floats=%d", n);
}

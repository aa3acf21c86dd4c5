/* SPDX-License-Identifier: GPL-3.0-or-later
 * Netzer and Miller, Table 1, line: intersections of random line segments. Every rank has all segments and
 * tests its share of the pairs; one message a rank brings the counts together, up a binary tree.
 * line [SEGMENTS=1000]
 *
 * Every level of the tree has a type (tag) of its own, so the receives, from anybody, do not race.
 */
#include "papers.h"

enum { SEED = 1000, SIDE = 10000, LENGTH = 2000, LEVEL = 1 };

struct segment {
    int64_t x[2], y[2];
};

/* Crossings and the sum of a hash of each crossing pair. */
struct crossings {
    uint64_t count, pairs;
};

static struct segment *segments_of(int n)
{
    struct segment *segments = room((size_t)n, sizeof *segments);
    uint64_t state = SEED;
    for (int i = 0; i < n; ++i) {
        segments[i].x[0] = (int64_t)(next_random(&state) % SIDE);
        segments[i].y[0] = (int64_t)(next_random(&state) % SIDE);
        segments[i].x[1] = segments[i].x[0] + (int64_t)(next_random(&state) % LENGTH) - LENGTH / 2;
        segments[i].y[1] = segments[i].y[0] + (int64_t)(next_random(&state) % LENGTH) - LENGTH / 2;
    }
    return segments;
}

/* On which side of the segment's line the end of the other lies. */
static int side(const struct segment *line, const struct segment *other, int end)
{
    const int64_t area = (line->x[1] - line->x[0]) * (other->y[end] - line->y[0]) -
                         (line->y[1] - line->y[0]) * (other->x[end] - line->x[0]);
    return (area > 0) - (area < 0);
}

static int cross(const struct segment *a, const struct segment *b)
{
    return side(a, b, 0) * side(a, b, 1) < 0 && side(b, a, 0) * side(b, a, 1) < 0;
}

/* Crossings of the segments first, first + step, ... with those after them. */
static struct crossings count(const struct segment *segments, int n, int first, int step)
{
    struct crossings found = {0, 0};
    for (int i = first; i < n; i += step)
        for (int j = i + 1; j < n; ++j)
            if (cross(&segments[i], &segments[j])) {
                ++found.count;
                found.pairs += mixed((uint64_t)i * (uint64_t)n + (uint64_t)j);
            }
    return found;
}

int main(int argc, char **argv)
{
    const struct world world = begin(&argc, &argv, 2);
    const int n = argument(argc, argv, 1, 1000);
    struct segment *segments = segments_of(n);
    struct crossings found = count(segments, n, world.rank, world.size), other;
    for (int level = 0, bit = 1; bit < world.size; ++level, bit *= 2) {
        if (world.rank & bit) {
            MPI_Send(&found, 2, MPI_UINT64_T, world.rank - bit, LEVEL + level, MPI_COMM_WORLD);
            break;
        }
        if (world.rank + bit < world.size) {
            MPI_Recv(&other, 2, MPI_UINT64_T, MPI_ANY_SOURCE, LEVEL + level, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            found.count += other.count;
            found.pairs += other.pairs;
        }
    }
    int ok = 1;
    if (world.rank == 0) {
        const struct crossings right = count(segments, n, 0, 1);
        ok = found.count == right.count && found.pairs == right.pairs;
    }
    free(segments);
    return verdict(world, "line", ok, "segments=%d crossings=%lu", n, (unsigned long)found.count);
}

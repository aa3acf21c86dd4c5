/* SPDX-License-Identifier: GPL-3.0-or-later
 * MPIWiz, Table 3, GE: Gaussian elimination with partial pivoting, rows dealt out cyclically. At every step
 * another rank takes each rank's candidate for the pivot, from anybody, and broadcasts the choice; the
 * pivot's owner broadcasts the row. Back substitution broadcasts every unknown. The original asks the system
 * for the time itself; so does this.
 * ge [ROWS=256] [timed]: with the second argument the line ends with the milliseconds
 */
#include <sys/time.h>

#include "papers.h"

enum { CANDIDATE = 1, SEED = 256 };

struct part {
    struct world world;
    int n;
    double *rows;     /* own rows, n coefficients and the right side */
    char *used;       /* own rows that have been a pivot */
    int *pivot_of;    /* the row that was the pivot of a step */
    double *unknowns; /* all, at the end */
};

/* The greatest coefficient found so far and its row, as two doubles. */
struct candidate {
    double size, row;
};

static double solution(int unknown)
{
    return (double)(unknown % 5) - 2.0;
}

static double *own_row(const struct part *part, int row)
{
    return &part->rows[(size_t)(row / part->world.size) * (part->n + 1)];
}

static void make(struct part *part)
{
    const int n = part->n;
    for (int i = part->world.rank; i < n; i += part->world.size) {
        double *row = own_row(part, i);
        for (int j = 0; j < n; ++j) {
            row[j] = entry(SEED, i, j);
            row[n] += row[j] * solution(j);
        }
    }
}

static struct candidate better(struct candidate a, struct candidate b)
{
    const int second = b.size > a.size || (b.size == a.size && b.row < a.row);
    return second ? b : a;
}

static int choose(const struct part *part, int step)
{
    const int rank = part->world.rank, size = part->world.size, asking = step % size;
    struct candidate best = {-1.0, part->n}, other;
    for (int i = rank; i < part->n; i += size)
        if (!part->used[i / size])
            best = better(best, (struct candidate){fabs(own_row(part, i)[step]), i});
    if (rank != asking)
        MPI_Send(&best, 2, MPI_DOUBLE, asking, CANDIDATE, MPI_COMM_WORLD);
    for (int i = 1; i < size && rank == asking; ++i) {
        MPI_Recv(&other, 2, MPI_DOUBLE, MPI_ANY_SOURCE, CANDIDATE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        best = better(best, other);
    }
    int row = (int)best.row;
    MPI_Bcast(&row, 1, MPI_INT, asking, MPI_COMM_WORLD);
    return row;
}

static void eliminate(struct part *part, int step, double *pivot)
{
    const int rank = part->world.rank, size = part->world.size, n = part->n, row = part->pivot_of[step];
    if (row % size == rank) {
        memcpy(pivot, own_row(part, row), (size_t)(n + 1) * sizeof *pivot);
        part->used[row / size] = 1;
    }
    MPI_Bcast(pivot, n + 1, MPI_DOUBLE, row % size, MPI_COMM_WORLD);
    for (int i = rank; i < n; i += size) {
        double *own = own_row(part, i);
        const double factor = part->used[i / size] ? 0.0 : own[step] / pivot[step];
        for (int j = step; j <= n && factor != 0.0; ++j)
            own[j] -= factor * pivot[j];
    }
}

static void substitute(struct part *part)
{
    const int n = part->n;
    for (int step = n - 1; step >= 0; --step) {
        const int row = part->pivot_of[step], owner = row % part->world.size;
        if (owner == part->world.rank) {
            const double *own = own_row(part, row);
            double value = own[n];
            for (int j = step + 1; j < n; ++j)
                value -= own[j] * part->unknowns[j];
            part->unknowns[step] = value / own[step];
        }
        MPI_Bcast(&part->unknowns[step], 1, MPI_DOUBLE, owner, MPI_COMM_WORLD);
    }
}

static long milliseconds(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return now.tv_sec * 1000 + now.tv_usec / 1000;
}

int main(int argc, char **argv)
{
    struct part part = {.world = begin(&argc, &argv, 2)};
    const int n = part.n = argument(argc, argv, 1, 256), own = n / part.world.size + 1;
    double *pivot = room((size_t)n + 1, sizeof *pivot), error = 0.0;
    char taken[32] = "";
    part.rows = room((size_t)own * (n + 1), sizeof *part.rows);
    part.used = room((size_t)own, 1);
    part.pivot_of = room((size_t)n, sizeof *part.pivot_of);
    part.unknowns = room((size_t)n, sizeof *part.unknowns);
    const long start = milliseconds();
    make(&part);
    for (int step = 0; step < n; ++step) {
        part.pivot_of[step] = choose(&part, step);
        eliminate(&part, step, pivot);
    }
    substitute(&part);
    const long end = milliseconds();
    for (int i = 0; i < n; ++i)
        error = worse(error, fabs(part.unknowns[i] - solution(i)));
    if (argc > 2)
        snprintf(taken, sizeof taken, " ms=%ld", end - start);
    free(part.rows);
    free(part.used);
    free(part.pivot_of);
    free(part.unknowns);
    free(pivot);
    return verdict(part.world, "ge", error < 1e-6, "rows=%d%s", n, taken);
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 * Netzer and Miller, Table 1, sys: a random linear system by Gaussian elimination (Gauss and Jordan's). Rows
 * are dealt out cyclically; a row's owner takes its largest coefficient as the pivot and sends everybody
 * first where that is, then the row; at the end it sends rank 0 the unknown that the row has solved.
 * sys [EQUATIONS=300]
 *
 * Nodes of the iPSC/2 receive by type (a tag here), from anybody. A type belongs to one step, so nothing
 * races but the solved unknowns.
 */
#include "papers.h"

enum { SEED = 300, SOLVED = 1, STEP = 2 };

struct part {
    struct world world;
    int n;
    double *rows;  /* own equations, n coefficients and the right side */
    int *unknowns; /* which unknown an own equation solves */
};

static double solution(int unknown)
{
    return (double)(unknown % 7) - 3.0;
}

static void make(struct part *part)
{
    const int n = part->n;
    for (int i = part->world.rank; i < n; i += part->world.size) {
        double *row = &part->rows[(size_t)(i / part->world.size) * (n + 1)];
        for (int j = 0; j < n; ++j) {
            row[j] = entry(SEED, i, j);
            row[n] += row[j] * solution(j);
        }
    }
}

/* The coefficients of the unknowns already solved are zero or rounding errors: the largest is of another. */
static int largest(const double *row, int n)
{
    int best = 0;
    for (int j = 1; j < n; ++j)
        if (fabs(row[j]) > fabs(row[best]))
            best = j;
    return best;
}

/* Equation step becomes the pivot of all ranks; returns the unknown that it solves. */
static int spread(struct part *part, int step, double *pivot)
{
    const int rank = part->world.rank, size = part->world.size, n = part->n, type = STEP + 2 * step;
    int unknown;
    if (step % size != rank) {
        MPI_Recv(&unknown, 1, MPI_INT, MPI_ANY_SOURCE, type, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(pivot, n + 1, MPI_DOUBLE, MPI_ANY_SOURCE, type + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return unknown;
    }
    memcpy(pivot, &part->rows[(size_t)(step / size) * (n + 1)], (size_t)(n + 1) * sizeof *pivot);
    unknown = part->unknowns[step / size] = largest(pivot, n);
    for (int to = 0; to < size; ++to)
        if (to != rank) {
            MPI_Send(&unknown, 1, MPI_INT, to, type, MPI_COMM_WORLD);
            MPI_Send(pivot, n + 1, MPI_DOUBLE, to, type + 1, MPI_COMM_WORLD);
        }
    return unknown;
}

static void eliminate(struct part *part, int step, int unknown, const double *pivot)
{
    const int n = part->n, size = part->world.size;
    for (int i = part->world.rank; i < n; i += size) {
        double *row = &part->rows[(size_t)(i / size) * (n + 1)];
        const double factor = i == step ? 0.0 : row[unknown] / pivot[unknown];
        if (factor == 0.0)
            continue;
        for (int j = 0; j <= n; ++j)
            row[j] -= factor * pivot[j];
        row[unknown] = 0.0;
    }
}

/* Rank 0 ends up with all unknowns. */
static void solve(const struct part *part, double *values)
{
    const int n = part->n, rank = part->world.rank, size = part->world.size;
    int own = 0;
    for (int i = rank; i < n; i += size, ++own) {
        const double *row = &part->rows[(size_t)(i / size) * (n + 1)];
        const int unknown = part->unknowns[i / size];
        const double solved[2] = {unknown, row[n] / row[unknown]};
        if (rank != 0)
            MPI_Send(solved, 2, MPI_DOUBLE, 0, SOLVED, MPI_COMM_WORLD);
        else
            values[unknown] = solved[1];
    }
    for (int i = own; i < n && rank == 0; ++i) {
        double solved[2];
        MPI_Recv(solved, 2, MPI_DOUBLE, MPI_ANY_SOURCE, SOLVED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        values[(int)solved[0]] = solved[1];
    }
}

int main(int argc, char **argv)
{
    struct part part = {.world = begin(&argc, &argv, 2)};
    const int n = part.n = argument(argc, argv, 1, 300), size = part.world.size;
    double *pivot = room((size_t)n + 1, sizeof *pivot), *values = room((size_t)n, sizeof *values);
    double error = 0.0;
    part.rows = room((size_t)(n / size + 1) * (n + 1), sizeof *part.rows);
    part.unknowns = room((size_t)n / size + 1, sizeof *part.unknowns);
    make(&part);
    for (int step = 0; step < n; ++step) {
        const int unknown = spread(&part, step, pivot);
        eliminate(&part, step, unknown, pivot);
    }
    solve(&part, values);
    for (int i = 0; i < n && part.world.rank == 0; ++i)
        error = worse(error, fabs(values[i] - solution(i)));
    free(part.rows);
    free(part.unknowns);
    free(pivot);
    free(values);
    return verdict(part.world, "sys", error < 1e-6, "equations=%d", n);
}

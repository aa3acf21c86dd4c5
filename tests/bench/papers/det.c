/* SPDX-License-Identifier: GPL-3.0-or-later
 * Netzer and Miller, Table 1, det: the determinant of a random matrix by Gaussian elimination with partial
 * pivoting. Rows are dealt out cyclically; the pivot is found up a binary tree, announced by rank 0, and its
 * row sent to everybody by its owner.
 * det [ROWS=100] [PANELS=4]
 *
 * Nodes of the iPSC/2 receive by type (a tag here), from anybody. A type belongs to one step, so nothing
 * races but the partial products, of which every rank sends one a panel.
 */
#include "papers.h"

enum { REPORT = 1, DEAL = 2, LEVELS = 16, SEED = 100 };
enum { ANNOUNCE = LEVELS - 2, PIVOT_ROW = LEVELS - 1 };

struct part {
    struct world world;
    int n;
    double *rows; /* own rows, whole: row i of the matrix is row i / size here */
    char *used;   /* own rows that have been a pivot */
};

/* What is sent of a pivot or of a product: size, then the row or the count of negative factors. */
struct factor {
    double size, which;
};

static int type_of(int n, int step, int part)
{
    return DEAL + n + step * LEVELS + part;
}

static void deal(struct part *part)
{
    const int n = part->n, size = part->world.size;
    double *row = room((size_t)n, sizeof *row);
    for (int i = 0; i < n; ++i) {
        const int owner = i % size;
        double *own = owner == part->world.rank ? &part->rows[(size_t)(i / size) * n] : row;
        for (int j = 0; j < n && part->world.rank == 0; ++j)
            own[j] = entry(SEED, i, j);
        if (part->world.rank == 0 && owner != 0)
            MPI_Send(own, n, MPI_DOUBLE, owner, DEAL + i, MPI_COMM_WORLD);
        else if (part->world.rank == owner && owner != 0)
            MPI_Recv(own, n, MPI_DOUBLE, MPI_ANY_SOURCE, DEAL + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(row);
}

static struct factor better(struct factor a, struct factor b)
{
    const int second = b.size > a.size || (b.size == a.size && b.which < a.which);
    return second ? b : a;
}

/* The largest element of column step among the rows not yet used; rank 0 tells everybody its row. */
static int pivot_of(const struct part *part, int step)
{
    const int rank = part->world.rank, size = part->world.size, n = part->n;
    struct factor best = {-1.0, n}, other;
    for (int i = rank; i < n; i += size)
        if (!part->used[i / size])
            best = better(best, (struct factor){fabs(part->rows[(size_t)(i / size) * n + step]), i});
    for (int level = 0, bit = 1; bit < size; ++level, bit *= 2) {
        const int type = type_of(n, step, level);
        if (rank & bit) {
            MPI_Send(&best, 2, MPI_DOUBLE, rank - bit, type, MPI_COMM_WORLD);
            break;
        }
        if (rank + bit < size) {
            MPI_Recv(&other, 2, MPI_DOUBLE, MPI_ANY_SOURCE, type, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            best = better(best, other);
        }
    }
    const int type = type_of(n, step, ANNOUNCE);
    int row = (int)best.which;
    for (int to = 1; to < size && rank == 0; ++to)
        MPI_Send(&row, 1, MPI_INT, to, type, MPI_COMM_WORLD);
    if (rank != 0)
        MPI_Recv(&row, 1, MPI_INT, MPI_ANY_SOURCE, type, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return row;
}

static void eliminate(struct part *part, int step, int row, double *pivot)
{
    const int rank = part->world.rank, size = part->world.size, n = part->n;
    const int type = type_of(n, step, PIVOT_ROW);
    if (row % size == rank) {
        memcpy(pivot, &part->rows[(size_t)(row / size) * n], (size_t)n * sizeof *pivot);
        part->used[row / size] = 1;
        for (int to = 0; to < size; ++to)
            if (to != rank)
                MPI_Send(pivot, n, MPI_DOUBLE, to, type, MPI_COMM_WORLD);
    } else {
        MPI_Recv(pivot, n, MPI_DOUBLE, MPI_ANY_SOURCE, type, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = rank; i < n; i += size) {
        double *own = &part->rows[(size_t)(i / size) * n];
        const double factor = part->used[i / size] ? 0.0 : own[step] / pivot[step];
        for (int j = step; j < n && factor != 0.0; ++j)
            own[j] -= factor * pivot[j];
    }
}

static void multiply(struct factor *product, double value)
{
    product->size += log(fabs(value));
    product->which += value < 0.0;
}

/* Odd permutations of the rows change the sign: one factor of -1 for each exchange. */
static int exchanges(int *row_of_step, int n)
{
    int count = 0;
    for (int i = 0; i < n; ++i)
        while (row_of_step[i] != i) {
            const int other = row_of_step[i];
            row_of_step[i] = row_of_step[other];
            row_of_step[other] = other;
            ++count;
        }
    return count;
}

/* The same in one process, for the check. */
static struct factor alone(int n)
{
    struct factor product = {0.0, 0.0};
    struct part part = {{0, 1}, n, room((size_t)n * n, sizeof(double)), room((size_t)n, 1)};
    double *pivot = room((size_t)n, sizeof *pivot);
    int *rows = room((size_t)n, sizeof *rows);
    deal(&part);
    for (int step = 0; step < n; ++step) {
        rows[step] = pivot_of(&part, step);
        eliminate(&part, step, rows[step], pivot);
        multiply(&product, pivot[step]);
    }
    product.which += exchanges(rows, n);
    free(part.rows);
    free(part.used);
    free(pivot);
    free(rows);
    return product;
}

int main(int argc, char **argv)
{
    struct part part = {.world = begin(&argc, &argv, 2)};
    const int rank = part.world.rank, size = part.world.size;
    const int n = part.n = argument(argc, argv, 1, 100), panels = argument(argc, argv, 2, 4);
    double *pivot = room((size_t)n, sizeof *pivot);
    int *rows = room((size_t)n, sizeof *rows), ok = 1;
    struct factor product = {0.0, 0.0}, right = {0.0, 0.0};
    part.rows = room((size_t)(n / size + 1) * n, sizeof *part.rows);
    part.used = room((size_t)n / size + 1, 1);
    deal(&part);
    for (int panel = 0; panel < panels; ++panel) {
        struct factor own = {0.0, 0.0};
        for (int step = first_of(n, panels, panel); step < first_of(n, panels, panel + 1); ++step) {
            rows[step] = pivot_of(&part, step);
            eliminate(&part, step, rows[step], pivot);
            if (rows[step] % size == rank)
                multiply(&own, pivot[step]);
        }
        if (rank != 0)
            MPI_Send(&own, 2, MPI_DOUBLE, 0, REPORT, MPI_COMM_WORLD);
        product.size += own.size;
        product.which += own.which;
    }
    for (int i = 0; i < panels * (size - 1) && rank == 0; ++i) {
        struct factor own;
        MPI_Recv(&own, 2, MPI_DOUBLE, MPI_ANY_SOURCE, REPORT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        product.size += own.size;
        product.which += own.which;
    }
    if (rank == 0) {
        product.which += exchanges(rows, n);
        right = alone(n);
        ok = fabs(product.size - right.size) < 1e-7 && fmod(product.which - right.which, 2.0) == 0.0;
    }
    free(part.rows);
    free(part.used);
    free(pivot);
    free(rows);
    return verdict(part.world, "det", ok, "rows=%d sign=%c log=%.5f", n,
                   fmod(product.which, 2.0) == 0.0 ? '+' : '-', product.size);
}

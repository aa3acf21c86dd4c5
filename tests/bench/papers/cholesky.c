/* SPDX-License-Identifier: GPL-3.0-or-later
 * Yan, Tables 1 to 5, CHOL: Cholesky factorization of a random matrix, by columns, fan-out. Columns are
 * dealt out cyclically; a finished column goes to every rank that still has columns to its right, first its
 * index, which is taken from anybody, then its values, from the rank of the index. The factor goes to rank 0
 * in pieces.
 * cholesky [ROWS=1000] [PIECE=140]
 */
#include "papers.h"

enum { DEAL = 1, INDEX, VALUES, FACTOR, SEED = 9 };

struct part {
    struct world world;
    int n, piece;
    double **columns; /* own ones: from the diagonal down; rank 0 gets all at the end */
    int *indices;
    MPI_Request *sends;
    int sending;
};

/* Symmetric and diagonally dominant, hence positive definite. */
static double original(int n, int i, int j)
{
    return i == j ? n + 1.0 : i > j ? entry(SEED, i, j) : entry(SEED, j, i);
}

static void deal(struct part *part)
{
    const int n = part->n, rank = part->world.rank, size = part->world.size;
    double *column = room((size_t)n, sizeof *column);
    for (int j = 0; j < n; ++j) {
        part->indices[j] = j;
        if (rank == j % size)
            part->columns[j] = room((size_t)(n - j), sizeof(double));
        for (int i = j; i < n && rank == 0; ++i)
            (j % size == 0 ? part->columns[j] : column)[i - j] = original(n, i, j);
        if (rank == 0 && j % size != 0)
            MPI_Send(column, n - j, MPI_DOUBLE, j % size, DEAL, MPI_COMM_WORLD);
        else if (rank != 0 && j % size == rank)
            MPI_Recv(part->columns[j], n - j, MPI_DOUBLE, 0, DEAL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(column);
}

/* Takes column k, which is finished, away from the own columns to its right, next and those after it. */
static void apply(const struct part *part, int k, const double *values, int next)
{
    const int n = part->n;
    for (int j = next; j < n; j += part->world.size) {
        const double factor = values[j - k];
        double *column = part->columns[j];
        for (int i = j; i < n; ++i)
            column[i - j] -= factor * values[i - k];
    }
}

static void finish(double *column, int rows)
{
    const double diagonal = sqrt(column[0]);
    for (int i = 0; i < rows; ++i)
        column[i] /= diagonal;
    column[0] = diagonal;
}

/* No waiting here: the ranks that get this column may be sending as well. */
static void fan_out(struct part *part, int k)
{
    const int n = part->n, size = part->world.size;
    MPI_Waitall(part->sending, part->sends, MPI_STATUSES_IGNORE);
    part->sending = 0;
    for (int ahead = 1; ahead < size && k + ahead < n; ++ahead) {
        const int to = (k + ahead) % size;
        MPI_Isend(&part->indices[k], 1, MPI_INT, to, INDEX, MPI_COMM_WORLD, &part->sends[part->sending++]);
        MPI_Isend(part->columns[k], n - k, MPI_DOUBLE, to, VALUES, MPI_COMM_WORLD,
                  &part->sends[part->sending++]);
    }
}

/* An own column is finished once all to its left have been taken away from it, in any order. */
static void factorize(struct part *part)
{
    const int n = part->n, size = part->world.size;
    double *values = room((size_t)n, sizeof *values);
    for (int next = part->world.rank, applied = 0; next < n; ++applied) {
        MPI_Status status;
        int k;
        if (applied == next) {
            finish(part->columns[next], n - next);
            fan_out(part, next);
            apply(part, next, part->columns[next], next + size);
            next += size;
            continue;
        }
        MPI_Recv(&k, 1, MPI_INT, MPI_ANY_SOURCE, INDEX, MPI_COMM_WORLD, &status);
        MPI_Recv(values, n - k, MPI_DOUBLE, status.MPI_SOURCE, VALUES, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        apply(part, k, values, next);
    }
    MPI_Waitall(part->sending, part->sends, MPI_STATUSES_IGNORE);
    free(values);
}

static int pieces(const struct part *part, int j)
{
    return (part->n - j + part->piece - 1) / part->piece;
}

/* A piece says first which column it is of and at which row it begins. */
static void collect(struct part *part)
{
    const int n = part->n, rank = part->world.rank, size = part->world.size;
    double *piece = room((size_t)part->piece + 2, sizeof *piece);
    int coming = 0;
    for (int j = 0; j < n; ++j) {
        if (rank == 0 && j % size != 0) {
            part->columns[j] = room((size_t)(n - j), sizeof(double));
            coming += pieces(part, j);
        }
        for (int i = 0; i < n - j && rank != 0 && j % size == rank; i += part->piece) {
            const int rows = part->piece < n - j - i ? part->piece : n - j - i;
            piece[0] = j;
            piece[1] = i;
            memcpy(piece + 2, part->columns[j] + i, (size_t)rows * sizeof *piece);
            MPI_Send(piece, rows + 2, MPI_DOUBLE, 0, FACTOR, MPI_COMM_WORLD);
        }
    }
    while (coming-- > 0) {
        MPI_Status status;
        int count;
        MPI_Recv(piece, part->piece + 2, MPI_DOUBLE, MPI_ANY_SOURCE, FACTOR, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        memcpy(part->columns[(int)piece[0]] + (int)piece[1], piece + 2, (size_t)(count - 2) * sizeof *piece);
    }
    free(piece);
}

/* Greatest element of L (L' v) - A v for a vector v, over n. */
static double error_of(const struct part *part)
{
    const int n = part->n;
    double *v = room((size_t)n, sizeof *v), *left = room((size_t)n, sizeof *left), most = 0.0;
    for (int i = 0; i < n; ++i)
        v[i] = entry(SEED + 1, i, 0);
    for (int j = 0; j < n; ++j) {
        double sum = 0.0;
        for (int i = j; i < n; ++i)
            sum += part->columns[j][i - j] * v[i];
        for (int i = j; i < n; ++i)
            left[i] += part->columns[j][i - j] * sum;
    }
    for (int i = 0; i < n; ++i) {
        double sum = 0.0;
        for (int j = 0; j < n; ++j)
            sum += original(n, i, j) * v[j];
        most = worse(most, fabs(sum - left[i]) / n);
    }
    free(v);
    free(left);
    return most;
}

int main(int argc, char **argv)
{
    struct part part = {.world = begin(&argc, &argv, 2)};
    const int n = part.n = argument(argc, argv, 1, 1000);
    double logarithm = 0.0;
    int ok = 1;
    part.piece = argument(argc, argv, 2, 140);
    part.columns = room((size_t)n, sizeof *part.columns);
    part.indices = room((size_t)n, sizeof *part.indices);
    part.sends = room(2 * (size_t)part.world.size, sizeof(MPI_Request));
    deal(&part);
    factorize(&part);
    collect(&part);
    if (part.world.rank == 0) {
        for (int j = 0; j < n; ++j)
            logarithm += 2.0 * log(part.columns[j][0]);
        ok = error_of(&part) < 1e-10;
    }
    for (int j = 0; j < n; ++j)
        free(part.columns[j]);
    free(part.columns);
    free(part.indices);
    free(part.sends);
    return verdict(part.world, "cholesky", ok, "rows=%d log=%.5f", n, logarithm);
}

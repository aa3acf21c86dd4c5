/* SPDX-License-Identifier: GPL-3.0-or-later
 * Meehan, Figure 9, 2DFFT: two-dimensional fast Fourier transform, without races. Every rank transforms its
 * rows; blocks go pairwise between ranks to transpose the matrix; the same again for what were the columns.
 * fft2d [SIDE=256]: a power of two, a multiple of the ranks
 */
#include <complex.h>

#include "papers.h"

enum { BLOCK = 1, RESULT, SEED = 2, CHECKS = 8 };

struct matrix {
    struct world world;
    int n, rows;
    double complex *roots, *own, *turned; /* n roots of unity; own rows; what comes of the transposed */
};

static double complex input(int i, int j)
{
    return entry(SEED, i, j) + I * entry(SEED + 1, i, j);
}

/* In place: bit reversal, then butterflies. */
static void transform(const struct matrix *matrix, double complex *row)
{
    const int n = matrix->n;
    for (int i = 1, j = 0; i < n; ++i) {
        int bit = n / 2;
        for (; j & bit; bit /= 2)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            const double complex other = row[i];
            row[i] = row[j];
            row[j] = other;
        }
    }
    for (int half = 1; half < n; half *= 2)
        for (int i = 0; i < n; ++i)
            if (!(i & half)) {
                const double complex odd = row[i + half] * matrix->roots[(i & (half - 1)) * (n / (2 * half))];
                row[i + half] = row[i] - odd;
                row[i] += odd;
            }
}

/* Block (a, b) becomes block (b, a), transposed; at every shift a rank sends one block and gets one. */
static void transpose(struct matrix *matrix)
{
    const int n = matrix->n, rows = matrix->rows, rank = matrix->world.rank, size = matrix->world.size;
    const int doubles = 2 * rows * rows;
    double complex *out = room((size_t)rows * rows, sizeof *out), *in = room((size_t)rows * rows, sizeof *in);
    for (int shift = 0; shift < size; ++shift) {
        const int to = (rank + shift) % size, from = (rank + size - shift) % size;
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < rows; ++j)
                out[j * rows + i] = matrix->own[i * n + to * rows + j];
        if (shift == 0)
            memcpy(in, out, (size_t)doubles * sizeof(double));
        else
            MPI_Sendrecv(out, doubles, MPI_DOUBLE, to, BLOCK, in, doubles, MPI_DOUBLE, from, BLOCK,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < rows; ++i)
            memcpy(&matrix->turned[i * n + from * rows], &in[i * rows], (size_t)rows * sizeof *in);
    }
    double complex *old = matrix->own;
    matrix->own = matrix->turned;
    matrix->turned = old;
    free(out);
    free(in);
}

static void collect(const struct matrix *matrix, double complex *whole)
{
    const int doubles = 2 * matrix->rows * matrix->n;
    if (matrix->world.rank != 0) {
        MPI_Send(matrix->own, doubles, MPI_DOUBLE, 0, RESULT, MPI_COMM_WORLD);
        return;
    }
    memcpy(whole, matrix->own, (size_t)doubles * sizeof(double));
    for (int from = 1; from < matrix->world.size; ++from)
        MPI_Recv(whole + (size_t)from * matrix->rows * matrix->n, doubles, MPI_DOUBLE, from, RESULT,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* A few coefficients against the definition, and the power of all (Parseval). */
static int right(const struct matrix *matrix, const double complex *whole)
{
    const int n = matrix->n;
    uint64_t state = SEED;
    double before = 0.0, after = 0.0;
    int ok = 1;
    for (int check = 0; check < CHECKS; ++check) {
        const int row = (int)(next_random(&state) % (unsigned)n),
                  column = (int)(next_random(&state) % (unsigned)n);
        double complex sum = 0.0;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                sum += input(i, j) * matrix->roots[((long)i * row + (long)j * column) % n];
        ok = ok && cabs(sum - whole[row * n + column]) < 1e-7;
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const double complex a = input(i, j), b = whole[i * n + j];
            before += creal(a * conj(a));
            after += creal(b * conj(b)) / n / n;
        }
    return ok && fabs(before - after) < 1e-9 * before;
}

int main(int argc, char **argv)
{
    struct matrix matrix = {.world = begin(&argc, &argv, 2)};
    const int n = matrix.n = argument(argc, argv, 1, 256), rank = matrix.world.rank;
    double complex *whole = NULL;
    if ((n & (n - 1)) != 0 || n % matrix.world.size != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    matrix.rows = n / matrix.world.size;
    matrix.roots = room((size_t)n, sizeof *matrix.roots);
    matrix.own = room((size_t)matrix.rows * n, sizeof *matrix.own);
    matrix.turned = room((size_t)matrix.rows * n, sizeof *matrix.turned);
    if (rank == 0)
        whole = room((size_t)n * n, sizeof *whole);
    for (int i = 0; i < n; ++i) {
        const double angle = -2.0 * 3.14159265358979323846 * i / n;
        matrix.roots[i] = cos(angle) + I * sin(angle);
    }
    for (int i = 0; i < matrix.rows * n; ++i)
        matrix.own[i] = input(rank * matrix.rows + i / n, i % n);
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < matrix.rows; ++i)
            transform(&matrix, &matrix.own[i * n]);
        transpose(&matrix);
    }
    collect(&matrix, whole);
    const int ok = rank != 0 || right(&matrix, whole);
    const double corner = rank == 0 ? creal(whole[0]) : 0.0;
    free(matrix.roots);
    free(matrix.own);
    free(matrix.turned);
    free(whole);
    return verdict(matrix.world, "fft2d", ok, "side=%d corner=%.6f", n, corner);
}

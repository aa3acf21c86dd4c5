/* SPDX-License-Identifier: GPL-3.0-or-later
 * Netzer and Miller, Table 1, mult: the product of two random matrices. Rank 0 deals blocks of rows of A and
 * panels of columns of B; the panels go once round a ring of all ranks; the product's rows go back to rank
 * 0.
 * mult [ROWS=100] [PIECES=4]: a rank's block is dealt, sent on and returned in so many messages
 *
 * A type (tag) belongs to one piece, so the receives, from anybody, do not race.
 */
#include "papers.h"

enum { SEED = 7, TYPE_A = 1 };

struct job {
    struct world world;
    int n, pieces;
    double *a, *b, *c; /* rank 0: whole, others: own rows count; b by columns */
};

static int parts(const struct job *job)
{
    return job->world.size * job->pieces;
}

static int first(const struct job *job, int part)
{
    return first_of(job->n, parts(job), part);
}

/* Elements of a part: rows of A or C, columns of B. */
static int length(const struct job *job, int part)
{
    return (first(job, part + 1) - first(job, part)) * job->n;
}

static void send_part(const struct job *job, const double *matrix, int part, int to, int type)
{
    MPI_Send(matrix + (size_t)first(job, part) * job->n, length(job, part), MPI_DOUBLE, to, type + part,
             MPI_COMM_WORLD);
}

static void receive_part(const struct job *job, double *matrix, int part, int type)
{
    MPI_Recv(matrix + (size_t)first(job, part) * job->n, length(job, part), MPI_DOUBLE, MPI_ANY_SOURCE,
             type + part, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void deal(const struct job *job)
{
    const int type_b = TYPE_A + parts(job);
    for (int part = job->pieces; part < parts(job) && job->world.rank == 0; ++part) {
        send_part(job, job->a, part, part / job->pieces, TYPE_A);
        send_part(job, job->b, part, part / job->pieces, type_b);
    }
    for (int i = 0; i < job->pieces && job->world.rank != 0; ++i) {
        const int part = job->world.rank * job->pieces + i;
        receive_part(job, job->a, part, TYPE_A);
        receive_part(job, job->b, part, type_b);
    }
}

/* Rows from row to end of the product, in the columns of one panel. */
static void multiply(const struct job *job, double *c, int row, int end, int panel)
{
    const int n = job->n;
    for (int i = row; i < end; ++i)
        for (int j = first(job, panel); j < first(job, panel + 1); ++j) {
            double sum = 0.0;
            for (int k = 0; k < n; ++k)
                sum += job->a[i * n + k] * job->b[j * n + k];
            c[i * n + j] = sum;
        }
}

/* At every turn a rank uses the panels that it has and passes them on to its right. */
static void ring(const struct job *job)
{
    const int rank = job->world.rank, size = job->world.size, type_b = TYPE_A + parts(job);
    const int row = first(job, rank * job->pieces), end = first(job, (rank + 1) * job->pieces);
    for (int turn = 0; turn < size; ++turn)
        for (int i = 0; i < job->pieces; ++i) {
            const int panel = (rank + size - turn) % size * job->pieces + i;
            const int coming = (rank + 2 * size - turn - 1) % size * job->pieces + i;
            MPI_Request sending = MPI_REQUEST_NULL;
            if (turn + 1 < size)
                MPI_Isend(job->b + (size_t)first(job, panel) * job->n, length(job, panel), MPI_DOUBLE,
                          (rank + 1) % size, type_b + panel, MPI_COMM_WORLD, &sending);
            multiply(job, job->c, row, end, panel);
            if (turn + 1 < size)
                receive_part(job, job->b, coming, type_b);
            MPI_Wait(&sending, MPI_STATUS_IGNORE);
        }
}

static void collect(const struct job *job)
{
    const int type_c = TYPE_A + 2 * parts(job);
    for (int i = 0; i < job->pieces && job->world.rank != 0; ++i)
        send_part(job, job->c, job->world.rank * job->pieces + i, 0, type_c);
    for (int part = job->pieces; part < parts(job) && job->world.rank == 0; ++part)
        receive_part(job, job->c, part, type_c);
}

/* Small whole numbers, so that the product is exact. */
static double whole(int matrix, int i, int j)
{
    return floor(8.0 * entry(SEED + (uint64_t)matrix, i, j));
}

int main(int argc, char **argv)
{
    struct job job = {.world = begin(&argc, &argv, 2)};
    const int n = job.n = argument(argc, argv, 1, 100);
    const size_t cells = (size_t)n * (size_t)n;
    int ok = 1;
    double trace = 0.0;
    job.pieces = argument(argc, argv, 2, 4);
    job.a = room(cells, sizeof *job.a);
    job.b = room(cells, sizeof *job.b);
    job.c = room(cells, sizeof *job.c);
    for (int i = 0; i < n && job.world.rank == 0; ++i)
        for (int j = 0; j < n; ++j) {
            job.a[i * n + j] = whole(0, i, j);
            job.b[j * n + i] = whole(1, i, j);
        }
    deal(&job);
    ring(&job);
    collect(&job);
    if (job.world.rank == 0) {
        double *right = room(cells, sizeof *right);
        for (int panel = 0; panel < parts(&job); ++panel)
            multiply(&job, right, 0, n, panel);
        ok = memcmp(right, job.c, cells * sizeof *right) == 0;
        for (int i = 0; i < n; ++i)
            trace += job.c[i * n + i];
        free(right);
    }
    free(job.a);
    free(job.b);
    free(job.c);
    return verdict(job.world, "mult", ok, "rows=%d trace=%.0f", n, trace);
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 * Netzer and Miller, Table 1, mesh: finite differences over a grid (Jacobi sweeps for Laplace's equation).
 * Rank 0 deals strips of rows to whoever asks; first come, first served.
 * mesh [ROWS=300] [STRIP=10] [SWEEPS=48]
 *
 * A strip is seven messages: header, row above, strip, row below; then done (from anybody), strip, change.
 */
#include "papers.h"

enum { HEADER = 1, ABOVE, STRIP, BELOW, DONE, CHANGE, MASTER = 0, SEED = 3 };

struct grid {
    int n, wide, strip, sweeps;
    double *now, *next;
};

static void relax(const double *from, double *to, int rows, int wide)
{
    for (int i = 1; i <= rows; ++i)
        for (int j = 1; j < wide - 1; ++j)
            to[i * wide + j] = 0.25 * (from[(i - 1) * wide + j] + from[(i + 1) * wide + j] +
                                       from[i * wide + j - 1] + from[i * wide + j + 1]);
}

static double change_of(const double *from, const double *to, int rows, int wide)
{
    double most = 0.0;
    for (int i = wide; i < (rows + 1) * wide; ++i)
        most = worse(most, fabs(to[i] - from[i]));
    return most;
}

/* Hot at the top, falling along the left side, anything within; both of the pair have the same border. */
static struct grid grid_of(int n, int strip, int sweeps)
{
    struct grid grid = {n, n + 2, strip, sweeps, NULL, NULL};
    const size_t cells = (size_t)grid.wide * (size_t)grid.wide;
    grid.now = room(cells, sizeof *grid.now);
    grid.next = room(cells, sizeof *grid.next);
    for (int i = 1; i <= n; ++i)
        for (int j = 1; j <= n; ++j)
            grid.now[i * grid.wide + j] = 50.0 + 50.0 * entry(SEED, i, j);
    for (int i = 0; i < grid.wide; ++i) {
        grid.now[i] = 100.0;
        grid.now[i * grid.wide] = 100.0 - 100.0 * i / n;
    }
    memcpy(grid.next, grid.now, cells * sizeof *grid.now);
    return grid;
}

static void swap(struct grid *grid)
{
    double *old = grid->now;
    grid->now = grid->next;
    grid->next = old;
}

static void give(const struct grid *grid, int to, int first)
{
    const int wide = grid->wide, rows = grid->strip < grid->n - first ? grid->strip : grid->n - first;
    const int header[2] = {first, rows};
    const double *above = &grid->now[first * wide];
    MPI_Send(header, 2, MPI_INT, to, HEADER, MPI_COMM_WORLD);
    MPI_Send(above, wide, MPI_DOUBLE, to, ABOVE, MPI_COMM_WORLD);
    MPI_Send(above + wide, rows * wide, MPI_DOUBLE, to, STRIP, MPI_COMM_WORLD);
    MPI_Send(above + (rows + 1) * wide, wide, MPI_DOUBLE, to, BELOW, MPI_COMM_WORLD);
}

/* Takes a result, or a first request, which has no rows; returns who is free now. */
static int take(struct grid *grid, double *change, int *done)
{
    int header[2];
    double most;
    MPI_Status status;
    MPI_Recv(header, 2, MPI_INT, MPI_ANY_SOURCE, DONE, MPI_COMM_WORLD, &status);
    const int from = status.MPI_SOURCE;
    if (header[1] > 0) {
        MPI_Recv(&grid->next[(header[0] + 1) * grid->wide], header[1] * grid->wide, MPI_DOUBLE, from, STRIP,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&most, 1, MPI_DOUBLE, from, CHANGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        *change = worse(*change, most);
        *done += header[1];
    }
    return from;
}

/* The sweeps; the change of the last one. */
static double deal(struct grid *grid, int workers)
{
    int *free_ones = room((size_t)workers, sizeof *free_ones), waiting = 0;
    double change = 0.0;
    for (int sweep = 0; sweep < grid->sweeps; ++sweep) {
        int given = 0, done = 0;
        change = 0.0;
        while (done < grid->n) {
            while (waiting > 0 && given < grid->n) {
                give(grid, free_ones[--waiting], given);
                given += grid->strip;
            }
            free_ones[waiting++] = take(grid, &change, &done);
        }
        swap(grid);
    }
    /* a worker that came too late for any strip still has its request on the way */
    for (int stopped = 0, none = 0; stopped < workers; ++stopped) {
        const int header[2] = {0, 0};
        const int to = waiting > 0 ? free_ones[--waiting] : take(grid, &change, &none);
        MPI_Send(header, 2, MPI_INT, to, HEADER, MPI_COMM_WORLD);
    }
    free(free_ones);
    return change;
}

static void work(const struct grid *grid)
{
    const int wide = grid->wide;
    double *from = grid->now, *to = grid->next;
    int header[2] = {0, 0};
    MPI_Send(header, 2, MPI_INT, MASTER, DONE, MPI_COMM_WORLD);
    for (;;) {
        MPI_Recv(header, 2, MPI_INT, MASTER, HEADER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const int rows = header[1];
        if (rows == 0)
            return;
        MPI_Recv(from, wide, MPI_DOUBLE, MASTER, ABOVE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(from + wide, rows * wide, MPI_DOUBLE, MASTER, STRIP, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(from + (rows + 1) * wide, wide, MPI_DOUBLE, MASTER, BELOW, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        memcpy(to, from, (size_t)(rows + 2) * wide * sizeof *to);
        relax(from, to, rows, wide);
        const double change = change_of(from, to, rows, wide);
        MPI_Send(header, 2, MPI_INT, MASTER, DONE, MPI_COMM_WORLD);
        MPI_Send(to + wide, rows * wide, MPI_DOUBLE, MASTER, STRIP, MPI_COMM_WORLD);
        MPI_Send(&change, 1, MPI_DOUBLE, MASTER, CHANGE, MPI_COMM_WORLD);
    }
}

static double greatest_error(const struct grid *grid)
{
    struct grid alone = grid_of(grid->n, grid->strip, grid->sweeps);
    double most = 0.0;
    for (int sweep = 0; sweep < grid->sweeps; ++sweep) {
        relax(alone.now, alone.next, grid->n, grid->wide);
        swap(&alone);
    }
    for (int i = 0; i < grid->wide * grid->wide; ++i)
        most = worse(most, fabs(alone.now[i] - grid->now[i]));
    free(alone.now);
    free(alone.next);
    return most;
}

int main(int argc, char **argv)
{
    const struct world world = begin(&argc, &argv, 2);
    struct grid grid =
        grid_of(argument(argc, argv, 1, 300), argument(argc, argv, 2, 10), argument(argc, argv, 3, 48));
    double change = 0.0;
    int ok = 1;
    if (world.rank == MASTER) {
        change = deal(&grid, world.size - 1);
        ok = greatest_error(&grid) < 1e-12;
    } else {
        work(&grid);
    }
    free(grid.now);
    free(grid.next);
    return verdict(world, "mesh", ok, "rows=%d sweeps=%d change=%.6f", grid.n, grid.sweeps, change);
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 * A field in strips of several lengths, and a line in pieces, each with a halo of one that neighbours exchange. Prints what each
 * rank has.
 * strips [stale]   rank 1 forgets what it gets from rank 0
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 4 };

static void look(int rank, int rows, double (*grid)[COLUMNS], int count, int *line)
{
    for (int i = 0; i < rows; ++i)
        printf("GRID %d %d: %g %g %g %g\n", rank, i, grid[i][0], grid[i][1], grid[i][2], grid[i][3]);
    printf("LINE %d:", rank);
    for (int i = 0; i < count; ++i)
        printf(" %d", line[i]);
    printf("\n");
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD); /* all are in here */
    MPI_Barrier(MPI_COMM_WORLD);
}

static void exchange(int rank, int size, void *data, int count, int width, MPI_Datatype type, size_t bytes, int stale)
{
    char *cells = data, other[COLUMNS * sizeof(double)];
    const int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    const size_t row = (size_t)width * bytes;
    MPI_Sendrecv(cells + row, width, type, up, 1, cells + (size_t)(count - 1) * row, width, type, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(cells + (size_t)(count - 2) * row, width, type, down, 2, stale && rank == 1 ? other : cells, width, type, up, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int stale = argc > 1 && strcmp(argv[1], "stale") == 0;
    const int rows = 4 + rank, count = 5 + 2 * rank;
    double (*grid)[COLUMNS] = calloc((size_t)rows, sizeof *grid);
    int *line = calloc((size_t)count, sizeof *line);
    for (int i = 1; i < rows - 1; ++i)
        for (int j = 0; j < COLUMNS; ++j)
            grid[i][j] = 100 * rank + 10 * i + j + 0.5;
    for (int i = 1; i < count - 1; ++i)
        line[i] = 100 * rank + i;
    exchange(rank, size, grid, rows, COLUMNS, MPI_DOUBLE, sizeof(double), stale);
    exchange(rank, size, line, count, 1, MPI_INT, sizeof(int), stale);
    look(rank, rows, grid, count, line);
    free(grid);
    free(line);
    MPI_Finalize();
    return 0;
}

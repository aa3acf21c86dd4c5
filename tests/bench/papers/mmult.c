/* SPDX-License-Identifier: GPL-3.0-or-later
 * Yan, Tables 1 to 5, MMULT: products of matrices of (side of the grid of ranks) x (block) rows, by Fox's
 * method as in PVM's own example: blocks of A go along their rows, the blocks of B roll up their columns,
 * all from named ranks. What races is what PVM asks its group server (rank 0 here), to join and a barrier
 * before every product, and the result.
 * mmult [BLOCK=30] [PRODUCTS=8]: A B, then that times B, and so on; a square number of ranks
 */
#include "papers.h"

enum { GROUP = 1, GO, RESULT, BLOCK_A, BLOCK_B, SEED = 77 };

struct grid {
    struct world world;
    int side, block, row, column;
    uint32_t *a, *b, *c; /* own blocks; arithmetic modulo 2^32 */
};

static uint32_t element(int matrix, int i, int j)
{
    return (uint32_t)mixed(SEED + (uint64_t)matrix + ((uint64_t)i << 40) + ((uint64_t)j << 20));
}

static void fill(const struct grid *grid, uint32_t *block, int matrix)
{
    for (int i = 0; i < grid->block; ++i)
        for (int j = 0; j < grid->block; ++j)
            block[i * grid->block + j] =
                element(matrix, grid->row * grid->block + i, grid->column * grid->block + j);
}

/* What PVM's group calls do: everybody tells the server, the server answers everybody. */
static void group(struct world world)
{
    int word = 0;
    if (world.rank != 0) {
        MPI_Send(&word, 1, MPI_INT, 0, GROUP, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    for (int i = 1; i < world.size; ++i)
        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, GROUP, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int to = 1; to < world.size; ++to)
        MPI_Send(&word, 1, MPI_INT, to, GO, MPI_COMM_WORLD);
}

static void add_product(const uint32_t *a, const uint32_t *b, uint32_t *c, int n)
{
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k)
            for (int j = 0; j < n; ++j)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

static void multiply(struct grid *grid)
{
    const int side = grid->side, cells = grid->block * grid->block;
    const int up = (grid->row + side - 1) % side * side + grid->column;
    const int down = (grid->row + 1) % side * side + grid->column;
    uint32_t *along = room((size_t)cells, sizeof *along), *rolled = room((size_t)cells, sizeof *rolled);
    memset(grid->c, 0, (size_t)cells * sizeof *grid->c);
    for (int turn = 0; turn < side; ++turn) {
        const int from = (grid->row + turn) % side;
        MPI_Request sending;
        if (from == grid->column)
            memcpy(along, grid->a, (size_t)cells * sizeof *along);
        for (int to = 0; to < side && from == grid->column; ++to)
            if (to != from)
                MPI_Send(along, cells, MPI_UINT32_T, grid->row * side + to, BLOCK_A + 2 * turn,
                         MPI_COMM_WORLD);
        if (from != grid->column)
            MPI_Recv(along, cells, MPI_UINT32_T, grid->row * side + from, BLOCK_A + 2 * turn, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        add_product(along, grid->b, grid->c, grid->block);
        MPI_Isend(grid->b, cells, MPI_UINT32_T, up, BLOCK_B + 2 * turn, MPI_COMM_WORLD, &sending);
        MPI_Recv(rolled, cells, MPI_UINT32_T, down, BLOCK_B + 2 * turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&sending, MPI_STATUS_IGNORE);
        memcpy(grid->b, rolled, (size_t)cells * sizeof *rolled);
    }
    memcpy(grid->a, grid->c, (size_t)cells * sizeof *grid->a);
    free(along);
    free(rolled);
}

static void place(const struct grid *grid, uint32_t *whole, const uint32_t *block, int owner)
{
    const int n = grid->side * grid->block;
    const int row = owner / grid->side * grid->block, column = owner % grid->side * grid->block;
    for (int i = 0; i < grid->block; ++i)
        memcpy(&whole[(row + i) * n + column], &block[i * grid->block], (size_t)grid->block * sizeof *block);
}

static void collect(const struct grid *grid, uint32_t *whole)
{
    const int cells = grid->block * grid->block;
    if (grid->world.rank != 0) {
        MPI_Send(grid->c, cells, MPI_UINT32_T, 0, RESULT, MPI_COMM_WORLD);
        return;
    }
    place(grid, whole, grid->c, 0);
    for (int i = 1; i < grid->world.size; ++i) {
        MPI_Status status;
        MPI_Recv(grid->b, cells, MPI_UINT32_T, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
        place(grid, whole, grid->b, status.MPI_SOURCE);
    }
}

static int right(const uint32_t *whole, int n, int products)
{
    const size_t cells = (size_t)n * (size_t)n;
    uint32_t *a = room(cells, sizeof *a), *b = room(cells, sizeof *b), *c = room(cells, sizeof *c);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            a[i * n + j] = element(0, i, j);
            b[i * n + j] = element(1, i, j);
        }
    for (int product = 0; product < products; ++product) {
        memset(c, 0, cells * sizeof *c);
        add_product(a, b, c, n);
        memcpy(a, c, cells * sizeof *a);
    }
    const int ok = memcmp(whole, a, cells * sizeof *a) == 0;
    free(a);
    free(b);
    free(c);
    return ok;
}

int main(int argc, char **argv)
{
    struct grid grid = {.world = begin(&argc, &argv, 4), .side = 2};
    const int block = grid.block = argument(argc, argv, 1, 30), products = argument(argc, argv, 2, 8);
    const size_t cells = (size_t)block * (size_t)block;
    while (grid.side * grid.side < grid.world.size)
        ++grid.side;
    if (grid.side * grid.side != grid.world.size)
        MPI_Abort(MPI_COMM_WORLD, 2);
    grid.row = grid.world.rank / grid.side;
    grid.column = grid.world.rank % grid.side;
    grid.a = room(cells, sizeof *grid.a);
    grid.b = room(cells, sizeof *grid.b);
    grid.c = room(cells, sizeof *grid.c);
    fill(&grid, grid.a, 0);
    fill(&grid, grid.b, 1);
    uint32_t *whole = room(cells * (size_t)grid.world.size, sizeof *whole);
    group(grid.world);
    for (int product = 0; product < products; ++product) {
        group(grid.world);
        multiply(&grid);
    }
    collect(&grid, whole);
    const int n = grid.side * block, ok = grid.world.rank != 0 || right(whole, n, products);
    const unsigned corner = whole[0];
    free(grid.a);
    free(grid.b);
    free(grid.c);
    free(whole);
    return verdict(grid.world, "mmult", ok, "rows=%d products=%d corner=%u", n, products, corner);
}

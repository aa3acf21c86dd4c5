/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Constructors of communicators with a topology, and what they can be asked. */
#include "families.h"

#include <stdlib.h>

static void cart(int unused)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], got_dims[2], got_periods[2], got_coords[2];
    int count = 0, rank = -1, up, down, kind = -1, mapped = -1;
    MPI_Comm comm;
    (void)unused;
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &mapped);
    CHECK(mapped >= 0 && mapped < ranks);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
    MPI_Topo_test(comm, &kind);
    CHECK(kind == MPI_CART);
    MPI_Cartdim_get(comm, &count);
    CHECK(count == 2);
    MPI_Cart_coords(comm, my_rank, 2, coords);
    MPI_Cart_get(comm, 2, got_dims, got_periods, got_coords);
    CHECK(memcmp(dims, got_dims, sizeof dims) == 0 && memcmp(coords, got_coords, sizeof coords) == 0);
    CHECK(got_periods[0] && !got_periods[1]);
    MPI_Cart_rank(comm, coords, &rank);
    CHECK(rank == my_rank);
    MPI_Cart_shift(comm, 0, 1, &up, &down);
    CHECK(up != MPI_PROC_NULL && down != MPI_PROC_NULL);
    take(coords, sizeof coords);
    take_int(up * 100 + down);
    use_communicator(comm);
    MPI_Comm_free(&comm);
}

/* Two rows out of a grid, and a cartesian communicator that leaves ranks out. */
static void cart_sub(int unused)
{
    int dims[2] = {0, 0}, periods[2] = {0, 0}, keep_row[2] = {0, 1}, keep_none[2] = {0, 0}, size = 0, two = 2;
    MPI_Comm grid, row, point, two_only;
    (void)unused;
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Cart_sub(grid, keep_row, &row);
    MPI_Comm_size(row, &size);
    CHECK(size == dims[1]);
    use_communicator(row);
    MPI_Cart_sub(grid, keep_none, &point);
    MPI_Comm_size(point, &size);
    CHECK(size == 1);
    use_communicator(point);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &two, periods, 0, &two_only);
    CHECK((two_only == MPI_COMM_NULL) == (my_rank >= 2));
    if (two_only != MPI_COMM_NULL) {
        use_communicator(two_only);
        MPI_Comm_free(&two_only);
    }
    MPI_Comm_free(&point);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
}

/* A chain, each rank with the ones beside it. */
static int make_chain(int index[], int edges[])
{
    int edge = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        if (rank > 0)
            edges[edge++] = rank - 1;
        if (rank < ranks - 1)
            edges[edge++] = rank + 1;
        index[rank] = edge;
    }
    return edge;
}

static void graph(int unused)
{
    int index[MAX_RANKS], edges[2 * MAX_RANKS], got_index[MAX_RANKS], got_edges[2 * MAX_RANKS];
    int nodes = 0, edge_count = 0, kind = -1, neighbours = 0, mine[2] = {-1, -1}, mapped = -1;
    const int made = make_chain(index, edges);
    MPI_Comm comm;
    (void)unused;
    MPI_Graph_map(MPI_COMM_WORLD, ranks, index, edges, &mapped);
    CHECK(mapped >= 0 && mapped < ranks);
    MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, 0, &comm);
    MPI_Topo_test(comm, &kind);
    CHECK(kind == MPI_GRAPH);
    MPI_Graphdims_get(comm, &nodes, &edge_count);
    CHECK(nodes == ranks && edge_count == made);
    MPI_Graph_get(comm, MAX_RANKS, 2 * MAX_RANKS, got_index, got_edges);
    CHECK(memcmp(index, got_index, (size_t)ranks * sizeof(int)) == 0);
    CHECK(memcmp(edges, got_edges, (size_t)made * sizeof(int)) == 0);
    MPI_Graph_neighbors_count(comm, my_rank, &neighbours);
    CHECK(neighbours == (my_rank > 0) + (my_rank < ranks - 1));
    MPI_Graph_neighbors(comm, my_rank, 2, mine);
    take(mine, sizeof mine);
    use_communicator(comm);
    MPI_Comm_free(&comm);
}

static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void take_neighbours(MPI_Comm comm, int ins, int outs)
{
    int got_ins = -1, got_outs = -1, weighted = 0, kind = -1;
    int sources[MAX_RANKS], source_weights[MAX_RANKS], targets[MAX_RANKS], target_weights[MAX_RANKS];
    MPI_Topo_test(comm, &kind);
    CHECK(kind == MPI_DIST_GRAPH);
    MPI_Dist_graph_neighbors_count(comm, &got_ins, &got_outs, &weighted);
    CHECK(got_ins == ins && got_outs == outs && weighted);
    MPI_Dist_graph_neighbors(comm, ins, sources, source_weights, outs, targets, target_weights);
    for (int i = 0; i < ins; ++i)
        CHECK(source_weights[i] == sources[i] + 10 * my_rank + 1);
    for (int i = 0; i < outs; ++i)
        CHECK(target_weights[i] == my_rank + 10 * targets[i] + 1);
    /* Open MPI keeps them in the order in which the ranks told of them, which is free. */
    qsort(sources, (size_t)ins, sizeof(int), order);
    qsort(targets, (size_t)outs, sizeof(int), order);
    take(sources, (size_t)ins * sizeof(int));
    take(targets, (size_t)outs * sizeof(int));
    use_communicator(comm);
}

/* Rank 0 tells of all edges: every rank sends to all higher ones. */
static void dist_graph(int unused)
{
    int nodes[MAX_RANKS], degrees[MAX_RANKS], targets[MAX_RANKS * MAX_RANKS], weights[MAX_RANKS * MAX_RANKS];
    int edge = 0;
    MPI_Comm comm;
    (void)unused;
    for (int rank = 0; rank < ranks; ++rank) {
        nodes[rank] = rank;
        degrees[rank] = ranks - 1 - rank;
        for (int target = rank + 1; target < ranks; ++target, ++edge) {
            targets[edge] = target;
            weights[edge] = rank + 10 * target + 1;
        }
    }
    MPI_Dist_graph_create(MPI_COMM_WORLD, my_rank == 0 ? ranks : 0, nodes, degrees, targets, weights, MPI_INFO_NULL, 0,
                          &comm);
    take_neighbours(comm, my_rank, ranks - 1 - my_rank);
    MPI_Comm_free(&comm);
}

static void dist_graph_adjacent(int unused)
{
    int sources[MAX_RANKS], targets[MAX_RANKS], source_weights[MAX_RANKS], target_weights[MAX_RANKS];
    const int outs = ranks - 1 - my_rank;
    MPI_Comm comm;
    (void)unused;
    for (int i = 0; i < my_rank; ++i) {
        sources[i] = i;
        source_weights[i] = i + 10 * my_rank + 1;
    }
    for (int i = 0; i < outs; ++i) {
        targets[i] = my_rank + 1 + i;
        target_weights[i] = my_rank + 10 * targets[i] + 1;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, my_rank, sources, source_weights, outs, targets, target_weights,
                                   MPI_INFO_NULL, 0, &comm);
    take_neighbours(comm, my_rank, outs);
    MPI_Comm_free(&comm);
}

const struct family topology_families[] = {{"cart_create", cart, 0},
                                           {"cart_sub", cart_sub, 0},
                                           {"graph_create", graph, 0},
                                           {"dist_graph_create", dist_graph, 0},
                                           {"dist_graph_create_adjacent", dist_graph_adjacent, 0},
                                           {NULL, NULL, 0}};

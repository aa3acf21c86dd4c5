/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Neighbourhood collectives, blocking (bit 0 off) and not, on cartesian, graph and distributed graph topologies. */
#include "families.h"

/* MPI_UNWEIGHTED is an address that only MPI may know. */
#pragma GCC diagnostic ignored "-Wstringop-overread"

enum { MOST = 2 * MAX_RANKS, UNTOUCHED = -1 };

/* Who sends to this rank and to whom it sends, in the order of the topology; MPI_PROC_NULL at open ends. */
struct neighbours {
    MPI_Comm comm;
    int ins, outs, in[MOST], out[MOST];
};

static void find_cart(struct neighbours *n)
{
    int dims[2] = {0, 0}, periods[2] = {0, 0};
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &n->comm);
    n->ins = n->outs = 4;
    for (int d = 0; d < 2; ++d)
        MPI_Cart_shift(n->comm, d, 1, &n->in[2 * d], &n->in[2 * d + 1]);
    memcpy(n->out, n->in, sizeof n->in);
}

/* In a ring of two both neighbours would be the same, and their messages could not be told apart. */
static void find_ring(struct neighbours *n)
{
    const int periodic = ranks > 2;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &n->comm);
    n->ins = n->outs = 2;
    MPI_Cart_shift(n->comm, 0, 1, &n->in[0], &n->in[1]);
    memcpy(n->out, n->in, sizeof n->in);
}

/* A star around rank 0. */
static void find_graph(struct neighbours *n)
{
    int index[MAX_RANKS], edges[2 * MAX_RANKS], edge = 0;
    for (int rank = 1; rank < ranks; ++rank)
        edges[edge++] = rank;
    index[0] = edge;
    for (int rank = 1; rank < ranks; ++rank) {
        edges[edge++] = 0;
        index[rank] = edge;
    }
    MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, 0, &n->comm);
    MPI_Graph_neighbors_count(n->comm, my_rank, &n->ins);
    MPI_Graph_neighbors(n->comm, my_rank, MOST, n->in);
    n->outs = n->ins;
    memcpy(n->out, n->in, sizeof n->in);
}

/* Every rank sends to all higher ones: in- and outdegrees differ, and one is zero at the ends. */
static void find_dist_graph(struct neighbours *n)
{
    n->ins = my_rank;
    n->outs = ranks - 1 - my_rank;
    for (int i = 0; i < n->ins; ++i)
        n->in[i] = my_rank - 1 - i;
    for (int i = 0; i < n->outs; ++i)
        n->out[i] = my_rank + 1 + i;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n->ins, n->in, MPI_UNWEIGHTED, n->outs, n->out, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &n->comm);
}

static void finish(int later, MPI_Request *request)
{
    if (later)
        MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void clear(int *data, int count)
{
    for (int i = 0; i < count; ++i)
        data[i] = UNTOUCHED;
}

/* The block of the i-th in-neighbour; pairwise: with data for this rank only. */
static void take_block(const struct neighbours *n, int i, const int *block, int count, int pairwise)
{
    if (n->in[i] != MPI_PROC_NULL)
        take_made(block, count, pairwise ? n->in[i] * MAX_RANKS + my_rank : n->in[i]);
    else
        CHECK(block[0] == UNTOUCHED);
}

static void same_to_all(const struct neighbours *n, int later)
{
    int out[COUNT], in[MOST * COUNT], counts[MOST], places[MOST];
    MPI_Request request;
    make(out, COUNT, my_rank);
    clear(in, MOST * COUNT);
    if (later)
        MPI_Ineighbor_allgather(out, COUNT, MPI_INT, in, COUNT, MPI_INT, n->comm, &request);
    else
        MPI_Neighbor_allgather(out, COUNT, MPI_INT, in, COUNT, MPI_INT, n->comm);
    finish(later, &request);
    for (int i = 0; i < n->ins; ++i)
        take_block(n, i, in + i * COUNT, COUNT, 0);
    clear(in, MOST * COUNT);
    for (int i = 0; i < MOST; ++i) {
        counts[i] = COUNT;
        places[i] = (n->ins - 1 - i) * COUNT;
    }
    if (later)
        MPI_Ineighbor_allgatherv(out, COUNT, MPI_INT, in, counts, places, MPI_INT, n->comm, &request);
    else
        MPI_Neighbor_allgatherv(out, COUNT, MPI_INT, in, counts, places, MPI_INT, n->comm);
    finish(later, &request);
    for (int i = 0; i < n->ins; ++i)
        take_block(n, i, in + places[i], COUNT, 0);
}

static void make_blocks(const struct neighbours *n, int *out, int *in)
{
    clear(in, MOST * COUNT);
    for (int i = 0; i < n->outs; ++i)
        make(out + i * COUNT, COUNT, my_rank * MAX_RANKS + n->out[i]);
}

static void take_blocks(const struct neighbours *n, const int *in)
{
    for (int i = 0; i < n->ins; ++i)
        take_block(n, i, in + i * COUNT, COUNT, 1);
}

static void other_to_each(const struct neighbours *n, int later)
{
    int out[MOST * COUNT], in[MOST * COUNT], counts[MOST], places[MOST];
    MPI_Aint bytes[MOST];
    MPI_Datatype types[MOST];
    MPI_Request request;
    for (int i = 0; i < MOST; ++i) {
        counts[i] = COUNT;
        places[i] = i * COUNT;
        bytes[i] = i * COUNT * (MPI_Aint)sizeof(int);
        types[i] = MPI_INT;
    }
    make_blocks(n, out, in);
    if (later)
        MPI_Ineighbor_alltoall(out, COUNT, MPI_INT, in, COUNT, MPI_INT, n->comm, &request);
    else
        MPI_Neighbor_alltoall(out, COUNT, MPI_INT, in, COUNT, MPI_INT, n->comm);
    finish(later, &request);
    take_blocks(n, in);
    make_blocks(n, out, in);
    if (later)
        MPI_Ineighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, n->comm, &request);
    else
        MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, n->comm);
    finish(later, &request);
    take_blocks(n, in);
    make_blocks(n, out, in);
    if (later)
        MPI_Ineighbor_alltoallw(out, counts, bytes, types, in, counts, bytes, types, n->comm, &request);
    else
        MPI_Neighbor_alltoallw(out, counts, bytes, types, in, counts, bytes, types, n->comm);
    finish(later, &request);
    take_blocks(n, in);
}

static void neighbour_family(int how)
{
    static void (*const find[])(struct neighbours *) = {find_cart, find_ring, find_graph, find_dist_graph};
    struct neighbours n;
    find[how / 2](&n);
    same_to_all(&n, how % 2);
    other_to_each(&n, how % 2);
    MPI_Comm_free(&n.comm);
}

const struct family neighbour_families[] = {
    {"neighbor_cart", neighbour_family, 0},  {"ineighbor_cart", neighbour_family, 1},
    {"neighbor_ring", neighbour_family, 2},  {"ineighbor_ring", neighbour_family, 3},
    {"neighbor_graph", neighbour_family, 4}, {"ineighbor_graph", neighbour_family, 5},
    {"neighbor_dist_graph", neighbour_family, 6}, {"ineighbor_dist_graph", neighbour_family, 7},
    {NULL, NULL, 0}};

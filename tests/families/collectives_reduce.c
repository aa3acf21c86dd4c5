/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collectives that reduce, blocking (how 0) and not (how 1). */
#include "families.h"

static void finish(MPI_Request *request)
{
    while (*request != MPI_REQUEST_NULL) {
        int done;
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
    }
}

/* Small enough that sums of all ranks do not overflow. */
static int part(int rank, int i) { return element(rank, i) % 100000; }

static void make_parts(int *data, int count)
{
    for (int i = 0; i < count; ++i)
        data[i] = part(my_rank, i);
}

/* The sum over the ranks [0, end) must be in the elements, which stand for `first` and what follows. */
static void take_sums(const int *data, int first, int count, int end)
{
    for (int i = 0; i < count; ++i) {
        int sum = 0;
        for (int rank = 0; rank < end; ++rank)
            sum += part(rank, first + i);
        CHECK(data[i] == sum);
        take_int(data[i]);
    }
}

static void reduce(int later)
{
    for (int root = 0; root < ranks; ++root) {
        int out[COUNT], in[COUNT] = {0};
        MPI_Request request;
        make_parts(out, COUNT);
        if (later) {
            MPI_Ireduce(out, in, COUNT, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD, &request);
            finish(&request);
        } else {
            MPI_Reduce(out, in, COUNT, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        }
        if (my_rank == root)
            take_sums(in, 0, COUNT, ranks);
    }
}

static void allreduce(int later)
{
    int out[COUNT], in[COUNT] = {0};
    struct {
        double value;
        int rank;
    } mine = {(my_rank * 7 + 3) % ranks, my_rank}, best = {0, -1};
    MPI_Request request;
    make_parts(out, COUNT);
    if (later) {
        MPI_Iallreduce(out, in, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        finish(&request);
        MPI_Iallreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD, &request);
        finish(&request);
    } else {
        MPI_Allreduce(out, in, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    }
    take_sums(in, 0, COUNT, ranks);
    CHECK(best.rank >= 0 && (best.rank * 7 + 3) % ranks == (int)best.value);
    take_int(best.rank);
}

static void reduce_scatter(int later)
{
    int out[MAX_RANKS * MAX_RANKS], in[MAX_RANKS] = {0}, counts[MAX_RANKS];
    MPI_Request request;
    for (int rank = 0; rank < ranks; ++rank)
        counts[rank] = rank;
    make_parts(out, ranks * ranks);
    if (later) {
        MPI_Ireduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        finish(&request);
    } else {
        MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    take_sums(in, my_rank * (my_rank - 1) / 2, my_rank, ranks);
}

static void reduce_scatter_block(int later)
{
    int out[MAX_RANKS * COUNT], in[COUNT] = {0};
    MPI_Request request;
    make_parts(out, ranks * COUNT);
    if (later) {
        MPI_Ireduce_scatter_block(out, in, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        finish(&request);
    } else {
        MPI_Reduce_scatter_block(out, in, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    take_sums(in, my_rank * COUNT, COUNT, ranks);
}

static void scan(int later)
{
    int out[COUNT], in[COUNT] = {0};
    MPI_Request request;
    make_parts(out, COUNT);
    if (later) {
        MPI_Iscan(out, in, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        finish(&request);
    } else {
        MPI_Scan(out, in, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    take_sums(in, 0, COUNT, my_rank + 1);
}

static void exscan(int later)
{
    int out[COUNT], in[COUNT] = {0};
    MPI_Request request;
    make_parts(out, COUNT);
    if (later) {
        MPI_Iexscan(out, in, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        finish(&request);
    } else {
        MPI_Exscan(out, in, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (my_rank > 0)
        take_sums(in, 0, COUNT, my_rank);
}

const struct family collective_reduce_families[] = {
    {"reduce", reduce, 0},       {"allreduce", allreduce, 0},   {"reduce_scatter", reduce_scatter, 0},
    {"scan", scan, 0},           {"exscan", exscan, 0},         {"reduce_scatter_block", reduce_scatter_block, 0},
    {"ireduce", reduce, 1},      {"iallreduce", allreduce, 1},  {"ireduce_scatter", reduce_scatter, 1},
    {"iscan", scan, 1},          {"iexscan", exscan, 1},        {"ireduce_scatter_block", reduce_scatter_block, 1},
    {NULL, NULL, 0}};

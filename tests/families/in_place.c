/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MPI_IN_PLACE wherever it is allowed, blocking (how 0) and not (how 1). */
#include "families.h"

static void finish(int later, MPI_Request *request)
{
    if (later)
        MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* A table of ranks * COUNT where only the own part is filled. */
static void make_own(int table[])
{
    memset(table, 0, sizeof(int) * MAX_RANKS * COUNT);
    make(table + my_rank * COUNT, COUNT, my_rank);
}

static void take_table(const int table[])
{
    for (int rank = 0; rank < ranks; ++rank)
        take_made(table + rank * COUNT, COUNT, rank);
}

static void lay_out(int counts[], int places[])
{
    for (int rank = 0; rank < ranks; ++rank) {
        counts[rank] = COUNT;
        places[rank] = rank * COUNT;
    }
}

/* The other ranks give what the root has in place already. */
static void gathers(int later)
{
    int table[MAX_RANKS * COUNT], counts[MAX_RANKS], places[MAX_RANKS];
    const void *mine = my_rank == 0 ? MPI_IN_PLACE : table + my_rank * COUNT;
    MPI_Request request;
    lay_out(counts, places);
    make_own(table);
    if (later)
        MPI_Igather(mine, COUNT, MPI_INT, table, COUNT, MPI_INT, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Gather(mine, COUNT, MPI_INT, table, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
    finish(later, &request);
    if (my_rank == 0)
        take_table(table);
    make_own(table);
    if (later)
        MPI_Igatherv(mine, COUNT, MPI_INT, table, counts, places, MPI_INT, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Gatherv(mine, COUNT, MPI_INT, table, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    finish(later, &request);
    if (my_rank == 0)
        take_table(table);
}

static void scatters(int later)
{
    int table[MAX_RANKS * COUNT], in[COUNT], counts[MAX_RANKS], places[MAX_RANKS];
    void *mine = my_rank == 0 ? MPI_IN_PLACE : in;
    MPI_Request request;
    lay_out(counts, places);
    for (int rank = 0; rank < ranks; ++rank)
        make(table + rank * COUNT, COUNT, rank);
    if (later)
        MPI_Iscatter(table, COUNT, MPI_INT, mine, COUNT, MPI_INT, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Scatter(table, COUNT, MPI_INT, mine, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
    finish(later, &request);
    take_made(my_rank == 0 ? table : in, COUNT, my_rank);
    memset(in, 0, sizeof in);
    if (later)
        MPI_Iscatterv(table, counts, places, MPI_INT, mine, COUNT, MPI_INT, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Scatterv(table, counts, places, MPI_INT, mine, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
    finish(later, &request);
    take_made(my_rank == 0 ? table : in, COUNT, my_rank);
}

static void allgathers(int later)
{
    int table[MAX_RANKS * COUNT], counts[MAX_RANKS], places[MAX_RANKS];
    MPI_Request request;
    lay_out(counts, places);
    make_own(table);
    if (later)
        MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INT, table, COUNT, MPI_INT, MPI_COMM_WORLD, &request);
    else
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, table, COUNT, MPI_INT, MPI_COMM_WORLD);
    finish(later, &request);
    take_table(table);
    make_own(table);
    if (later)
        MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_INT, table, counts, places, MPI_INT, MPI_COMM_WORLD, &request);
    else
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, table, counts, places, MPI_INT, MPI_COMM_WORLD);
    finish(later, &request);
    take_table(table);
}

static void make_pairs(int table[])
{
    for (int rank = 0; rank < ranks; ++rank)
        make(table + rank * COUNT, COUNT, my_rank * MAX_RANKS + rank);
}

static void take_pairs(const int table[])
{
    for (int rank = 0; rank < ranks; ++rank)
        take_made(table + rank * COUNT, COUNT, rank * MAX_RANKS + my_rank);
}

static void alltoalls(int later)
{
    int table[MAX_RANKS * COUNT], counts[MAX_RANKS], places[MAX_RANKS], bytes[MAX_RANKS];
    MPI_Datatype types[MAX_RANKS];
    MPI_Request request;
    lay_out(counts, places);
    for (int rank = 0; rank < ranks; ++rank) {
        types[rank] = MPI_INT;
        bytes[rank] = places[rank] * (int)sizeof(int);
    }
    make_pairs(table);
    if (later)
        MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_INT, table, COUNT, MPI_INT, MPI_COMM_WORLD, &request);
    else
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, table, COUNT, MPI_INT, MPI_COMM_WORLD);
    finish(later, &request);
    take_pairs(table);
    make_pairs(table);
    if (later)
        MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, table, counts, places, MPI_INT, MPI_COMM_WORLD, &request);
    else
        MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, table, counts, places, MPI_INT, MPI_COMM_WORLD);
    finish(later, &request);
    take_pairs(table);
    make_pairs(table);
    if (later)
        MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, table, counts, bytes, types, MPI_COMM_WORLD, &request);
    else
        MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, table, counts, bytes, types, MPI_COMM_WORLD);
    finish(later, &request);
    take_pairs(table);
}

static void reduces(int later)
{
    int value = my_rank + 1, unused = 0;
    MPI_Request request;
    const void *mine = my_rank == 0 ? MPI_IN_PLACE : (void *)&value;
    if (later)
        MPI_Ireduce(mine, my_rank == 0 ? &value : &unused, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Reduce(mine, my_rank == 0 ? &value : &unused, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    finish(later, &request);
    if (my_rank == 0) {
        CHECK(value == ranks * (ranks + 1) / 2);
        take_int(value);
    }
    value = my_rank + 1;
    if (later)
        MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    else
        MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    finish(later, &request);
    CHECK(value == ranks * (ranks + 1) / 2);
    take_int(value);
}

static void reduce_scatters(int later)
{
    int values[MAX_RANKS], counts[MAX_RANKS];
    MPI_Request request;
    for (int rank = 0; rank < ranks; ++rank) {
        values[rank] = rank * 10 + my_rank;
        counts[rank] = 1;
    }
    if (later)
        MPI_Ireduce_scatter(MPI_IN_PLACE, values, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    else
        MPI_Reduce_scatter(MPI_IN_PLACE, values, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    finish(later, &request);
    CHECK(values[0] == my_rank * 10 * ranks + ranks * (ranks - 1) / 2);
    take_int(values[0]);
    for (int rank = 0; rank < ranks; ++rank)
        values[rank] = rank * 10 + my_rank;
    if (later)
        MPI_Ireduce_scatter_block(MPI_IN_PLACE, values, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    else
        MPI_Reduce_scatter_block(MPI_IN_PLACE, values, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    finish(later, &request);
    CHECK(values[0] == my_rank * 10 * ranks + ranks * (ranks - 1) / 2);
    take_int(values[0]);
}

static void scans(int later)
{
    int value = my_rank + 1;
    MPI_Request request;
    if (later)
        MPI_Iscan(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    else
        MPI_Scan(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    finish(later, &request);
    CHECK(value == (my_rank + 1) * (my_rank + 2) / 2);
    take_int(value);
    value = my_rank + 1;
    if (later)
        MPI_Iexscan(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    else
        MPI_Exscan(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    finish(later, &request);
    CHECK(my_rank == 0 || value == my_rank * (my_rank + 1) / 2);
    take_int(my_rank == 0 ? 0 : value);
}

const struct family in_place_families[] = {
    {"in_place_gather", gathers, 0},        {"in_place_scatter", scatters, 0},
    {"in_place_allgather", allgathers, 0},  {"in_place_alltoall", alltoalls, 0},
    {"in_place_reduce", reduces, 0},        {"in_place_reduce_scatter", reduce_scatters, 0},
    {"in_place_scan", scans, 0},            {"in_place_igather", gathers, 1},
    {"in_place_iscatter", scatters, 1},     {"in_place_iallgather", allgathers, 1},
    {"in_place_ialltoall", alltoalls, 1},   {"in_place_ireduce", reduces, 1},
    {"in_place_ireduce_scatter", reduce_scatters, 1}, {"in_place_iscan", scans, 1},
    {NULL, NULL, 0}};

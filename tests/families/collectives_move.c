/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collectives that move data, blocking (how 0) and not (how 1), with every rank as the root. */
#include "families.h"

static void finish(MPI_Request *request)
{
    int done = 0;
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (!done)
        MPI_Wait(request, MPI_STATUS_IGNORE);
    CHECK(*request == MPI_REQUEST_NULL);
}

/* The v forms: rank r has r + 1 elements, with a hole before each. */
static void lay_out(int counts[], int places[])
{
    for (int rank = 0, place = 1; rank < ranks; place += counts[rank++] + 1) {
        counts[rank] = rank + 1;
        places[rank] = place;
    }
}

static void barrier(int later)
{
    MPI_Request request;
    for (int i = 0; i < 3; ++i) {
        if (later) {
            MPI_Ibarrier(MPI_COMM_WORLD, &request);
            finish(&request);
        } else {
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    take_int(ranks);
}

static void bcast(int later)
{
    for (int root = 0; root < ranks; ++root) {
        int data[COUNT] = {0};
        MPI_Request request;
        if (my_rank == root)
            make(data, COUNT, root);
        if (later) {
            MPI_Ibcast(data, COUNT, MPI_INT, root, MPI_COMM_WORLD, &request);
            finish(&request);
        } else {
            MPI_Bcast(data, COUNT, MPI_INT, root, MPI_COMM_WORLD);
        }
        take_made(data, COUNT, root);
    }
}

static void gather(int later)
{
    for (int root = 0; root < ranks; ++root) {
        int out[COUNT], in[MAX_RANKS * COUNT] = {0};
        MPI_Request request;
        make(out, COUNT, my_rank * 10 + root);
        if (later) {
            MPI_Igather(out, COUNT, MPI_INT, in, COUNT, MPI_INT, root, MPI_COMM_WORLD, &request);
            finish(&request);
        } else {
            MPI_Gather(out, COUNT, MPI_INT, in, COUNT, MPI_INT, root, MPI_COMM_WORLD);
        }
        for (int rank = 0; my_rank == root && rank < ranks; ++rank)
            take_made(in + rank * COUNT, COUNT, rank * 10 + root);
    }
}

static void gatherv(int later)
{
    int counts[MAX_RANKS], places[MAX_RANKS];
    lay_out(counts, places);
    for (int root = 0; root < ranks; ++root) {
        int out[MAX_RANKS], in[MAX_RANKS * MAX_RANKS] = {0};
        MPI_Request request;
        make(out, my_rank + 1, my_rank * 10 + root);
        if (later) {
            MPI_Igatherv(out, my_rank + 1, MPI_INT, in, counts, places, MPI_INT, root, MPI_COMM_WORLD, &request);
            finish(&request);
        } else {
            MPI_Gatherv(out, my_rank + 1, MPI_INT, in, counts, places, MPI_INT, root, MPI_COMM_WORLD);
        }
        for (int rank = 0; my_rank == root && rank < ranks; ++rank) {
            take_made(in + places[rank], counts[rank], rank * 10 + root);
            CHECK(in[places[rank] - 1] == 0);
        }
    }
}

static void scatter(int later)
{
    for (int root = 0; root < ranks; ++root) {
        int out[MAX_RANKS * COUNT], in[COUNT] = {0};
        MPI_Request request;
        for (int rank = 0; rank < ranks; ++rank)
            make(out + rank * COUNT, COUNT, root * 10 + rank);
        if (later) {
            MPI_Iscatter(out, COUNT, MPI_INT, in, COUNT, MPI_INT, root, MPI_COMM_WORLD, &request);
            finish(&request);
        } else {
            MPI_Scatter(out, COUNT, MPI_INT, in, COUNT, MPI_INT, root, MPI_COMM_WORLD);
        }
        take_made(in, COUNT, root * 10 + my_rank);
    }
}

static void scatterv(int later)
{
    int counts[MAX_RANKS], places[MAX_RANKS];
    lay_out(counts, places);
    for (int root = 0; root < ranks; ++root) {
        int out[MAX_RANKS * MAX_RANKS] = {0}, in[MAX_RANKS] = {0};
        MPI_Request request;
        for (int rank = 0; rank < ranks; ++rank)
            make(out + places[rank], counts[rank], root * 10 + rank);
        if (later) {
            MPI_Iscatterv(out, counts, places, MPI_INT, in, my_rank + 1, MPI_INT, root, MPI_COMM_WORLD, &request);
            finish(&request);
        } else {
            MPI_Scatterv(out, counts, places, MPI_INT, in, my_rank + 1, MPI_INT, root, MPI_COMM_WORLD);
        }
        take_made(in, my_rank + 1, root * 10 + my_rank);
    }
}

static void allgather(int later)
{
    int out[COUNT], in[MAX_RANKS * COUNT] = {0};
    MPI_Request request;
    make(out, COUNT, my_rank);
    if (later) {
        MPI_Iallgather(out, COUNT, MPI_INT, in, COUNT, MPI_INT, MPI_COMM_WORLD, &request);
        finish(&request);
    } else {
        MPI_Allgather(out, COUNT, MPI_INT, in, COUNT, MPI_INT, MPI_COMM_WORLD);
    }
    for (int rank = 0; rank < ranks; ++rank)
        take_made(in + rank * COUNT, COUNT, rank);
}

static void allgatherv(int later)
{
    int counts[MAX_RANKS], places[MAX_RANKS], out[MAX_RANKS], in[MAX_RANKS * MAX_RANKS] = {0};
    MPI_Request request;
    lay_out(counts, places);
    make(out, my_rank + 1, my_rank);
    if (later) {
        MPI_Iallgatherv(out, my_rank + 1, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD, &request);
        finish(&request);
    } else {
        MPI_Allgatherv(out, my_rank + 1, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    }
    for (int rank = 0; rank < ranks; ++rank)
        take_made(in + places[rank], counts[rank], rank);
}

static void alltoall(int later)
{
    int out[MAX_RANKS * COUNT], in[MAX_RANKS * COUNT] = {0};
    MPI_Request request;
    for (int rank = 0; rank < ranks; ++rank)
        make(out + rank * COUNT, COUNT, my_rank * MAX_RANKS + rank);
    if (later) {
        MPI_Ialltoall(out, COUNT, MPI_INT, in, COUNT, MPI_INT, MPI_COMM_WORLD, &request);
        finish(&request);
    } else {
        MPI_Alltoall(out, COUNT, MPI_INT, in, COUNT, MPI_INT, MPI_COMM_WORLD);
    }
    for (int rank = 0; rank < ranks; ++rank)
        take_made(in + rank * COUNT, COUNT, rank * MAX_RANKS + my_rank);
}

/* To rank r go r elements, so rank 0 gets nothing; the w form has places in bytes and a type for each rank. */
static void alltoallv(int how)
{
    const int later = how & 1, by_types = how & 2;
    const int unit = by_types ? (int)sizeof(int) : 1;
    int out[MAX_RANKS * MAX_RANKS], in[MAX_RANKS * MAX_RANKS] = {0};
    int out_counts[MAX_RANKS], in_counts[MAX_RANKS], places[MAX_RANKS];
    MPI_Datatype types[MAX_RANKS];
    MPI_Request request;
    for (int rank = 0; rank < ranks; ++rank) {
        out_counts[rank] = rank;
        in_counts[rank] = my_rank;
        places[rank] = rank * MAX_RANKS * unit;
        types[rank] = MPI_INT;
        make(out + rank * MAX_RANKS, rank, my_rank * MAX_RANKS + rank);
    }
    if (later && by_types)
        MPI_Ialltoallw(out, out_counts, places, types, in, in_counts, places, types, MPI_COMM_WORLD, &request);
    else if (later)
        MPI_Ialltoallv(out, out_counts, places, MPI_INT, in, in_counts, places, MPI_INT, MPI_COMM_WORLD, &request);
    else if (by_types)
        MPI_Alltoallw(out, out_counts, places, types, in, in_counts, places, types, MPI_COMM_WORLD);
    else
        MPI_Alltoallv(out, out_counts, places, MPI_INT, in, in_counts, places, MPI_INT, MPI_COMM_WORLD);
    if (later)
        finish(&request);
    for (int rank = 0; rank < ranks; ++rank)
        take_made(in + rank * MAX_RANKS, my_rank, rank * MAX_RANKS + my_rank);
}

const struct family collective_move_families[] = {
    {"barrier", barrier, 0},       {"bcast", bcast, 0},           {"gather", gather, 0},
    {"gatherv", gatherv, 0},       {"scatter", scatter, 0},       {"scatterv", scatterv, 0},
    {"allgather", allgather, 0},   {"allgatherv", allgatherv, 0}, {"alltoall", alltoall, 0},
    {"alltoallv", alltoallv, 0},   {"alltoallw", alltoallv, 2},   {"ibarrier", barrier, 1},
    {"ibcast", bcast, 1},          {"igather", gather, 1},        {"igatherv", gatherv, 1},
    {"iscatter", scatter, 1},      {"iscatterv", scatterv, 1},    {"iallgather", allgather, 1},
    {"iallgatherv", allgatherv, 1}, {"ialltoall", alltoall, 1},   {"ialltoallv", alltoallv, 1},
    {"ialltoallw", alltoallv, 3},  {NULL, NULL, 0}};

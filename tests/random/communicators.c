/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The communicators of a program, and what all ranks of one do together. */
#include <string.h>

#include "random_program.h"

int connected(int comm, int a, int b)
{
    const int same = g_run.side[a] == g_run.side[b];
    return comm == SPLIT ? same : comm == INTER ? !same : 1;
}

/* New ones for every program, so that handles come and go. */
void make_communicators(void)
{
    struct comm *comms = g_run.comms;
    const int size = g_run.size, lonely = below(&g_run.plan, size);
    const int other = (lonely + 1 + below(&g_run.plan, size - 1)) % size;
    int leaders[2] = {-1, -1};
    for (int rank = 0; rank < size; ++rank)
        g_run.side[rank] = rank == lonely ? 0 : rank == other ? 1 : below(&g_run.plan, 2);
    for (int rank = 0; rank < size; ++rank) {
        comms[WORLD].rank_of[rank] = comms[DUP].rank_of[rank] = rank;
        comms[SPLIT].rank_of[rank] = 0;
        for (int higher = rank + 1; higher < size; ++higher)
            comms[SPLIT].rank_of[rank] += connected(SPLIT, rank, higher);
        comms[INTER].rank_of[rank] = comms[SPLIT].rank_of[rank];
        leaders[g_run.side[rank]] = rank;
    }
    const int side = g_run.side[g_run.rank];
    comms[WORLD].handle = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[DUP].handle);
    MPI_Comm_split(MPI_COMM_WORLD, side, size - g_run.rank, &comms[SPLIT].handle);
    MPI_Intercomm_create(comms[SPLIT].handle, 0, MPI_COMM_WORLD, leaders[!side], 1, &comms[INTER].handle);
}

static void start_collective(MPI_Comm comm, int root, int count)
{
    MPI_Request request;
    const int bytes = 8 * count, what = below(&g_run.plan, 3);
    unsigned char *out = content(bytes), *in = space(bytes);
    if (what == 0) {
        MPI_Ibarrier(comm, &request);
        hold(request, COLLECTIVE, NULL, 0);
    } else if (what == 1) {
        MPI_Iallreduce(out, in, count, MPI_UINT64_T, MPI_BXOR, comm, &request);
        hold(request, COLLECTIVE, in, bytes);
    } else {
        MPI_Ibcast(out, count, MPI_UINT64_T, root, comm, &request);
        hold(request, COLLECTIVE, out, bytes);
    }
}

/* Of any data flow. What a call leaves alone at a rank stays zero there. */
void run_collective(void)
{
    enum { BARRIER, BCAST, REDUCE, GATHER, SCATTER, ALLTOALL, SCAN, STARTED, ALLREDUCE };
    struct prng *plan = &g_run.plan;
    const int of = below(plan, COMMS), count = below(plan, 3), root_draw = below(plan, MAX_RANKS);
    const int what = of != INTER ? below(plan, ALLREDUCE + 1) : chance(plan, 40) ? BARRIER : ALLREDUCE;
    const MPI_Comm comm = g_run.comms[of].handle;
    int size;
    MPI_Comm_size(comm, &size);
    const int root = root_draw % size, all = count * g_run.size;
    unsigned char *out = content(8 * all), *in = space(8 * all);
    trace("collective %d on %d, root %d, count %d", what, of, root, count);
    switch (what) {
    case BARRIER:
        MPI_Barrier(comm);
        break;
    case BCAST:
        MPI_Bcast(out, count, MPI_UINT64_T, root, comm);
        memcpy(in, out, (size_t)count * 8);
        break;
    case REDUCE:
        MPI_Reduce(out, in, count, MPI_UINT64_T, MPI_SUM, root, comm);
        break;
    case GATHER:
        MPI_Gather(out, count, MPI_UINT64_T, in, count, MPI_UINT64_T, root, comm);
        break;
    case SCATTER:
        MPI_Scatter(out, count, MPI_UINT64_T, in, count, MPI_UINT64_T, root, comm);
        break;
    case ALLTOALL:
        MPI_Alltoall(out, count, MPI_UINT64_T, in, count, MPI_UINT64_T, comm);
        break;
    case SCAN:
        MPI_Scan(out, in, count, MPI_UINT64_T, MPI_BXOR, comm);
        break;
    case STARTED:
        start_collective(comm, root, count);
        break;
    default:
        MPI_Allreduce(out, in, count, MPI_UINT64_T, MPI_SUM, comm);
    }
    note_data("collective", in, 8 * all);
}

void free_communicators(void)
{
    for (int comm = DUP; comm < COMMS; ++comm)
        MPI_Comm_free(&g_run.comms[comm].handle);
}

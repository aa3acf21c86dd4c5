/* SPDX-License-Identifier: GPL-3.0-or-later
 * Each collective with large counts (MPI 4.0): that blocks, that does not, and one that is started. Prints a hash of all that a rank got.
 * large_counts [COUNT]: with it a broadcast of so many bytes, too */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, EACH = 3 };

static int rank, size;
static unsigned long hash = 14695981039346656037UL;
static int sent[MOST * EACH], got[MOST * EACH];
static MPI_Count counts[MOST];
static MPI_Aint places[MOST], bytes[MOST];
static MPI_Datatype types[MOST];

static void eat(void)
{
    const unsigned char *at = (const unsigned char *)got;
    for (size_t i = 0; i < sizeof got; ++i)
        hash = (hash ^ at[i]) * 1099511628211UL;
}

static void fill(void)
{
    static int call = 0;
    ++call;
    for (int i = 0; i < MOST * EACH; ++i) {
        sent[i] = call * 1000 + rank * 100 + i;
        got[i] = -rank;
    }
}

#define FORMS(Name, Posted, comm, ...)                                               \
    do {                                                                             \
        MPI_Request request;                                                         \
        fill();                                                                      \
        MPI_##Name##_c(__VA_ARGS__, comm);                                           \
        eat();                                                                       \
        fill();                                                                      \
        MPI_##Posted##_c(__VA_ARGS__, comm, &request);                               \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                       \
        eat();                                                                       \
        MPI_##Name##_init_c(__VA_ARGS__, comm, MPI_INFO_NULL, &request);             \
        fill();                                                                      \
        MPI_Start(&request);                                                         \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                       \
        eat();                                                                       \
        MPI_Request_free(&request);                                                  \
    } while (0)

static void neighbours(void)
{
    MPI_Comm ring;
    const int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    FORMS(Neighbor_allgather, Ineighbor_allgather, ring, sent, EACH, MPI_INT, got, EACH, MPI_INT);
    FORMS(Neighbor_allgatherv, Ineighbor_allgatherv, ring, sent, EACH, MPI_INT, got, counts, places, MPI_INT);
    FORMS(Neighbor_alltoall, Ineighbor_alltoall, ring, sent, EACH, MPI_INT, got, EACH, MPI_INT);
    FORMS(Neighbor_alltoallv, Ineighbor_alltoallv, ring, sent, counts, places, MPI_INT, got, counts, places, MPI_INT);
    FORMS(Neighbor_alltoallw, Ineighbor_alltoallw, ring, sent, counts, bytes, types, got, counts, bytes, types);
    MPI_Comm_free(&ring);
}

static void very_many(MPI_Count count)
{
    char *all = malloc((size_t)count);
    memset(all, rank == 0 ? 7 : 0, (size_t)count);
    MPI_Bcast_c(all, count, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (MPI_Count i = 0; i < count; i += 4096)
        hash = (hash ^ (unsigned char)all[i]) * 1099511628211UL;
    hash ^= (unsigned char)all[count - 1];
    free(all);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const MPI_Comm world = MPI_COMM_WORLD;
    for (int i = 0; i < size; ++i) {
        counts[i] = EACH;
        places[i] = (size - 1 - i) * EACH;
        bytes[i] = places[i] * (MPI_Aint)sizeof(int);
        types[i] = MPI_INT;
    }
    FORMS(Bcast, Ibcast, world, rank == 1 ? sent : got, EACH, MPI_INT, 1);
    FORMS(Gather, Igather, world, sent, EACH, MPI_INT, got, EACH, MPI_INT, 1);
    FORMS(Gatherv, Igatherv, world, sent, EACH, MPI_INT, got, counts, places, MPI_INT, 0);
    FORMS(Scatter, Iscatter, world, sent, EACH, MPI_INT, got, EACH, MPI_INT, 1);
    FORMS(Scatterv, Iscatterv, world, sent, counts, places, MPI_INT, got, EACH, MPI_INT, 0);
    FORMS(Allgather, Iallgather, world, sent, EACH, MPI_INT, got, EACH, MPI_INT);
    FORMS(Allgatherv, Iallgatherv, world, sent, EACH, MPI_INT, got, counts, places, MPI_INT);
    FORMS(Alltoall, Ialltoall, world, sent, EACH, MPI_INT, got, EACH, MPI_INT);
    FORMS(Alltoallv, Ialltoallv, world, sent, counts, places, MPI_INT, got, counts, places, MPI_INT);
    FORMS(Alltoallw, Ialltoallw, world, sent, counts, bytes, types, got, counts, bytes, types);
    FORMS(Reduce, Ireduce, world, sent, got, EACH, MPI_INT, MPI_SUM, 1);
    FORMS(Allreduce, Iallreduce, world, sent, got, EACH, MPI_INT, MPI_SUM);
    FORMS(Reduce_scatter, Ireduce_scatter, world, sent, got, counts, MPI_INT, MPI_SUM);
    FORMS(Reduce_scatter_block, Ireduce_scatter_block, world, sent, got, EACH, MPI_INT, MPI_SUM);
    FORMS(Scan, Iscan, world, sent, got, EACH, MPI_INT, MPI_SUM);
    FORMS(Exscan, Iexscan, world, sent, got, EACH, MPI_INT, MPI_SUM);
    neighbours();
    if (argc > 1)
        very_many(atoll(argv[1]));
    printf("rank %d of %d received %016lx\n", rank, size, hash);
    MPI_Finalize();
    return 0;
}

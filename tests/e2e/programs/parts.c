/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parts KIND zero|empty|full: rank 0 receives from any source before and behind a collective with a count for each rank; rank 1 sends
 * before it, rank 2 behind it. Full, it orders these. With counts of zero, or elements that hold nothing, nothing goes from rank 0 to rank 2,
 * whose message may then be the first one. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { RANKS = 3 };

/* Of four ranks: those of one group wait for those of the other alone. Rank 2 sends before the barrier, rank 1 behind it. */
static void between_groups(int rank)
{
    MPI_Comm mine, both;
    int value = 0;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &mine);
    MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 5, &both);
    if (rank == 2)
        MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(both);
    if (rank == 1)
        MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_free(&both);
    MPI_Comm_free(&mine);
}

int main(int argc, char **argv)
{
    int rank, value = 0, out[RANKS] = {0}, in[RANKS] = {0}, sends[RANKS], takes[RANKS], places[RANKS] = {0, 1, 2}, bytes[RANKS] = {0, 4, 8};
    MPI_Datatype types[RANKS] = {MPI_INT, MPI_INT, MPI_INT};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const char *kind = argv[1];
    if (strcmp(kind, "groups") == 0) {
        between_groups(rank);
        MPI_Finalize();
        return 0;
    }
    const int zero = strcmp(argv[2], "zero") == 0, empty = strcmp(argv[2], "empty") == 0;
    MPI_Datatype nothing, type;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    type = empty ? nothing : MPI_INT;
    for (int i = 0; i < RANKS; ++i) { /* to oneself nothing */
        sends[i] = i != rank && !(zero && rank == 0 && i == 2);
        takes[i] = i != rank && !(zero && rank == 2 && i == 0);
        types[i] = (rank == 0 && i == 2) || (rank == 2 && i == 0) ? type : MPI_INT;
    }
    if (rank == 1)
        MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        printf("from %d\n", status.MPI_SOURCE);
    }
    if (strcmp(kind, "alltoallv") == 0)
        MPI_Alltoallv(out, sends, places, type, in, takes, places, type, MPI_COMM_WORLD);
    if (strcmp(kind, "alltoallw") == 0)
        MPI_Alltoallw(out, sends, bytes, types, in, takes, bytes, types, MPI_COMM_WORLD);
    if (strcmp(kind, "ialltoallv") == 0)
        MPI_Ialltoallv(out, sends, places, type, in, takes, places, type, MPI_COMM_WORLD, &request);
    if (strcmp(kind, "alltoall") == 0)
        MPI_Alltoall(out, 1, type, in, 1, type, MPI_COMM_WORLD);
    if (strcmp(kind, "allgather") == 0)
        MPI_Allgather(out, 1, type, in, 1, type, MPI_COMM_WORLD);
    if (strcmp(kind, "bcast") == 0)
        MPI_Bcast(out, 1, type, 0, MPI_COMM_WORLD);
    if (strcmp(kind, "scatter") == 0) /* at the others no type is looked at */
        MPI_Scatter(out, 1, rank == 0 ? type : MPI_DATATYPE_NULL, in, 1, type, 0, MPI_COMM_WORLD);
    if (strcmp(kind, "ibcast") == 0)
        MPI_Ibcast(out, 1, type, 0, MPI_COMM_WORLD, &request);
    if (strcmp(kind, "reduce_scatter") == 0 || strcmp(kind, "ireduce_scatter") == 0) {
        const int counts[RANKS] = {1, 1, !zero}; /* rank 2 gets nothing */
        if (kind[0] == 'r')
            MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        else
            MPI_Ireduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    }
    if (strcmp(kind, "allgatherv") == 0) { /* in place: rank 0 has nothing to give */
        const int counts[RANKS] = {!zero, 1, 1};
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&nothing);
    if (rank == 2)
        MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    MPI_Finalize();
    return 0;
}

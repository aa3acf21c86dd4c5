/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PETSc's pattern: freeing a communicator frees, in an attribute's delete function, the one behind it.
   Open MPI then gives the inner one's handle to the next communicator. */
#include <mpi.h>
#include <stdio.h>

static int drop(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    return MPI_Comm_free((MPI_Comm *)value);
}

int main(int argc, char **argv)
{
    int rank, key, got = -1, sub;
    MPI_Comm outer, inner, next[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &outer);
    MPI_Comm_dup(MPI_COMM_WORLD, &inner);
    MPI_Comm_set_attr(outer, key, &inner);
    MPI_Comm old = inner;
    MPI_Comm_free(&outer); /* frees inner, too */
    for (int i = 0; i < 4; ++i) /* ranks 2, 1 */
        MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, -rank, &next[i]);
    for (int i = 0; rank != 0 && i < 4; ++i) {
        MPI_Comm_rank(next[i], &sub);
        printf("rank %d: comm %d, the freed one's handle: %d\n", rank, i, next[i] == old);
        if (sub == 1)
            MPI_Send(&rank, 1, MPI_INT, 0, 10 + i, next[i]);
        else
            MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 10 + i, next[i], MPI_STATUS_IGNORE);
    }
    if (rank == 0)
        printf(" No Errors\n");
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A user's error handler leaves MPI by longjmp; the calls after it are recorded all the same. */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>

static jmp_buf g_back;

static void jump(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    longjmp(g_back, *code);
}

int main(int argc, char **argv)
{
    int rank, size, value = 0;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (setjmp(g_back) == 0)
        MPI_Send(&value, 1, MPI_INT, size + 5, 1, MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 1; i < size; ++i) {
            MPI_Status status;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            printf(" %d", status.MPI_SOURCE);
        }
    else
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    if (rank == 0)
        printf("\n No Errors\n");
    MPI_Finalize();
    return 0;
}

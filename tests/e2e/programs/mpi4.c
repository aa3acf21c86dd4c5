/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What MPI 4.0 has and 3.1 has not: large counts on wildcard receives. For MPICH. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        for (int i = 1; i < size; ++i) {
            int values[3] = {0};
            MPI_Count count = 0;
            MPI_Status status;
            MPI_Recv_c(values, 3, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            MPI_Get_count_c(&status, MPI_INT, &count);
            printf("%d numbers of %d from %d\n", (int)count, values[0], status.MPI_SOURCE);
        }
        for (int i = 1; i < size; ++i) {
            int value = 0;
            MPI_Request request;
            MPI_Status status;
            MPI_Irecv_c(&value, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, &status);
            printf("then %d from %d\n", value, status.MPI_SOURCE);
        }
    } else {
        const int values[3] = {rank, rank, rank};
        MPI_Send_c(values, 1 + rank % 3, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Ssend_c(&rank, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    MPI_Allreduce_c(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("sum %d\n", sum);
    MPI_Finalize();
    return 0;
}

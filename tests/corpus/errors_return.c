/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With MPI_ERRORS_RETURN: rank 2's message is too long for the buffer that it happens to meet. */
#include <mpi.h>

#include "arrivals.h"

int main(int argc, char **argv)
{
    int rank, size;
    struct arrivals arrivals = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0) {
        for (int i = 1; i < size; ++i) {
            int values[2] = {0, 0}, class;
            const int error = MPI_Recv(values, 2, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                                       MPI_STATUS_IGNORE);
            MPI_Error_class(error, &class);
            if (class == MPI_SUCCESS)
                arrived(&arrivals, " %d", values[0]);
            else
                arrived(&arrivals, " %s", class == MPI_ERR_TRUNCATE ? "truncated" : "other error");
        }
        const int error = MPI_Send(&rank, 1, MPI_INT, size, 1, MPI_COMM_WORLD);
        arrived(&arrivals, " send to nobody: %s", error == MPI_SUCCESS ? "ok" : "error");
        print_arrivals(&arrivals, rank);
    } else {
        const int values[4] = {rank, rank, rank, rank};
        MPI_Send(values, rank == 2 ? 4 : 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

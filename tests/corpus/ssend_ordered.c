/* SPDX-License-Identifier: GPL-3.0-or-later
 * Race-free: rank 1's synchronous send returns only when rank 0 has matched it, and only then does
 * rank 2 hear that it may send.
 */
#include <mpi.h>

#include "arrivals.h"

int main(int argc, char **argv)
{
    int rank, token = 0;
    struct arrivals arrivals = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < 2; ++i) {
            int value;
            MPI_Status status;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            arrived(&arrivals, " %d from %d", value, status.MPI_SOURCE);
        }
        print_arrivals(&arrivals, rank);
    } else if (rank == 1) {
        MPI_Ssend(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Send(&token, 1, MPI_INT, 2, 9, MPI_COMM_WORLD);
    } else if (rank == 2) {
        MPI_Recv(&token, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

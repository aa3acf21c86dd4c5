/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Three senders, two values each; rank 0 adds them up in the order in which they arrive. */
#include <mpi.h>

#include "arrivals.h"

int main(int argc, char **argv)
{
    int rank, size;
    struct arrivals arrivals = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        double sum = 0.1;
        for (int i = 0; i < 2 * (size - 1); ++i) {
            double value;
            MPI_Status status;
            MPI_Recv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            sum = sum * 1.0009 + value;
            arrived(&arrivals, " %d", status.MPI_SOURCE);
        }
        arrived(&arrivals, " sum %.17g", sum);
        print_arrivals(&arrivals, rank);
    } else {
        for (int i = 0; i < 2; ++i) {
            const double value = rank / 3.0 + i;
            MPI_Send(&value, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 * The middle receive takes any tag, its neighbours one tag each: what was taken first races with the
 * second, the second with the third, and the first not with the third.
 */
#include <mpi.h>

#include "arrivals.h"

int main(int argc, char **argv)
{
    int rank;
    struct arrivals arrivals = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        const int tags[4] = {1, MPI_ANY_TAG, 2, MPI_ANY_TAG};
        for (int i = 0; i < 4; ++i) {
            int value;
            MPI_Status status;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tags[i], MPI_COMM_WORLD, &status);
            arrived(&arrivals, " %d/%d", status.MPI_SOURCE, status.MPI_TAG);
        }
        print_arrivals(&arrivals, rank);
    } else {
        if (rank != 3)
            MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        if (rank != 2)
            MPI_Send(&rank, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

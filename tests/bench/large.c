/* SPDX-License-Identifier: GPL-3.0-or-later */
/* large [ELEMENTS=10000000] [ROUNDS=100]: an array to look at, between messages that a rank sends to itself. */
#include <mpi.h>

#include "timing.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const int elements = argument(argc, argv, 1, 10000000), rounds = argument(argc, argv, 2, 100);
    double *numbers = malloc((size_t)elements * sizeof *numbers), sum = 0;
    for (int i = 0; i < elements; ++i)
        numbers[i] = 0.5 * i;
    for (int round = 0; round < rounds; ++round) {
        double taken = 0;
        MPI_Sendrecv(&numbers[round], 1, MPI_DOUBLE, 0, 1, &taken, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        sum += taken;
        numbers[round] = sum;
    }
    free(numbers);
    MPI_Finalize();
    return sum < 0;
}

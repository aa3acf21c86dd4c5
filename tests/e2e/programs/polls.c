/* SPDX-License-Identifier: GPL-3.0-or-later */
/* polls N: asks MPI_Wtime and clock_gettime N times each. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const long n = argc > 1 ? atol(argv[1]) : 1000;
    double last = 0;
    struct timespec t = {0, 0};
    for (long i = 0; i < n; ++i)
        last = MPI_Wtime();
    for (long i = 0; i < n; ++i)
        clock_gettime(CLOCK_MONOTONIC, &t);
    printf("%.9f %ld\n", last, t.tv_nsec);
    MPI_Finalize();
    return 0;
}

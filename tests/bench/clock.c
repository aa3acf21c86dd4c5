/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the system is asked for again and again: clock [clock_gettime|wtime|getenv] [CALLS=20000]; us a call. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "timing.h"

static double ask(const char *what, int times)
{
    struct timespec t = {0, 0};
    double sum = 0;
    const int wtime = strcmp(what, "wtime") == 0, variable = strcmp(what, "getenv") == 0;
    for (int i = 0; i < times; ++i) {
        if (wtime)
            sum += MPI_Wtime();
        else if (variable)
            sum += getenv("PATH") != NULL;
        else
            clock_gettime(CLOCK_MONOTONIC, &t);
    }
    return sum + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    double seconds[ROUNDS];
    MPI_Init(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "clock_gettime";
    const int times = argument(argc, argv, 2, 20000);
    double sum = ask(what, times);
    for (int round = 0; round < ROUNDS; ++round) {
        const double start = MPI_Wtime();
        sum += ask(what, times);
        seconds[round] = MPI_Wtime() - start;
    }
    report(strcmp(what, "clock_gettime") == 0 ? "clock" : what, seconds, ROUNDS, times, sum != 0 ? 16 : 0);
    MPI_Finalize();
    return 0;
}

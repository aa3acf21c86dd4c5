/* A clock that is asked for again and again: clock [clock_gettime|wtime] [CALLS=20000]; us a call. */
#include <mpi.h>
#include <string.h>
#include <time.h>

#include "timing.h"

static double ask(int wtime, int times)
{
    struct timespec t = {0, 0};
    double sum = 0;
    for (int i = 0; i < times; ++i) {
        if (wtime)
            sum += MPI_Wtime();
        else
            clock_gettime(CLOCK_MONOTONIC, &t);
    }
    return sum + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    double seconds[ROUNDS];
    MPI_Init(&argc, &argv);
    const int wtime = argc > 1 && strcmp(argv[1], "wtime") == 0;
    const int times = argument(argc, argv, 2, 20000);
    double sum = ask(wtime, times);
    for (int round = 0; round < ROUNDS; ++round) {
        const double start = MPI_Wtime();
        sum += ask(wtime, times);
        seconds[round] = MPI_Wtime() - start;
    }
    report(wtime ? "wtime" : "clock", seconds, ROUNDS, times, sum != 0 ? 16 : 0);
    MPI_Finalize();
    return 0;
}

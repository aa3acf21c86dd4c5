/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the cycle counter; starts a program, blocks all signals, and handles a SIGSEGV of its own. cycles [crash] */
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

static sigjmp_buf back;
static void onFault(int number)
{
    siglongjmp(back, number);
}

int main(int argc, char **argv)
{
    uint64_t hash = __rdtsc();
    int rank, size, token = 0;
    unsigned core;
    struct timespec t;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 50; ++i) {
        hash = hash * 31 + __rdtscp(&core);
        if (hash % 3 == 0)
            MPI_Barrier(MPI_COMM_SELF);
        uint64_t in;
        MPI_Send(&hash, 1, MPI_UINT64_T, (rank + 1) % size, 1, MPI_COMM_WORLD);
        MPI_Recv(&in, 1, MPI_UINT64_T, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        hash ^= in;
    }
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    hash += __rdtsc();
    clock_gettime(CLOCK_MONOTONIC, &t);
    sigprocmask(SIG_SETMASK, &before, NULL);
    const uint64_t start = __rdtsc();
    while (__rdtsc() < start + 1000000)
        ++token;
    printf("hash %016llx polls %d program %d\n", (unsigned long long)hash, token, system("date > /dev/null"));
    fflush(stdout);
    if (argc > 1 && rank == 0 && strcmp(argv[1], "crash") == 0)
        *(volatile int *)8 = 1;
    signal(SIGSEGV, onFault);
    if (sigsetjmp(back, 1) == 0)
        *(volatile int *)8 = 1;
    else
        printf("caught\n");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    printf("end %llu\n", (unsigned long long)__rdtsc());
    return 0;
}

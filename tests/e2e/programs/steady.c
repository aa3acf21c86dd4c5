/* SPDX-License-Identifier: GPL-3.0-or-later
 * steady ROUNDS [MICROSECONDS]: every rank but 0 sends ROUNDS numbers, rank 0 takes them from any source and answers;
 * what it answers depends on the order. Every rank prints a line at the end, rank 0 one for every tenth of the way.
 * STEADY_FILE_LIMIT: bytes that a file of this program may have, from MPI_Init on.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static unsigned long mix(unsigned long state, unsigned long value)
{
    return (state ^ value) * 1099511628211UL;
}

static unsigned long serve(int messages, int pause)
{
    unsigned long state = 14695981039346656037UL;
    for (int i = 0; i < messages; ++i) {
        unsigned long value;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_UNSIGNED_LONG, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        state = mix(state, value + (unsigned long)status.MPI_SOURCE);
        MPI_Send(&state, 1, MPI_UNSIGNED_LONG, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
        if (pause > 0)
            usleep((useconds_t)pause);
        if (messages >= 10 && (i + 1) % (messages / 10) == 0) {
            printf("%d messages, state %lx\n", i + 1, state);
            fflush(stdout);
        }
    }
    return state;
}

static unsigned long ask(int rounds, int rank)
{
    unsigned long state = (unsigned long)rank;
    for (int i = 0; i < rounds; ++i) {
        MPI_Send(&state, 1, MPI_UNSIGNED_LONG, 0, 1, MPI_COMM_WORLD);
        unsigned long answer;
        MPI_Recv(&answer, 1, MPI_UNSIGNED_LONG, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        state = mix(state, answer);
    }
    return state;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const char *limit = getenv("STEADY_FILE_LIMIT");
    if (limit) {
        rlim_t bytes = (rlim_t)atol(limit);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes});
    }
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    int pause = argc > 2 ? atoi(argv[2]) : 0;
    unsigned long state = rank == 0 ? serve(rounds * (size - 1), pause) : ask(rounds, rank);
    printf("rank %d ends with %lx\n", rank, state);
    MPI_Finalize();
    return 0;
}

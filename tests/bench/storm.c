/* SPDX-License-Identifier: GPL-3.0-or-later
 * Any-source storm: every rank sends to every other and takes as many messages from anybody.
 * storm [MESSAGES_A_PAIR=500] [ROUNDS_TO_RUN=31] [BYTES=8]
 */
#include <mpi.h>

#include "timing.h"

enum { WINDOW = 16 };

/* One round: sends run ahead of the receives by a window, so that no buffer fills up. */
static unsigned storm(int each, int rank, int size, char *out, char *in, int bytes)
{
    unsigned order = 0;
    MPI_Request sends[WINDOW * 64];
    for (int sent = 0; sent < each; sent += WINDOW) {
        const int window = each - sent < WINDOW ? each - sent : WINDOW;
        int pending = 0;
        for (int i = 0; i < window; ++i)
            for (int shift = 1; shift < size; ++shift)
                MPI_Isend(out, bytes, MPI_BYTE, (rank + shift) % size, 1, MPI_COMM_WORLD, &sends[pending++]);
        for (int i = 0; i < window * (size - 1); ++i) {
            MPI_Status status;
            MPI_Recv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            order = order * 31u + (unsigned)status.MPI_SOURCE;
        }
        MPI_Waitall(pending, sends, MPI_STATUSES_IGNORE);
    }
    return order;
}

int main(int argc, char **argv)
{
    int rank, size;
    unsigned order = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int each = argument(argc, argv, 1, 500);
    const int rounds = argument(argc, argv, 2, 31);
    const int bytes = argument(argc, argv, 3, 8);
    char *out = calloc(1, (size_t)bytes), *in = calloc(1, (size_t)bytes);
    double *seconds = calloc((size_t)rounds, sizeof *seconds);
    if (size > 64 || rounds < 1)
        MPI_Abort(MPI_COMM_WORLD, 2);
    storm(each, rank, size, out, in, bytes);
    for (int round = 0; round < rounds; ++round) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        order = order * 31u + storm(each, rank, size, out, in, bytes);
        MPI_Barrier(MPI_COMM_WORLD);
        seconds[round] = MPI_Wtime() - start;
    }
    if (rank == 0) {
        printf("order=%08x\n", order);
        report("storm", seconds, rounds, (long)each * size * (size - 1), bytes);
    }
    free(out);
    free(in);
    free(seconds);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Halo exchange in a ring, nothing else: halo [BYTES=1024] [EXCHANGES=1000]; any number of ranks. */
#include <mpi.h>

#include "timing.h"

struct halo {
    char *out[2], *in[2];
    int neighbour[2];
    int bytes;
};

static void exchange(const struct halo *halo, int times)
{
    for (int i = 0; i < times; ++i) {
        MPI_Request requests[4];
        for (int side = 0; side < 2; ++side)
            MPI_Irecv(halo->in[side], halo->bytes, MPI_BYTE, halo->neighbour[side], 1 - side,
                      MPI_COMM_WORLD, &requests[side]);
        for (int side = 0; side < 2; ++side)
            MPI_Isend(halo->out[side], halo->bytes, MPI_BYTE, halo->neighbour[side], side,
                      MPI_COMM_WORLD, &requests[2 + side]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    double seconds[ROUNDS];
    struct halo halo;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    halo.bytes = argument(argc, argv, 1, 1024);
    const int times = argument(argc, argv, 2, 1000);
    for (int side = 0; side < 2; ++side) {
        halo.neighbour[side] = (rank + (side == 0 ? size - 1 : 1)) % size;
        halo.out[side] = calloc(1, (size_t)halo.bytes);
        halo.in[side] = calloc(1, (size_t)halo.bytes);
    }
    exchange(&halo, times);
    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        exchange(&halo, times);
        seconds[round] = MPI_Wtime() - start;
    }
    if (rank == 0)
        report("halo", seconds, ROUNDS, 2L * times, halo.bytes);
    for (int side = 0; side < 2; ++side) {
        free(halo.out[side]);
        free(halo.in[side]);
    }
    MPI_Finalize();
    return 0;
}

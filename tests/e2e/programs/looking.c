/* SPDX-License-Identifier: GPL-3.0-or-later
 * looking: ranks at different places, for who looks at all of them at once. Rank 0 takes a share of
 * every other rank, the others wait for its answer in worker(); the last one computes first.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct order {
    int number;
    double price;
};

static volatile int g_turns;

static void compute(int turns)
{
    for (int i = 0; i < turns; ++i) {
        g_turns = i;
    }
}

static inline __attribute__((always_inline)) double take(int size)
{
    double sum = 0.0;
    for (int i = 1; i < size; ++i) {
        double share = 0.0;
        MPI_Recv(&share, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += share;
    }
    return sum;
}

static void master(int size)
{
    double share = 2.5;
    double sum = take(size) + share;
    for (int i = 1; i < size; ++i) {
        MPI_Send(&sum, 1, MPI_DOUBLE, i, 2, MPI_COMM_WORLD);
    }
}

static void worker(int rank, int size)
{
    struct order order = {rank, 1.5 * rank};
    double share = rank == size - 1 ? 100.0 : 2.5;
    double sum = 0.0;
    if (order.number == size - 1) {
        compute(1000);
    }
    MPI_Send(&share, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
    MPI_Recv(&sum, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (sum < order.price) {
        abort();
    }
}

int main(int argc, char **argv)
{
    int rank = 0;
    int size = 0;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    if (rank == 0) {
        master(size);
    } else {
        worker(rank, size);
    }
    compute(rank);
    MPI_Barrier(half);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* onesided: every rank draws tickets from a counter on rank 0; which ticket whom is MPI's choice. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;
    long counter = 0, sum = 0;
    const long one = 1;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(&counter, sizeof counter, sizeof counter, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < 10; ++i) {
        long ticket;
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Fetch_and_op(&one, &ticket, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_unlock(0, win);
        sum += ticket;
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("tickets add up to %ld\n", sum);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

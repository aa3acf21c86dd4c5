/* SPDX-License-Identifier: GPL-3.0-or-later
 * growing FILE MICROSECONDS: the ranks but 0 send numbers, rank 0 takes them from any source and answers, with a pause after each,
 * until FILE is there.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kNumber = 1, kAnswer = 2 };

static void serve(const char *file, useconds_t pause, int others)
{
    for (int taken = 0; others > 0; ++taken) {
        int number;
        MPI_Status status;
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, kNumber, MPI_COMM_WORLD, &status);
        int on = access(file, F_OK) != 0;
        MPI_Send(&on, 1, MPI_INT, status.MPI_SOURCE, kAnswer, MPI_COMM_WORLD);
        others -= !on;
        usleep(pause);
        if (taken == 20) {
            printf("it grows\n");
            fflush(stdout);
        }
    }
}

static void ask(void)
{
    for (int number = 0, on = 1; on; ++number) {
        MPI_Send(&number, 1, MPI_INT, 0, kNumber, MPI_COMM_WORLD);
        MPI_Recv(&on, 1, MPI_INT, 0, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (rank == 0)
        serve(argv[1], (useconds_t)atoi(argv[2]), size - 1);
    else
        ask();
    MPI_Finalize();
    return 0;
}

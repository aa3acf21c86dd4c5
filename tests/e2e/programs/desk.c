/* SPDX-License-Identifier: GPL-3.0-or-later
 * desk MODE [FILE]: what somebody who debugs wants to look at. Numbers go round the ranks until FILE exists
 * (`run`); or rank 1 then writes through a null pointer (`crash`); or rank 1 takes a message that is longer than its
 * buffer, with errors returned (`errors`); or rank 0 reads a word of its standard input (`input`).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CELLS 1000000

struct cell {
    int number;
    double weight;
};

static double round_trip(int rank, int size, double value)
{
    double taken = 0.0;
    MPI_Sendrecv(&value, 1, MPI_DOUBLE, (rank + 1) % size, 7, &taken, 1, MPI_DOUBLE, (rank + size - 1) % size, 7,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return taken;
}

static void overflow(int rank)
{
    int few[2] = {0, 0};
    int many[4] = {1, 2, 3, 4};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0) {
        MPI_Send(many, 4, MPI_INT, 1, 3, MPI_COMM_WORLD);
    } else if (rank == 1) {
        int code = MPI_Recv(few, 2, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("code %d\n", code != MPI_SUCCESS);
    }
}

/* All ranks stop in the same turn: rank 0 looks. */
static int goes_on(int rank, const char *until)
{
    int on = rank == 0 && until && access(until, F_OK) != 0;
    MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return on;
}

static double work(int rank, int size, const char *until, double *field, struct cell *cells)
{
    double value = rank;
    for (int turn = 0; goes_on(rank, until); ++turn) {
        value = round_trip(rank, size, value);
        field[turn % CELLS] = value; /* MARK turn */
        cells[turn % 8].weight = value;
        usleep(2000);
    }
    return value;
}

/* Numbers that the array pane has no place for. */
_Float16 halves[4] = {1, 2, 3, 4};
__int128 wide[2] = {1, 2};

int main(int argc, char **argv)
{
    int rank = 0, size = 0;
    struct cell cells[8];
    double *field = malloc(CELLS * sizeof *field);
    const char *mode = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < CELLS; ++i) {
        field[i] = i == 654321 ? 1e6 + rank : i % 100;
    }
    for (int i = 0; i < 8; ++i) {
        cells[i] = (struct cell){10 * rank + i, 0.5 * i};
    }
    double value = work(rank, size, argc > 2 ? argv[2] : NULL, field, cells);
    if (strcmp(mode, "errors") == 0) {
        overflow(rank);
    }
    if (strcmp(mode, "crash") == 0 && rank == 1) {
        int *nowhere = NULL;
        *nowhere = (int)value; /* MARK crash */
    }
    if (strcmp(mode, "input") == 0 && rank == 0) {
        char word[32] = "nothing";
        printf("%d read, %s\n", scanf("%31s", word), word);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    free(field);
    return value < -1.0;
}

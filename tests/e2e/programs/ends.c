/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ends: a few messages; a rank ends otherwise if PF_END says so (a variable that replays do not set): "early R" before
   its second message, "status R" after MPI_Finalize. SEED, a variable, is in the result; so is the file "input". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, odd = -1, value = 0, input = 0;
    char how = 0;
    const char *seed = getenv("SEED"), *end = getenv("PF_END");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (end != NULL && sscanf(end, "%c%*s %d", &how, &odd) != 2)
        return 9;
    FILE *file = fopen("input", "r");
    if (file == NULL || fscanf(file, "%d", &input) != 1)
        exit(7);
    fclose(file);
    for (int round = 0; round < 3; ++round) {
        if (rank == 0) {
            for (int i = 1; i < size; ++i) {
                MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                printf("round %d value %d\n", round, value);
            }
        } else {
            value = rank * (seed != NULL ? atoi(seed) : 0) + input;
            if (how == 'e' && rank == odd && round == 1)
                exit(1);
            MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return how == 's' && rank == odd ? 1 : 0;
}

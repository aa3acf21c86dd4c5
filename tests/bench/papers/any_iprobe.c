/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Meehan, Figure 8, MPI_Iprobe: any_iprobe [MESSAGES=500] to each other rank. */
#include "any_source.h"

static int take(int *value)
{
    MPI_Status status;
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, DONE, MPI_COMM_WORLD, &flag, &status);
    while (!flag)
        MPI_Iprobe(MPI_ANY_SOURCE, DONE, MPI_COMM_WORLD, &flag, &status);
    MPI_Recv(value, 1, MPI_INT, status.MPI_SOURCE, DONE, MPI_COMM_WORLD, &status);
    return status.MPI_SOURCE;
}

int main(int argc, char **argv)
{
    return any_source(argc, argv, "any_iprobe", take);
}

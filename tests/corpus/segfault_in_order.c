/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A list is used before it was made when rank 2's message overtakes rank 1's: SIGSEGV. */
#include <mpi.h>
#include <stdlib.h>

#include "arrivals.h"

struct list {
    int length;
    int items[8];
};

static struct list *apply(struct list *list, int source)
{
    if (source == 1)
        list = calloc(1, sizeof *list);
    if (source == 2)
        list->items[list->length++] = source;
    return list;
}

int main(int argc, char **argv)
{
    int rank, size;
    struct arrivals arrivals = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        int sources[8];
        struct list *list = NULL;
        for (int i = 1; i < size; ++i) {
            MPI_Recv(&sources[i], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            arrived(&arrivals, " %d", sources[i]);
        }
        print_arrivals(&arrivals, rank);
        for (int i = 1; i < size; ++i)
            list = apply(list, sources[i]);
        printf("rank 0: %d items\n", list ? list->length : 0);
        free(list);
    } else {
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

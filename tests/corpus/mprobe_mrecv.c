/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Matched probes: blocking for the first message of each sender, polling for the second. */
#include <mpi.h>

#include "arrivals.h"

static void take(struct arrivals *arrivals, MPI_Message *message, const MPI_Status *found)
{
    int value;
    MPI_Status status;
    MPI_Mrecv(&value, 1, MPI_INT, message, &status);
    arrived(arrivals, " %d from %d/%d,", value, found->MPI_SOURCE, status.MPI_SOURCE);
}

int main(int argc, char **argv)
{
    int rank, size;
    struct arrivals arrivals = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        MPI_Message message;
        MPI_Status status;
        for (int i = 1; i < size; ++i) {
            MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &message, &status);
            take(&arrivals, &message, &status);
        }
        for (int i = 1; i < size; ++i) {
            int flag = 0;
            while (!flag)
                MPI_Improbe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, &message, &status);
            take(&arrivals, &message, &status);
        }
        print_arrivals(&arrivals, rank);
    } else {
        for (int tag = 1; tag <= 2; ++tag) {
            const int value = 10 * rank + tag;
            MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lanes_stuck: with LANES_STUCK in its environment, a thread ends without the calls that it makes otherwise. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

static void *other(void *unused)
{
    int value = 1;
    MPI_Barrier(MPI_COMM_SELF);
    if (getenv("LANES_STUCK") == NULL)
        MPI_Sendrecv_replace(&value, 1, MPI_INT, 0, 1, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    return unused;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

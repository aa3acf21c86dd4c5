/* SPDX-License-Identifier: GPL-3.0-or-later
 * Rank 0 receives in a delete function, which MPI calls: by a persistent receive from anybody, started alone and with
 * another one, and by a poll of its status; it asks there for the end of an exposure, too.
 */
#include <mpi.h>
#include <stdio.h>

static MPI_Request requests[2];
static MPI_Win window;
static int values[2];

static int receive(MPI_Comm comm, int keyval, void *value, void *state)
{
    int done = 0;
    (void)comm;
    (void)keyval;
    (void)value;
    (void)state;
    MPI_Start(&requests[0]);
    while (!done)
        MPI_Request_get_status(requests[0], &done, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (done = 0; !done;)
        MPI_Win_test(window, &done);
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int rank, size, key;
    MPI_Group all, other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create(values, sizeof values, sizeof *values, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &(int){rank == 0 ? 1 : 0}, &other);
    if (rank == 0) {
        for (int i = 0; i < 2; ++i)
            MPI_Recv_init(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[i]);
        MPI_Win_post(other, 0, window);
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, receive, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, values);
        MPI_Comm_delete_attr(MPI_COMM_SELF, key);
        for (int i = 0; i < 2; ++i)
            MPI_Request_free(&requests[i]);
    } else {
        for (int i = 0; i < 3 && rank == 1; ++i)
            MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        if (rank == 1) {
            MPI_Win_start(other, 0, window);
            MPI_Win_complete(window);
        }
    }
    MPI_Group_free(&other);
    MPI_Group_free(&all);
    MPI_Win_free(&window);
    printf("%d of %d is done\n", rank, size);
    MPI_Finalize();
    return 0;
}

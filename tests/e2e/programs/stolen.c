/* stolen: rank 0 waits for a message of rank 1 that its receive from any source, posted before, may have taken. Then it waits
 * for ever, and that receive is never waited for. Who of ranks 1 and 2 is late a limit says that nothing else depends on. */
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, any = 0, first = 0;
    struct rlimit queues;
    MPI_Request request;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    getrlimit(RLIMIT_MSGQUEUE, &queues);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Irecv(&any, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
        MPI_Recv(&first, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &status);
        MPI_Wait(&request, &status);
        printf("fine: the other one from %d\n", status.MPI_SOURCE);
    } else {
        if (rank == (queues.rlim_cur == 0 ? 1 : 2))
            usleep(500000);
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

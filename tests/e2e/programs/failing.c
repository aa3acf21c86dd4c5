/* SPDX-License-Identifier: GPL-3.0-or-later */
/* failing: one receive of four is too short. Which of the others are done when MPI_Waitall fails is MPI's choice, and the
 * program sees it: in what it is told, in its requests, and in how often it has to wait. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RECEIVES = 4, ROUNDS = 6, SHORT = 2, OWN = -9 };

static char line[65536];

static void say(const char *format, int value)
{
    snprintf(line + strlen(line), sizeof line - strlen(line), format, value);
}

static int class_of(int error)
{
    int class = error;
    MPI_Error_class(error, &class);
    return class;
}

static int open_requests(const MPI_Request *requests)
{
    int open = 0;
    for (int i = 0; i < RECEIVES; ++i)
        open += requests[i] != MPI_REQUEST_NULL;
    return open;
}

static void tell(int result, const MPI_Request *requests, const MPI_Status *statuses)
{
    say(" %d", class_of(result));
    for (int i = 0; i < RECEIVES; ++i) {
        if (requests != NULL)
            say(requests[i] == MPI_REQUEST_NULL ? ",-" : ",+", 0);
        if (statuses != NULL && class_of(result) == MPI_ERR_IN_STATUS) {
            say("%d:", statuses[i].MPI_SOURCE);
            say("%d", class_of(statuses[i].MPI_ERROR));
        }
    }
}

static void wait_until_done(int how, MPI_Request *requests)
{
    MPI_Status statuses[RECEIVES];
    int indices[RECEIVES], count = 0, result;
    for (int tries = 0; open_requests(requests) > 0 && tries < 20; ++tries) {
        for (int i = 0; i < RECEIVES; ++i)
            statuses[i].MPI_SOURCE = OWN;
        if (how == 0) {
            result = MPI_Waitall(RECEIVES, requests, statuses);
            tell(result, requests, statuses);
        } else if (how == 1) {
            tell(MPI_Waitall(RECEIVES, requests, MPI_STATUSES_IGNORE), requests, NULL);
        } else if (how == 2) {
            do
                result = MPI_Testall(RECEIVES, requests, &count, statuses);
            while (!count && class_of(result) == MPI_SUCCESS);
            tell(result, requests, statuses);
        } else {
            result = MPI_Waitsome(RECEIVES, requests, &count, indices, statuses);
            say(" %d:", class_of(result));
            for (int i = 0; i < count; ++i) {
                say(" %d", indices[i]);
                say("/%d", statuses[i].MPI_SOURCE);
            }
        }
    }
}

static void receive(int how, int named, int round, int size)
{
    int buffers[RECEIVES][100];
    MPI_Request requests[RECEIVES];
    for (int i = 0; i < RECEIVES; ++i)
        MPI_Irecv(buffers[i], i == SHORT ? 1 : 100, MPI_INT, named ? 1 + i % (size - 1) : MPI_ANY_SOURCE, round, MPI_COMM_WORLD,
                  &requests[i]);
    wait_until_done(how, requests);
    for (int i = 0; i < RECEIVES; ++i)
        say(" %d", buffers[i][0]);
    say("\n", 0);
}

/* The handles stay: only the statuses say what is done. */
static void receive_persistent(int round)
{
    int buffers[RECEIVES][100], left = RECEIVES;
    MPI_Request requests[RECEIVES];
    MPI_Status statuses[RECEIVES];
    for (int i = 0; i < RECEIVES; ++i)
        MPI_Recv_init(buffers[i], i == SHORT ? 1 : 100, MPI_INT, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < RECEIVES; ++i)
        statuses[i].MPI_SOURCE = OWN;
    MPI_Startall(RECEIVES, requests);
    for (int tries = 0; left > 0 && tries < 20; ++tries) {
        int result = MPI_Waitall(RECEIVES, requests, statuses);
        tell(result, NULL, statuses);  /* a failed one Open MPI frees */
        left = 0;
        for (int i = 0; i < RECEIVES && result != MPI_SUCCESS; ++i)
            left += class_of(statuses[i].MPI_ERROR) == MPI_ERR_PENDING;
    }
    for (int i = 0; i < RECEIVES; ++i) {
        say(" %d", buffers[i][0]);
        if (requests[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&requests[i]);
    }
    say("\n", 0);
}

/* A blocking receive that is too short has taken its message; one that MPI refuses leaves the status alone. */
static void receive_blocking(int round, int size)
{
    int buffer[100];
    for (int i = 0; i < RECEIVES; ++i) {
        MPI_Status status;
        status.MPI_SOURCE = OWN;
        int result = MPI_Recv(buffer, i == SHORT ? 1 : 100, MPI_INT, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status);
        say(" %d", class_of(result));
        say(":%d", status.MPI_SOURCE);
    }
    MPI_Status status;
    status.MPI_SOURCE = OWN;
    say(" %d", class_of(MPI_Recv(buffer, -1, MPI_INT, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status)) == MPI_ERR_COUNT);
    say(":%d\n", status.MPI_SOURCE);
    (void)size;
}

int main(int argc, char **argv)
{
    int rank, size, number[100];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    srand((unsigned)(time(NULL) ^ (getpid() * 2654435761u)));
    for (int round = 0; round < ROUNDS * 7; ++round) {
        const int how = round % 7;
        if (rank == 0) {
            say("%d:", round);
            if (how < 4)
                receive(how, 0, round, size);
            else if (how == 4)
                receive(0, 1, round, size);
            else if (how == 5)
                receive_persistent(round);
            else
                receive_blocking(round, size);
        }
        for (int i = 0; i < RECEIVES; ++i)
            if (rank == 1 + i % (size - 1)) {
                for (int k = 0; k < 100; ++k)
                    number[k] = 10 * rank + i;
                usleep((useconds_t)(rand() % 600));
                MPI_Send(number, 5, MPI_INT, 0, round, MPI_COMM_WORLD);
            }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    fputs(line, stdout);
    MPI_Finalize();
    return 0;
}

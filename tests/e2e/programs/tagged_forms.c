/* SPDX-License-Identifier: GPL-3.0-or-later
 * Every form of receive, completion and probe against every form of send, all with races, on three kinds of
 * communicators: world, one with its ranks the other way round, an inter-communicator. Rank 0 tells of each message
 * what its status says and what is in it. Errors too: a message too long, with handlers that return and that count.
 * tagged_forms leave: and a message to rank 1 that nobody receives.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PER_SENDER = 2, MOST = 16 };
enum form {
    RECV, SENDRECV, SENDRECV_REPLACE, PROBE, PROBE_SOURCE, IPROBE, MPROBE, IMPROBE, /* at once */
    WAIT, WAITALL, WAITANY, WAITSOME, TEST, TESTALL, TESTANY, TESTSOME, GET_STATUS, PERSISTENT, NO_STATUS, /* posted before */
    FORMS
};
static const char *names[] = {"recv", "sendrecv", "sendrecv_replace", "probe", "probe_source", "iprobe", "mprobe",
                              "improbe", "wait", "waitall", "waitany", "waitsome", "test", "testall", "testany",
                              "testsome", "get_status", "persistent", "no_status"};
static int handled;

static void count_error(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    (void)error;
    ++handled;
}

static void tell(const char *what, const MPI_Status *status, const int *message)
{
    int count = -1;
    MPI_Get_count(status, MPI_INT, &count);
    printf("%s: from %d tag %d, %d ints: %d %d %d\n", what, status->MPI_SOURCE, status->MPI_TAG, count, message[0],
           message[1], message[2]);
}

static void send_one(int kind, int *message, int dest, int tag, MPI_Comm comm, int posted)
{
    MPI_Request request = MPI_REQUEST_NULL;
    usleep((useconds_t)(rand() % 400));
    switch (kind % (posted ? 12 : 9)) {
    case 0: MPI_Send(message, 3, MPI_INT, dest, tag, comm); break;
    case 1: MPI_Ssend(message, 3, MPI_INT, dest, tag, comm); break;
    case 2: MPI_Bsend(message, 3, MPI_INT, dest, tag, comm); break;
    case 3: MPI_Isend(message, 3, MPI_INT, dest, tag, comm, &request); break;
    case 4: MPI_Issend(message, 3, MPI_INT, dest, tag, comm, &request); break;
    case 5: MPI_Ibsend(message, 3, MPI_INT, dest, tag, comm, &request); break;
    case 6: MPI_Send_init(message, 3, MPI_INT, dest, tag, comm, &request); break;
    case 7: MPI_Ssend_init(message, 3, MPI_INT, dest, tag, comm, &request); break;
    case 8: MPI_Bsend_init(message, 3, MPI_INT, dest, tag, comm, &request); break;
    case 9: MPI_Rsend(message, 3, MPI_INT, dest, tag, comm); break;
    case 10: MPI_Irsend(message, 3, MPI_INT, dest, tag, comm, &request); break;
    case 11: MPI_Rsend_init(message, 3, MPI_INT, dest, tag, comm, &request); break;
    }
    const int persistent = (kind % (posted ? 12 : 9) >= 6 && kind % (posted ? 12 : 9) <= 8) || (posted && kind % 12 == 11);
    if (persistent)
        MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (persistent)
        MPI_Request_free(&request);
}

static void receive_at_once(enum form form, MPI_Comm comm, int self)
{
    int message[4] = {0};
    int own[3] = {-1, -1, -1};
    MPI_Status status;
    MPI_Message handle;
    MPI_Request request;
    int flag = 0;
    switch (form) {
    case RECV: MPI_Recv(message, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status); break;
    case SENDRECV:
        MPI_Sendrecv(own, 0, MPI_INT, MPI_PROC_NULL, 0, message, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
        break;
    case SENDRECV_REPLACE:
        MPI_Sendrecv_replace(message, 3, MPI_INT, MPI_PROC_NULL, 0, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
        break;
    case PROBE:
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
        tell("probed", &status, message);
        MPI_Recv(message, 4, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
        break;
    case PROBE_SOURCE: /* of one source, seen again, and taken by a wildcard or not */
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
        MPI_Probe(status.MPI_SOURCE, MPI_ANY_TAG, comm, &status);
        tell("probed again", &status, message);
        MPI_Recv(message, 4, MPI_INT, MPI_ANY_SOURCE, status.MPI_TAG, comm, &status);
        break;
    case IPROBE:
        while (!flag)
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
        MPI_Iprobe(status.MPI_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
        tell("seen", &status, message);
        MPI_Irecv(message, 4, MPI_INT, status.MPI_SOURCE, MPI_ANY_TAG, comm, &request);
        MPI_Wait(&request, &status);
        break;
    case MPROBE:
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &handle, &status);
        tell("matched", &status, message);
        MPI_Mrecv(message, 4, MPI_INT, &handle, &status);
        break;
    case IMPROBE:
    default:
        while (!flag)
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &handle, &status);
        MPI_Imrecv(message, 4, MPI_INT, &handle, &request);
        MPI_Wait(&request, &status);
        break;
    }
    (void)self;
    tell(names[form], &status, message);
}

static void complete(enum form form, int count, MPI_Request *requests, int (*messages)[4])
{
    MPI_Status statuses[MOST];
    int indices[MOST];
    int done = 0;
    int flag = 0;
    int index = 0;
    switch (form) {
    case WAITALL:
        MPI_Waitall(count, requests, statuses);
        break;
    case TESTALL:
        while (!flag)
            MPI_Testall(count, requests, &flag, statuses);
        break;
    case NO_STATUS:
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < count; ++i)
            printf("no_status: %d %d %d\n", messages[i][0], messages[i][1], messages[i][2]);
        return;
    case WAITANY:
    case TESTANY:
        while (done < count) {
            flag = 1;
            if (form == WAITANY)
                MPI_Waitany(count, requests, &index, statuses);
            else
                MPI_Testany(count, requests, &index, &flag, statuses);
            if (flag) {
                tell(names[form], statuses, messages[index]);
                ++done;
            }
        }
        return;
    case WAITSOME:
    case TESTSOME:
        while (done < count) {
            int some = 0;
            if (form == WAITSOME)
                MPI_Waitsome(count, requests, &some, indices, statuses);
            else
                MPI_Testsome(count, requests, &some, indices, statuses);
            for (int i = 0; i < some; ++i)
                tell(names[form], &statuses[i], messages[indices[i]]);
            done += some;
        }
        return;
    case GET_STATUS:
        for (int i = 0; i < count; ++i) {
            for (flag = 0; !flag;)
                MPI_Request_get_status(requests[i], &flag, &statuses[0]);
            tell("status", &statuses[0], messages[i]);
            MPI_Wait(&requests[i], &statuses[i]);
        }
        break;
    case TEST:
        for (int i = 0; i < count; ++i)
            for (flag = 0; !flag;)
                MPI_Test(&requests[i], &flag, &statuses[i]);
        break;
    case WAIT:
    case PERSISTENT:
    default:
        for (int i = count; i-- > 0;)
            MPI_Wait(&requests[i], &statuses[i]);
        break;
    }
    for (int i = 0; i < count; ++i)
        tell(names[form], &statuses[i], messages[i]);
}

static void section(enum form form, MPI_Comm comm, int kind, int senders, int receiver, int sender, int at)
{
    const int posted = form >= WAIT;
    const int count = senders * PER_SENDER;
    int messages[MOST][4] = {{0}};
    MPI_Request requests[MOST];
    if (receiver && posted)
        for (int i = 0; i < count; ++i) {
            if (form == PERSISTENT) {
                MPI_Recv_init(messages[i], 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[i]);
                MPI_Start(&requests[i]);
            } else {
                MPI_Irecv(messages[i], 4, MPI_INT, MPI_ANY_SOURCE, i % 2 ? 10 : 11, comm, &requests[i]);
            }
        }
    if (posted)
        MPI_Barrier(MPI_COMM_WORLD);
    if (sender)
        for (int k = 0; k < PER_SENDER; ++k) {
            int message[3] = {at, k, form};
            send_one(kind + k, message, 0, 10 + k, comm, posted);
        }
    if (!receiver)
        return;
    if (!posted) {
        for (int i = 0; i < count; ++i)
            receive_at_once(form, comm, at);
        return;
    }
    complete(form, count, requests, messages);
    if (form == PERSISTENT)
        for (int i = 0; i < count; ++i)
            MPI_Request_free(&requests[i]);
}

/* Each rank sends to the next two, and receives from any: both halves of an exchange may race. */
static void exchanges(int rank, int size)
{
    for (int round = 0; round < 6; ++round) {
        int out = rank * 100 + round;
        int in = -1;
        MPI_Status status;
        const int to = (rank + 1 + round % 2) % size;
        if (round % 3 == 2) {
            in = out;
            MPI_Sendrecv_replace(&in, 1, MPI_INT, to, round % 2, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        } else {
            MPI_Sendrecv(&out, 1, MPI_INT, to, round % 2, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                         &status);
        }
        printf("exchange: from %d tag %d: %d\n", status.MPI_SOURCE, status.MPI_TAG, in);
    }
}

static void errors(int rank, int size)
{
    MPI_Comm comm;
    MPI_Errhandler counting;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(count_error, &counting);
    for (int round = 0; round < 2; ++round) {
        MPI_Comm_set_errhandler(comm, round == 0 ? MPI_ERRORS_RETURN : counting);
        if (rank != 0) {
            int message[8] = {rank};
            MPI_Send(message, 4 + rank, MPI_INT, 0, 5, comm);
            MPI_Send(message, 4 + rank, MPI_INT, 0, 6, comm);
            continue;
        }
        for (int i = 1; i < size; ++i) {
            int small[2];
            int class = 0;
            MPI_Status status = {.MPI_SOURCE = -7, .MPI_TAG = -7};
            MPI_Error_class(MPI_Recv(small, 2, MPI_INT, MPI_ANY_SOURCE, 5, comm, &status), &class);
            printf("too long: %s, from %d tag %d, handled %d\n", class == MPI_ERR_TRUNCATE ? "truncated" : "other",
                   status.MPI_SOURCE, status.MPI_TAG, handled);
            MPI_Request request;
            MPI_Irecv(small, 2, MPI_INT, MPI_ANY_SOURCE, 6, comm, &request);
            MPI_Error_class(MPI_Wait(&request, &status), &class);
            printf("too long: %s, from %d tag %d, handled %d\n", class == MPI_ERR_TRUNCATE ? "truncated" : "other",
                   status.MPI_SOURCE, status.MPI_TAG, handled);
        }
    }
    MPI_Errhandler_free(&counting);
    MPI_Comm_free(&comm);
}

/* A receive that is cancelled takes no message of its stream. */
static void cancelled(int rank, int size)
{
    int message[3] = {rank, 0, -1};
    if (rank == 0) {
        MPI_Request requests[2];
        MPI_Status status;
        for (int i = 0; i < 2; ++i)
            MPI_Irecv(message, 3, MPI_INT, 1 + i, 77, MPI_COMM_WORLD, &requests[i]);
        for (int i = 0; i < 2; ++i) {
            int flag = 0;
            MPI_Cancel(&requests[i]);
            MPI_Wait(&requests[i], &status);
            MPI_Test_cancelled(&status, &flag);
            printf("cancelled: %d\n", flag);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < PER_SENDER; ++k) {
        message[1] = k;
        if (rank != 0)
            MPI_Send(message, 3, MPI_INT, 0, 77, MPI_COMM_WORLD);
    }
    for (int i = 0; rank == 0 && i < PER_SENDER * (size - 1); ++i) {
        MPI_Status status;
        MPI_Probe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &status);
        tell("probed", &status, message);
        MPI_Recv(message, 3, MPI_INT, i % 2 ? status.MPI_SOURCE : MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &status);
        tell("after cancel", &status, message);
    }
}

int main(int argc, char **argv)
{
    int rank;
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    srand((unsigned)getpid());
    void *buffer = malloc(1 << 20);
    MPI_Buffer_attach(buffer, 1 << 20);
    MPI_Comm turned;
    MPI_Comm half;
    MPI_Comm across;
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &turned);
    MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < size / 2 ? size / 2 : 0, 3, &across);
    for (int form = 0; form < FORMS; ++form) {
        section((enum form)form, MPI_COMM_WORLD, form, size - 1, rank == 0, rank != 0, rank);
        section((enum form)form, turned, form + 3, size - 1, rank == size - 1, rank != size - 1, rank);
        section((enum form)form, across, form + 7, size - size / 2, rank == 0, rank >= size / 2, rank);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    exchanges(rank, size);
    MPI_Barrier(MPI_COMM_WORLD);
    errors(rank, size);
    cancelled(rank, size);
    if (argc > 1 && rank == 0)
        MPI_Send(&rank, 1, MPI_INT, 1, 99, MPI_COMM_WORLD);
    void *detached;
    MPI_Buffer_detach(&detached, &size);
    MPI_Comm_free(&turned);
    MPI_Comm_free(&half);
    MPI_Comm_free(&across);
    MPI_Finalize();
    free(buffer);
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 * capability PROBE: what record-and-replay tools are asked whether they can do it (tests/e2e/capability_test.py). In each
 * probe what rank 0 sees depends on the order in which MPI lets things happen, and is printed.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../arrivals.h"

enum { ROUNDS = 4, TAG = 3 };

static int rank, size;
static struct arrivals seen;

static int senders(void)
{
    return (size - 1) * ROUNDS;
}

static void send_all(void)
{
    for (int i = 0; i < ROUNDS; ++i)
        MPI_Send(&rank, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
}

static void mprobe(void)
{
    for (int i = 0; i < senders(); ++i) {
        int value;
        MPI_Message message;
        MPI_Status status;
        MPI_Mprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
        arrived(&seen, " %d", value);
    }
}

static void improbe(void)
{
    for (int i = 0, polls = 0; i < senders(); ++polls) {
        int value, found;
        MPI_Message message;
        MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE);
        if (!found)
            continue;
        MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        arrived(&seen, " %d@%d", value, polls);
        ++i;
    }
}

static void sendrecv(void)
{
    for (int i = 0; i < senders(); ++i) {
        int value;
        MPI_Sendrecv(&i, 1, MPI_INT, MPI_PROC_NULL, TAG, &value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        arrived(&seen, " %d", value);
    }
}

/* Who draws which ticket is decided in memory, not by messages. */
static void rma(void)
{
    int *counter, one = 1;
    MPI_Win window;
    MPI_Win_allocate(sizeof *counter, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &window);
    *counter = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < ROUNDS; ++i) {
        int ticket;
        MPI_Fetch_and_op(&one, &ticket, MPI_INT, 0, 0, MPI_SUM, window);
        MPI_Win_flush(0, window);
        arrived(&seen, " %d", ticket);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

static void wtime(void)
{
    for (int i = 0; i < ROUNDS; ++i)
        arrived(&seen, " %.9f", MPI_Wtime());
}

static void get_status(void)
{
    for (int i = 0, polls = 0; i < senders(); ++i) {
        int value, done = 0;
        MPI_Request request;
        MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
        for (; !done; ++polls)
            MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        arrived(&seen, " %d@%d", value, polls);
    }
}

static void persistent(void)
{
    int value;
    MPI_Request request;
    MPI_Recv_init(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
    for (int i = 0; i < senders(); ++i) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        arrived(&seen, " %d", value);
    }
    MPI_Request_free(&request);
}

static void waitall_ibarrier(void)
{
    for (int i = 0; i < ROUNDS; ++i) {
        int values[2] = {-1, -1};
        MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        if (rank == 0)
            for (int k = 0; k < 2; ++k)
                MPI_Irecv(&values[k], 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[k]);
        else if (rank < 3)
            MPI_Isend(&rank, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        arrived(&seen, " %d %d", values[0], values[1]);
    }
}

static void probe(void)
{
    for (int i = 0; i < senders(); ++i) {
        int value;
        MPI_Status status;
        MPI_Probe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, TAG, MPI_COMM_WORLD, &status);
        arrived(&seen, " %d", value);
    }
}

static void iprobe(void)
{
    for (int i = 0, polls = 0; i < senders(); ++polls) {
        int value, found;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &found, &status);
        if (!found)
            continue;
        MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, TAG, MPI_COMM_WORLD, &status);
        arrived(&seen, " %d@%d", value, polls);
        ++i;
    }
}

static void wait_any(void)
{
    int values[64];
    MPI_Request requests[64];
    for (int i = 0; i < senders(); ++i)
        MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0, index; i < senders(); ++i) {
        MPI_Waitany(senders(), requests, &index, MPI_STATUS_IGNORE);
        arrived(&seen, " %d:%d", index, values[index]);
    }
}

static void test_some(void)
{
    int values[64], indices[64];
    MPI_Request requests[64];
    for (int i = 0; i < senders(); ++i)
        MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[i]);
    for (int left = senders(), polls = 0, count; left > 0; left -= count, ++polls) {
        MPI_Testsome(senders(), requests, &count, indices, MPI_STATUSES_IGNORE);
        for (int i = 0; i < count; ++i)
            arrived(&seen, " %d@%d", values[indices[i]], polls);
    }
}

/* Open MPI gives one handle to all small sends and to all requests on MPI_PROC_NULL. */
static void isends(void)
{
    int values[2][2], nobody;
    for (int i = 0; i < ROUNDS; ++i) {
        MPI_Request requests[5];
        for (int k = 0; k < 2; ++k) {
            MPI_Irecv(values[k], 2, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[k]);
            const int to = rank == k ? 2 : k;
            const int told[2] = {rank, i};
            MPI_Isend(told, 2, MPI_INT, to, TAG, MPI_COMM_WORLD, &requests[2 + k]);
        }
        MPI_Irecv(&nobody, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &requests[4]);
        MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
        arrived(&seen, " %d.%d %d.%d", values[0][0], values[0][1], values[1][0], values[1][1]);
    }
}

/* The first message goes to a receive that nobody looks at again. */
static void request_free(void)
{
    static int lost;
    MPI_Request request;
    MPI_Irecv(&lost, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    for (int i = 1; i < senders(); ++i) {
        int value;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        arrived(&seen, " %d", value);
    }
}

static struct arrivals seen_by[2];

static void *receiver(void *argument)
{
    struct arrivals *mine = argument;
    for (int i = 0; i < senders() / 2; ++i) {
        int value;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        arrived(mine, " %d", value);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t other;
    pthread_create(&other, NULL, receiver, &seen_by[1]);
    receiver(&seen_by[0]);
    pthread_join(other, NULL);
    arrived(&seen, "%s |%s", seen_by[0].text, seen_by[1].text);
}

static void spawn(char *program)
{
    MPI_Comm children;
    char *arguments[] = {"spawned", NULL};
    MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    for (int i = 0; i < 2 && rank == 0; ++i) {
        int value;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, children, MPI_STATUS_IGNORE);
        arrived(&seen, " %d", value);
    }
    MPI_Comm_disconnect(&children);
}

static void spawned(void)
{
    MPI_Comm parents;
    MPI_Comm_get_parent(&parents);
    MPI_Send(&rank, 1, MPI_INT, 0, TAG, parents);
    MPI_Comm_disconnect(&parents);
}

static void take_all(void)
{
    for (int i = 0; i < senders(); ++i) {
        int value;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        arrived(&seen, " %d", value);
    }
}

static void fail(const char *how)
{
    take_all();
    print_arrivals(&seen, rank);
    if (strncmp(how, "segfault", 8) == 0)
        raise(SIGSEGV);
    MPI_Abort(MPI_COMM_WORLD, 17);
}

/* Each rank waits for the one behind it. */
static void deadlock(void)
{
    int value;
    if (rank == 0)
        take_all();
    else
        send_all();
    print_arrivals(&seen, rank);
    MPI_Recv(&value, 1, MPI_INT, (rank + 1) % size, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* In the replay STEER makes it another program. */
static void steered(void)
{
    const char *steer = getenv("STEER");
    const int more = steer && strcmp(steer, "more") == 0, less = steer && strcmp(steer, "less") == 0;
    int value;
    if (rank == 0) {
        take_all();
        for (int i = 0; i < (more ? 2 : 1); ++i)
            MPI_Recv(&value, 1, MPI_INT, 1, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        send_all();
        if (rank == 1 && !less)
            MPI_Send(&rank, 1, MPI_INT, 0, TAG + 1, MPI_COMM_WORLD);
    }
}

static const struct {
    const char *name;
    void (*receive)(void);
} probes[] = {{"mprobe", mprobe},         {"improbe", improbe},           {"sendrecv", sendrecv}, {"get_status", get_status},
              {"persistent", persistent}, {"request_free", request_free}, {"threads", threads},   {"plain", take_all},
              {"probe", probe},           {"iprobe", iprobe},             {"waitany", wait_any},  {"testsome", test_some}};

static void run(char **argv, const char *which)
{
    for (size_t i = 0; i < sizeof probes / sizeof *probes; ++i)
        if (strcmp(which, probes[i].name) == 0) {
            if (rank == 0)
                probes[i].receive();
            else
                send_all();
            return;
        }
    if (strcmp(which, "rma") == 0)
        rma();
    else if (strcmp(which, "wtime") == 0)
        wtime();
    else if (strcmp(which, "waitall_ibarrier") == 0)
        waitall_ibarrier();
    else if (strcmp(which, "isends") == 0)
        isends();
    else if (strcmp(which, "spawn") == 0)
        spawn(argv[0]);
    else if (strcmp(which, "spawned") == 0)
        spawned();
    else if (strcmp(which, "deadlock") == 0)
        deadlock();
    else if (strcmp(which, "steered") == 0)
        steered();
    else if (rank == 0)
        fail(which);
    else {
        send_all();
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    const char *probe = argc > 1 ? argv[1] : "plain";
    int provided;
    MPI_Init_thread(&argc, &argv, strstr(probe, "threads") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    run(argv, probe);
    if (seen.length)
        print_arrivals(&seen, rank);
    MPI_Finalize();
    return 0;
}

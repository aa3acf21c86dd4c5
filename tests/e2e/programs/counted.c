/* SPDX-License-Identifier: GPL-3.0-or-later */
/* counted PATH [SERVERS [MICROSECONDS]]: keeps a count of what MPI chose where no kill -9 takes it, so that a trace can be
 * held against it. Every rank from SERVERS (2) on asks those before it in turn, one question at a time, for ever; they take
 * the questions from any source, in each way that there is, and answer. One of them may wait for two questions at once: of
 * more askers than servers two always ask the same one. What a call chose is written to the mapped file
 * PATH.RANK once that call has returned: one record for each message that was taken or seen, and then the count. The
 * records are chosen by MPI, all else of the program follows from them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kQuestion = 1, kAnswer = 2, kMost = 1 << 18, kMany = 30000 };

/* The file. Its pages belong to the kernel, not to the process: they are there after its end. */
struct Record {
    uint8_t source;
    uint8_t form;    /* index in kForms */
    uint16_t missed; /* tests or probes before it that found nothing, of those of this form */
};
struct Page {
    _Atomic uint64_t count;
    struct Record record[kMost];
};

static struct Page *page;
static uint64_t written;

static struct Page *openPage(const char *path, int rank)
{
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", path, rank);
    const int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ftruncate(file, sizeof(struct Page)) != 0)
        return NULL;
    void *mapped = mmap(NULL, sizeof(struct Page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return mapped == MAP_FAILED ? NULL : mapped;
}

/* The call that chose this has returned; commit() counts it. */
static void note(int source, int form, long missed)
{
    if (written == kMost)
        MPI_Abort(MPI_COMM_WORLD, 9);
    page->record[written++] = (struct Record){(uint8_t)source, (uint8_t)form, (uint16_t)(missed < 65535 ? missed : 65535)};
}
static void commit(void) { atomic_store_explicit(&page->count, written, memory_order_release); }

static void answer(uint64_t question, int source)
{
    MPI_Send(&question, 1, MPI_UINT64_T, source, kAnswer, MPI_COMM_WORLD);
}

/* -- ways to take a question, each with its number as the form */
static void receive(int form)
{
    uint64_t value;
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_UINT64_T, MPI_ANY_SOURCE, kQuestion, MPI_COMM_WORLD, &status);
    note(status.MPI_SOURCE, form, 0);
    commit();
    answer(value, status.MPI_SOURCE);
}
static void waitFor(int form)
{
    uint64_t value;
    MPI_Status status;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_UINT64_T, MPI_ANY_SOURCE, kQuestion, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    note(status.MPI_SOURCE, form, 0);
    commit();
    answer(value, status.MPI_SOURCE);
}
static void test(int form)
{
    uint64_t value;
    MPI_Status status;
    MPI_Request request;
    int done = 0;
    long missed = -1;
    MPI_Irecv(&value, 1, MPI_UINT64_T, MPI_ANY_SOURCE, kQuestion, MPI_COMM_WORLD, &request);
    for (; !done; ++missed) {
        sched_yield();
        MPI_Test(&request, &done, &status);
    }
    note(status.MPI_SOURCE, form, missed);
    commit();
    answer(value, status.MPI_SOURCE);
}
static void receiveFrom(int source, MPI_Message *message)
{
    uint64_t value;
    if (message == NULL)
        MPI_Recv(&value, 1, MPI_UINT64_T, source, kQuestion, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Mrecv(&value, 1, MPI_UINT64_T, message, MPI_STATUS_IGNORE);
    answer(value, source);
}
static void probe(int form)
{
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, kQuestion, MPI_COMM_WORLD, &status);
    note(status.MPI_SOURCE, form, 0);
    commit();
    receiveFrom(status.MPI_SOURCE, NULL);
}
static void probeNow(int form)
{
    MPI_Status status;
    int there = 0;
    long missed = -1;
    for (; !there; ++missed) {
        sched_yield();
        MPI_Iprobe(MPI_ANY_SOURCE, kQuestion, MPI_COMM_WORLD, &there, &status);
    }
    note(status.MPI_SOURCE, form, missed);
    commit();
    receiveFrom(status.MPI_SOURCE, NULL);
}
static void probeMatched(int form)
{
    MPI_Status status;
    MPI_Message message;
    MPI_Mprobe(MPI_ANY_SOURCE, kQuestion, MPI_COMM_WORLD, &message, &status);
    note(status.MPI_SOURCE, form, 0);
    commit();
    receiveFrom(status.MPI_SOURCE, &message);
}
static void waitAny(int form)
{
    uint64_t value[2];
    MPI_Status status;
    MPI_Request request[2];
    int index;
    for (int i = 0; i < 2; ++i)
        MPI_Irecv(&value[i], 1, MPI_UINT64_T, MPI_ANY_SOURCE, kQuestion, MPI_COMM_WORLD, &request[i]);
    for (int i = 0; i < 2; ++i) {
        MPI_Waitany(2, request, &index, &status);
        note(status.MPI_SOURCE, form, index);
        commit();
        answer(value[index], status.MPI_SOURCE);
    }
}
static void waitAll(int form)
{
    uint64_t value[2];
    MPI_Status status[2];
    MPI_Request request[2];
    for (int i = 0; i < 2; ++i)
        MPI_Irecv(&value[i], 1, MPI_UINT64_T, MPI_ANY_SOURCE, kQuestion, MPI_COMM_WORLD, &request[i]);
    MPI_Waitall(2, request, status);
    for (int i = 0; i < 2; ++i)
        note(status[i].MPI_SOURCE, form, 0);
    commit();
    for (int i = 0; i < 2; ++i)
        answer(value[i], status[i].MPI_SOURCE);
}

static void (*const kForms[])(int) = {receive, waitFor, test, probe, probeNow, probeMatched, waitAny, waitAll};

static void serve(int pause)
{
    for (unsigned long i = 0;; ++i) {
        const int form = (int)(i % (sizeof kForms / sizeof kForms[0]));
        kForms[form](form);
        if (written > kMany) /* who was to kill it gets no turn: the record need not be longer */
            usleep(100000);
        else if (pause > 0)
            usleep((useconds_t)pause);
    }
}

static void ask(int servers, int rank)
{
    for (uint64_t i = 0;; ++i) {
        const int server = (int)((i + (uint64_t)rank) % (uint64_t)servers);
        uint64_t answered;
        MPI_Send(&i, 1, MPI_UINT64_T, server, kQuestion, MPI_COMM_WORLD);
        MPI_Recv(&answered, 1, MPI_UINT64_T, server, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (answered != i)
            MPI_Abort(MPI_COMM_WORLD, 8);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int servers = argc > 2 ? atoi(argv[2]) : 2, pause = argc > 3 ? atoi(argv[3]) : 0;
    if (argc < 2 || servers < 1 || size < 2 * servers + 1 || size > 255)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (rank < servers && (page = openPage(argv[1], rank)) == NULL)
        MPI_Abort(MPI_COMM_WORLD, 6);
    if (rank < servers)
        serve(pause);
    else
        ask(servers, rank);
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 * Races that a test run does not show: each of these fails in few runs of a thousand, if at all, on a machine with
 * nothing else to do. What is computed in a real program is slept here, so that the load does not decide.
 *
 *     rare config    a worker takes its first message for the configuration; a neighbour's boundary overtakes it
 *     rare done      "all is written" overtakes what a worker wrote
 *     rare step      partial sums without the number of their step: a fast worker is a step ahead
 *     rare silence   nobody has written for 30 ms, so all have
 *     rare first     the request that MPI_Waitany completes is taken for the one that was sent first
 *     rare home      a report is taken for a result, as in corpus/harvest.c, where a result is late
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RANKS = 4, STEPS = 4, TASKS = 6 };
enum { CONFIG = 1, BOUNDARY, WRITE, NOTICE, DONE, SUM, TASK, RESULT, HOME, REPORT };

static int rank;

static void compute(int milliseconds)
{
    const struct timespec time = {0, milliseconds * 1000000L};
    nanosleep(&time, NULL);
}

static int failed(const char *what, int got, int expected)
{
    fprintf(stderr, "rare: rank %d: %s: %d, expected %d\n", rank, what, got, expected);
    return 1;
}

static void send(int value, int to, int tag)
{
    MPI_Send(&value, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
}

static int receive(int from, int tag, MPI_Status *status)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, from, tag, MPI_COMM_WORLD, status);
    return value;
}

static int config(void)
{
    MPI_Status status;
    if (rank == 0) {
        for (int worker = 1; worker < RANKS; ++worker)
            send(1000, worker, CONFIG);
        return 0;
    }
    const int cells = receive(MPI_ANY_SOURCE, MPI_ANY_TAG, &status);
    if (cells != 1000)
        return failed("cells", cells, 1000);
    compute(10);
    if (rank + 1 < RANKS)
        send(rank, rank + 1, BOUNDARY);
    if (rank > 1)
        receive(rank - 1, BOUNDARY, &status);
    return 0;
}

static int done(void)
{
    MPI_Status status;
    if (rank == 0) {
        int written = 0;
        for (;;) {
            receive(MPI_ANY_SOURCE, MPI_ANY_TAG, &status);
            if (status.MPI_TAG == DONE)
                break;
            ++written;
        }
        return written == RANKS - 2 ? 0 : failed("written", written, RANKS - 2);
    }
    if (rank < RANKS - 1) {
        send(rank, 0, WRITE);
        send(rank, RANKS - 1, NOTICE);
        return 0;
    }
    for (int i = 0; i < RANKS - 2; ++i)
        receive(MPI_ANY_SOURCE, NOTICE, &status);
    compute(10);
    send(rank, 0, DONE);
    return 0;
}

static int step(void)
{
    for (int i = 1; i <= STEPS; ++i) {
        if (rank != 0) {
            compute(10);
            send(i, 0, SUM);
            continue;
        }
        for (int worker = 1; worker < RANKS; ++worker) {
            MPI_Status status;
            const int of = receive(MPI_ANY_SOURCE, SUM, &status);
            if (of != i)
                return failed("a sum of step", of, i);
        }
    }
    return 0;
}

static int silence(void)
{
    if (rank != 0) {
        compute(5);
        send(rank, 0, WRITE);
        return 0;
    }
    int written = 0;
    for (int waited = 0; waited < 30;) {
        int found = 0;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, WRITE, MPI_COMM_WORLD, &found, &status);
        if (found) {
            receive(status.MPI_SOURCE, WRITE, &status);
            waited = 0;
            ++written;
        } else {
            compute(1);
            ++waited;
        }
    }
    return written == RANKS - 1 ? 0 : failed("written", written, RANKS - 1);
}

static int first(void)
{
    MPI_Status status;
    if (rank != 0) {
        if (rank > 1)
            receive(rank - 1, NOTICE, &status);
        compute(10);
        send(rank, 0, SUM);
        if (rank + 1 < RANKS)
            send(rank, rank + 1, NOTICE);
        return 0;
    }
    int values[RANKS - 1], order = 0;
    MPI_Request requests[RANKS - 1];
    for (int i = 0; i < RANKS - 1; ++i)
        MPI_Irecv(&values[i], 1, MPI_INT, i + 1, SUM, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < RANKS - 1; ++i) {
        int index;
        MPI_Waitany(RANKS - 1, requests, &index, &status);
        if (index != i && order == 0)
            order = failed("came first", index + 1, i + 1);
    }
    return order;
}

static int home(void)
{
    MPI_Status status;
    if (rank != 0) {
        int results = 0;
        while (receive(0, MPI_ANY_TAG, &status), status.MPI_TAG == TASK) {
            compute(4);
            send(1, 0, RESULT);
            ++results;
        }
        compute(30);
        send(results, 0, REPORT);
        return 0;
    }
    int next = RANKS - 1, results = 0, reported = 0;
    for (int worker = 1; worker < RANKS; ++worker)
        send(0, worker, TASK);
    for (int i = 0; i < TASKS; ++i) {
        receive(MPI_ANY_SOURCE, MPI_ANY_TAG, &status);
        results += status.MPI_TAG == RESULT;
        if (status.MPI_TAG == RESULT)
            send(0, status.MPI_SOURCE, next++ < TASKS ? TASK : HOME);
    }
    for (int worker = 1; results == TASKS && worker < RANKS; ++worker)
        reported += receive(worker, REPORT, &status);
    return results == TASKS ? 0 : failed("results", results, TASKS);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } programs[] = {{"config", config}, {"done", done},   {"step", step},
                    {"silence", silence}, {"first", first}, {"home", home}};
    int size, wrong = 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc == 2 && size == RANKS) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (size_t i = 0; i < sizeof programs / sizeof *programs; ++i)
            if (strcmp(argv[1], programs[i].name) == 0)
                wrong = programs[i].run();
    }
    if (wrong != 0)
        MPI_Abort(MPI_COMM_WORLD, wrong);
    MPI_Finalize();
    return 0;
}

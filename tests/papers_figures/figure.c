/* SPDX-License-Identifier: GPL-3.0-or-later
 * figure FILE NAME: the program of one of the papers' figures (figures.txt). Prints whom each rank received from.
 *
 * So that every order of arrival can be tried, sends keep an order that is given outside of MPI, where nothing of it is
 * recorded: FIGURE_ORDER is a list of RANK.SEND, FIGURE_GATE a file of two counters, sends done and receives done.
 * FIGURE_STRICT: each message is received before the next one is sent. FIGURE_HOLD=N: ranks with wildcards begin to receive
 * when N messages have been sent.
 */
#include <mpi.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../corpus/arrivals.h"

struct gate {
    atomic_int sent, taken;
};
static struct gate *gate;
static int rank, sends, held;
static struct arrivals seen;

static void fail(const char *what)
{
    fprintf(stderr, "figure: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 9);
}

static void open_gate(void)
{
    const char *path = getenv("FIGURE_GATE");
    if (!path)
        return;
    const int fd = open(path, O_RDWR);
    void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *gate, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        fail("no gate");
    gate = memory;
}

static void wait_until(atomic_int *counter, int value)
{
    const struct timespec pause = {0, 100000};
    for (long tries = 0; atomic_load(counter) < value; ++tries) {
        nanosleep(&pause, NULL);
        if (tries == 200000)
            fail("the order that was asked for cannot be");
    }
}

/* The place of this rank's next send in the order, or -1. */
static int turn(void)
{
    const char *order = getenv("FIGURE_ORDER");
    int place = 0;
    for (const char *at = order; at && *at; ++place) {
        int who, number, length = 0;
        if (sscanf(at, " %d.%d%n", &who, &number, &length) != 2)
            break;
        if (who == rank && number == sends)
            return place;
        at += length;
    }
    return -1;
}

static void do_send(const char *to)
{
    int peer, tag = 0;
    sscanf(to, "%d:%d", &peer, &tag);
    const int place = gate ? turn() : -1;
    if (place >= 0) {
        wait_until(&gate->sent, place);
        if (getenv("FIGURE_STRICT"))
            wait_until(&gate->taken, place);
    }
    ++sends;
    MPI_Send(&rank, 1, MPI_INT, peer, tag, MPI_COMM_WORLD);
    if (place >= 0)
        atomic_fetch_add(&gate->sent, 1);
}

static void do_receive(const char *from)
{
    const int source = *from == '*' ? MPI_ANY_SOURCE : atoi(from);
    const char *colon = strchr(from, ':');
    const int tag = !colon || colon[1] == '*' ? MPI_ANY_TAG : atoi(colon + 1);
    const char *hold = getenv("FIGURE_HOLD");
    if (gate && hold && source == MPI_ANY_SOURCE && !held) {
        held = 1;
        wait_until(&gate->sent, atoi(hold));
    }
    int value;
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_INT, source, tag, MPI_COMM_WORLD, &status);
    arrived(&seen, " %d:%d", value, status.MPI_TAG);
    if (gate)
        atomic_fetch_add(&gate->taken, 1);
}

/* The line of this rank in the figure, or an empty one. */
static void find_line(const char *file, const char *name, char *line, int size)
{
    FILE *in = fopen(file, "r");
    char head[128];
    int inside = 0, length = snprintf(head, sizeof head, "figure %s\n", name);
    if (!in || length >= (int)sizeof head)
        fail("no such file");
    while (fgets(line, size, in)) {
        inside = strncmp(line, "figure ", 7) == 0 ? strcmp(line, head) == 0 : inside;
        if (inside && strchr(line, ':') && line[0] >= '0' && line[0] <= '9' && atoi(line) == rank) {
            fclose(in);
            return;
        }
    }
    fclose(in);
    line[0] = '\0';
}

int main(int argc, char **argv)
{
    char line[1024], to[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3)
        fail("usage: figure FILE NAME");
    open_gate();
    find_line(argv[1], argv[2], line, sizeof line);
    const char *colon = strchr(line, ':');
    for (char *rest = NULL, *each = colon ? strtok_r(line + (colon - line) + 1, ";", &rest) : NULL; each; each = strtok_r(NULL, ";", &rest)) {
        if (sscanf(each, " send %63s", to) == 1)
            do_send(to);
        else if (sscanf(each, " recv %63s", to) == 1)
            do_receive(to);
    }
    if (seen.length)
        print_arrivals(&seen, rank);
    MPI_Finalize();
    return 0;
}

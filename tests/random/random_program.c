/* SPDX-License-Identifier: GPL-3.0-or-later
 * Random racy programs: random_program SEED [PROGRAMS=1] [STEPS=8] [--messages N] [--count-misses] [--check] [--trace] [--apart] [--heap]
 *
 * Every rank draws the same plans from the seed and does its own part of each. A plan is a sequence
 * of episodes, cut into parts that are interleaved. Each part is such that every rank gets through
 * it once all have reached it, whatever MPI chooses; so no plan can deadlock. The last lines tell a
 * hash of all that each rank received and all that MPI chose for it, in order, and since what is sent
 * follows from the hash so far, one choice made differently changes everything after it.
 *
 * Between two programs nothing is open, and all ranks have met: each is an execution of its own.
 *
 * --messages N    no more than so many in an episode of racing messages, 2 to 12
 * --count-misses  failed tests and probes are part of the hash
 * --check         after each program, look for messages that nobody received
 * --trace         tell every event, on stderr
 * --apart         each rank tells its own hash: some may be replayed without the others
 * --heap          and one of its heap, addresses and contents
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_program.h"

enum { FENCE_EVERY = 24, BSEND_BYTES = 4 << 20 };

struct run g_run = {.hash = 0xcbf29ce484222325u, .heap = 0xcbf29ce484222325u, .messages = MAX_MESSAGES};
static struct pool pools[MAX_OPEN];
static int opened; /* episodes since the last fence */

static int pick_place(int *comm, int *receiver)
{
    for (int tries = 0; tries < 10; ++tries) {
        *comm = below(&g_run.plan, COMMS);
        *receiver = below(&g_run.plan, g_run.size);
        for (int rank = 0; rank < g_run.size; ++rank)
            if (rank != *receiver && connected(*comm, rank, *receiver) && !g_run.any_tag[*comm][*receiver])
                return 1;
    }
    return 0;
}

static struct pool *open_one(int number)
{
    for (int i = 0; i < MAX_OPEN; ++i)
        if (pools[i].open && number-- == 0)
            return &pools[i];
    return NULL;
}

static int open_count(void)
{
    int count = 0;
    for (int i = 0; i < MAX_OPEN; ++i)
        count += pools[i].open;
    return count;
}

/* Everything begun is brought to its end. */
static void drain(void)
{
    for (struct pool *pool = open_one(0); pool != NULL; pool = open_one(0))
        while (pool->open)
            advance_pool(pool);
    cancel_doomed(100);
    complete_due();
}

/* No message sent before it is received after it. */
static void fence(void)
{
    trace("fence");
    drain();
    MPI_Barrier(MPI_COMM_WORLD);
    memset(g_run.any_tag, 0, sizeof g_run.any_tag);
    opened = 0;
}

/* A receive of MPI_ANY_TAG must not see messages that are meant for others. */
static int may_be_exclusive(int comm, int receiver)
{
    for (int i = 0; i < MAX_OPEN; ++i)
        if (pools[i].open && pools[i].comm == comm && pools[i].receiver == receiver)
            return 0;
    return 1;
}

static void open_new_pool(int comm, int receiver)
{
    struct pool *pool = pools;
    while (pool->open)
        ++pool;
    const int exclusive = chance(&g_run.plan, 35) && may_be_exclusive(comm, receiver);
    open_pool(pool, comm, receiver, exclusive);
    g_run.any_tag[comm][receiver] = exclusive;
}

static void begin_episode(void)
{
    int comm, receiver;
    const int what = below(&g_run.plan, 100);
    const int placed = pick_place(&comm, &receiver);
    if (!placed || ++opened > FENCE_EVERY)
        fence();
    int done = 1;
    if (what < 76 && !placed)
        done = 0;
    else if (what < 50)
        open_new_pool(comm, receiver);
    else if (what < 60)
        done = run_server(comm, receiver);
    else if (what < 68)
        done = run_persistent(comm, receiver);
    else if (what < 80)
        done = run_exchange();
    else if (what < 88)
        run_never();
    else if (what < 92)
        run_proc_null();
    else
        done = 0;
    if (!done)
        run_collective();
}

/* What a rank does between the parts of the plan is its own affair. */
static void between_parts(void)
{
    if (chance(&g_run.own, 25))
        poll_once();
    cancel_doomed(20);
    if (chance(&g_run.own, 25))
        complete_due();
}

static void look_for_leftovers(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < COMMS * 200; ++i) {
        int flag;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, g_run.comms[i % COMMS].handle, &flag, &status);
        if (flag) {
            fprintf(stderr, "random_program: program %d: rank %d did not receive a message from %d, tag %d, on %d\n",
                    g_run.program, g_run.rank, status.MPI_SOURCE, status.MPI_TAG, i % COMMS);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_program(uint64_t seed, int program, int steps)
{
    struct prng mixed = {seed};
    g_run.program = program;
    g_run.plan.state = draw(&mixed) + (uint64_t)program;
    g_run.next_tag = 1;
    make_communicators();
    for (g_run.step = 0; g_run.step < steps || open_count() > 0;) {
        const int open = open_count();
        g_run.own.state = draw(&g_run.plan) ^ ((uint64_t)g_run.rank << 56);
        if (g_run.step < steps && open < MAX_OPEN && (open == 0 || chance(&g_run.plan, 35))) {
            begin_episode();
            ++g_run.step;
        } else {
            advance_pool(open_one(below(&g_run.plan, open)));
        }
        between_parts();
    }
    fence();
    if (g_run.check)
        look_for_leftovers();
    free_communicators();
    free_space();
}

static void report(void)
{
    unsigned long long mine[2] = {g_run.hash, (unsigned long long)g_run.events}, all[2 * MAX_RANKS];
    if (g_run.show_heap)
        printf("rank %d heap %016llx\n", g_run.rank, (unsigned long long)g_run.heap);
    if (g_run.apart) {
        printf("rank %d hash %016llx events %llu\n", g_run.rank, mine[0], mine[1]);
        return;
    }
    MPI_Gather(mine, 2, MPI_UNSIGNED_LONG_LONG, all, 2, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    for (int rank = 0; g_run.rank == 0 && rank < g_run.size; ++rank)
        printf("rank %d hash %016llx events %llu\n", rank, all[2 * rank], all[2 * rank + 1]);
}

/* Gives whether the arguments make sense: SEED, PROGRAMS and STEPS into `numbers`. */
static int parse(int argc, char **argv, long *numbers)
{
    int count = 0;
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--count-misses") == 0)
            g_run.count_misses = 1;
        else if (strcmp(argv[i], "--check") == 0)
            g_run.check = 1;
        else if (strcmp(argv[i], "--trace") == 0)
            g_run.trace = 1;
        else if (strcmp(argv[i], "--apart") == 0)
            g_run.apart = 1;
        else if (strcmp(argv[i], "--heap") == 0)
            g_run.show_heap = 1;
        else if (strcmp(argv[i], "--messages") == 0 && i + 1 < argc)
            g_run.messages = (int)strtol(argv[++i], NULL, 10);
        else if (count < 3 && argv[i][0] != '-')
            numbers[count++] = strtol(argv[i], NULL, 10);
        else
            return 0;
    }
    return count > 0 && g_run.size >= 2 && g_run.size <= MAX_RANKS && g_run.messages >= 2 &&
           g_run.messages <= MAX_MESSAGES;
}

int main(int argc, char **argv)
{
    long numbers[3] = {0, 1, 8};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &g_run.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &g_run.size);
    if (!parse(argc, argv, numbers)) {
        if (g_run.rank == 0)
            fprintf(stderr, "usage: mpirun -n 2..16 random_program SEED [PROGRAMS=1] [STEPS=8]"
                            " [--messages 2..12] [--count-misses] [--check] [--trace]\n");
        MPI_Finalize();
        return 2;
    }
    int bytes = BSEND_BYTES;
    void *attached = malloc(BSEND_BYTES);
    MPI_Buffer_attach(attached, bytes);
    for (int program = 0; program < numbers[1]; ++program) {
        MPI_Barrier(MPI_COMM_WORLD);
        run_program((uint64_t)numbers[0], program, (int)numbers[2]);
    }
    MPI_Buffer_detach(&attached, &bytes);
    free(attached);
    report();
    MPI_Finalize();
    return 0;
}

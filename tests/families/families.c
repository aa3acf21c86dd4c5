/* SPDX-License-Identifier: GPL-3.0-or-later
 * Every family of MPI calls, to see that whoever sits between the program and MPI passes all of them on:
 *     mpirun -n 4 families [--list] [--orders] [--apart] [--threads] [--pause MICROSECONDS] [FAMILY...]
 * Rank 0 prints one line a family, `NAME: ok HASH`; HASH is of all that all ranks received and is the same
 * in every run. With --orders a second hash follows, of what MPI chose: it differs from run to run, but not
 * between a recording and its replays. With --apart every rank prints a line a family, of what it received itself
 * and what MPI chose for it: for ranks that are replayed without the others. Ends with 1 if data were wrong.
 */
#define _POSIX_C_SOURCE 200809L
#include "families.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const struct family *const tables[] = {
    send_families, receive_families, completion_families, completion_any_families, nobody_families,
    collective_move_families, collective_reduce_families, collective_special_families, in_place_families,
    operation_families, neighbour_families, communicator_families, topology_families, intercomm_families,
    datatype_families, datatype_made_families, error_families, attribute_families, group_families,
    environment_families, handle_families, tool_families, io_families, io_collective_families,
    io_shared_families, rma_families, rma_epoch_families};

enum { TABLES = sizeof tables / sizeof tables[0] };

struct options {
    int list, orders, threads, pause, first_name;
};

static struct options read_options(int argc, char **argv)
{
    struct options options = {0};
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; ++i) {
        if (strcmp(argv[i], "--list") == 0)
            options.list = 1;
        else if (strcmp(argv[i], "--orders") == 0)
            options.orders = 1;
        else if (strcmp(argv[i], "--apart") == 0)
            apart = 1;
        else if (strcmp(argv[i], "--threads") == 0)
            options.threads = 1;
        else if (strcmp(argv[i], "--pause") == 0 && i + 1 < argc)
            options.pause = atoi(argv[++i]);
        else {
            fprintf(stderr, "families: unknown option %s\n", argv[i]);
            exit(2);
        }
    }
    options.first_name = i;
    return options;
}

static const struct family *find(const char *name)
{
    for (int t = 0; t < TABLES; ++t)
        for (const struct family *family = tables[t]; family->name; ++family)
            if (strcmp(family->name, name) == 0)
                return family;
    return NULL;
}

/* Another order of arrival in every run, where the machine alone would give always the same. */
static void pause_up_to(int microseconds)
{
    const struct timespec time = {0, microseconds > 0 ? rand() % microseconds * 1000L : 0};
    if (microseconds > 0)
        nanosleep(&time, NULL);
}

static int run(const struct family *family, const struct options *options)
{
    begin_family();
    pause_up_to(options->pause);
    family->run(family->how);
    MPI_Barrier(MPI_COMM_WORLD);
    return end_family(family->name, options->orders);
}

static int run_all(const struct options *options)
{
    int good = 1;
    for (int t = 0; t < TABLES; ++t)
        for (const struct family *family = tables[t]; family->name; ++family)
            good &= run(family, options);
    return good;
}

static int run_named(int argc, char **argv, const struct options *options)
{
    int good = 1;
    for (int i = options->first_name; i < argc; ++i) {
        const struct family *family = find(argv[i]);
        if (!family) {
            if (my_rank == 0)
                fprintf(stderr, "families: no family %s\n", argv[i]);
            return 0;
        }
        good &= run(family, options);
    }
    return good;
}

static void start(int *argc, char ***argv, const struct options *options)
{
    int flag = 1, provided;
    MPI_Initialized(&flag);
    if (flag)
        abort();
    if (options->threads)
        MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    srand((unsigned)getpid());
}

int main(int argc, char **argv)
{
    const struct options options = read_options(argc, argv);
    int good, finalized = 0;
    if (options.list) {
        for (int t = 0; t < TABLES; ++t)
            for (const struct family *family = tables[t]; family->name; ++family)
                puts(family->name);
        return 0;
    }
    start(&argc, &argv, &options);
    if (ranks < 2 || ranks > MAX_RANKS) {
        fprintf(stderr, "families: 2 to %d ranks\n", MAX_RANKS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    good = options.first_name < argc ? run_named(argc, argv, &options) : run_all(&options);
    MPI_Finalized(&finalized);
    good &= !finalized;
    MPI_Finalize();
    MPI_Finalized(&finalized);
    return good && finalized ? 0 : 1;
}

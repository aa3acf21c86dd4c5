/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a rank has that goes back: a total, memory, a file, a count of signals. Each pass is one event; in pass i the total is
 * that of all before. With "thread": a thread of its own sleeps meanwhile. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long g_total;
static int g_children;
static long g_at; /* of the file */
static char *g_heap;

static void onChild(int number)
{
    (void)number;
    ++g_children;
}

static void *sleeper(void *unused)
{
    for (;;) {
        sleep(1000);
    }
    return unused;
}

static void pass(int i, int rank, int size, FILE *file)
{
    int in = -1;
    MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    g_total += in;
    g_heap[i % 4096] = (char)in;
    fprintf(file, "%08d\n", in);
    fflush(file);
    g_at = (long)lseek(fileno(file), 0, SEEK_CUR);
}

int main(int argc, char **argv)
{
    int rank = 0, size = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 3) {
        return 2;
    }
    signal(SIGCHLD, onChild);
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", argv[2], rank);
    FILE *file = fopen(name, "w");
    g_heap = calloc(4096, 1);
    pthread_t thread;
    if (argc > 3 && strcmp(argv[3], "thread") == 0) {
        pthread_create(&thread, NULL, sleeper, NULL);
    }
    const int passes = atoi(argv[1]);
    for (int i = 0; i < passes; ++i) {
        pass(i, rank, size, file);
    }
    MPI_Finalize();
    int finalized = 0;
    MPI_Finalized(&finalized);
    printf("total %ld, %d children, finalized %d\n", g_total, g_children, finalized);
    fclose(file);
    return finalized ? 0 : 1;
}

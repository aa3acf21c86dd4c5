/* SPDX-License-Identifier: GPL-3.0-or-later
 * locals PASSES: what a debugger shows of it, on the stack and on the heap, follows from all that a rank has received, in an
 * order that MPI chooses, and from where it is in a recursion. All of it is set at once: nothing shows what others left there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kValues = 4, kDeepest = 5 };

struct Part {
    int from, tag;
    double weight[kValues];
    char name[16];
    struct Part *next;
};

static struct Part *g_parts; /* newest first */
static unsigned long g_hash = 14695981039346656037UL;
static int g_rank, g_size;

static void keep(const double *values, const MPI_Status *status)
{
    struct Part *part = calloc(1, sizeof *part);
    part->from = status->MPI_SOURCE;
    part->tag = status->MPI_TAG;
    memcpy(part->weight, values, sizeof part->weight);
    snprintf(part->name, sizeof part->name, "part %d/%d", part->from, part->tag);
    part->next = g_parts;
    g_parts = part;
    for (int i = 0; i < kValues; ++i) {
        unsigned long bits;
        memcpy(&bits, &values[i], sizeof bits);
        g_hash = (g_hash ^ bits ^ (unsigned long)part->from) * 1099511628211UL;
    }
}

static double g_arriving[kValues]; /* when a message gets here before its wait, nothing says */

/* Each level receives before and after those below it. */
static double descend(int depth, double sum, int pass)
{
    double mine[kValues] = {0}, got[kValues] = {0};
    char at[24] = "";
    MPI_Status status = {0};
    MPI_Request request = MPI_REQUEST_NULL;
    const int to = (g_rank + 1 + depth) % g_size;
    snprintf(at, sizeof at, "pass %d, depth %d", pass, depth);
    for (int i = 0; i < kValues; ++i)
        mine[i] = sum / (i + 1) + g_rank + (double)(g_hash % 1000);
    MPI_Irecv(g_arriving, kValues, MPI_DOUBLE, MPI_ANY_SOURCE, pass, MPI_COMM_WORLD, &request);
    MPI_Send(mine, kValues, MPI_DOUBLE, to, pass, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    memcpy(got, g_arriving, sizeof got);
    keep(got, &status);
    sum += got[0] - got[kValues - 1] / 3;
    if (depth < kDeepest && (pass + depth) % 3 != 0)
        sum = descend(depth + 1, sum, pass);
    mine[0] = sum;
    MPI_Allreduce(MPI_IN_PLACE, mine, kValues, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return sum + mine[1] / 7 + (double)strlen(at);
}

static double everyone(int pass)
{
    double all[kValues] = {0}, total = 0;
    MPI_Status status = {0};
    for (int i = 0; i < kValues; ++i)
        all[i] = g_rank * 10.0 + i + (double)(g_hash % 100);
    if (g_rank != pass % g_size) {
        MPI_Send(all, kValues, MPI_DOUBLE, pass % g_size, 500, MPI_COMM_WORLD);
        MPI_Recv(all, kValues, MPI_DOUBLE, pass % g_size, 501, MPI_COMM_WORLD, &status);
        keep(all, &status);
        return all[0];
    }
    for (int i = 1; i < g_size; ++i) {
        MPI_Recv(all, kValues, MPI_DOUBLE, MPI_ANY_SOURCE, 500, MPI_COMM_WORLD, &status);
        keep(all, &status);
        total = total * 3 + all[i % kValues];
        all[0] = total;
        MPI_Send(all, kValues, MPI_DOUBLE, status.MPI_SOURCE, 501, MPI_COMM_WORLD);
    }
    return total;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &g_size);
    const int passes = argc > 1 ? atoi(argv[1]) : 10;
    double sum = g_rank;
    for (int pass = 0; pass < passes; ++pass) {
        sum = descend(0, sum, pass) / 2;
        sum += everyone(pass);
    }
    printf("rank %d ends with %a and %lx\n", g_rank, sum, g_hash);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
// Many deliveries, each a choice of MPI's. Rank 0 prints what its memory has grown by meanwhile, on standard error.
// usage: deliveries COUNT recv|waitany|test|probe|clock
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kTag = 6, kBatch = 500, kWarm = 20 };

/* KiB of this process that are resident, but for shared memory of MPI. */
static long resident(const char* name) {
    char line[256];
    long value = 0;
    FILE* file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            value = atol(line + strlen(name) + 1);
    if (file != NULL)
        fclose(file);
    return value;
}

static unsigned takeBatch(const char* how, unsigned hash) {
    int values[2], done = 0, index;
    MPI_Status status;
    MPI_Request requests[2];
    for (int i = 0; i < kBatch; i += 2) {
        if (strcmp(how, "recv") == 0 || strcmp(how, "clock") == 0) {
            for (int k = 0; k < 2; ++k) {
                MPI_Recv(&values[k], 1, MPI_INT, MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &status);
                hash += strcmp(how, "clock") == 0 ? MPI_Wtime() > 0 : 0;
            }
        } else if (strcmp(how, "probe") == 0) {
            for (int k = 0; k < 2; ++k) {
                MPI_Probe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &status);
                MPI_Recv(&values[k], 1, MPI_INT, status.MPI_SOURCE, kTag, MPI_COMM_WORLD, &status);
            }
        } else {
            for (int k = 0; k < 2; ++k)
                MPI_Irecv(&values[k], 1, MPI_INT, MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &requests[k]);
            for (int k = 0; k < 2; ++k) {
                if (strcmp(how, "waitany") == 0)
                    MPI_Waitany(2, requests, &index, &status);
                else
                    for (done = 0; done == 0;)
                        MPI_Test(&requests[k], &done, &status);
            }
        }
        hash = hash * 31 + (unsigned)(values[0] * 3 + values[1]);
    }
    return hash;
}

int main(int argc, char** argv) {
    int rank;
    const int batches = argc > 2 ? atoi(argv[1]) / kBatch : 0;
    unsigned hash = 0;
    long anonymous = 0, file = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int b = 0; b < batches; ++b) {
        if (rank == 0) {
            hash = takeBatch(argv[2], hash);
            MPI_Send(&b, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
            if (b == kWarm) {
                anonymous = resident("RssAnon");
                file = resident("RssFile");
            }
        } else if (rank == 1) {
            for (int i = 0; i < kBatch; ++i)
                MPI_Send(&i, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD);
            MPI_Recv(&b, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    if (rank == 0) {
        printf("rank 0 hash %x\n", hash);
        fprintf(stderr, "grown by %ld KiB of its own and %ld of files\n", resident("RssAnon") - anonymous,
                resident("RssFile") - file);
    }
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 * cut_off PATH [MICROSECONDS]: ranks that receive for ever, in many ways, and keep a hash of all that they received so far,
 * after each call that brings something, where no kill -9 takes it: in the mapped file PATH.RANK. What they send follows
 * from the hash. So a rank that is replayed to where it was killed must come through the same hashes. */
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kMost = 1 << 18, kWords = 40 };

/* The file. Its pages belong to the kernel, not to the process: they are there after its end. */
struct Page {
    _Atomic uint64_t count;
    uint64_t hash[kMost];
};

static struct Page *page;
static uint64_t state = 14695981039346656037UL;
static int rank, size;

static struct Page *openPage(const char *path)
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

/* What a call brought that has returned. */
static void took(const uint64_t *words, int count)
{
    for (int i = 0; i < count; ++i)
        state = (state ^ words[i]) * 1099511628211UL;
    const uint64_t at = atomic_load_explicit(&page->count, memory_order_relaxed);
    if (at == kMost)
        MPI_Abort(MPI_COMM_WORLD, 9);
    page->hash[at] = state;
    atomic_store_explicit(&page->count, at + 1, memory_order_release);
}

static void fill(uint64_t *words, int count)
{
    for (int i = 0; i < count; ++i)
        words[i] = state + (uint64_t)i * 0x9E3779B97F4A7C15UL + (uint64_t)rank;
}

static void ring(int form)
{
    uint64_t sent[kWords], got[kWords] = {0}, source;
    MPI_Request request[2];
    MPI_Status status;
    int index, done = 0;
    const int to = (rank + 1) % size, from = (rank + size - 1) % size, count = 1 + form * 5;
    fill(sent, count);
    MPI_Irecv(got, kWords, MPI_UINT64_T, form % 2 ? from : MPI_ANY_SOURCE, 10 + form, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(sent, count, MPI_UINT64_T, to, 10 + form, MPI_COMM_WORLD, &request[1]);
    if (form < 2) {
        MPI_Wait(&request[0], &status);
    } else if (form < 4) {
        do
            MPI_Waitany(2, request, &index, &status);
        while (index != 0);
    } else {
        while (!done)
            MPI_Test(&request[0], &done, &status);
    }
    took(got, count);
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    source = (uint64_t)status.MPI_SOURCE;
    took(&source, 1);
}

/* Rank 0 takes from whoever comes, and answers. */
static void serve(int pass)
{
    uint64_t words[3];
    MPI_Status status;
    if (rank != 0) {
        fill(words, 3);
        MPI_Send(words, 3, MPI_UINT64_T, 0, 1, MPI_COMM_WORLD);
        MPI_Recv(words, 3, MPI_UINT64_T, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        took(words, 3);
        return;
    }
    for (int i = 1; i < size; ++i) {
        int from = MPI_ANY_SOURCE;
        if (pass % 2) {
            MPI_Probe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            from = status.MPI_SOURCE;
        }
        MPI_Recv(words, 3, MPI_UINT64_T, from, 1, MPI_COMM_WORLD, &status);
        took(words, 3);
        MPI_Send(words, 3, MPI_UINT64_T, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
    }
}

static void collectives(int pass)
{
    uint64_t mine[3], got[3], all[64 * 3];
    fill(mine, 3);
    MPI_Bcast(mine, 3, MPI_UINT64_T, pass % size, MPI_COMM_WORLD);
    took(mine, 3);
    MPI_Allreduce(mine, got, 3, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
    took(got, 3);
    MPI_Allgather(got, 3, MPI_UINT64_T, all, 3, MPI_UINT64_T, MPI_COMM_WORLD);
    took(all, 3 * size);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int pause = argc > 2 ? atoi(argv[2]) : 0;
    if (argc < 2 || size > 64 || (page = openPage(argv[1])) == NULL)
        MPI_Abort(MPI_COMM_WORLD, 6);
    for (int pass = 0;; ++pass) {
        for (int form = 0; form < 6; ++form)
            ring(form);
        serve(pass);
        collectives(pass);
        if (page->count > kMost / 2) /* who was to kill it gets no turn */
            usleep(100000);
        else if (pause > 0)
            usleep((useconds_t)pause);
    }
}

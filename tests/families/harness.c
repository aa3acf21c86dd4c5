/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hash, checks and test data of all families. */
#include "families.h"


int my_rank, ranks, apart;
static struct result {
    uint64_t hash, order;
    int wrong;
    char what[116];
} result;

static uint64_t fnv(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; ++i)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

void begin_family(void)
{
    memset(&result, 0, sizeof result);
    result.hash = result.order = UINT64_C(14695981039346656037);
}

/* Of this rank alone: no other one is asked, and it may be replayed without them. */
static int end_apart(const char *name)
{
    if (result.wrong > 0)
        printf("rank %d %s: WRONG %d of its checks: %s\n", my_rank, name, result.wrong, result.what);
    else
        printf("rank %d %s: ok %016llx %016llx\n", my_rank, name, (unsigned long long)result.hash, (unsigned long long)result.order);
    fflush(stdout);
    return result.wrong == 0;
}

/* True if the data were right on every rank. Gathers by rank, so the hash does not depend on time. */
int end_family(const char *name, int with_order)
{
    struct result all[MAX_RANKS];
    int wrong = -1;
    uint64_t hash = UINT64_C(14695981039346656037), order = hash;
    if (apart)
        return end_apart(name);
    MPI_Allgather(&result, (int)sizeof result, MPI_BYTE, all, (int)sizeof result, MPI_BYTE, MPI_COMM_WORLD);
    for (int rank = 0; rank < ranks; ++rank) {
        hash = fnv(hash, &all[rank].hash, sizeof all[rank].hash);
        order = fnv(order, &all[rank].order, sizeof all[rank].order);
        if (wrong < 0 && all[rank].wrong > 0)
            wrong = rank;
    }
    if (my_rank == 0) {
        if (wrong >= 0)
            printf("%s: WRONG rank %d, %d of its checks: %s\n", name, wrong, all[wrong].wrong, all[wrong].what);
        else if (with_order)
            printf("%s: ok %016llx %016llx\n", name, (unsigned long long)hash, (unsigned long long)order);
        else
            printf("%s: ok %016llx\n", name, (unsigned long long)hash);
        fflush(stdout);
    }
    return wrong < 0;
}

void check_at(int good, const char *file, int line, const char *what)
{
    const char *slash = strrchr(file, '/');
    if (good)
        return;
    if (result.wrong++ == 0)
        snprintf(result.what, sizeof result.what, "%s:%d %s", slash ? slash + 1 : file, line, what);
}

int element(int seed, int index)
{
    return (int)(((unsigned)seed * 2654435761u + (unsigned)index * 40503u) & 0x7fffffffu);
}

void make(int *data, int count, int seed)
{
    for (int i = 0; i < count; ++i)
        data[i] = element(seed, i);
}

void take_made(const int *data, int count, int seed)
{
    for (int i = 0; i < count; ++i)
        if (data[i] != element(seed, i)) {
            char text[80];
            snprintf(text, sizeof text, "element %d of seed %d is %d, not %d", i, seed, data[i], element(seed, i));
            check_at(0, __FILE__, __LINE__, text);
            break;
        }
    take(data, (size_t)count * sizeof *data);
}

void take(const void *data, size_t bytes)
{
    result.hash = fnv(result.hash, data, bytes);
}

void take_int(long long value)
{
    take(&value, sizeof value);
}

void chose(long long value)
{
    result.order = fnv(result.order, &value, sizeof value);
}

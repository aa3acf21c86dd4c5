/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Persistent collectives. persistent_collectives busy|inter|threaded|ordered|crossed|unordered, given FILE */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5 /* which has them by another name */
#include <mpi-ext.h>
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Alltoall_init MPIX_Alltoall_init
#define MPI_Barrier_init MPIX_Barrier_init
#define MPI_Bcast_init MPIX_Bcast_init
#define MPI_Gatherv_init MPIX_Gatherv_init
#define MPI_Neighbor_alltoall_init MPIX_Neighbor_alltoall_init
#define MPI_Scan_init MPIX_Scan_init
#endif

enum { MOST = 16, ROUNDS = 6 };

static int rank, size;

static unsigned mixed(unsigned hash, int value)
{
    return (hash ^ (unsigned)value) * 16777619U;
}

/* Collectives of many kinds, persistent messages and a receive from anyone, all started at once; told of as they come. */
static void busy(void)
{
    MPI_Comm dup, ring;
    MPI_Request requests[7 + MOST];
    MPI_Status statuses[7 + MOST];
    int token = 0, sum = 0, scanned = 0, given[MOST], all[MOST], gathered[MOST], counts[MOST], places[MOST], from[MOST] = {0};
    int toEach[2] = {0}, ofEach[2] = {0}, periodic = 1, count = 0, mine = 0;
    unsigned hash = 2166136261U;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    for (int i = 0; i < size; ++i) {
        counts[i] = 1;
        places[i] = size - 1 - i;
    }
    MPI_Bcast_init(&token, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[count++]);
    MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[count++]);
    /* Not MPI_Allgather_init: MPICH 4.0.2 now and then brings what an earlier start has brought. */
    MPI_Alltoall_init(given, 1, MPI_INT, all, 1, MPI_INT, dup, MPI_INFO_NULL, &requests[count++]);
    MPI_Scan_init(&mine, &scanned, 1, MPI_INT, MPI_SUM, dup, MPI_INFO_NULL, &requests[count++]);
    MPI_Gatherv_init(&mine, 1, MPI_INT, gathered, counts, places, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[count++]);
    MPI_Neighbor_alltoall_init(toEach, 1, MPI_INT, ofEach, 1, MPI_INT, ring, MPI_INFO_NULL, &requests[count++]);
    MPI_Barrier_init(dup, MPI_INFO_NULL, &requests[count++]);
    if (rank == 0) {
        for (int i = 1; i < size; ++i) {
            MPI_Recv_init(&from[i], 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &requests[count++]);
        }
    } else {
        MPI_Send_init(&mine, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &requests[count++]);
    }
    for (int round = 0; round < ROUNDS; ++round) {
        mine = 100 * round + rank;
        token = rank == 0 ? (int)(hash % 100000) : -1;
        for (int i = 0; i < size; ++i) {
            given[i] = mine + 10 * i;
        }
        toEach[0] = mine + 1000;
        toEach[1] = mine + 2000;
        MPI_Startall(count, requests);
        for (int seen = 0; round % 3 == 2 && !seen;) { /* and then told of */
            MPI_Request_get_status(requests[1], &seen, MPI_STATUS_IGNORE);
        }
        for (int done = 0, index = 0, flag = 0; done < count;) {
            MPI_Status status;
            if (round % 2 == 0) {
                MPI_Waitany(count, requests, &index, &status);
            } else {
                MPI_Testany(count, requests, &index, &flag, &status);
                if (!flag) {
                    continue;
                }
            }
            hash = mixed(mixed(hash, index), index >= 7 && rank == 0 ? status.MPI_SOURCE : 0);
            ++done;
        }
        MPI_Waitall(count, requests, statuses); /* of which none is active */
        double whole = mine;
        MPI_Allreduce(MPI_IN_PLACE, &whole, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* what it is given is compared in a replay */
        MPI_Bcast(&token, 1, MPI_INT, 0, dup);
        hash = mixed(mixed(mixed(mixed(mixed(hash, token), sum), scanned), ofEach[0]), ofEach[1]);
        for (int i = 0; i < size; ++i) {
            hash = mixed(mixed(mixed(hash, all[i]), rank == 1 ? gathered[i] : 0), from[i]);
        }
    }
    for (int i = 0; i < count; ++i) {
        MPI_Request_free(&requests[i]);
    }
    MPI_Comm_free(&dup);
    MPI_Comm_free(&ring);
    printf("rank %d: %u\n", rank, hash);
}

/* The message of 1 is taken before a persistent collective, that of 2 is sent behind it. `crossed`: rank 2 starts its two
   in the other order. `between`: what orders the two; without it they race. */
static void ordered(int crossed, int between)
{
    MPI_Request requests[2];
    int value = 0, sum = 0;
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < 3; ++round) {
        if (rank == 1) {
            MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
        if (rank == 0) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (between) {
            if (crossed && rank == 2) {
                MPI_Start(&requests[1]);
            }
            MPI_Start(&requests[0]);
            if (rank != 0 && !(crossed && rank == 2)) {
                MPI_Start(&requests[1]);
            }
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        }
        if (rank == 2) {
            MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
        if (rank == 0) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (between) {
            if (rank == 0) {
                MPI_Start(&requests[1]);
            }
            MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE); /* is not active any more */
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    printf("rank %d: %d %d\n", rank, value, sum);
}

/* Between two halves. */
static void inter(void)
{
    MPI_Comm half, other;
    MPI_Request request;
    int value = 0, sum = 0;
    unsigned hash = 2166136261U;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &other);
    MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, other, MPI_INFO_NULL, &request);
    for (int round = 0; round < ROUNDS; ++round) {
        value = 10 * round + rank;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        hash = mixed(hash, sum);
    }
    MPI_Request_free(&request);
    MPI_Comm_free(&other);
    MPI_Comm_free(&half);
    printf("rank %d: %u\n", rank, hash);
}

enum { MANY = 400 };

static MPI_Comm own;
static int manyGot[MANY];

/* Has very many requests under way, more from round to round. */
static void *crowd(void *unused)
{
    static MPI_Request requests[MANY];
    for (int i = 0; i < MANY; ++i) {
        MPI_Irecv(&manyGot[i], 1, MPI_INT, MPI_ANY_SOURCE, i % 2, own, &requests[i]);
    }
    for (int i = 0; i < MANY; ++i) {
        MPI_Send(&i, 1, MPI_INT, rank, i % 2, own);
    }
    for (int i = 0; i < MANY; ++i) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    return unused;
}

static void threaded(void)
{
    pthread_t thread;
    MPI_Request request;
    int value = 0, sum = 0;
    unsigned hash = 2166136261U;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    pthread_create(&thread, NULL, crowd, NULL);
    for (int round = 0; round < 10 * ROUNDS; ++round) {
        value = 10 * round + rank;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        hash = mixed(hash, sum);
    }
    pthread_join(thread, NULL);
    for (int i = 0; i < MANY; ++i) {
        hash = mixed(hash, manyGot[i]);
    }
    MPI_Request_free(&request);
    MPI_Comm_free(&own);
    printf("rank %d: %u\n", rank, hash);
}

/* Four, each started three times. The word in the file names the one to which rank 1 gives something else the second time: as a
   program whose input is replaced. "gap": what its datatype leaves out, which is not given. */
static void given(const char *path)
{
    char word[32] = "";
    int cast[2] = {0}, part[3], sum[3], spread[MOST] = {0}, all[MOST], rows[4] = {0}, gathered[2 * MOST], counts[MOST], places[MOST];
    unsigned hash = 2166136261U;
    MPI_Request requests[4];
    MPI_Status statuses[4];
    MPI_Datatype pair;
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%31s", word) != 1) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    fclose(file);
    for (int i = 0; i < size; ++i) {
        counts[i] = 2;
        places[i] = 2 * i;
    }
    MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Bcast_init(cast, 2, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Allreduce_init(part, sum, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Gatherv_init(rows, 1, pair, gathered, counts, places, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
    MPI_Alltoall_init(spread, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]);
    for (int round = 0; round < 3; ++round) {
        const int changes = rank == 1 && round == 1;
        cast[0] = rank == 1 ? round + 1000 * (changes && strcmp(word, "cast") == 0) : -1;
        part[0] = part[1] = part[2] = 10 * round + rank + 1000 * (changes && strcmp(word, "reduce") == 0);
        rows[0] = rows[2] = round + 1000 * (changes && strcmp(word, "gather") == 0);
        rows[1] = changes && strcmp(word, "gap") == 0;
        spread[size - 1] = round + 1000 * (changes && strcmp(word, "alltoall") == 0);
        if (round == 0) {
            MPI_Startall(4, requests);
        } else {
            for (int i = 0; i < 4; ++i) {
                MPI_Start(&requests[i]); /* MPICH 4.0.2 needs one order */
            }
        }
        MPI_Waitall(4, requests, statuses);
        hash = mixed(mixed(mixed(hash, cast[0]), sum[1]), all[size - 1]);
        for (int i = 0; i < 2 * size && rank == 0; ++i) {
            hash = mixed(hash, gathered[i]);
        }
    }
    for (int i = 0; i < 4; ++i) {
        MPI_Request_free(&requests[i]);
    }
    MPI_Type_free(&pair); /* neither library keeps it for a request that is not started */
    printf("rank %d: %u\n", rank, hash);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int level = 0;
    MPI_Init_thread(&argc, &argv, strcmp(what, "threaded") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "busy") == 0 && size <= MOST) {
        busy();
    } else if (strcmp(what, "inter") == 0) {
        inter();
    } else if (strcmp(what, "threaded") == 0) {
        threaded();
    } else if (strcmp(what, "given") == 0 && argc > 2 && size <= MOST) {
        given(argv[2]);
    } else {
        ordered(strcmp(what, "crossed") == 0, strcmp(what, "unordered") != 0);
    }
    MPI_Finalize();
    return 0;
}

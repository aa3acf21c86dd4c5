/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MPI_Isendrecv (MPI 4.0, 3.10), for MPICH. exchanges busy|replace|threaded|nobody|freed|refused [ROUNDS]
   exchanges order one|two [FILE]: the same by MPI_Isendrecv, and by MPI_Irecv and MPI_Isend. With something in FILE, rank 0 sends
   something else. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8, LONG = 40000 }; /* more than MPI sends without asking */

static int rank, size, rounds;

static unsigned mixed(unsigned hash, int value)
{
    return (hash ^ (unsigned)value) * 16777619U;
}

static void expect(int is, const char *what)
{
    if (!is) {
        fprintf(stderr, "rank %d: other than expected: %s\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Completes all of them in one of nine ways; what is told, and in which order. */
static unsigned complete(int way, int count, MPI_Request *requests, unsigned hash)
{
    MPI_Status statuses[MOST];
    int indices[MOST], index = 0, flag = 0, some = 0;
    for (int done = 0; done < count;) {
        switch (way) {
        case 0:
            MPI_Waitany(count, requests, &index, statuses);
            hash = mixed(mixed(hash, index), statuses[0].MPI_SOURCE);
            ++done;
            continue;
        case 1:
            MPI_Testany(count, requests, &index, &flag, statuses);
            if (flag) {
                hash = mixed(mixed(hash, index), statuses[0].MPI_SOURCE);
                ++done;
            }
            continue;
        case 2:
        case 3:
            (way == 2 ? MPI_Waitsome : MPI_Testsome)(count, requests, &some, indices, statuses);
            for (int i = 0; i < some; ++i) {
                hash = mixed(mixed(hash, indices[i]), statuses[i].MPI_SOURCE);
            }
            done += some;
            continue;
        case 4:
            MPI_Waitall(count, requests, statuses);
            break;
        case 5:
            while (!flag) {
                MPI_Testall(count, requests, &flag, statuses);
            }
            break;
        case 6:
            for (int i = 0; i < count; ++i) {
                MPI_Wait(&requests[i], &statuses[i]);
            }
            break;
        case 7:
            for (int i = 0; i < count; ++i) {
                for (flag = 0; !flag;) {
                    MPI_Test(&requests[i], &flag, &statuses[i]);
                }
            }
            break;
        default:
            for (int i = count - 1; i >= 0; --i) {
                for (flag = 0; !flag;) {
                    MPI_Request_get_status(requests[i], &flag, &statuses[i]);
                }
            }
            MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        }
        for (int i = 0; i < count; ++i) {
            hash = mixed(hash, statuses[i].MPI_SOURCE);
        }
        done = count;
    }
    for (int i = 0; i < count; ++i) {
        hash = mixed(hash, requests[i] == MPI_REQUEST_NULL);
    }
    return hash;
}

/* Each rank exchanges with all others at once, and takes from whom it is. */
static unsigned everyoneWithEveryone(MPI_Comm comm, int lengths)
{
    unsigned hash = 2166136261U;
    int *given[MOST], *taken[MOST];
    for (int i = 0; i < size; ++i) {
        given[i] = calloc(LONG, sizeof(int));
        taken[i] = calloc(LONG, sizeof(int));
    }
    for (int round = 0; round < rounds; ++round) {
        const int count = lengths && round % 2 == 1 ? LONG : 3;
        MPI_Request requests[MOST];
        for (int i = 1; i < size; ++i) {
            const int dest = (rank + i) % size;
            given[i][0] = 1000 * round + 10 * rank + i;
            given[i][count - 1] = rank;
            if (round % 3 == 2) {
                MPI_Isendrecv_c(given[i], count, MPI_INT, dest, round, taken[i], LONG, MPI_INT, MPI_ANY_SOURCE, round, comm, &requests[i - 1]);
            } else {
                MPI_Isendrecv(given[i], count, MPI_INT, dest, round, taken[i], LONG, MPI_INT, MPI_ANY_SOURCE, round, comm, &requests[i - 1]);
            }
        }
        hash = complete(round % 9, size - 1, requests, hash);
        for (int i = 1; i < size; ++i) { /* what the rank that its end names has sent to this one */
            const int from = taken[i][count - 1];
            expect(from >= 0 && from < size && from != rank, "who sent it");
            expect(taken[i][0] == 1000 * round + 10 * from + (rank + size - from) % size, "what it begins with");
            hash = mixed(mixed(hash, taken[i][0]), from);
            given[i][0] = -1; /* it has left */
        }
    }
    for (int i = 0; i < size; ++i) {
        free(given[i]);
        free(taken[i]);
    }
    return hash;
}

/* Of a type with gaps, and of one without. */
static unsigned inPlace(void)
{
    unsigned hash = 2166136261U;
    MPI_Datatype gaps;
    static int values[MOST][2 * LONG];
    MPI_Type_vector(LONG, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    for (int round = 0; round < rounds; ++round) {
        MPI_Request requests[MOST];
        for (int i = 1; i < size; ++i) {
            const int dest = (rank + i) % size;
            for (int k = 0; k < 2 * LONG; ++k) {
                values[i][k] = 100 * k + 10 * rank + i;
            }
            if (round % 3 == 2) {
                MPI_Isendrecv_replace_c(values[i], LONG, MPI_INT, dest, round, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i - 1]);
            } else if (round % 3 == 1) {
                MPI_Isendrecv_replace(values[i], 1, gaps, dest, round, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &requests[i - 1]);
            } else {
                MPI_Isendrecv_replace(values[i], 2, MPI_INT, dest, round, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &requests[i - 1]);
            }
        }
        hash = complete(round % 9, size - 1, requests, hash);
        for (int i = 1; i < size; ++i) { /* those that were exchanged are another rank's, whole; others are as they were */
            const int count = round % 3 == 0 ? 2 : LONG, step = round % 3 == 1 ? 2 : 1;
            const int from = values[i][0] / 10, nth = (rank + size - from) % size;
            expect(from >= 0 && from < size && from != rank && values[i][0] == 10 * from + nth, "who sent it");
            for (int k = 0; k < 2 * LONG; ++k) {
                const int exchanged = k % step == 0 && k / step < count;
                expect(values[i][k] == 100 * k + (exchanged ? values[i][0] : 10 * rank + i), "a message that is whole");
            }
            hash = mixed(hash, from);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Type_free(&gaps);
    return hash;
}

static MPI_Comm own;
static unsigned ofThread;

static void *besides(void *unused)
{
    ofThread = everyoneWithEveryone(own, 1);
    return unused;
}

static unsigned threaded(void)
{
    pthread_t thread;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    pthread_create(&thread, NULL, besides, NULL);
    const unsigned hash = everyoneWithEveryone(MPI_COMM_WORLD, 1);
    pthread_join(thread, NULL);
    MPI_Comm_free(&own);
    return mixed(hash, (int)ofThread);
}

/* Half of it with nobody, or all. */
static unsigned withNobody(void)
{
    unsigned hash = 2166136261U;
    for (int round = 0; round < rounds; ++round) {
        int value = 10 * round + rank, taken[MOST] = {0};
        MPI_Request requests[MOST];
        int count = 0;
        for (int i = 1; i < size; ++i) {
            if (rank == 0) {
                MPI_Isendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, &taken[i], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[count++]);
            }
        }
        if (rank != 0) {
            MPI_Isendrecv_replace(&value, 1, MPI_INT, 0, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[count++]);
        }
        MPI_Isendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, &value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[count++]);
        MPI_Status statuses[MOST];
        MPI_Waitall(count, requests, statuses);
        for (int i = rank == 0 ? size - 1 : 0; i < count; ++i) {
            int bytes = -1;
            MPI_Get_count(&statuses[i], MPI_BYTE, &bytes);
            expect(statuses[i].MPI_SOURCE == MPI_PROC_NULL && statuses[i].MPI_TAG == MPI_ANY_TAG && bytes == 0, "the status of nobody's message");
        }
        for (int i = 1; i < size; ++i) {
            hash = mixed(hash, taken[i]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return hash;
}

/* What the freed one takes decides about the one behind it. */
static unsigned freed(void)
{
    unsigned hash = 2166136261U;
    for (int round = 0; round < rounds; ++round) {
        int value = 10 * round + rank, taken[2] = {0};
        const int other = rank ^ 1;
        MPI_Request request;
        if (rank == 0) {
            if (round % 2 == 0) {
                MPI_Isendrecv(&value, 1, MPI_INT, 1, 2, &taken[0], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
            } else {
                MPI_Isendrecv_replace(&value, 1, MPI_INT, 1, 2, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
            }
            MPI_Request_free(&request);
            MPI_Recv(&taken[1], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank < 3) {
            MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
            if (rank == 1) {
                MPI_Recv(&taken[1], 1, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                expect(taken[1] == 10 * round, "what was sent in place");
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
        hash = mixed(hash, taken[1]);
    }
    return hash;
}

/* Rank 0 tells each of the others and takes from anyone. In every other round they wait for that before they send: then nothing
   races. */
static unsigned ordered(int two, int other)
{
    unsigned hash = 2166136261U;
    for (int round = 0; round < 4; ++round) {
        int value = 10 * round + rank + (rank == 0 ? other : 0), taken = 0;
        for (int i = 1; i < size && rank == 0; ++i) {
            MPI_Request requests[2];
            if (two) {
                MPI_Irecv(&taken, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[0]);
                MPI_Isend(&value, 1, MPI_INT, i, 2, MPI_COMM_WORLD, &requests[1]);
                MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            } else {
                MPI_Isendrecv(&value, 1, MPI_INT, i, 2, &taken, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[0]);
                MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
            }
            hash = mixed(hash, taken);
        }
        if (rank != 0 && round % 2 == 0) {
            MPI_Recv(&taken, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        } else if (rank != 0) {
            MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
            MPI_Recv(&taken, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return hash;
}

/* MPI_Cancel of one is an error; one to nobody that is in the communicator takes nothing. */
static unsigned refused(void)
{
    int value = rank, taken = 0, class = 0;
    MPI_Request request;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Send(&value, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD);
    MPI_Probe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Error_class(MPI_Isendrecv(&value, 1, MPI_INT, size, 1, &taken, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &request), &class);
    expect(class == MPI_ERR_RANK, "the error class");
    MPI_Error_class(MPI_Isendrecv_replace(&value, 1, MPI_INT, 0, -7, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &request), &class);
    expect(class == MPI_ERR_TAG, "the error class");
    MPI_Recv(&taken, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(taken == (rank + size - 1) % size, "what was there");
    MPI_Isendrecv(&value, 1, MPI_INT, (rank + 1) % size, 1, &taken, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
    MPI_Error_class(MPI_Cancel(&request), &class);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return mixed(mixed(2166136261U, taken), class != MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const int two = argc > 2 && strcmp(argv[2], "two") == 0;
    int level = 0;
    unsigned hash = 0;
    MPI_Init_thread(&argc, &argv, strcmp(what, "threaded") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rounds = argc > 2 && atoi(argv[2]) > 0 ? atoi(argv[2]) : 18;
    if (size > MOST) {
        return 1;
    }
    if (strcmp(what, "busy") == 0) {
        hash = everyoneWithEveryone(MPI_COMM_WORLD, 1);
    } else if (strcmp(what, "replace") == 0) {
        hash = inPlace();
    } else if (strcmp(what, "threaded") == 0) {
        hash = threaded();
    } else if (strcmp(what, "nobody") == 0) {
        hash = withNobody();
    } else if (strcmp(what, "freed") == 0) {
        hash = freed();
    } else if (strcmp(what, "refused") == 0) {
        hash = refused();
    } else {
        FILE *file = argc > 3 ? fopen(argv[3], "r") : NULL;
        hash = ordered(two, file != NULL && fgetc(file) != EOF);
        if (file != NULL) {
            fclose(file);
        }
    }
    printf("rank %d: %u\n", rank, hash);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 * steered FILE: what rank 1 does after three messages depends on the environment variable STEER, or on the first word
 * of FILE: "tag" sends another tag, "peer" to another rank, "more" sends one more, "less" one less, "call" makes
 * another call. STEER_ROUNDS: so many messages of rank 1 instead of three. As a program that was recorded under other circumstances than it is replayed.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef EDITION
#define EDITION 1
#endif

static char word[32] = "plain";

static void read_word(int argc, char **argv)
{
    const char *variable = getenv("STEER");
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (variable)
        snprintf(word, sizeof word, "%s", variable);
    else if (file && fscanf(file, "%31s", word) != 1)
        strcpy(word, "plain");
    if (file)
        fclose(file);
}

static int steered(const char *to)
{
    return strcmp(word, to) == 0;
}

/* Rank 1 may be told to send more than three, to a rank 0 that does not look at them. */
static int rounds(int rank)
{
    const char *more = getenv("STEER_ROUNDS");
    return rank == 1 && more ? atoi(more) : 3;
}

static void send_numbers(int rank)
{
    for (int i = 0; i < rounds(rank); ++i)
        MPI_Send(&i, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    int last = rank * 10;
    int odd = rank == 1;
    if (odd && steered("less"))
        return;
    if (odd && steered("call"))
        MPI_Ssend(&last, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    else
        MPI_Send(&last, 1, MPI_INT, odd && steered("peer") ? 2 : 0, odd && steered("tag") ? 6 : 5, MPI_COMM_WORLD);
    if (odd && steered("more"))
        MPI_Send(&last, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    read_word(argc, argv);
    if (rank == 0) {
        for (int i = 0; i < 4 * (size - 1); ++i) {
            int value;
            MPI_Status status;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
            printf("%d from %d\n", value, status.MPI_SOURCE);
        }
        printf("edition %d\n", EDITION);
    } else {
        send_numbers(rank);
    }
    MPI_Finalize();
    return 0;
}

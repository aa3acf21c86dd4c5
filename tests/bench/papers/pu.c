/* SPDX-License-Identifier: GPL-3.0-or-later
 * MPIWiz, Table 3, PU (after MPICH's probe-unexp): rank 0 gives messages of growing sizes to all others, with tags by chance;
 * they probe for any tag, receive what they saw, and send it back, which rank 0 takes from any source. Nobody else talks.
 * pu [ROUNDS=20] [LARGEST=16384 bytes]
 */
#include "papers.h"

static int tag_of(int round, int size, int rank)
{
    return (int)(mixed((uint64_t)round << 40 | (uint64_t)size << 10 | (uint64_t)rank) % 1000);
}

/* Bytes of a message that its receiver can work out again. */
static void fill(unsigned char *bytes, int size, int tag)
{
    for (int i = 0; i < size; ++i)
        bytes[i] = (unsigned char)(tag + i);
}

static int is_filled(const unsigned char *bytes, int size, int tag)
{
    for (int i = 0; i < size; ++i)
        if (bytes[i] != (unsigned char)(tag + i))
            return 0;
    return 1;
}

static int give(struct world world, unsigned char *bytes, int round, int size)
{
    int ok = 1;
    for (int rank = 1; rank < world.size; ++rank) {
        const int tag = tag_of(round, size, rank);
        fill(bytes, size, tag);
        MPI_Send(bytes, size, MPI_BYTE, rank, tag, MPI_COMM_WORLD);
    }
    for (int rank = 1; rank < world.size; ++rank) {
        MPI_Status status;
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Recv(bytes, size, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
        ok = ok && status.MPI_TAG == tag_of(round, size, status.MPI_SOURCE) && is_filled(bytes, size, status.MPI_TAG);
    }
    return ok;
}

static int answer(unsigned char *bytes, int size)
{
    MPI_Status status;
    int got = 0;
    MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &got);
    MPI_Recv(bytes, size, MPI_BYTE, 0, status.MPI_TAG, MPI_COMM_WORLD, &status);
    MPI_Send(bytes, got, MPI_BYTE, 0, status.MPI_TAG, MPI_COMM_WORLD);
    return got == size && is_filled(bytes, size, status.MPI_TAG);
}

int main(int argc, char **argv)
{
    const struct world world = begin(&argc, &argv, 2);
    const int rounds = argument(argc, argv, 1, 20);
    const int largest = argument(argc, argv, 2, 16384);
    unsigned char *bytes = room((size_t)largest, 1);
    int ok = 1;
    for (int round = 0; round < rounds; ++round)
        for (int size = 1; size <= largest; size *= 4)
            ok = (world.rank == 0 ? give(world, bytes, round, size) : answer(bytes, size)) && ok;
    free(bytes);
    return verdict(world, "pu", ok, "%d rounds of messages up to %d bytes", rounds, largest);
}

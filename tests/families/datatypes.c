/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages of derived datatypes, MPI_BOTTOM, and packing. */
#include "families.h"

#include <stdlib.h>

enum { TAG = 90, CELLS = 64, PLACES = 12 };

struct mixed {
    char letter;
    double number;
    int integers[3];
};

/* Every type picks 12 integers out of 64; here which ones, in the order of the type. */
static MPI_Datatype make_type(int which, int places[PLACES])
{
    static const int lengths[3] = {5, 3, 4}, starts[3] = {40, 0, 20};
    const int sizes[2] = {8, 8}, subsizes[2] = {3, 4}, from[2] = {2, 3};
    MPI_Datatype type, inner;
    int n = 0;
    switch (which) {
    case 0: /* Every fifth pair. */
        MPI_Type_vector(6, 2, 5, MPI_INT, &type);
        for (int i = 0; i < PLACES; ++i)
            places[i] = i / 2 * 5 + i % 2;
        break;
    case 1: /* Blocks of unequal length, not in the order of their addresses. */
        MPI_Type_indexed(3, lengths, starts, MPI_INT, &type);
        for (int block = 0; block < 3; ++block)
            for (int i = 0; i < lengths[block]; ++i)
                places[n++] = starts[block] + i;
        break;
    case 2: /* A part of a square. */
        MPI_Type_create_subarray(2, sizes, subsizes, from, MPI_ORDER_C, MPI_INT, &type);
        for (int i = 0; i < PLACES; ++i)
            places[i] = (2 + i / 4) * 8 + 3 + i % 4;
        break;
    default: /* One integer with the extent of five, twelve times. */
        MPI_Type_create_resized(MPI_INT, 0, 5 * (MPI_Aint)sizeof(int), &inner);
        MPI_Type_contiguous(PLACES, inner, &type);
        MPI_Type_free(&inner);
        for (int i = 0; i < PLACES; ++i)
            places[i] = i * 5;
        break;
    }
    MPI_Type_commit(&type);
    return type;
}

/* Sent as a derived type and received as integers, and the other way; then from anybody, and broadcast. */
static void derived(int which)
{
    int places[PLACES], cells[CELLS], plain[PLACES], count = 0;
    MPI_Datatype type = make_type(which, places);
    MPI_Status status;
    make(cells, CELLS, my_rank);
    MPI_Sendrecv(cells, 1, type, right_of(1), TAG, plain, PLACES, MPI_INT, left_of(1), TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == PLACES);
    for (int i = 0; i < PLACES; ++i)
        CHECK(plain[i] == element(left_of(1), places[i]));
    take(plain, sizeof plain);
    make(plain, PLACES, my_rank);
    memset(cells, 0, sizeof cells);
    MPI_Sendrecv(plain, PLACES, MPI_INT, right_of(1), TAG, cells, 1, type, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
                 &status);
    MPI_Get_count(&status, type, &count);
    CHECK(count == 1 && status.MPI_SOURCE == left_of(1));
    for (int i = 0; i < PLACES; ++i)
        CHECK(cells[places[i]] == element(left_of(1), i));
    take(cells, sizeof cells);
    make(cells, CELLS, my_rank);
    MPI_Bcast(cells, 1, type, ranks - 1, MPI_COMM_WORLD);
    for (int i = 0; i < PLACES; ++i)
        CHECK(cells[places[i]] == element(ranks - 1, places[i]));
    take(cells, sizeof cells);
    MPI_Type_free(&type);
    CHECK(type == MPI_DATATYPE_NULL);
}

static MPI_Datatype make_struct(void)
{
    const int lengths[3] = {1, 1, 3};
    const MPI_Aint places[3] = {offsetof(struct mixed, letter), offsetof(struct mixed, number),
                                offsetof(struct mixed, integers)};
    const MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
    MPI_Datatype packed, type;
    MPI_Type_create_struct(3, lengths, places, types, &packed);
    MPI_Type_create_resized(packed, 0, sizeof(struct mixed), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&packed);
    return type;
}

static void structs(int unused)
{
    struct mixed out[COUNT], in[COUNT];
    MPI_Datatype type = make_struct();
    MPI_Status status;
    int count = 0, elements = 0;
    (void)unused;
    memset(out, 0, sizeof out);
    memset(in, 0, sizeof in);
    for (int i = 0; i < COUNT; ++i) {
        out[i].letter = (char)('a' + (my_rank + i) % 26);
        out[i].number = my_rank + i / 4.0;
        make(out[i].integers, 3, my_rank * COUNT + i);
    }
    MPI_Sendrecv(out, COUNT, type, right_of(1), TAG, in, COUNT, type, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, type, &count);
    MPI_Get_elements(&status, type, &elements);
    CHECK(count == COUNT && elements == 5 * COUNT);
    for (int i = 0; i < COUNT; ++i) {
        CHECK(in[i].letter == 'a' + (left_of(1) + i) % 26 && in[i].number == left_of(1) + i / 4.0);
        take(&in[i].letter, 1);
        take(&in[i].number, sizeof in[i].number);
        take_made(in[i].integers, 3, left_of(1) * COUNT + i);
    }
    MPI_Type_free(&type);
}

/* Two separate places by their absolute addresses, in messages and in a broadcast. */
static void bottom(int unused)
{
    int *first = malloc(COUNT * sizeof *first), *second = malloc(COUNT * sizeof *second), flat[2 * COUNT];
    const int lengths[2] = {COUNT, COUNT};
    MPI_Aint places[2];
    MPI_Datatype type;
    MPI_Request request;
    MPI_Status status;
    (void)unused;
    MPI_Get_address(first, &places[0]);
    MPI_Get_address(second, &places[1]);
    CHECK(MPI_Aint_add(places[0], MPI_Aint_diff(places[1], places[0])) == places[1]);
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    make(first, COUNT, my_rank);
    make(second, COUNT, my_rank + 100);
    MPI_Irecv(flat, 2 * COUNT, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
    MPI_Send(MPI_BOTTOM, 1, type, right_of(1), TAG, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    take_made(flat, COUNT, left_of(1));
    take_made(flat + COUNT, COUNT, left_of(1) + 100);
    MPI_Isend(flat, 2 * COUNT, MPI_INT, right_of(1), TAG, MPI_COMM_WORLD, &request);
    MPI_Recv(MPI_BOTTOM, 1, type, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    take_made(first, COUNT, left_of(2));
    MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD);
    take_made(second, COUNT, (2 * ranks - 2) % ranks + 100);
    MPI_Type_free(&type);
    free(first);
    free(second);
}

static void pack(int unused)
{
    char out[400], in[400];
    struct mixed mixed = {.letter = 'x', .number = my_rank / 8.0, .integers = {1, 2, my_rank}}, got;
    MPI_Datatype type = make_struct();
    MPI_Status status;
    int size = 0, position = 0, numbers[COUNT], received = 0;
    (void)unused;
    memset(&got, 0, sizeof got);
    MPI_Pack_size(1, type, MPI_COMM_WORLD, &size);
    CHECK(size >= 21 && size <= 200);
    make(numbers, COUNT, my_rank);
    MPI_Pack(&mixed, 1, type, out, sizeof out, &position, MPI_COMM_WORLD);
    MPI_Pack(numbers, COUNT, MPI_INT, out, sizeof out, &position, MPI_COMM_WORLD);
    MPI_Sendrecv(out, position, MPI_PACKED, right_of(1), TAG, in, sizeof in, MPI_PACKED, MPI_ANY_SOURCE, TAG,
                 MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_PACKED, &received);
    CHECK(received == position);
    position = 0;
    MPI_Unpack(in, received, &position, &got, 1, type, MPI_COMM_WORLD);
    MPI_Unpack(in, received, &position, numbers, COUNT, MPI_INT, MPI_COMM_WORLD);
    CHECK(position == received && got.letter == 'x' && got.number == left_of(1) / 8.0);
    CHECK(got.integers[2] == left_of(1));
    take_made(numbers, COUNT, left_of(1));
    MPI_Type_free(&type);
}

static void pack_external(int unused)
{
    char out[64], in[64];
    int numbers[COUNT];
    MPI_Aint size = 0, position = 0;
    MPI_Status status;
    (void)unused;
    MPI_Pack_external_size("external32", COUNT, MPI_INT, &size);
    CHECK(size == 4 * COUNT);
    make(numbers, COUNT, my_rank);
    MPI_Pack_external("external32", numbers, COUNT, MPI_INT, out, sizeof out, &position);
    CHECK(position == size);
    MPI_Sendrecv(out, (int)size, MPI_BYTE, right_of(1), TAG, in, (int)size, MPI_BYTE, left_of(1), TAG, MPI_COMM_WORLD,
                 &status);
    CHECK((unsigned char)in[3] == (unsigned)element(left_of(1), 0) % 256);
    position = 0;
    MPI_Unpack_external("external32", in, size, &position, numbers, COUNT, MPI_INT);
    take_made(numbers, COUNT, left_of(1));
}

const struct family datatype_families[] = {
    {"type_vector", derived, 0}, {"type_indexed", derived, 1}, {"type_subarray", derived, 2},
    {"type_resized", derived, 3}, {"type_struct", structs, 0}, {"bottom", bottom, 0},
    {"pack", pack, 0},           {"pack_external", pack_external, 0}, {NULL, NULL, 0}};

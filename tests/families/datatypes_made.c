/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The other constructors of datatypes, and what a datatype can be asked: extents, envelope, contents. */
#include "families.h"

enum { TAG = 95, CELLS = 32 };

/* The message must have the given size and put the integers at the given places. */
static void send_made(MPI_Datatype *type, const int places[], int count)
{
    int out[CELLS], in[CELLS], size = 0;
    MPI_Status status;
    MPI_Type_commit(type);
    MPI_Type_size(*type, &size);
    CHECK(size == count * (int)sizeof(int));
    make(out, CELLS, my_rank);
    memset(in, 0, sizeof in);
    MPI_Sendrecv(out, 1, *type, right_of(1), TAG, in, 1, *type, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
    for (int i = 0; i < count; ++i)
        CHECK(in[places[i]] == element(left_of(1), places[i]));
    take(in, sizeof in);
    MPI_Type_free(type);
}

static void constructors(int unused)
{
    const int places[4] = {1, 2, 9, 10}, starts[2] = {1, 9}, lengths[2] = {2, 2}, two_first[2] = {0, 1};
    const MPI_Aint byte_starts[2] = {1 * sizeof(int), 9 * sizeof(int)};
    MPI_Datatype type, copy;
    (void)unused;
    MPI_Type_create_indexed_block(2, 2, starts, MPI_INT, &type);
    send_made(&type, places, 4);
    MPI_Type_create_hindexed_block(2, 2, byte_starts, MPI_INT, &type);
    send_made(&type, places, 4);
    MPI_Type_create_hindexed(2, lengths, byte_starts, MPI_INT, &type);
    MPI_Type_dup(type, &copy);
    MPI_Type_free(&type);
    send_made(&copy, places, 4);
    MPI_Type_contiguous(2, MPI_INT, &type);
    send_made(&type, two_first, 2);
}

static void strided(int unused)
{
    const int places[4] = {0, 1, 8, 9};
    MPI_Datatype type;
    (void)unused;
    MPI_Type_create_hvector(2, 2, 8 * sizeof(int), MPI_INT, &type);
    send_made(&type, places, 4);
    MPI_Type_vector(2, 2, 8, MPI_INT, &type);
    send_made(&type, places, 4);
}

/* Block-cyclic over two processes: the part of the first one of 16 elements, in blocks of 4. */
static void darray(int unused)
{
    const int size = 16, kind = MPI_DISTRIBUTE_CYCLIC, block = 4, processes = 2;
    const int places[8] = {0, 1, 2, 3, 8, 9, 10, 11};
    MPI_Datatype type;
    (void)unused;
    MPI_Type_create_darray(2, 0, 1, &size, &kind, &block, &processes, MPI_ORDER_C, MPI_INT, &type);
    send_made(&type, places, 8);
}

static void extents(int unused)
{
    MPI_Aint low = 1, extent = 0, true_low = 0, true_extent = 0;
    MPI_Count low_x = 1, extent_x = 0, true_low_x = 0, true_extent_x = 0, size_x = 0;
    MPI_Datatype inner, type;
    (void)unused;
    MPI_Type_vector(2, 1, 3, MPI_INT, &inner);
    MPI_Type_create_resized(inner, -4, 64, &type);
    MPI_Type_get_extent(type, &low, &extent);
    MPI_Type_get_true_extent(type, &true_low, &true_extent);
    MPI_Type_get_extent_x(type, &low_x, &extent_x);
    MPI_Type_get_true_extent_x(type, &true_low_x, &true_extent_x);
    MPI_Type_size_x(type, &size_x);
    CHECK(low == -4 && extent == 64 && true_low == 0 && true_extent == 16);
    CHECK(low_x == -4 && extent_x == 64 && true_low_x == 0 && true_extent_x == 16 && size_x == 8);
    take_int(extent * 100 + true_extent);
    MPI_Type_free(&inner);
    MPI_Type_free(&type);
}

/* What went into a constructor must come out again. */
static void envelope(int unused)
{
    const int lengths[2] = {1, 2};
    const MPI_Aint places[2] = {0, 16};
    const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT};
    int integers = 0, addresses = 0, datatypes = 0, combiner = 0, got[3];
    MPI_Aint got_places[2];
    MPI_Datatype type, got_types[2];
    (void)unused;
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner);
    CHECK(combiner == MPI_COMBINER_STRUCT && integers == 3 && addresses == 2 && datatypes == 2);
    MPI_Type_get_contents(type, 3, 2, 2, got, got_places, got_types);
    CHECK(got[0] == 2 && got[1] == 1 && got[2] == 2 && got_places[1] == 16);
    CHECK(got_types[0] == MPI_DOUBLE && got_types[1] == MPI_INT);
    take(got, sizeof got);
    take(got_places, sizeof got_places);
    MPI_Type_free(&type);
    MPI_Type_get_envelope(MPI_INT, &integers, &addresses, &datatypes, &combiner);
    CHECK(combiner == MPI_COMBINER_NAMED && integers + addresses + datatypes == 0);
}

static void names(int unused)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    MPI_Datatype type, matching = MPI_DATATYPE_NULL;
    (void)unused;
    MPI_Type_contiguous(3, MPI_CHAR, &type);
    MPI_Type_set_name(type, "three");
    MPI_Type_get_name(type, name, &length);
    CHECK(length == 5 && strcmp(name, "three") == 0);
    take(name, 5);
    MPI_Type_free(&type);
    MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &matching);
    CHECK(matching != MPI_DATATYPE_NULL);
    MPI_Type_size(matching, &length);
    CHECK(length == 4);
}

/* A part of a struct, so that the elements are more than the whole datatypes. */
static void elements(int unused)
{
    int out[5], in[6], count = 0, pieces = 0;
    MPI_Count pieces_x = 0;
    MPI_Datatype pair;
    MPI_Status status;
    (void)unused;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    make(out, 5, my_rank);
    MPI_Sendrecv(out, 5, MPI_INT, right_of(1), TAG, in, 3, pair, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, pair, &count);
    MPI_Get_elements(&status, pair, &pieces);
    MPI_Get_elements_x(&status, pair, &pieces_x);
    CHECK(count == MPI_UNDEFINED && pieces == 5 && pieces_x == 5);
    take_made(in, 5, left_of(1));
    MPI_Type_free(&pair);
}

static void fortran_kinds(int unused)
{
    MPI_Datatype integer = MPI_DATATYPE_NULL, real = MPI_DATATYPE_NULL, complex_type = MPI_DATATYPE_NULL;
    int integer_bytes = 0, real_bytes = 0, complex_bytes = 0;
    (void)unused;
    MPI_Type_create_f90_integer(9, &integer);
    MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real);
    MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &complex_type);
    MPI_Type_size(integer, &integer_bytes);
    MPI_Type_size(real, &real_bytes);
    MPI_Type_size(complex_type, &complex_bytes);
    CHECK(integer_bytes == 4 && real_bytes == 8 && complex_bytes == 8);
    take_int(integer_bytes * 100 + real_bytes * 10 + complex_bytes);
}

const struct family datatype_made_families[] = {
    {"type_constructors", constructors, 0}, {"type_hvector", strided, 0}, {"type_darray", darray, 0},
    {"type_extents", extents, 0},           {"type_envelope", envelope, 0}, {"type_names", names, 0},
    {"get_elements", elements, 0},          {"type_f90", fortran_kinds, 0}, {NULL, NULL, 0}};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attributes of communicators, datatypes and windows; the callbacks call MPI and even receive from anybody. */
#include "families.h"

#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { TAG = 110 };

static int copies, deletes;

/* The copy knows its depth; who copies asks for its rank. */
static int copy_comm(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    int rank = -1;
    (void)key;
    MPI_Comm_rank(comm, &rank);
    CHECK(rank == my_rank && *(int *)extra == 42);
    int *made = malloc(sizeof *made);
    *made = *(int *)value + 1;
    *(void **)copy = made;
    *flag = 1;
    ++copies;
    return MPI_SUCCESS;
}

static int delete_comm(MPI_Comm comm, int key, void *value, void *extra)
{
    int rank = -1;
    (void)key;
    MPI_Comm_rank(comm, &rank);
    CHECK(rank == my_rank && *(int *)extra == 42);
    free(value);
    ++deletes;
    return MPI_SUCCESS;
}

static int *boxed(int value)
{
    int *box = malloc(sizeof *box);
    *box = value;
    return box;
}

static void check_attribute(MPI_Comm comm, int key, int expected)
{
    int *value = NULL, found = 0;
    MPI_Comm_get_attr(comm, key, &value, &found);
    CHECK(found && value && *value == expected);
    if (found)
        take_int(*value);
}

/* Exactly as many callbacks as the program causes: nobody else may duplicate its communicators. */
static void communicators(int unused)
{
    int key = MPI_KEYVAL_INVALID, extra = 42, found = 1, *value;
    MPI_Comm first, second, part;
    MPI_Request request;
    (void)unused;
    copies = deletes = 0;
    MPI_Comm_create_keyval(copy_comm, delete_comm, &key, &extra);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, boxed(10));
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    check_attribute(first, key, 11);
    MPI_Comm_idup(first, &second, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_attribute(second, key, 12);
    CHECK(copies == 2 && deletes == 0);
    MPI_Comm_split(second, 0, 0, &part);
    MPI_Comm_get_attr(part, key, &value, &found);
    CHECK(!found && copies == 2);
    use_communicator(second);
    MPI_Comm_free(&part);
    MPI_Comm_free(&second);
    CHECK(deletes == 1);
    MPI_Comm_delete_attr(first, key);
    MPI_Comm_free(&first);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    CHECK(deletes == 3);
    MPI_Comm_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID);
    take_int(copies * 10 + deletes);
}

/* A callback that communicates: what it receives from anybody is a choice like any other. */
static int copy_and_receive(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    (void)comm;
    (void)key;
    (void)value;
    long long *sum = extra;
    for (int i = 1; i < ranks; ++i) {
        int in = -1;
        MPI_Status status;
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        CHECK(in == status.MPI_SOURCE);
        chose(status.MPI_SOURCE);
        *sum += in;
    }
    *(void **)copy = NULL;
    *flag = 1;
    return MPI_SUCCESS;
}

static void receiving_callback(int unused)
{
    int key;
    long long sum = 0;
    MPI_Comm carrier, copy;
    MPI_Request requests[MAX_RANKS];
    (void)unused;
    MPI_Comm_create_keyval(copy_and_receive, MPI_COMM_NULL_DELETE_FN, &key, &sum);
    MPI_Comm_dup(MPI_COMM_WORLD, &carrier);
    MPI_Comm_set_attr(carrier, key, NULL);
    for (int shift = 1; shift < ranks; ++shift)
        MPI_Isend(&my_rank, 1, MPI_INT, right_of(shift), TAG, MPI_COMM_WORLD, &requests[shift - 1]);
    MPI_Comm_dup(carrier, &copy);
    MPI_Waitall(ranks - 1, requests, MPI_STATUSES_IGNORE);
    CHECK(sum == ranks * (ranks - 1) / 2 - my_rank);
    take_int(sum);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&carrier);
    MPI_Comm_free_keyval(&key);
}

static int copy_type(MPI_Datatype type, int key, void *extra, void *value, void *copy, int *flag)
{
    int size = 0;
    (void)key;
    (void)extra;
    MPI_Type_size(type, &size);
    CHECK(size == 3 * (int)sizeof(int));
    *(void **)copy = value;
    *flag = 1;
    ++copies;
    return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype type, int key, void *value, void *extra)
{
    int rank = -1;
    (void)type;
    (void)key;
    (void)value;
    (void)extra;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(rank == my_rank);
    ++deletes;
    return MPI_SUCCESS;
}

static void datatypes(int unused)
{
    int key, mark = 7, found = 0, *value = NULL;
    MPI_Datatype type, copy;
    (void)unused;
    copies = deletes = 0;
    MPI_Type_create_keyval(copy_type, delete_type, &key, NULL);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_set_attr(type, key, &mark);
    MPI_Type_dup(type, &copy);
    MPI_Type_get_attr(copy, key, &value, &found);
    CHECK(found && value == &mark && copies == 1);
    MPI_Type_delete_attr(copy, key);
    MPI_Type_free(&copy);
    MPI_Type_free(&type);
    CHECK(deletes == 2);
    MPI_Type_free_keyval(&key);
    take_int(copies * 10 + deletes);
}

/* The names of MPI-1, which programs still use. */
static void deprecated(int unused)
{
    int key, extra = 42, found = 0, *value = NULL;
    MPI_Comm comm;
    (void)unused;
    copies = deletes = 0;
    MPI_Keyval_create(copy_comm, delete_comm, &key, &extra);
    MPI_Attr_put(MPI_COMM_WORLD, key, boxed(20));
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Attr_get(comm, key, &value, &found);
    CHECK(found && value && *value == 21);
    MPI_Attr_delete(comm, key);
    MPI_Comm_free(&comm);
    MPI_Attr_delete(MPI_COMM_WORLD, key);
    MPI_Keyval_free(&key);
    CHECK(copies == 1 && deletes == 2);
    take_int(copies * 10 + deletes);
}

static void predefined(int unused)
{
    int *value = NULL, found = 0;
    (void)unused;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
    CHECK(found && *value >= 32767);
    /* The largest tag must pass like any other. */
    int in = -1;
    MPI_Status status;
    MPI_Sendrecv(&my_rank, 1, MPI_INT, right_of(1), *value, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                 MPI_COMM_WORLD, &status);
    CHECK(status.MPI_TAG == *value && in == left_of(1));
    take_int(in);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &found);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &found);
    CHECK(!found || *value >= 1);
}

const struct family attribute_families[] = {
    {"attributes", communicators, 0},      {"attributes_receive", receiving_callback, 0},
    {"attributes_type", datatypes, 0},     {"attributes_deprecated", deprecated, 0},
    {"attributes_predefined", predefined, 0}, {NULL, NULL, 0}};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* User-defined reductions, which call MPI themselves, in every collective that reduces. */
#include "families.h"

#include <stdlib.h>

/* The composition of affine functions x -> a x + b: associative, not commutative. */
struct affine {
    unsigned a, b;
};

static int calls;

static struct affine affine_of(int rank)
{
    return (struct affine){2u * (unsigned)rank + 3u, (unsigned)rank + 1u};
}

static struct affine after(struct affine first, struct affine second)
{
    return (struct affine){first.a * second.a, first.b * second.a + second.b};
}

static struct affine of_ranks(int end)
{
    struct affine result = affine_of(0);
    for (int rank = 1; rank < end; ++rank)
        result = after(result, affine_of(rank));
    return result;
}

/* Asks MPI for what it knows already, as operations on unknown types do. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    struct affine *first = in, *second = inout;
    int rank = -1, bytes = 0, initialized = 0;
    MPI_Aint low, extent, address;
    MPI_Initialized(&initialized);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_size(*type, &bytes);
    MPI_Type_get_extent(*type, &low, &extent);
    MPI_Get_address(inout, &address);
    CHECK(initialized && rank == my_rank && bytes == (int)sizeof(struct affine));
    CHECK(extent == (MPI_Aint)sizeof(struct affine) && MPI_Wtime() >= 0);
    for (int i = 0; i < *count; ++i)
        second[i] = after(first[i], second[i]);
    ++calls;
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int bytes = 0;
    MPI_Type_size(*type, &bytes);
    CHECK(bytes == (int)sizeof(int));
    for (int i = 0; i < *count; ++i)
        ((int *)inout)[i] += ((int *)in)[i];
    ++calls;
}

static void take_affine(struct affine value, struct affine expected)
{
    CHECK(value.a == expected.a && value.b == expected.b);
    take(&value, sizeof value);
}

struct tools {
    MPI_Datatype type;
    MPI_Op compose, add;
};

static struct tools make_tools(void)
{
    struct tools tools;
    int commute = 1;
    MPI_Type_contiguous(2, MPI_UNSIGNED, &tools.type);
    MPI_Type_commit(&tools.type);
    MPI_Op_create(compose, 0, &tools.compose);
    MPI_Op_create(add, 1, &tools.add);
    MPI_Op_commutative(tools.compose, &commute);
    CHECK(!commute);
    MPI_Op_commutative(tools.add, &commute);
    CHECK(commute);
    calls = 0;
    return tools;
}

static void free_tools(struct tools *tools)
{
    MPI_Type_free(&tools->type);
    MPI_Op_free(&tools->compose);
    MPI_Op_free(&tools->add);
    CHECK(tools->add == MPI_OP_NULL);
}

static void finish(int later, MPI_Request *request)
{
    if (later)
        MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void composed(int later)
{
    struct tools tools = make_tools();
    const struct affine mine = affine_of(my_rank);
    struct affine result = mine;
    MPI_Request request;
    if (later)
        MPI_Iallreduce(&mine, &result, 1, tools.type, tools.compose, MPI_COMM_WORLD, &request);
    else
        MPI_Allreduce(&mine, &result, 1, tools.type, tools.compose, MPI_COMM_WORLD);
    finish(later, &request);
    take_affine(result, of_ranks(ranks));
    if (later)
        MPI_Ireduce(&mine, &result, 1, tools.type, tools.compose, ranks - 1, MPI_COMM_WORLD, &request);
    else
        MPI_Reduce(&mine, &result, 1, tools.type, tools.compose, ranks - 1, MPI_COMM_WORLD);
    finish(later, &request);
    if (my_rank == ranks - 1)
        take_affine(result, of_ranks(ranks));
    if (later)
        MPI_Iscan(&mine, &result, 1, tools.type, tools.compose, MPI_COMM_WORLD, &request);
    else
        MPI_Scan(&mine, &result, 1, tools.type, tools.compose, MPI_COMM_WORLD);
    finish(later, &request);
    take_affine(result, of_ranks(my_rank + 1));
    if (later)
        MPI_Iexscan(&mine, &result, 1, tools.type, tools.compose, MPI_COMM_WORLD, &request);
    else
        MPI_Exscan(&mine, &result, 1, tools.type, tools.compose, MPI_COMM_WORLD);
    finish(later, &request);
    if (my_rank > 0)
        take_affine(result, of_ranks(my_rank));
    free_tools(&tools);
}

static void added(int later)
{
    struct tools tools = make_tools();
    int out[MAX_RANKS], in[MAX_RANKS] = {0}, counts[MAX_RANKS];
    MPI_Request request;
    for (int rank = 0; rank < ranks; ++rank) {
        out[rank] = my_rank * 10 + rank;
        counts[rank] = 1;
    }
    if (later)
        MPI_Ireduce_scatter(out, in, counts, MPI_INT, tools.add, MPI_COMM_WORLD, &request);
    else
        MPI_Reduce_scatter(out, in, counts, MPI_INT, tools.add, MPI_COMM_WORLD);
    finish(later, &request);
    CHECK(in[0] == 5 * ranks * (ranks - 1) + my_rank * ranks);
    take_int(in[0]);
    if (later)
        MPI_Ireduce_scatter_block(out, in, 1, MPI_INT, tools.add, MPI_COMM_WORLD, &request);
    else
        MPI_Reduce_scatter_block(out, in, 1, MPI_INT, tools.add, MPI_COMM_WORLD);
    finish(later, &request);
    CHECK(in[0] == 5 * ranks * (ranks - 1) + my_rank * ranks);
    take_int(in[0]);
    MPI_Allreduce(MPI_IN_PLACE, out, ranks, MPI_INT, tools.add, MPI_COMM_WORLD);
    for (int rank = 0; rank < ranks; ++rank)
        CHECK(out[rank] == 5 * ranks * (ranks - 1) + rank * ranks);
    take(out, (size_t)ranks * sizeof *out);
    free_tools(&tools);
}

static void local(int unused)
{
    struct tools tools = make_tools();
    int in[COUNT], inout[COUNT];
    struct affine first = affine_of(4), second = affine_of(9);
    (void)unused;
    for (int i = 0; i < COUNT; ++i) {
        in[i] = my_rank + i;
        inout[i] = 100 * i;
    }
    MPI_Reduce_local(in, inout, COUNT, MPI_INT, MPI_MAX);
    MPI_Reduce_local(in, inout, COUNT, MPI_INT, tools.add);
    for (int i = 0; i < COUNT; ++i)
        CHECK(inout[i] == (in[i] > 100 * i ? in[i] : 100 * i) + in[i]);
    take(inout, sizeof inout);
    MPI_Reduce_local(&first, &second, 1, tools.type, tools.compose);
    take_affine(second, after(affine_of(4), affine_of(9)));
    CHECK(calls == 2);
    free_tools(&tools);
}

const struct family operation_families[] = {
    {"op_noncommutative", composed, 0},   {"op_user", added, 0},   {"op_inoncommutative", composed, 1},
    {"op_iuser", added, 1},               {"reduce_local", local, 0}, {NULL, NULL, 0}};

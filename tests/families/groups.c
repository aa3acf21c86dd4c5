/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups: made, combined, compared; none of it sends anything. */
#include "families.h"

static void take_group(MPI_Group group, int expected_size)
{
    int size = -1, rank = -1, own[MAX_RANKS], of_world[MAX_RANKS];
    MPI_Group world;
    MPI_Group_size(group, &size);
    MPI_Group_rank(group, &rank);
    CHECK(size == expected_size);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < size; ++i)
        own[i] = i;
    MPI_Group_translate_ranks(group, size, own, world, of_world);
    take(of_world, (size_t)size * sizeof(int));
    CHECK(rank == MPI_UNDEFINED || of_world[rank] == my_rank);
    MPI_Group_free(&world);
    CHECK(world == MPI_GROUP_NULL);
}

static void sets(int unused)
{
    const int first_rank = 0, last_rank = ranks - 1;
    int result = -1;
    MPI_Group world, first, rest, last, both;
    (void)unused;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    take_group(world, ranks);
    MPI_Group_incl(world, 1, &first_rank, &first);
    MPI_Group_excl(world, 1, &first_rank, &rest);
    MPI_Group_incl(world, 1, &last_rank, &last);
    take_group(first, 1);
    take_group(rest, ranks - 1);
    MPI_Group_union(first, rest, &both);
    MPI_Group_compare(world, both, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&both);
    MPI_Group_union(rest, first, &both);
    MPI_Group_compare(world, both, &result);
    CHECK(result == MPI_SIMILAR);
    MPI_Group_free(&both);
    MPI_Group_intersection(rest, last, &both);
    take_group(both, 1);
    MPI_Group_free(&both);
    MPI_Group_difference(world, first, &both);
    MPI_Group_compare(rest, both, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&both);
    MPI_Group_difference(first, world, &both);
    CHECK(both == MPI_GROUP_EMPTY);
    MPI_Group_free(&first);
    MPI_Group_free(&rest);
    MPI_Group_free(&last);
    MPI_Group_free(&world);
}

static void ranges(int unused)
{
    int backwards[1][3] = {{ranks - 1, 0, -1}}, even[1][3] = {{0, ranks - 1, 2}};
    MPI_Group world, group;
    (void)unused;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, backwards, &group);
    take_group(group, ranks);
    MPI_Group_free(&group);
    MPI_Group_range_excl(world, 1, even, &group);
    take_group(group, ranks / 2);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

const struct family group_families[] = {{"groups", sets, 0}, {"group_ranges", ranges, 0}, {NULL, NULL, 0}};

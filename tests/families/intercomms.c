/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intercommunicators between the even and the odd ranks: messages, collectives, merge, and their children. */
#include "families.h"

enum { TAG = 80 };

struct sides {
    MPI_Comm local, inter;
    int odd, here, there, rank;
};

static struct sides connect_sides(void)
{
    struct sides sides = {.odd = my_rank % 2};
    MPI_Comm_split(MPI_COMM_WORLD, sides.odd, my_rank, &sides.local);
    MPI_Intercomm_create(sides.local, 0, MPI_COMM_WORLD, sides.odd ? 0 : 1, TAG, &sides.inter);
    MPI_Comm_size(sides.inter, &sides.here);
    MPI_Comm_remote_size(sides.inter, &sides.there);
    MPI_Comm_rank(sides.inter, &sides.rank);
    CHECK(sides.here + sides.there == ranks);
    return sides;
}

static void free_sides(struct sides *sides)
{
    MPI_Comm_free(&sides->inter);
    MPI_Comm_free(&sides->local);
}

/* LaunchContext rank of a rank on the other side. */
static int world_rank(const struct sides *sides, int remote) { return 2 * remote + !sides->odd; }

/* Everybody to everybody of the other side, in the order of arrival. */
static void messages(const struct sides *sides, MPI_Comm inter)
{
    MPI_Request sends[MAX_RANKS];
    int times[MAX_RANKS] = {0};
    for (int to = 0; to < sides->there; ++to)
        MPI_Isend(&my_rank, 1, MPI_INT, to, TAG + to, inter, &sends[to]);
    for (int i = 0; i < sides->there; ++i) {
        int in = -1;
        MPI_Status status;
        if (i % 2)
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status);
        MPI_Recv(&in, 1, MPI_INT, i % 2 ? status.MPI_SOURCE : MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status);
        CHECK(status.MPI_TAG == TAG + sides->rank);
        CHECK(in == world_rank(sides, status.MPI_SOURCE));
        chose(status.MPI_SOURCE);
        ++times[status.MPI_SOURCE];
    }
    MPI_Waitall(sides->there, sends, MPI_STATUSES_IGNORE);
    for (int source = 0; source < sides->there; ++source)
        CHECK(times[source] == 1);
    take(times, sizeof times);
}

static void collectives(const struct sides *sides)
{
    int all[MAX_RANKS] = {0}, sum = 0, expected = 0, data = my_rank == 0 ? 1234 : 0, root;
    MPI_Request request;
    for (int remote = 0; remote < sides->there; ++remote)
        expected += world_rank(sides, remote);
    MPI_Barrier(sides->inter);
    MPI_Allgather(&my_rank, 1, MPI_INT, all, 1, MPI_INT, sides->inter);
    for (int remote = 0; remote < sides->there; ++remote)
        CHECK(all[remote] == world_rank(sides, remote));
    MPI_Allreduce(&my_rank, &sum, 1, MPI_INT, MPI_SUM, sides->inter);
    CHECK(sum == expected);
    root = sides->odd ? 0 : sides->rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Bcast(&data, 1, MPI_INT, root, sides->inter);
    CHECK(!sides->odd || data == 1234);
    sum = 0;
    MPI_Reduce(&my_rank, &sum, 1, MPI_INT, MPI_SUM, root, sides->inter);
    CHECK(root != MPI_ROOT || sum == expected);
    MPI_Iallgather(&my_rank, 1, MPI_INT, all, 1, MPI_INT, sides->inter, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    take(all, sizeof all);
    take_int(sum);
    take_int(sides->odd ? data : 0);
}

static void use(int unused)
{
    struct sides sides = connect_sides();
    MPI_Group remote;
    int inter = 0, size = 0;
    (void)unused;
    MPI_Comm_test_inter(sides.inter, &inter);
    CHECK(inter);
    MPI_Comm_remote_group(sides.inter, &remote);
    MPI_Group_size(remote, &size);
    CHECK(size == sides.there);
    MPI_Group_free(&remote);
    messages(&sides, sides.inter);
    free_sides(&sides);
}

static void use_collectives(int unused)
{
    struct sides sides = connect_sides();
    (void)unused;
    collectives(&sides);
    free_sides(&sides);
}

static void merge(int unused)
{
    struct sides sides = connect_sides();
    MPI_Comm all;
    int rank = -1;
    (void)unused;
    MPI_Intercomm_merge(sides.inter, sides.odd, &all);
    MPI_Comm_rank(all, &rank);
    CHECK(rank == sides.rank + (sides.odd ? sides.there : 0));
    use_communicator(all);
    MPI_Comm_free(&all);
    free_sides(&sides);
}

/* Constructors whose parent is an intercommunicator. */
static void children(int unused)
{
    struct sides sides = connect_sides();
    MPI_Comm copy, split;
    MPI_Group local, first;
    int zero = 0, inter = 0;
    (void)unused;
    MPI_Comm_dup(sides.inter, &copy);
    MPI_Comm_test_inter(copy, &inter);
    CHECK(inter);
    messages(&sides, copy);
    MPI_Comm_free(&copy);
    MPI_Comm_split(sides.inter, 0, my_rank, &split);
    messages(&sides, split);
    MPI_Comm_free(&split);
    MPI_Comm_group(sides.inter, &local);
    MPI_Group_incl(local, 1, &zero, &first);
    MPI_Comm_create(sides.inter, first, &copy);
    CHECK((copy == MPI_COMM_NULL) == (sides.rank != 0));
    if (copy != MPI_COMM_NULL) {
        const struct sides ones = {.odd = sides.odd, .here = 1, .there = 1};
        messages(&ones, copy);
        MPI_Comm_disconnect(&copy);
    }
    MPI_Group_free(&first);
    MPI_Group_free(&local);
    free_sides(&sides);
}

const struct family intercomm_families[] = {{"intercomm_create", use, 0},
                                            {"intercomm_collectives", use_collectives, 0},
                                            {"intercomm_merge", merge, 0},
                                            {"intercomm_children", children, 0},
                                            {NULL, NULL, 0}};

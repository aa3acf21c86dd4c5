/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every constructor of an intracommunicator; each result is used with wildcards, collectives and children. */
#include "families.h"

enum { TAG = 70 };

/* Everybody to rank 0 of the communicator, from anybody there; then a ring; then a collective. */
void use_communicator(MPI_Comm comm)
{
    int rank, size, in = -1, sum = 0, world_sum = 0;
    long long seen = 0;
    MPI_Status status;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank != 0)
        MPI_Send(&my_rank, 1, MPI_INT, 0, TAG, comm);
    for (int i = 1; rank == 0 && i < size; ++i) {
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
        CHECK(status.MPI_TAG == TAG && status.MPI_SOURCE > 0 && status.MPI_SOURCE < size);
        chose(status.MPI_SOURCE);
        seen += (long long)in * 1000 + status.MPI_SOURCE;
    }
    take_int(seen);
    /* Or the receives of any tag could take what belongs to the ring. */
    MPI_Barrier(comm);
    MPI_Sendrecv(&my_rank, 1, MPI_INT, (rank + 1) % size, TAG + 1, &in, 1, MPI_INT, MPI_ANY_SOURCE, TAG + 1, comm,
                 &status);
    CHECK(status.MPI_SOURCE == (rank + size - 1) % size);
    take_int(in);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2);
    MPI_Allreduce(&my_rank, &world_sum, 1, MPI_INT, MPI_SUM, comm);
    take_int(rank * 100 + size);
    take_int(world_sum);
}

static void use_and_free(MPI_Comm *comm)
{
    use_communicator(*comm);
    MPI_Comm_free(comm);
    CHECK(*comm == MPI_COMM_NULL);
}

static void dup(int unused)
{
    MPI_Comm first, second;
    int result = -1;
    (void)unused;
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_dup(first, &second);
    MPI_Comm_compare(first, second, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_compare(first, first, &result);
    CHECK(result == MPI_IDENT);
    use_communicator(second);
    use_and_free(&first);
    use_and_free(&second);
    MPI_Comm_dup(MPI_COMM_SELF, &first);
    use_and_free(&first);
}

/* Used only when the request is complete, one of two at a time. */
static void idup(int unused)
{
    MPI_Comm comms[2];
    MPI_Request requests[2];
    (void)unused;
    MPI_Comm_idup(MPI_COMM_WORLD, &comms[0], &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    use_communicator(comms[0]);
    MPI_Comm_idup(comms[0], &comms[1], &requests[1]);
    for (int done = 0; !done;)
        MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE);
    use_and_free(&comms[0]);
    use_and_free(&comms[1]);
}

static void dup_with_info(int unused)
{
    MPI_Comm comm;
    MPI_Info info, used;
    (void)unused;
    MPI_Info_create(&info);
    MPI_Info_set(info, "families", "yes");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Comm_set_info(comm, info);
    MPI_Comm_get_info(comm, &used);
    CHECK(used != MPI_INFO_NULL);
    MPI_Info_free(&used);
    MPI_Info_free(&info);
    use_and_free(&comm);
}

/* By halves, backwards, by one who is in no part, and a part of a part. */
static void split(int unused)
{
    MPI_Comm half, reversed, part, quarter;
    int rank;
    (void)unused;
    MPI_Comm_split(MPI_COMM_WORLD, my_rank % 2, 0, &half);
    use_communicator(half);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -my_rank, &reversed);
    MPI_Comm_rank(reversed, &rank);
    CHECK(rank == ranks - 1 - my_rank);
    use_and_free(&reversed);
    MPI_Comm_split(MPI_COMM_WORLD, my_rank == 1 ? MPI_UNDEFINED : 5, my_rank, &part);
    CHECK((part == MPI_COMM_NULL) == (my_rank == 1));
    if (part != MPI_COMM_NULL)
        use_and_free(&part);
    MPI_Comm_split(half, my_rank / 2 % 2, 0, &quarter);
    use_and_free(&quarter);
    use_and_free(&half);
}

static void split_type(int unused)
{
    MPI_Comm comm;
    (void)unused;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    use_and_free(&comm);
    MPI_Comm_split_type(MPI_COMM_WORLD, my_rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    CHECK((comm == MPI_COMM_NULL) == (my_rank == 0));
    if (comm != MPI_COMM_NULL)
        use_and_free(&comm);
}

/* All ranks but the last, in reverse order. */
static MPI_Group make_group(void)
{
    int members[MAX_RANKS];
    MPI_Group world, group;
    for (int i = 0; i < ranks - 1; ++i)
        members[i] = ranks - 2 - i;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, ranks - 1, members, &group);
    MPI_Group_free(&world);
    return group;
}

static void create(int by_group_only)
{
    MPI_Group group = make_group(), theirs;
    MPI_Comm comm = MPI_COMM_NULL;
    int result = -1;
    if (!by_group_only)
        MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
    else if (my_rank != ranks - 1)
        MPI_Comm_create_group(MPI_COMM_WORLD, group, TAG, &comm);
    CHECK((comm == MPI_COMM_NULL) == (my_rank == ranks - 1));
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_group(comm, &theirs);
        MPI_Group_compare(group, theirs, &result);
        CHECK(result == MPI_IDENT);
        MPI_Group_free(&theirs);
        use_and_free(&comm);
    }
    MPI_Group_free(&group);
}

static void disconnect(int unused)
{
    MPI_Comm comm;
    (void)unused;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use_communicator(comm);
    MPI_Comm_disconnect(&comm);
    CHECK(comm == MPI_COMM_NULL);
}

/* Freed while a receive of it is pending: the communicator lives until that is complete. */
static void free_pending(int unused)
{
    int in = -1;
    MPI_Comm comm;
    MPI_Request receive, send;
    MPI_Status status;
    (void)unused;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, TAG, comm, &receive);
    MPI_Isend(&my_rank, 1, MPI_INT, right_of(1), TAG, comm, &send);
    MPI_Comm_free(&comm);
    MPI_Wait(&receive, &status);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    CHECK(in == left_of(1) && status.MPI_SOURCE == left_of(1));
    take_int(in);
}

/* The same tag and the same ranks on two communicators: the messages must not mix. */
static void separate(int unused)
{
    MPI_Comm comms[2];
    int in[2] = {-1, -1}, out[2] = {my_rank * 2, my_rank * 2 + 1};
    MPI_Request requests[4];
    (void)unused;
    for (int i = 0; i < 2; ++i)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < 2; ++i)
        MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], &requests[i]);
    for (int i = 1; i >= 0; --i)
        MPI_Isend(&out[i], 1, MPI_INT, right_of(1), TAG, comms[i], &requests[2 + i]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    CHECK(in[0] == left_of(1) * 2 && in[1] == left_of(1) * 2 + 1);
    take(in, sizeof in);
    for (int i = 0; i < 2; ++i)
        MPI_Comm_free(&comms[i]);
}

static void names(int unused)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    MPI_Comm comm, parent = MPI_COMM_WORLD;
    (void)unused;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "a name");
    MPI_Comm_get_name(comm, name, &length);
    CHECK(length == 6 && strcmp(name, "a name") == 0);
    take(name, (size_t)length);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0);
    MPI_Comm_free(&comm);
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
}

const struct family communicator_families[] = {
    {"comm_dup", dup, 0},           {"comm_idup", idup, 0},         {"comm_dup_with_info", dup_with_info, 0},
    {"comm_split", split, 0},       {"comm_split_type", split_type, 0}, {"comm_create", create, 0},
    {"comm_create_group", create, 1}, {"comm_disconnect", disconnect, 0}, {"comm_free_pending", free_pending, 0},
    {"comm_separate", separate, 0}, {"comm_names", names, 0},       {NULL, NULL, 0}};

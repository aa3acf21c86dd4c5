/* SPDX-License-Identifier: GPL-3.0-or-later
 * MPI-IO with the shared file pointer. Who writes first is MPI's choice, so the contents are summed; the
 * ordered calls go by rank.
 */
#include "families.h"

enum { EACH = 3 };

static long long mixed(int value) { return (long long)value * value % 1000003; }

static void finish(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* Every rank appends its numbers, and then takes as many: whose, is a race. */
static void shared(int later)
{
    long long mine = 0, sum = 0, expected = 0;
    MPI_File file = open_file("families_shared.tmp");
    MPI_Offset position = -1;
    MPI_Request request;
    MPI_Status status;
    for (int i = 0; i < EACH; ++i) {
        const int out = element(my_rank, i);
        if (later) {
            MPI_File_iwrite_shared(file, &out, 1, MPI_INT, &request);
            finish(&request);
        } else {
            MPI_File_write_shared(file, &out, 1, MPI_INT, &status);
        }
    }
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_position_shared(file, &position);
    CHECK(position == ranks * EACH * (MPI_Offset)sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    for (int i = 0; i < EACH; ++i) {
        int in = 0;
        if (later) {
            MPI_File_iread_shared(file, &in, 1, MPI_INT, &request);
            finish(&request);
        } else {
            MPI_File_read_shared(file, &in, 1, MPI_INT, &status);
        }
        mine += mixed(in);
    }
    for (int rank = 0; rank < ranks; ++rank)
        for (int i = 0; i < EACH; ++i)
            expected += mixed(element(rank, i));
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == expected);
    take_int(sum);
    close_file(&file, "families_shared.tmp");
}

static void ordered(int split)
{
    int out[COUNT], in[COUNT] = {0};
    MPI_File file = open_file("families_ordered.tmp");
    MPI_Status status;
    make(out, COUNT, my_rank);
    if (split) {
        MPI_File_write_ordered_begin(file, out, COUNT, MPI_INT);
        MPI_File_write_ordered_end(file, out, &status);
    } else {
        MPI_File_write_ordered(file, out, COUNT, MPI_INT, &status);
    }
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    if (split) {
        MPI_File_read_ordered_begin(file, in, COUNT, MPI_INT);
        MPI_File_read_ordered_end(file, in, &status);
    } else {
        MPI_File_read_ordered(file, in, COUNT, MPI_INT, &status);
    }
    take_made(in, COUNT, my_rank);
    close_file(&file, "families_ordered.tmp");
}

const struct family io_shared_families[] = {{"file_shared", shared, 0},
                                            {"file_ishared", shared, 1},
                                            {"file_ordered", ordered, 0},
                                            {"file_ordered_split", ordered, 1},
                                            {NULL, NULL, 0}};

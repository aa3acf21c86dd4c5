/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MPI-IO by all ranks together: blocking, non-blocking, and split into begin and end. */
#include "families.h"

enum { BLOCKING, LATER, SPLIT };

static MPI_Offset place(int rank) { return (MPI_Offset)rank * COUNT * (MPI_Offset)sizeof(int); }

static void check_count(const MPI_Status *status)
{
    int count = 0;
    MPI_Get_count(status, MPI_INT, &count);
    CHECK(count == COUNT);
}

static void at_all(int how)
{
    int out[COUNT], in[COUNT] = {0};
    MPI_File file = open_file("families_at_all.tmp");
    MPI_Request request;
    MPI_Status status;
    make(out, COUNT, my_rank);
    if (how == BLOCKING) {
        MPI_File_write_at_all(file, place(my_rank), out, COUNT, MPI_INT, &status);
        MPI_File_read_at_all(file, place(my_rank), in, COUNT, MPI_INT, &status);
    } else if (how == LATER) {
        MPI_File_iwrite_at_all(file, place(my_rank), out, COUNT, MPI_INT, &request);
        MPI_Wait(&request, &status);
        MPI_File_iread_at_all(file, place(my_rank), in, COUNT, MPI_INT, &request);
        MPI_Wait(&request, &status);
    } else {
        MPI_File_write_at_all_begin(file, place(my_rank), out, COUNT, MPI_INT);
        MPI_File_write_at_all_end(file, out, &status);
        MPI_File_read_at_all_begin(file, place(my_rank), in, COUNT, MPI_INT);
        MPI_File_read_at_all_end(file, in, &status);
    }
    check_count(&status);
    take_made(in, COUNT, my_rank);
    close_file(&file, "families_at_all.tmp");
}

static void all(int how)
{
    int out[COUNT], in[COUNT] = {0};
    MPI_File file = open_file("families_all.tmp");
    MPI_Request request;
    MPI_Status status;
    make(out, COUNT, my_rank);
    MPI_File_seek(file, place(my_rank), MPI_SEEK_SET);
    if (how == BLOCKING) {
        MPI_File_write_all(file, out, COUNT, MPI_INT, &status);
    } else if (how == LATER) {
        MPI_File_iwrite_all(file, out, COUNT, MPI_INT, &request);
        MPI_Wait(&request, &status);
    } else {
        MPI_File_write_all_begin(file, out, COUNT, MPI_INT);
        MPI_File_write_all_end(file, out, &status);
    }
    check_count(&status);
    MPI_File_seek(file, place(my_rank), MPI_SEEK_SET);
    if (how == BLOCKING) {
        MPI_File_read_all(file, in, COUNT, MPI_INT, &status);
    } else if (how == LATER) {
        MPI_File_iread_all(file, in, COUNT, MPI_INT, &request);
        MPI_Wait(&request, &status);
    } else {
        MPI_File_read_all_begin(file, in, COUNT, MPI_INT);
        MPI_File_read_all_end(file, in, &status);
    }
    check_count(&status);
    take_made(in, COUNT, my_rank);
    close_file(&file, "families_all.tmp");
}

/* Messages from anybody while a collective write is in progress, completed together with it. */
static void with_messages(int unused)
{
    int out[COUNT], in = -1;
    MPI_File file = open_file("families_mixed.tmp");
    MPI_Request requests[3];
    MPI_Status statuses[3];
    (void)unused;
    make(out, COUNT, my_rank);
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 130, MPI_COMM_WORLD, &requests[0]);
    MPI_File_iwrite_at(file, place(my_rank), out, COUNT, MPI_INT, &requests[1]);
    MPI_Isend(&my_rank, 1, MPI_INT, right_of(1), 130, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, statuses);
    check_count(&statuses[1]);
    CHECK(in == left_of(1) && statuses[0].MPI_SOURCE == left_of(1));
    take_int(in);
    close_file(&file, "families_mixed.tmp");
}

const struct family io_collective_families[] = {
    {"file_at_all", at_all, BLOCKING}, {"file_iat_all", at_all, LATER}, {"file_at_all_split", at_all, SPLIT},
    {"file_all", all, BLOCKING},       {"file_iall", all, LATER},       {"file_all_split", all, SPLIT},
    {"file_with_messages", with_messages, 0}, {NULL, NULL, 0}};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handles to Fortran's integers and back: each must come out as it went in, and work. */
#include "families.h"

enum { TAG = 120 };

static void objects(int unused)
{
    MPI_Comm comm;
    MPI_Group group;
    MPI_Datatype type;
    MPI_Info info;
    MPI_Errhandler handler;
    (void)unused;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(comm)) == comm);
    use_communicator(MPI_Comm_f2c(MPI_Comm_c2f(comm)));
    MPI_Comm_group(comm, &group);
    CHECK(MPI_Group_f2c(MPI_Group_c2f(group)) == group);
    MPI_Group_free(&group);
    MPI_Comm_get_errhandler(comm, &handler);
    CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(handler)) == handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
    MPI_Type_contiguous(2, MPI_INT, &type);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(type)) == type);
    MPI_Type_free(&type);
    MPI_Info_create(&info);
    CHECK(MPI_Info_f2c(MPI_Info_c2f(info)) == info);
    MPI_Info_free(&info);
    CHECK(MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM);
    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL);
}

/* A request and a message that make the way through Fortran while they are pending. */
static void pending(int unused)
{
    int in = -1;
    MPI_Fint number;
    MPI_Fint status_numbers[64];
    MPI_Request request;
    MPI_Message message;
    MPI_Status status, back;
    (void)unused;
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
    number = MPI_Request_c2f(request);
    MPI_Send(&my_rank, 1, MPI_INT, right_of(1), TAG, MPI_COMM_WORLD);
    request = MPI_Request_f2c(number);
    MPI_Wait(&request, &status);
    CHECK(in == left_of(1));
    MPI_Status_c2f(&status, status_numbers);
    MPI_Status_f2c(status_numbers, &back);
    CHECK(back.MPI_SOURCE == left_of(1) && back.MPI_TAG == TAG);
    MPI_Send(&my_rank, 1, MPI_INT, right_of(1), TAG, MPI_COMM_WORLD);
    MPI_Mprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &message, &status);
    message = MPI_Message_f2c(MPI_Message_c2f(message));
    in = -1;
    MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
    CHECK(in == left_of(1) && status.MPI_SOURCE == left_of(1));
    take_int(in);
}

const struct family handle_families[] = {{"fortran_handles", objects, 0},
                                         {"fortran_pending", pending, 0},
                                         {NULL, NULL, 0}};

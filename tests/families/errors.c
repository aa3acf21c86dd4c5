/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors that come back, error handlers that call MPI, and error classes of the program's own. */
#include "families.h"

enum { TAG = 100 };

static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

/* With threads Open MPI 4.1.4 spins for ever in a Waitall that meets an error. */
static int waitall_returns(void)
{
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    return level != MPI_THREAD_MULTIPLE;
}

/* The rest of a message that was too long is lost, and the next one comes whole. */
static void truncation(int kind)
{
    int out[COUNT], in[COUNT] = {0}, code, next[COUNT];
    MPI_Request requests[2], request;
    MPI_Status status, statuses[1];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    make(out, COUNT, my_rank);
    MPI_Isend(out, COUNT, MPI_INT, right_of(1), TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, COUNT, MPI_INT, right_of(1), TAG, MPI_COMM_WORLD, &requests[1]);
    if (kind == 0) {
        code = MPI_Recv(in, 2, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        CHECK(class_of(code) == MPI_ERR_TRUNCATE);
    } else if (kind == 1 || !waitall_returns()) {
        MPI_Irecv(in, 2, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
        code = MPI_Wait(&request, &status);
        CHECK(class_of(code) == MPI_ERR_TRUNCATE);
    } else {
        MPI_Irecv(in, 2, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
        code = MPI_Waitall(1, &request, statuses);
        CHECK(code == MPI_ERR_IN_STATUS && class_of(statuses[0].MPI_ERROR) == MPI_ERR_TRUNCATE);
    }
    MPI_Recv(next, COUNT, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
    take_made(next, COUNT, left_of(1));
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

enum { RANK, NEGATIVE_RANK, TAG_COUNT_TYPE, ROOT, PROBE, NULL_COMM_SEND, NULL_COMM_RECV, NULL_COMM, START };

#define REFUSED(call, class) CHECK(class_of(call) == (class))

static void refused_rank(int negative)
{
    int data = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    const int rank = negative ? -77 : ranks;
    REFUSED(MPI_Send(&data, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD), MPI_ERR_RANK);
    REFUSED(MPI_Isend(&data, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD, &request), MPI_ERR_RANK);
    REFUSED(MPI_Recv(&data, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    REFUSED(MPI_Irecv(&data, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD, &request), MPI_ERR_RANK);
}

/* What MPI refuses must come back as its error, and must leave the program as it was. */
static void refused(int what)
{
    int data = 0, next = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm none = MPI_COMM_NULL;
    MPI_Status status;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (what == RANK || what == NEGATIVE_RANK) {
        refused_rank(what == NEGATIVE_RANK);
    } else if (what == TAG_COUNT_TYPE) {
        REFUSED(MPI_Send(&data, 1, MPI_INT, 0, -5, MPI_COMM_WORLD), MPI_ERR_TAG);
        REFUSED(MPI_Recv(&data, -1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status), MPI_ERR_COUNT);
        REFUSED(MPI_Recv(&data, 1, MPI_DATATYPE_NULL, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status), MPI_ERR_TYPE);
    } else if (what == ROOT) {
        REFUSED(MPI_Bcast(&data, 1, MPI_INT, ranks, MPI_COMM_WORLD), MPI_ERR_ROOT);
    } else if (what == PROBE) {
        REFUSED(MPI_Probe(ranks, TAG, MPI_COMM_WORLD, &status), MPI_ERR_RANK);
    } else if (what == NULL_COMM_SEND) {
        REFUSED(MPI_Send(&data, 1, MPI_INT, 0, TAG, none), MPI_ERR_COMM);
    } else if (what == NULL_COMM_RECV) {
        REFUSED(MPI_Recv(&data, 1, MPI_INT, MPI_ANY_SOURCE, TAG, none, &status), MPI_ERR_COMM);
    } else if (what == NULL_COMM) {
        REFUSED(MPI_Comm_dup(none, &none), MPI_ERR_COMM);
        REFUSED(MPI_Comm_free(&none), MPI_ERR_COMM);
    } else {
        REFUSED(MPI_Start(&request), MPI_ERR_REQUEST);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Sendrecv(&my_rank, 1, MPI_INT, right_of(1), TAG, &next, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
                 &status);
    CHECK(next == left_of(1) && status.MPI_SOURCE == left_of(1));
    take_int(next);
}

static int handled, asked_rank, answer;

/* Tells the next rank, and takes from anybody what was told to this one. */
static void on_comm(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Request request;
    MPI_Comm_rank(*comm, &asked_rank);
    MPI_Error_string(*code, text, &length);
    ++handled;
    MPI_Isend(&asked_rank, 1, MPI_INT, right_of(1), TAG + 1, MPI_COMM_WORLD, &request);
    MPI_Recv(&answer, 1, MPI_INT, MPI_ANY_SOURCE, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void handler(int called)
{
    MPI_Comm comm;
    MPI_Errhandler mine, got;
    int data = 0;
    handled = 0;
    asked_rank = answer = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(on_comm, &mine);
    MPI_Comm_set_errhandler(comm, mine);
    MPI_Comm_get_errhandler(comm, &got);
    CHECK(got == mine);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&mine);
    CHECK(mine == MPI_ERRHANDLER_NULL);
    if (called)
        MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    else
        CHECK(class_of(MPI_Send(&data, 1, MPI_INT, ranks + 3, TAG, comm)) == MPI_ERR_RANK);
    CHECK(handled == 1 && asked_rank == my_rank && answer == left_of(1));
    take_int(answer);
    MPI_Comm_free(&comm);
}

/* Every handler takes one message from each other rank, in any order. */
static void on_race(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    answer = 0;
    for (int i = 1; i < ranks; ++i) {
        int in = -1;
        MPI_Status status;
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, TAG + 2, MPI_COMM_WORLD, &status);
        chose(status.MPI_SOURCE);
        CHECK(in == status.MPI_SOURCE);
        answer += in;
    }
}

static void racing_handler(int unused)
{
    MPI_Comm comm;
    MPI_Errhandler mine;
    MPI_Request requests[MAX_RANKS];
    int data = 0;
    (void)unused;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(on_race, &mine);
    MPI_Comm_set_errhandler(comm, mine);
    for (int shift = 1; shift < ranks; ++shift)
        MPI_Isend(&my_rank, 1, MPI_INT, right_of(shift), TAG + 2, MPI_COMM_WORLD, &requests[shift - 1]);
    MPI_Send(&data, 1, MPI_INT, ranks, TAG, comm);
    MPI_Waitall(ranks - 1, requests, MPI_STATUSES_IGNORE);
    CHECK(answer == ranks * (ranks - 1) / 2 - my_rank);
    take_int(answer);
    MPI_Errhandler_free(&mine);
    MPI_Comm_free(&comm);
}

static void own_classes(int unused)
{
    int class = -1, code = -1, length = 0, *last = NULL, found = 0;
    char text[MPI_MAX_ERROR_STRING] = "";
    (void)unused;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "out of tea");
    MPI_Error_string(code, text, &length);
    CHECK(strcmp(text, "out of tea") == 0 && class_of(code) == class);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &found);
    CHECK(found && *last >= code);
    take(text, (size_t)length);
}

const struct family error_families[] = {
    {"errors_truncate", truncation, 0},     {"errors_truncate_irecv", truncation, 1},
    {"errors_in_status", truncation, 2},    {"errors_rank", refused, RANK},
    {"errors_negative_rank", refused, NEGATIVE_RANK}, {"errors_tag_count_type", refused, TAG_COUNT_TYPE},
    {"errors_root", refused, ROOT},         {"errors_probe", refused, PROBE},
    {"errors_null_send", refused, NULL_COMM_SEND}, {"errors_null_recv", refused, NULL_COMM_RECV},
    {"errors_null_comm", refused, NULL_COMM}, {"errors_start", refused, START},
    {"errhandler", handler, 0},             {"errhandler_called", handler, 1},
    {"errhandler_race", racing_handler, 0}, {"error_classes", own_classes, 0},
    {NULL, NULL, 0}};

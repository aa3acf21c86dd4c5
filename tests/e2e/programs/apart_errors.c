// SPDX-License-Identifier: GPL-3.0-or-later
// Errors of calls that have to do with the next rank, which may be outside of the group: each rank prints what each call
// returned, and whose error handler was called.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size, next, before;
static MPI_Comm own;
static char told[64];

static void of_world(MPI_Comm* comm, int* error, ...) {
  (void)comm, (void)error;
  strcat(told, "W");
}
static void of_own(MPI_Comm* comm, int* error, ...) {
  (void)comm, (void)error;
  strcat(told, "O");
}

static void say(const char* what, int error) {
  int class = MPI_SUCCESS;
  MPI_Error_class(error, &class);
  printf("rank %d: %s: class %d handler %s\n", rank, what, class, told);
  told[0] = '\0';
}

static void arguments(const char* how, const void* buffer, int count, MPI_Datatype type, int tag) {
  char text[80];
  double room[2];
  MPI_Request request = MPI_REQUEST_NULL;
#define TRY(name, call)                                \
  snprintf(text, sizeof text, "%s in %s", how, #name); \
  say(text, call)
  TRY(Send, MPI_Send(buffer, count, type, next, tag, own));
  TRY(Ssend, MPI_Ssend(buffer, count, type, next, tag, own));
  TRY(Isend, MPI_Isend(buffer, count, type, next, tag, own, &request));
  TRY(Issend, MPI_Issend(buffer, count, type, next, tag, own, &request));
  TRY(Send_init, MPI_Send_init(buffer, count, type, next, tag, own, &request));
  TRY(Recv, MPI_Recv((void*)buffer, count, type, before, tag, own, MPI_STATUS_IGNORE));
  TRY(Irecv, MPI_Irecv((void*)buffer, count, type, before, tag, own, &request));
  TRY(Recv_init, MPI_Recv_init((void*)buffer, count, type, before, tag, own, &request));
  TRY(Sendrecv, MPI_Sendrecv(buffer, count, type, next, tag, room, 2, MPI_DOUBLE, before, 3, own, MPI_STATUS_IGNORE));
#if defined(OPEN_MPI)
  if (buffer == NULL) {
    return;  // it crashes
  }
#endif
  TRY(Sendrecv_replace, MPI_Sendrecv_replace((void*)buffer, count, type, next, tag, before, 3, own, MPI_STATUS_IGNORE));
}

static void cut(int n, MPI_Comm comm, const char* where) {
  char text[80];
  double sent[4] = {rank, 1, 2, 3}, got[4] = {0};
  MPI_Request request[2];
  MPI_Status status[2];
  int done = 0, index = 0, error;
  for (int i = 0; i < 7; ++i) {
    MPI_Send(sent, 4, MPI_DOUBLE, next, 20 + i, comm);
  }
#define CUT(name, call)                                  \
  snprintf(text, sizeof text, "cut %s in %s", where, #name); \
  say(text, call)
  CUT(Recv, MPI_Recv(got, n, MPI_DOUBLE, before, 20, comm, status));
  MPI_Irecv(got, n, MPI_DOUBLE, before, 21, comm, request);
  CUT(Wait, MPI_Wait(request, status));
  MPI_Irecv(got, n, MPI_DOUBLE, before, 22, comm, request);
  do {
    error = MPI_Test(request, &done, status);
  } while (done == 0 && error == MPI_SUCCESS);
  CUT(Test, error);
  MPI_Irecv(got, n, MPI_DOUBLE, before, 23, comm, request);
  CUT(Waitany, MPI_Waitany(1, request, &index, status));
  MPI_Irecv(got, n, MPI_DOUBLE, before, 24, comm, request);
  request[1] = MPI_REQUEST_NULL;
  error = MPI_Waitall(2, request, status);
  CUT(Waitall, error);
  if (error == MPI_ERR_IN_STATUS) {
    CUT(status of Waitall, status[0].MPI_ERROR);
  }
  MPI_Message message;
  MPI_Mprobe(before, 25, comm, &message, status);
  CUT(Mrecv, MPI_Mrecv(got, n, MPI_DOUBLE, &message, status));
  MPI_Mprobe(before, 26, comm, &message, status);
  MPI_Imrecv(got, n, MPI_DOUBLE, &message, request);
  CUT(Imrecv, MPI_Wait(request, status));
}

int main(int argc, char** argv) {
  MPI_Errhandler handler;
  double number = 1;
  MPI_Datatype fresh;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  before = (rank + size - 1) % size;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Comm_create_errhandler(of_world, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Errhandler_free(&handler);
  MPI_Comm_create_errhandler(of_own, &handler);
  MPI_Comm_set_errhandler(own, handler);
  MPI_Errhandler_free(&handler);
  MPI_Type_contiguous(1, MPI_DOUBLE, &fresh);
  arguments("count of -1", &number, -1, MPI_DOUBLE, 5);
  arguments("tag of -7", &number, 1, MPI_DOUBLE, -7);
  arguments("type that is not committed", &number, 1, fresh, 5);
  arguments("no type", &number, 1, MPI_DATATYPE_NULL, 5);
  arguments("no buffer", NULL, 1, MPI_DOUBLE, 5);
  MPI_Type_free(&fresh);
  int flag;
  say("tag of -7 in Iprobe", MPI_Iprobe(before, -7, own, &flag, MPI_STATUS_IGNORE));
  say("tag of -7 in Probe", MPI_Probe(before, -7, own, MPI_STATUS_IGNORE));
  cut(2, own, "on own");
  cut(2, MPI_COMM_WORLD, "on world");
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  cut(2, own, "and returned");
  cut(4, own, "no more");
  MPI_Comm_free(&own);
  MPI_Finalize();
  return 0;
}

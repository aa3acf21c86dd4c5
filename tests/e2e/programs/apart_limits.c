/* SPDX-License-Identifier: GPL-3.0-or-later
 * What is large, or few programs do, between ranks of different groups: `apart_limits WHAT`. Each rank prints what it got.
 */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, next, before;

static void say(const char* what, long a, long b) {
  printf("rank %d: %s %ld %ld\n", rank, what, a, b);
}

static MPI_Datatype committed(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return type;
}

/* -- few bytes are received where there is room for one element of 4 GiB */

static void receive_into(MPI_Datatype type, const char* what) {
  int numbers[16], count;
  int* const room = malloc((size_t)5 << 30); /* little of it is touched */
  MPI_Status status;
  MPI_Request request;
  for (int i = 0; i < 16; ++i) {
    numbers[i] = 100 * rank + i;
  }
  MPI_Send(numbers, 16, MPI_INT, next, 3, MPI_COMM_WORLD);
  MPI_Send(numbers, 16, MPI_INT, next, 4, MPI_COMM_WORLD);
  for (int i = 0; i < 2; ++i) {
    room[0] = room[15] = -1;
    if (i == 0) {
      MPI_Recv(room, 1, type, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
    } else {
      MPI_Irecv(room, 1, type, before, 4, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, &status);
    }
    MPI_Get_elements(&status, MPI_INT, &count);
    say(what, count, 1000L * room[0] + room[15]);
  }
  free(room);
}

static void huge_element(void) {
  MPI_Datatype inner, type;
  MPI_Type_contiguous(1 << 15, MPI_INT, &inner);
  MPI_Type_contiguous(1 << 15, inner, &type);
  MPI_Type_free(&inner);
  receive_into(committed(type), "got");
  MPI_Type_free(&type);
}

static void huge_with_gaps(void) {
  MPI_Datatype type;
  MPI_Type_vector(2, 1 << 29, (1 << 29) + 1, MPI_INT, &type);
  receive_into(committed(type), "got");
  MPI_Type_free(&type);
}

/* -- so much is received */

static void large_message(void) {
  const int count = 1 << 29;
  int* const all = calloc((size_t)count, sizeof(int));
  all[0] = all[count - 1] = rank + 1;
  if (rank == 0) {
    MPI_Send(all, count, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(all, count, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  say("got", all[0], all[count - 1]);
  free(all);
}

static void large_collective(void) {
  MPI_Datatype type;
  const size_t bytes = (size_t)5 << 29;
  char* const all = calloc(bytes, 1);
  MPI_Type_contiguous(5 << 27, MPI_INT, &type);
  if (rank == 0) {
    all[0] = 5;
    all[bytes - 1] = 6;
  }
  MPI_Bcast(all, 1, committed(type), 0, MPI_COMM_WORLD);
  say("got", all[0], all[bytes - 1]);
  MPI_Type_free(&type);
  free(all);
}

/* -- attributes of the program's datatypes are copied and deleted by nobody else */

static int copies, deletions;
static int count_copy(MPI_Datatype type, int key, void* extra, void* value, void* copy, int* flag) {
  (void)type, (void)key, (void)extra;
  ++copies;
  *(void**)copy = value;
  *flag = 1;
  return MPI_SUCCESS;
}
static int count_deletion(MPI_Datatype type, int key, void* value, void* extra) {
  (void)type, (void)key, (void)value, (void)extra;
  ++deletions;
  return MPI_SUCCESS;
}

static void attributes(void) {
  int key, got[4] = {0}, also[4] = {0}, sent[2] = {rank, rank + 10};
  MPI_Datatype type;
  MPI_Request requests[2];
  MPI_Type_create_keyval(count_copy, count_deletion, &key, NULL);
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  MPI_Type_set_attr(committed(type), key, NULL);
  MPI_Irecv(got, 1, type, before, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Ibcast(also, 1, type, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Send(sent, 2, MPI_INT, next, 1, MPI_COMM_WORLD);
  say("attributes", copies, deletions);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  say("got", got[0], got[2]);
  say("attributes", copies, deletions);
  MPI_Type_free(&type);
  say("attributes", copies, deletions);
}

/* -- a datatype of many values */

static void many_values(void) {
  const int lengths[2] = {200000000, 1};
  const MPI_Aint places[2] = {0, 1600000000};
  const MPI_Datatype types[2] = {MPI_2INT, MPI_CHAR};
  MPI_Datatype type;
  int sent[2] = {rank, 7};
  int* const room = malloc((size_t)1700000000);
  MPI_Type_create_struct(2, lengths, places, types, &type);
  MPI_Send(sent, 1, MPI_2INT, next, 0, MPI_COMM_WORLD);
  MPI_Request request;
  committed(type);
  const double from = MPI_Wtime();
  MPI_Irecv(room, 1, type, before, 0, MPI_COMM_WORLD, &request);
  fprintf(stderr, "took %.3f s\n", MPI_Wtime() - from);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  say("got", room[0], room[1]);
  MPI_Type_free(&type);
  free(room);
}

/* -- statuses of what is no receive */

static void statuses(void) {
  int sent = rank, got = -1, done = 0;
  MPI_Request requests[2];
  MPI_Status status[2];
  memset(status, 0, sizeof status);
  MPI_Isend(&sent, 1, MPI_INT, next, 6, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&got, 1, MPI_INT, before, 6, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, status);
  say("send", status[0].MPI_SOURCE, status[0].MPI_TAG);
  say("receive", status[1].MPI_SOURCE, status[1].MPI_TAG);
  memset(status, 0, sizeof status);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], &status[0]);
  say("barrier", status[0].MPI_SOURCE, status[0].MPI_TAG);
  memset(status, 0, sizeof status);
  MPI_Ibcast(&got, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);
  while (done == 0) {
    MPI_Test(&requests[0], &done, &status[0]);
  }
  say("broadcast", status[0].MPI_SOURCE, status[0].MPI_TAG);
}

/* -- many receives under way */

static void many_receives(void) {
  enum { kMany = 40000 };
  MPI_Request* const requests = malloc(kMany * sizeof *requests);
  int* const got = malloc(kMany * sizeof *got);
  long sum = 0;
  if (rank == 0) {
    for (int i = 0; i < kMany; ++i) {
      MPI_Irecv(got + i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[i]);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kMany && rank == 1; ++i) {
    MPI_Send(&i, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) {
    MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < kMany; ++i) {
      sum += (long)got[i] * (i % 7 + 1);
    }
  }
  say("got", sum, 0);
  free(requests);
  free(got);
}

/* -- communicators are freed while their messages are under way */

static void freed_early(void) {
  enum { kTimes = 3000 };
  int got[3] = {0}, longest = 0;
  long sum = 0;
  MPI_Request always, request;
  MPI_Message message;
  size_t heap = 0;
  MPI_Irecv(&longest, 1, MPI_INT, before, 50, MPI_COMM_WORLD, &always);
  for (int i = 0; i < kTimes; ++i) {
    const int sent = 1000 * rank + i;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Irecv(&got[0], 1, MPI_INT, before, 0, comm, &request);
    MPI_Send(&sent, 1, MPI_INT, next, 0, comm);
    MPI_Send(&sent, 1, MPI_INT, next, 1, comm);
    MPI_Mprobe(before, 1, comm, &message, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    MPI_Mrecv(&got[1], 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum += got[0] + 3L * got[1];
    if (i == kTimes / 3) {
      heap = mallinfo2().uordblks;
    }
  }
  fprintf(stderr, "rank %d: heap grew by %ld\n", rank, (long)(mallinfo2().uordblks - heap));
  MPI_Send(&rank, 1, MPI_INT, next, 50, MPI_COMM_WORLD);
  MPI_Wait(&always, MPI_STATUS_IGNORE);
  say("got", sum, longest);
}

/* -- groups of a window and of a file of a pair of ranks */

static void say_members(const char* what, MPI_Group group) {
  MPI_Group all;
  int count, relation;
  const int own[2] = {0, 1};
  int members[2] = {-9, -9};
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_size(group, &count);
  MPI_Group_translate_ranks(group, 2, own, all, members);
  MPI_Group_compare(group, all, &relation);
  say(what, members[0], members[1]);
  say(what, count, relation == MPI_UNEQUAL);
  MPI_Group_free(&group);
  MPI_Group_free(&all);
}

/* Nothing is put: what MPI_Put does on the communicator of a pair is not right in every version of the libraries. */
static void pairs(void) {
  static int memory = -1;
  int place, other;
  char name[20];
  MPI_Comm pair;
  MPI_Group group, peer;
  MPI_Win window;
  MPI_File file;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
  MPI_Comm_rank(pair, &place);
  other = 1 - place;
  MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, pair, &window);
  MPI_Win_get_group(window, &group);
  MPI_Group_incl(group, 1, &other, &peer);
  if (place == 0) {
    MPI_Win_start(peer, 0, window);
    MPI_Win_complete(window);
  } else {
    MPI_Win_post(peer, 0, window);
    MPI_Win_wait(window);
  }
  say("post", memory, 0);
  MPI_Group_free(&peer);
  say_members("window", group);
  MPI_Win_free(&window);
  snprintf(name, sizeof name, "pair%d", rank / 2);
  MPI_File_open(pair, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_File_get_group(file, &group);
  say_members("file", group);
  MPI_File_close(&file);
  MPI_Comm_free(&pair);
}

/* -- buffered sends, for which the program has given no room or little */

static int class_of(int error) {
  int class;
  MPI_Error_class(error, &class);
  return class;
}

static void no_room(void) {
  static char room[MPI_BSEND_OVERHEAD + 200];
  static int sent[20];
  void* attached;
  int size_of_it, got, completed = 0, index, failed = 0;
  MPI_Request requests[2], request;
  MPI_Status status;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 2; ++i) {
    say("sent", class_of(MPI_Bsend(sent, 20, MPI_INT, next, 8, MPI_COMM_WORLD)), i);
    failed = class_of(MPI_Ibsend(sent, 20, MPI_INT, next, 8, MPI_COMM_WORLD, &request));
    say("begun", failed, i);
    if (failed == MPI_SUCCESS) {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Recv_init(&got, 1, MPI_INT, before, 9, MPI_COMM_WORLD, &requests[0]);
    MPI_Bsend_init(sent, 20, MPI_INT, next, 8, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(&rank, 1, MPI_INT, next, 9, MPI_COMM_WORLD);
    say("started", class_of(MPI_Startall(2, requests)), i);
    MPI_Wait(&requests[0], &status);
    say("got", got, status.MPI_SOURCE);
    MPI_Waitany(1, &requests[1], &index, &status);
    MPI_Request_get_status(requests[1], &completed, &status);
    say("not under way", completed, status.MPI_SOURCE == MPI_ANY_SOURCE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    if (i == 0) {
      MPI_Buffer_attach(room, sizeof room);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int flag = 1; flag != 0;) {
    MPI_Iprobe(before, 8, MPI_COMM_WORLD, &flag, &status);
    if (flag != 0) {
      MPI_Recv(sent, 20, MPI_INT, before, 8, MPI_COMM_WORLD, &status);
    }
  }
  MPI_Buffer_detach(&attached, &size_of_it);
}

/* -- a persistent send of a type that the program has freed */

static void freed_types(void) {
  int got = -1;
  int value = rank;
  MPI_Datatype type;
  MPI_Request send;
  MPI_Type_dup(MPI_INT, &type);
  MPI_Send_init(&value, 1, type, next, 7, MPI_COMM_WORLD, &send);
  MPI_Type_free(&type);
  for (int i = 0; i < 4; ++i) {
    value += 10;
    MPI_Start(&send);
    MPI_Recv(&got, 1, MPI_INT, before, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    say("got", got, i);
  }
  MPI_Request_free(&send);
}

/* -- between a matched probe and its receive, another message is received */

static void matched(void) {
  double sent[4] = {rank, 1, 2, 3}, got[4] = {0};
  MPI_Message first, second;
  MPI_Request request;
  for (int i = 0; i < 4; ++i) {
    MPI_Send(sent, i + 1, MPI_DOUBLE, next, 15, MPI_COMM_WORLD);
  }
  MPI_Mprobe(before, 15, MPI_COMM_WORLD, &first, MPI_STATUS_IGNORE);
  MPI_Mprobe(before, 15, MPI_COMM_WORLD, &second, MPI_STATUS_IGNORE);
  for (int i = 2; i < 4; ++i) {
    MPI_Recv(got, 4, MPI_DOUBLE, before, 15, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say("received", (long)got[0], (long)got[i]);
  }
  MPI_Imrecv(got, 2, MPI_DOUBLE, &second, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  say("second", (long)got[0], (long)got[1]);
  MPI_Mrecv(got, 1, MPI_DOUBLE, &first, MPI_STATUS_IGNORE);
  say("first", (long)got[0], 0);
}

/* -- who is in a communicator says a group alone (MPI 4.0, 7.4.2): MPICH has it */

static void from_group(void) {
#if MPI_VERSION >= 4
  MPI_Group all;
  MPI_Comm comm;
  int sum = 0;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm_create_from_group(all, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  say("got", sum, 0);
#endif
}

/* -- datatypes of large counts (MPI 4.0, 5.1), of which the routines for small ones may not ask */

static void large_counts(void) {
#if MPI_VERSION >= 4
  int sent[4] = {rank, 1, 2, 3}, got[4] = {-1, -1, -1, -1};
  MPI_Datatype inner, type;
  MPI_Request request;
  MPI_Type_contiguous_c(1, MPI_INT, &inner);
  MPI_Type_vector_c(2, 1, 2, inner, &type);
  committed(type);
  MPI_Irecv(got, 1, type, before, 16, MPI_COMM_WORLD, &request);
  MPI_Send(sent, 1, type, next, 16, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  say("received", got[0], got[2]);
  MPI_Bcast(got, 1, type, 0, MPI_COMM_WORLD);
  say("received", got[0], got[1]);
  MPI_Type_free(&inner);
  MPI_Type_free(&type);
#endif
}

/* -- a receive that the program does not wait for */

static void let_go(void) {
  static int got = -1;
  MPI_Request request;
  if (rank == 1) {
    MPI_Irecv(&got, 1, MPI_INT, 0, 11, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    say("got", 0, 0); /* or not yet: nobody knows */
  } else if (rank == 0) {
    MPI_Send(&size, 1, MPI_INT, 1, 11, MPI_COMM_WORLD);
  }
}

/* -- a persistent collective, which Open MPI 4 has by another name */

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define MPI_Bcast_init MPIX_Bcast_init
#endif

static void persistent(void) {
  int value = 10 * rank;
  MPI_Request request;
  MPI_Bcast_init(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  say("got", value, 0);
}

/* -- buffers by their addresses alone (MPI 3.1, 4.1.1) */

static void bottom(void) {
  static int got[6];
  int sent[3];
  const int lengths[] = {1, 1, 1};
  MPI_Aint places[3], here[3];
  for (int i = 0; i < 3; ++i) {
    MPI_Get_address(&got[2 * i], &places[i]);
    MPI_Get_address(&sent[i], &here[i]);
    sent[i] = 10 * rank + i;
  }
  MPI_Datatype to, from;
  MPI_Type_create_hindexed(3, lengths, places, MPI_INT, &to);
  MPI_Type_commit(&to);
  MPI_Type_create_hindexed(3, lengths, here, MPI_INT, &from);
  MPI_Type_commit(&from);
  MPI_Sendrecv(MPI_BOTTOM, 1, from, next, 12, MPI_BOTTOM, 1, to, before, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  say("sendrecv", got[0], got[4]);
  got[0] += 100 * rank;
  MPI_Sendrecv_replace(MPI_BOTTOM, 1, to, next, 13, before, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  say("replaced", got[0], got[4]);
  got[2] = rank;
  MPI_Bcast(MPI_BOTTOM, 1, to, 0, MPI_COMM_WORLD);
  say("bcast", got[0], got[2]);
  MPI_Type_free(&to);
  MPI_Type_free(&from);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kAll[] = {{"huge", huge_element},         {"gaps", huge_with_gaps},   {"message", large_message},
              {"collective", large_collective}, {"attributes", attributes}, {"values", many_values},
              {"statuses", statuses},           {"receives", many_receives}, {"freed", freed_early},
              {"pairs", pairs},                 {"room", no_room},          {"types", freed_types},
              {"let_go", let_go},               {"matched", matched},       {"from_group", from_group},
              {"large_counts", large_counts},   {"bottom", bottom},
              {"persistent", persistent}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  before = (rank + size - 1) % size;
  for (size_t i = 0; argc > 1 && i < sizeof kAll / sizeof *kAll; ++i) {
    if (strcmp(argv[1], kAll[i].name) == 0) {
      kAll[i].run();
    }
  }
  MPI_Finalize();
  return 0;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// What a rank receives, by every family of calls, as a hash that each rank prints: of groups that are replayed apart.
//   apart            all of it
//   apart window     rank 1 opens a window that all share, then a ring
//   apart abort      rank 1 aborts after the ring and the workers
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long hash = 1469598103934665603UL;
static int rank, size;
static double own[16];

static void eat(const void* bytes, size_t count) {
  const unsigned char* at = bytes;
  for (size_t i = 0; i < count; ++i) {
    hash = (hash ^ at[i]) * 1099511628211UL;
  }
}
static void eatInt(int value) { eat(&value, sizeof value); }
static void eatStatus(const MPI_Status* status, MPI_Datatype type) {
  int count;
  MPI_Get_count(status, type, &count);
  eatInt(status->MPI_SOURCE);
  eatInt(status->MPI_TAG);
  eatInt(count);
}

static void ring(MPI_Comm comm) {
  int r, n;
  double got[16];
  MPI_Status status;
  MPI_Comm_rank(comm, &r);
  MPI_Comm_size(comm, &n);
  MPI_Sendrecv(own, 16, MPI_DOUBLE, (r + 1) % n, 5, got, 16, MPI_DOUBLE, (r + n - 1) % n, 5, comm, &status);
  eat(got, sizeof got);
  eatStatus(&status, MPI_DOUBLE);
}

static void workers(void) {
  MPI_Status status;
  int x = rank * 7;
  if (rank != 0) {
    MPI_Send(&x, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
    MPI_Recv(&x, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    eatInt(x);
  }
  for (int i = 1; rank == 0 && i < size; ++i) {
    MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &status);
    eatInt(x);
    eatStatus(&status, MPI_INT);
    MPI_Send(&x, 1, MPI_INT, status.MPI_SOURCE, 9, MPI_COMM_WORLD);
  }
}

static void requests(void) {
  MPI_Datatype every;
  MPI_Type_vector(8, 1, 2, MPI_DOUBLE, &every);
  MPI_Type_commit(&every);
  double(*in)[16] = calloc((size_t)size, sizeof *in);
  MPI_Request* request = malloc(2 * (size_t)size * sizeof *request);
  MPI_Status* status = malloc(2 * (size_t)size * sizeof *status);
  int* done = malloc((size_t)size * sizeof *done);
  for (int i = 0; i < size; ++i) {
    MPI_Irecv(in[i], 1, every, i, 11, MPI_COMM_WORLD, &request[i]);
    MPI_Isend(own, 8, MPI_DOUBLE, i, 11, MPI_COMM_WORLD, &request[size + i]);
  }
  MPI_Waitall(2 * size, request, status);
  eat(in, (size_t)size * sizeof *in);
  for (int i = 0; i < size; ++i) {
    eatStatus(&status[i], MPI_DOUBLE);
    MPI_Irecv(in[i], 16, MPI_DOUBLE, MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, &request[i]);
  }
  for (int i = 0; i < size; ++i) {
    MPI_Send(own, 16 - rank % 4, MPI_DOUBLE, i, 12, MPI_COMM_WORLD);
  }
  for (int left = size; left > 0;) {
    int some = 1;
    if (left % 2 != 0) {
      MPI_Waitany(size, request, done, status);
    } else {
      do {
        MPI_Testsome(size, request, &some, done, status);
      } while (some == 0);
    }
    for (int i = 0; i < some; ++i) {
      eatInt(done[i]);
      eat(in[done[i]], 13 * sizeof(double));
      eatStatus(&status[i], MPI_DOUBLE);
    }
    left -= some;
  }
  MPI_Recv_init(in[0], 4, MPI_DOUBLE, (rank + size - 1) % size, 30, MPI_COMM_WORLD, &request[0]);
  MPI_Send_init(own, 4, MPI_DOUBLE, (rank + 1) % size, 30, MPI_COMM_WORLD, &request[1]);
  for (int i = 0; i < 3; ++i) {
    own[0] += i;
    MPI_Startall(2, request);
    MPI_Waitall(2, request, status);
    eat(in[0], 4 * sizeof(double));
    eatStatus(&status[0], MPI_DOUBLE);
  }
  MPI_Request_free(&request[0]);
  MPI_Request_free(&request[1]);
  MPI_Type_free(&every);
  free(in);
  free(request);
  free(status);
  free(done);
}

static void probes(void) {
  const int to = (rank + 1) % size;
  double got[16];
  MPI_Status status;
  MPI_Message message;
  MPI_Request request;
  int count, flag = 0;
  MPI_Send(own, rank % 16, MPI_DOUBLE, to, 20, MPI_COMM_WORLD);
  MPI_Send(own, 3, MPI_DOUBLE, to, 21, MPI_COMM_WORLD);
  MPI_Send(own, 5, MPI_DOUBLE, to, 22, MPI_COMM_WORLD);
  while (rank % 3 != 0 && flag == 0) {
    MPI_Iprobe(MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, &flag, &status);
  }
  if (flag == 0) {
    MPI_Probe(MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, &status);
  }
  eatStatus(&status, MPI_DOUBLE);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  MPI_Recv(got, count, MPI_DOUBLE, status.MPI_SOURCE, 20, MPI_COMM_WORLD, &status);
  eat(got, (size_t)count * sizeof *got);
  MPI_Mprobe(MPI_ANY_SOURCE, 21, MPI_COMM_WORLD, &message, &status);
  eatStatus(&status, MPI_DOUBLE);
  MPI_Mrecv(got, 16, MPI_DOUBLE, &message, &status);
  eat(got, 3 * sizeof *got);
  for (flag = 0; flag == 0;) {
    MPI_Improbe(MPI_ANY_SOURCE, 22, MPI_COMM_WORLD, &flag, &message, &status);
  }
  MPI_Imrecv(got, 16, MPI_DOUBLE, &message, &request);
  MPI_Wait(&request, &status);
  eat(got, 5 * sizeof *got);
  eatStatus(&status, MPI_DOUBLE);
}

static void collectives(MPI_Comm comm) {
  int r, n;
  MPI_Comm_rank(comm, &r);
  MPI_Comm_size(comm, &n);
  const size_t all = 16 * (size_t)n;
  double* a = calloc(all, sizeof *a);
  double* b = calloc(all, sizeof *b);
  int* counts = malloc((size_t)n * sizeof *counts);
  int* at = malloc((size_t)n * sizeof *at);
  double got[16];
  MPI_Request request[3];
  for (int i = 0; i < n; ++i) {
    counts[i] = 1 + i % 3;
    at[i] = 4 * i;
  }
  for (int root = 0; root < n; ++root) {
    for (int i = 0; i < 16; ++i) {
      a[i] = r == root ? own[i] + root : 0;
    }
    MPI_Bcast(a, 16, MPI_DOUBLE, root, comm);
    eat(a, 16 * sizeof *a);
    MPI_Gather(own, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, root, comm);
    MPI_Scatter(b, 2, MPI_DOUBLE, got, 2, MPI_DOUBLE, root, comm);
    eat(got, 2 * sizeof *got);
    MPI_Gatherv(own, counts[r], MPI_DOUBLE, b, counts, at, MPI_DOUBLE, root, comm);
    MPI_Scatterv(b, counts, at, MPI_DOUBLE, got, counts[r], MPI_DOUBLE, root, comm);
    eat(got, (size_t)counts[r] * sizeof *got);
    MPI_Reduce(own, b, 4, MPI_DOUBLE, MPI_MAX, root, comm);
    eat(b, all * sizeof *b);
  }
  MPI_Allreduce(own, a, 16, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allgather(own, 3, MPI_DOUBLE, b, 3, MPI_DOUBLE, comm);
  eat(a, all * sizeof *a);
  eat(b, all * sizeof *b);
  MPI_Allgatherv(own, counts[r], MPI_DOUBLE, b, counts, at, MPI_DOUBLE, comm);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, 1, MPI_DOUBLE, comm);
  eat(a, all * sizeof *a);
  eat(b, all * sizeof *b);
  for (size_t i = 0; i < all; ++i) {
    a[i] = r * 1000 + (double)i;
  }
  MPI_Alltoall(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, comm);
  eat(b, all * sizeof *b);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, 2, MPI_DOUBLE, comm);
  eat(a, all * sizeof *a);
  for (int i = 0; i < n; ++i) {
    counts[i] = 1 + (i + r) % 3;
  }
  MPI_Alltoallv(a, counts, at, MPI_DOUBLE, b, counts, at, MPI_DOUBLE, comm);
  eat(b, all * sizeof *b);
  MPI_Scan(own, got, 4, MPI_DOUBLE, MPI_SUM, comm);
  eat(got, 4 * sizeof *got);
  MPI_Exscan(own, got, 4, MPI_DOUBLE, MPI_SUM, comm);
  eat(got, 4 * sizeof *got);
  MPI_Reduce_scatter_block(a, got, 2, MPI_DOUBLE, MPI_SUM, comm);
  eat(got, 2 * sizeof *got);
  MPI_Barrier(comm);
  MPI_Ibcast(a, 16, MPI_DOUBLE, n - 1, comm, &request[0]);
  MPI_Iallreduce(own, b, 16, MPI_DOUBLE, MPI_SUM, comm, &request[1]);
  MPI_Ibarrier(comm, &request[2]);
  MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
  MPI_Ialltoall(a, 1, MPI_DOUBLE, b, 1, MPI_DOUBLE, comm, &request[0]);
  MPI_Wait(&request[0], MPI_STATUS_IGNORE);
  eat(a, all * sizeof *a);
  eat(b, all * sizeof *b);
  free(a);
  free(b);
  free(counts);
  free(at);
}

static void communicators(void) {
  MPI_Comm copy, pair, half, made;
  MPI_Group world, group;
  int me = 0, there, same;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(copy, rank / 2, -rank, &pair);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  ring(copy);
  ring(pair);
  ring(half);
  collectives(pair);
  collectives(half);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_group(half, &group);
  MPI_Group_translate_ranks(group, 1, &me, world, &there);
  eatInt(there);
  MPI_Comm_create(MPI_COMM_WORLD, group, &made);
  MPI_Comm_compare(made, half, &same);
  eatInt(same == MPI_CONGRUENT);
  ring(made);
  MPI_Comm_free(&made);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &made);
  ring(made);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  MPI_Comm_free(&made);
  if (size > 1) {  // two sides
    MPI_Comm inter, merged;
    int others;
    double got[4];
    MPI_Status status;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 77, &inter);
    MPI_Comm_remote_size(inter, &others);
    eatInt(others);
    MPI_Comm_rank(inter, &me);
    if (me < others) {
      MPI_Sendrecv(own, 4, MPI_DOUBLE, me, 6, got, 4, MPI_DOUBLE, me, 6, inter, &status);
      eat(got, sizeof got);
      eatStatus(&status, MPI_DOUBLE);
    }
    got[0] = own[0];
    MPI_Bcast(got, 4, MPI_DOUBLE, rank % 2 == 1 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    eat(got, sizeof *got);
    MPI_Intercomm_merge(inter, rank % 2, &merged);
    ring(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
  }
  MPI_Comm_free(&pair);
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);
}

static void topologies(void) {
  int sides[2] = {0, 0}, periods[2] = {1, 0}, at[2], keep[2] = {1, 0}, before, after;
  MPI_Comm grid, column, graph;
  double got[16] = {0};
  MPI_Dims_create(size, 2, sides);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periods, 0, &grid);
  MPI_Cart_coords(grid, rank, 2, at);
  eat(at, sizeof at);
  MPI_Cart_shift(grid, 0, 1, &before, &after);
  eatInt(before);
  eatInt(after);
  MPI_Neighbor_alltoall(own, 2, MPI_DOUBLE, got, 2, MPI_DOUBLE, grid);
  eat(got, sizeof got);
  MPI_Cart_sub(grid, keep, &column);
  ring(column);
  MPI_Cart_shift(column, 0, 1, &before, &after);
  eatInt(before);
  eatInt(after);
  MPI_Comm_free(&column);
  MPI_Comm_free(&grid);
  before = (rank + size - 1) % size;
  after = (rank + 1) % size;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &rank, 1, &after, &after, MPI_INFO_NULL, 0, &graph);
  MPI_Neighbor_allgather(own, 4, MPI_DOUBLE, got, 4, MPI_DOUBLE, graph);
  eat(got, sizeof got);
  MPI_Comm_free(&graph);
}

/* What is asked of requests beside waiting, and a type that is freed while it is received into. */
static void freedAndLookedAt(void) {
  const int from = (rank + size - 1) % size, to = (rank + 1) % size;
  double got[16] = {0};
  int done = 0;
  MPI_Datatype pairs;
  MPI_Request request;
  MPI_Status status;
  MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &pairs);
  MPI_Type_commit(&pairs);
  MPI_Irecv(got, 1, pairs, from, 41, MPI_COMM_WORLD, &request);
  MPI_Type_free(&pairs);
  MPI_Send(own, 3, MPI_DOUBLE, to, 41, MPI_COMM_WORLD);
  do {
    MPI_Request_get_status(request, &done, &status);
  } while (done == 0);
  eat(got, sizeof got);
  MPI_Wait(&request, &status);
  eatStatus(&status, MPI_DOUBLE);
  MPI_Type_contiguous(2, MPI_DOUBLE, &pairs);
  MPI_Type_commit(&pairs);
  MPI_Recv_init(got, 2, pairs, from, 42, MPI_COMM_WORLD, &request);
  MPI_Type_free(&pairs);
  for (int i = 0; i < 2; ++i) {
    MPI_Request_get_status(request, &done, &status);
    eatInt(done);
    MPI_Start(&request);
    MPI_Send(own + i, 4, MPI_DOUBLE, to, 42, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    eat(got, 4 * sizeof *got);
    eatStatus(&status, MPI_DOUBLE);
  }
  MPI_Request_free(&request);
  MPI_Irecv(got, 1, MPI_DOUBLE, from, 43, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &done);
  eatInt(done);
}

static void large(void) {
  enum { kBytes = 200000 };
  char* sent = malloc(kBytes);
  char* got = malloc(kBytes);
  MPI_Request request;
  MPI_Status status;
  memset(sent, 'a' + rank, kBytes);
  MPI_Issend(sent, kBytes, MPI_CHAR, (rank + 1) % size, 31, MPI_COMM_WORLD, &request);
  MPI_Recv(got, kBytes, MPI_CHAR, (rank + size - 1) % size, 31, MPI_COMM_WORLD, &status);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  eat(got, kBytes);
  eatStatus(&status, MPI_CHAR);
  MPI_Sendrecv_replace(own, 16, MPI_DOUBLE, (rank + 2) % size, 3, (rank + 2 * size - 2) % size, 3, MPI_COMM_WORLD, &status);
  eat(own, sizeof own);
  eatStatus(&status, MPI_DOUBLE);
  free(sent);
  free(got);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  eatInt(rank);
  eatInt(size);
  for (int i = 0; i < 16; ++i) {
    own[i] = rank * 100 + i;
  }
  ring(MPI_COMM_WORLD);
  workers();
  if (strcmp(how, "window") == 0) {
    int word = 0;
    MPI_Win window;
    MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_free(&window);
    ring(MPI_COMM_WORLD);
  } else if (strcmp(how, "abort") == 0) {
    printf("rank %d of %d received %016lx\n", rank, size, hash);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Recv(own, 1, MPI_DOUBLE, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    requests();
    probes();
    collectives(MPI_COMM_WORLD);
    communicators();
    topologies();
    freedAndLookedAt();
    large();
  }
  printf("rank %d of %d received %016lx\n", rank, size, hash);
  MPI_Finalize();
  return 0;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks with MPI_THREAD_MULTIPLE, of groups that are replayed apart; each prints a hash of what it received.
//   apart_threads one       the first thread calls MPI, another computes
//   apart_threads pairs     and another exchanges messages with the neighbour's (0 with 1, 2 with 3 …)
//   apart_threads both      and another receives from the ranks before it
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int rank, size;
static const char* mode;
static MPI_Comm of_threads, of_pairs;

static unsigned long eat(unsigned long hash, const void* bytes, size_t count) {
  const unsigned char* at = bytes;
  for (size_t i = 0; i < count; ++i) {
    hash = (hash ^ at[i]) * 1099511628211UL;
  }
  return hash;
}

static unsigned long ring(MPI_Comm comm, unsigned long hash, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    int got[2], own[2] = {rank * 1000 + i, (int)hash};
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(got, 2, MPI_INT, i % 2 != 0 ? MPI_ANY_SOURCE : (rank + size - 1) % size, i, comm, &request);
    MPI_Send(own, 2, MPI_INT, (rank + 1) % size, i, comm);
    MPI_Wait(&request, &status);
    hash = eat(hash, got, sizeof got);
    hash = eat(hash, &status.MPI_SOURCE, sizeof status.MPI_SOURCE);
  }
  return hash;
}

static unsigned long pairs(MPI_Comm comm, unsigned long hash) {
  int r, n;
  MPI_Comm_rank(comm, &r);
  MPI_Comm_size(comm, &n);
  for (int i = 0; n > 1 && i < 50; ++i) {
    int got = 0, own = rank + i;
    MPI_Request request;
    MPI_Irecv(&got, 1, MPI_INT, 1 - r, 3, comm, &request);
    MPI_Send(&own, 1, MPI_INT, 1 - r, 3, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    hash = eat(hash, &got, sizeof got);
  }
  return hash;
}

static void* other(void* argument) {
  unsigned long* const hash = argument;
  if (strcmp(mode, "pairs") == 0) {
    *hash = pairs(of_pairs, *hash);
  } else if (strcmp(mode, "both") == 0) {
    *hash = ring(of_threads, *hash, 20);
  } else {
    *hash = eat(*hash, mode, strlen(mode));
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  mode = argc > 1 ? argv[1] : "one";
  if (provided != MPI_THREAD_MULTIPLE) {
    printf("rank %d: level %d\n", rank, provided);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &of_threads);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &of_pairs);
  unsigned long hash = ring(MPI_COMM_WORLD, 1469598103934665603UL, 10), others = 7;
  printf("rank %d begins with %016lx\n", rank, hash);
  fflush(stdout);
  pthread_t thread;
  pthread_create(&thread, NULL, other, &others);
  hash = ring(MPI_COMM_WORLD, hash, 100);
  pthread_join(thread, NULL);
  MPI_Group world, mine;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const int even[1][3] = {{rank % 2, size - 1 - (size - 1 + rank) % 2, 2}};
  MPI_Group_range_incl(world, 1, (int(*)[3])even, &mine);
  MPI_Comm_create_group(MPI_COMM_WORLD, mine, 4, &made);
  int sum = rank;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, made);
  hash = eat(ring(of_threads, hash, 3), &sum, sizeof sum);
  MPI_Comm_free(&made);
  MPI_Group_free(&world);
  MPI_Group_free(&mine);
  MPI_Comm_free(&of_threads);
  MPI_Comm_free(&of_pairs);
  printf("rank %d of %d received %016lx\n", rank, size, hash ^ others);
  MPI_Finalize();
  return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 * A ring of messages; then the last rank ends the job while the others are in a call with it, or poll for it. What they print
 * behind that call they never printed in a run. "kill": the last rank ends itself by SIGKILL. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank, size, x;
static MPI_Comm made;
static MPI_Request request;

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void dup_comm(void) { MPI_Comm_dup(MPI_COMM_WORLD, &made); }
static void ssend(void) { MPI_Ssend(&x, 1, MPI_INT, size - 1, 9, MPI_COMM_WORLD); }
static void receive(void) { MPI_Recv(&x, 1, MPI_INT, size - 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
static void reduce(void) { int sum; MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }

static void test(void) {
  int done = 0;
  MPI_Irecv(&x, 1, MPI_INT, size - 1, 9, MPI_COMM_WORLD, &request);
  while (!done) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
}

static void probe(void) {
  int there = 0;
  while (!there) {
    MPI_Iprobe(size - 1, 9, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kAll[] = {{"barrier", barrier}, {"dup", dup_comm}, {"ssend", ssend}, {"recv", receive},
              {"allreduce", reduce}, {"test", test},   {"iprobe", probe}, {"kill", barrier}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int got = 0;
  x = rank;
  for (int i = 0; i < 3; ++i) {
    MPI_Sendrecv(&x, 1, MPI_INT, (rank + 1) % size, i, &got, 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    x = 3 * got + rank;
  }
  printf("rank %d: ring %d\n", rank, x);
  fflush(stdout);
  if (rank == size - 1) {
    usleep(300000); /* the others are there by then */
    if (strcmp(argv[1], "kill") == 0) {
      raise(SIGKILL);
    }
    MPI_Abort(MPI_COMM_WORLD, 7);
  }
  for (size_t i = 0; i < sizeof kAll / sizeof *kAll; ++i) {
    if (strcmp(argv[1], kAll[i].name) == 0) {
      kAll[i].run();
    }
  }
  printf("rank %d: beyond\n", rank);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}

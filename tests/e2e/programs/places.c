/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the launcher says in the environment of which rank this is, before and behind MPI_Init, and what MPI says. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char text[4096]; /* written at once: lines of ranks do not mix */
static int length;

static void add(const char* format, ...) {
  va_list values;
  va_start(values, format);
  length += vsnprintf(text + length, sizeof text - (size_t)length, format, values);
  va_end(values);
}

static void say(const char* when, int rank) {
  static const char* const kNames[] = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                                       "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"};
  add("rank %d: %s", rank, when);
  for (size_t i = 0; i < sizeof kNames / sizeof *kNames; ++i) {
    const char* const value = getenv(kNames[i]);
    add(" %s", value != NULL ? value : "-");
  }
  add("\n");
}

int main(int argc, char** argv) {
  const char* own = getenv("OMPI_COMM_WORLD_RANK");
  own = own != NULL ? own : getenv("PMI_RANK");
  int rank, size, there = 0, got = -1;
  char most[32] = "-";
  say("before", atoi(own)); /* a program that has no idea that it may be NULL */
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  say("behind", rank);
  MPI_Info_get(MPI_INFO_ENV, "maxprocs", sizeof most - 1, most, &there);
  add("rank %d: %s processes, argument %s\n", rank, most, argc > 1 ? argv[1] : "-");
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  add("rank %d: got %d\n", rank, got);
  MPI_Finalize();
  return write(STDOUT_FILENO, text, (size_t)length) == length ? 0 : 1;
}

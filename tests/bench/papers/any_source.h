// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Meehan, 6.1: every rank sends each other rank so many messages and takes as many from anybody. The three
 * programs differ in how they take one: Recv; Probe and Recv; Iprobe until something has come, and Recv.
 */
#ifndef BENCH_PAPERS_ANY_SOURCE_H
#define BENCH_PAPERS_ANY_SOURCE_H
#include "papers.h"

enum { DONE = 1 };

/* Takes one message from anybody; returns its sender. */
typedef int (*take_message)(int* value);

/* All sends come first, so that every message races: with 4 ranks, 1499 of a rank's 1500 must be traced. */
static inline int any_source(int argc, char** argv, const char* name, take_message take) {
  const struct world world = begin(&argc, &argv, 2);
  const int each = argument(argc, argv, 1, 500);
  int *next = room((size_t)world.size, sizeof *next), ok = 1;
  for (int value = 0; value < each; ++value)
    for (int to = 0; to < world.size; ++to)
      if (to != world.rank)
        MPI_Send(&value, 1, MPI_INT, to, DONE, MPI_COMM_WORLD);
  for (int i = 0; i < each * (world.size - 1); ++i) {
    int value;
    const int from = take(&value);
    ok = ok && value == next[from]++;
  }
  for (int from = 0; from < world.size; ++from)
    ok = ok && next[from] == (from == world.rank ? 0 : each);
  free(next);
  return verdict(world, name, ok, "messages=%d", each * world.size * (world.size - 1));
}
#endif

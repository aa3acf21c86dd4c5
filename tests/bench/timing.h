// SPDX-License-Identifier: GPL-3.0-or-later
/* Inner rounds, their median and their minimum: a load on the machine hits some rounds, not all. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 101 };

static inline int by_size(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

/* Sorts the seconds of the rounds and prints them, for one round of so many messages. */
static inline void report(const char* name, double* seconds, int rounds, long messages, int bytes) {
  double sum = 0.0;
  for (int i = 0; i < rounds; ++i)
    sum += seconds[i];
  qsort(seconds, (size_t)rounds, sizeof *seconds, by_size);
  const double median = seconds[rounds / 2];
  printf("bench=%s seconds=%.9f minimum=%.9f tenth=%.9f total=%.6f messages=%ld bytes=%d us=%.4f\n",
         name, median, seconds[0], seconds[rounds / 10], sum, messages, bytes,
         1e6 * median / (double)messages);
  fflush(stdout);
}

static inline int argument(int argc, char** argv, int index, int otherwise) {
  return argc > index ? atoi(argv[index]) : otherwise;
}
#endif

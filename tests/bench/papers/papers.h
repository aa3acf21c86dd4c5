// SPDX-License-Identifier: GPL-3.0-or-later
/* What the programs of this folder share: start, arguments, random numbers, shares of work, verdict. */
#ifndef BENCH_PAPERS_H
#define BENCH_PAPERS_H
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

struct world {
  int rank, size;
};

static inline struct world begin(int* argc, char*** argv, int fewest) {
  struct world world;
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.size);
  if (world.size < fewest) {
    fprintf(stderr, "%s: needs at least %d ranks\n", (*argv)[0], fewest);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return world;
}

/* The positive number at that place of the command line. */
static inline int argument(int argc, char** argv, int index, int otherwise) {
  const int value = argc > index ? atoi(argv[index]) : otherwise;
  if (value < 1) {
    fprintf(stderr, "%s: argument %d must be a positive number\n", argv[0], index);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return value;
}

static inline void* room(size_t count, size_t size) {
  void* memory = calloc(count > 0 ? count : 1, size);
  if (memory == NULL)
    MPI_Abort(MPI_COMM_WORLD, 2);
  return memory;
}

/* Parts 0 to parts - 1 of n things are contiguous: a part begins here and ends where the next begins. */
static inline int first_of(int n, int parts, int part) {
  return (int)((long)n * part / parts);
}

static inline uint64_t mixed(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

static inline uint64_t next_random(uint64_t* state) {
  return mixed(*state += 0x9e3779b97f4a7c15u);
}

/* Element (i, j) of a random matrix over [-1, 1): every rank can make it without being told. */
static inline double entry(uint64_t seed, int i, int j) {
  const uint64_t bits = mixed(seed + mixed(((uint64_t)(unsigned)i << 32) + (unsigned)j + 1));
  return (double)(bits >> 11) / (double)(1ll << 52) - 1.0;
}

/* The greater of the two; unlike fmax, it does not hide that one of them is not a number. */
static inline double worse(double most, double error) {
  return isnan(most) || error <= most ? most : error;
}

static inline void verdict_line(const char* name, int ok, const char* format, va_list values) {
  printf("%s: %s ", name, ok ? "ok" : "WRONG");
  vprintf(format, values);
  printf("\n");
  fflush(stdout);
}

/* Ends the program: rank 0 prints its line, any rank that found a wrong result does too; the exit status. */
static inline int verdict(struct world world, const char* name, int ok, const char* format, ...) {
  if (world.rank == 0 || !ok) {
    va_list values;
    va_start(values, format);
    verdict_line(name, ok, format, values);
    va_end(values);
  }
  MPI_Finalize();
  return ok ? 0 : 1;
}
#endif

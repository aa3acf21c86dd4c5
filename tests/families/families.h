// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What every family uses. A family is one function; it puts all that it received into a hash, in an
 * order that does not depend on timing, and the harness prints one line for it.
 */
#ifndef FAMILIES_H
#define FAMILIES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <mpi.h>

enum { MAX_RANKS = 16, COUNT = 5, LARGE = 20000 };

extern int my_rank, ranks, apart;

struct family {
  const char* name;
  void (*run)(int how);
  int how;
};

/* Tables end with a null name. */
extern const struct family attribute_families[], collective_move_families[],
    collective_reduce_families[], collective_special_families[], communicator_families[],
    completion_families[], completion_any_families[], datatype_families[], datatype_made_families[],
    environment_families[], error_families[], group_families[], handle_families[],
    in_place_families[], intercomm_families[], io_families[], io_collective_families[],
    io_shared_families[], neighbour_families[], nobody_families[], operation_families[],
    receive_families[], rma_families[], rma_epoch_families[], send_families[], tool_families[],
    topology_families[];

/* Elements that name their sender: seed and index say the value. */
int element(int seed, int index);
void make(int* data, int count, int seed);
/* Checks the elements against the seed, and takes them into the hash. */
void take_made(const int* data, int count, int seed);
void take(const void* data, size_t bytes);
void take_int(long long value);
/* A choice that MPI made (a source, an index, a number of polls): not in the hash, but in --orders. */
void chose(long long value);

void check_at(int good, const char* file, int line, const char* what);
#define CHECK(condition) check_at((condition) != 0, __FILE__, __LINE__, #condition)

/* Point-to-point from anybody, and collectives, on a communicator of any kind within the group. */
void use_communicator(MPI_Comm comm);

/* A new file in the current directory, open on all ranks; closed and removed again. */
MPI_File open_file(const char* name);
void close_file(MPI_File* file, const char* name);

/* For main(): what one family found, and the one line that is printed of it. */
void begin_family(void);
int end_family(const char* name, int with_order);

static inline int left_of(int distance) {
  return (my_rank - distance % ranks + ranks) % ranks;
}
static inline int right_of(int distance) {
  return (my_rank + distance) % ranks;
}

#endif

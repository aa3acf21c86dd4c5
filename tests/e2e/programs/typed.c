/* SPDX-License-Identifier: GPL-3.0-or-later
 * Rank 0 sends rank 1 of what payload_test.py looks at: basic types, structs, types of which some are freed and made again. */
#include <mpi.h>
#include <stddef.h>
#include <string.h>

struct Particle {
  double place[3];
  int number;
  char name[4];
};

static MPI_Datatype particle(void) {
  const int lengths[] = {3, 1, 4};
  const MPI_Aint places[] = {offsetof(struct Particle, place), offsetof(struct Particle, number), offsetof(struct Particle, name)};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
  MPI_Datatype packed, type;
  MPI_Type_create_struct(3, lengths, places, types, &packed);
  MPI_Type_create_resized(packed, 0, sizeof(struct Particle), &type);
  MPI_Type_free(&packed);
  MPI_Type_set_name(type, "Particle");
  MPI_Type_commit(&type);
  return type;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int numbers[] = {1, -2, 300000};
  int got[3];
  if (rank == 0) {
    MPI_Send(numbers, 3, MPI_INT, 1, 5, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(got, 3, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < 3; ++i) {  /* the same type three times, then one that may have its handle */
    MPI_Datatype type = particle();
    struct Particle all[2] = {{{0.5, i, -1e300}, 7, "abc"}, {{1, 2, 3}, 8, "def"}};
    MPI_Request request;
    if (rank == 0) {
      MPI_Send(all, 2, type, 1, 6, MPI_COMM_WORLD);
      MPI_Type_free(&type);
    } else if (rank == 1) {
      MPI_Irecv(all, 2, type, 0, 6, MPI_COMM_WORLD, &request);
      MPI_Type_free(&type);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Type_free(&type);
    }
    MPI_Type_vector(3, 1, 2, MPI_SHORT, &type);
    MPI_Type_commit(&type);
    short shorts[6] = {1, 99, 2, 99, 3, 99};
    if (rank == 0) {
      MPI_Send(shorts, 1, type, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
      MPI_Recv(shorts, 1, type, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&type);
  }
  for (int i = 0; i < 2; ++i) {  /* made where the last one was */
    float floats[2] = {1.5f, 2.5f};
    MPI_Datatype type;
    MPI_Type_contiguous(2, i == 0 ? MPI_FLOAT : MPI_UNSIGNED, &type);
    MPI_Type_commit(&type);
    if (rank == 0) {
      MPI_Send(floats, 1, type, 1, 8, MPI_COMM_WORLD);
    } else if (rank == 1) {
      MPI_Recv(floats, 1, type, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&type);
  }
  int many[1000] = {1};
  if (rank == 0) {
    MPI_Send(many, 1000, MPI_INT, 1, 9, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Probe(0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(many, 1000, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  double mine = rank + 0.25, sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  char large[100000];
  memset(large, 'x', sizeof large);
  MPI_Bcast(large, sizeof large, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}

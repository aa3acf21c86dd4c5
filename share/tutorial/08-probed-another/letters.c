/* SPDX-License-Identifier: GPL-3.0-or-later
 * Each rank sends rank 0 a letter, longer the higher the rank is. Rank 0 asks how long the next one is, and takes it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void write_letter(int rank) {
  const int length = 100 * rank;
  char* letter = malloc((size_t)length);
  for (int i = 0; i < length; ++i) letter[i] = (char)('a' + rank);
  MPI_Send(letter, length, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
  free(letter);
}

static int read_letter(void) {
  MPI_Status status;
  int length = 0;
  usleep(50000); /* it is a slow reader */
  MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_CHAR, &length);
  char* letter = malloc((size_t)length);
  MPI_Recv(letter, length, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  free(letter);
  return length;
}

int main(int argc, char** argv) {
  int rank, ranks, letters = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) {
    for (int from = 1; from < ranks; ++from) letters += read_letter();
    printf("%d characters\n", letters);
  } else {
    write_letter(rank);
  }
  MPI_Finalize();
  return 0;
}

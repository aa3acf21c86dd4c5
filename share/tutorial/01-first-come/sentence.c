/* SPDX-License-Identifier: GPL-3.0-or-later
 * Rank 0 writes a sentence. Each other rank sends one word of it. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LETTERS 24

static const char* const words[] = {"", "who", "comes", "first"};

static void send_word(int rank) {
  char word[LETTERS] = "";
  strcpy(word, words[rank]);
  usleep((useconds_t)rank * 20000); /* it has to think */
  MPI_Send(word, LETTERS, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
}

/* 0: it is right. */
static int write_sentence(int ranks) {
  char word[LETTERS];
  char sentence[4 * LETTERS] = "";
  for (int from = 1; from < ranks; ++from) {
    MPI_Recv(word, LETTERS, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    strcat(sentence, word);
    strcat(sentence, " ");
  }
  printf("%s\n", sentence);
  return strcmp(sentence, "who comes first ") != 0;
}

int main(int argc, char** argv) {
  int rank, ranks, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 4) {
    if (rank == 0) fprintf(stderr, "start it with 4 ranks\n");
    MPI_Finalize();
    return 2;
  }
  if (rank == 0) {
    wrong = write_sentence(ranks);
  } else {
    send_word(rank);
  }
  MPI_Finalize();
  return wrong;
}

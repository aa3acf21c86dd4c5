/* SPDX-License-Identifier: GPL-3.0-or-later
 * Races for flip_test.py and orders_test.py, by the first argument. Four ranks; rank 0 receives from any source.
 *   harvest  a message of each other rank; fails with status 3 if rank 2's is the first
 *   pairs    ranks 1 and 2 send to rank 0, which takes what comes, and to rank 3, which takes them by name
 *   answers  rank 1 sends again when it is answered
 *   twice    rank 1 sends two messages
 *   stuck    if rank 3's message comes before rank 1's, rank 0 waits for one that nobody sends
 *   swap     the same in MPI_Sendrecv, of which nobody can prove that it never ends
 *   late     of twelve messages, fails if the tenth is rank 2's
 *   both     fails if rank 3 is first, and rank 1 last
 *   short    rank 2's message fits the first receive only: another one ends the job inside of MPI_Recv
 *   any      fails if MPI_Waitany gives rank 2's message before rank 1's: both are asked for by name
 *   behind   ends by a signal behind MPI_Finalize if rank 2's message is the first
 *   once     ends so in no order, but once where the file "crash" lies
 *   never    fails in no order
 *   always   fails in each */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank;

static int take(int source, int tag) {
  int value;
  MPI_Status status;
  MPI_Recv(&value, 1, MPI_INT, source, tag, MPI_COMM_WORLD, &status);
  printf("%d from %d\n", rank, status.MPI_SOURCE);
  return status.MPI_SOURCE;
}

static void give(int to, int tag) {
  MPI_Send(&rank, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
}

/* What each receive of rank 0 takes, of `each` messages of the other three. */
static int gather(int each, int* took) {
  if (rank != 0) {
    for (int i = 0; i < each; ++i) {
      give(0, 1);
    }
    return 0;
  }
  for (int i = 0; i < 3 * each; ++i) {
    took[i] = take(MPI_ANY_SOURCE, 1);
  }
  return 1;
}

/* Rank 2's message has two numbers, and only the first receive room for them. */
static int gather_short(void) {
  const int sent[2] = {rank, rank};
  int taken[2];
  if (rank != 0) {
    MPI_Send(sent, rank == 2 ? 2 : 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    return 0;
  }
  for (int i = 0; i < 3; ++i) {
    MPI_Recv(taken, i == 0 ? 2 : 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return 0;
}

static int gather_any(void) {
  int taken[2];
  int first;
  int second;
  MPI_Request requests[2];
  if (rank == 1 || rank == 2) {
    give(0, 1);
  }
  if (rank != 0) {
    return 0;
  }
  MPI_Irecv(&taken[0], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&taken[1], 1, MPI_INT, 2, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitany(2, requests, &first, MPI_STATUS_IGNORE);
  MPI_Waitany(2, requests, &second, MPI_STATUS_IGNORE);
  return first == 1;
}

static int run(const char* what) {
  int took[12] = {0};
  if (strcmp(what, "short") == 0) {
    return gather_short();
  }
  if (strcmp(what, "any") == 0) {
    return gather_any() ? 3 : 0;
  }
  if (strcmp(what, "harvest") == 0) {
    return gather(1, took) && took[0] == 2 ? 3 : 0;
  }
  if (strcmp(what, "late") == 0) {
    return gather(4, took) && took[9] == 2 ? 3 : 0;
  }
  if (strcmp(what, "both") == 0) {
    return gather(1, took) && took[0] == 3 && took[2] == 1 ? 3 : 0;
  }
  if (strcmp(what, "behind") == 0 || strcmp(what, "once") == 0) {
    const int first = gather(1, took) && (what[0] == 'b' ? took[0] == 2 : unlink("crash") == 0);
    return first ? -1 : 0;
  }
  if (strcmp(what, "never") == 0 || strcmp(what, "always") == 0) {
    return gather(1, took) && what[0] == 'a' ? 3 : 0;
  }
  if (strcmp(what, "stuck") == 0 || strcmp(what, "swap") == 0) {
    if (gather(1, took)) {
      for (int i = 0; i < 3 && took[i] != 1; ++i) {
        if (took[i] == 3 && what[1] == 't') {
          take(3, 9);
        } else if (took[i] == 3) {
          MPI_Sendrecv(&rank, 1, MPI_INT, 3, 8, &took[3], 1, MPI_INT, 3, 9, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
        }
      }
    }
  } else if (strcmp(what, "twice") == 0) {
    if (rank == 1) {
      give(0, 1);
      give(0, 1);
    } else if (rank == 0) {
      take(MPI_ANY_SOURCE, 1);
      take(MPI_ANY_SOURCE, 1);
    }
  } else if (strcmp(what, "answers") == 0) {
    if (rank == 1) {
      give(0, 1);
      take(0, 2);
      give(0, 1);
    } else if (rank == 0) {
      take(MPI_ANY_SOURCE, 1);
      give(1, 2);
      take(MPI_ANY_SOURCE, 1);
    }
  } else if (strcmp(what, "pairs") == 0) {
    if (rank == 0) {
      take(MPI_ANY_SOURCE, 1);
      take(MPI_ANY_SOURCE, 1);
    } else if (rank < 3) {
      give(0, 1);
      give(3, 2);
    } else {
      take(1, 2);
      take(2, 2);
    }
  }
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int status = run(argc > 1 ? argv[1] : "harvest");
  MPI_Finalize();
  if (status < 0) {
    raise(SIGSEGV);
  }
  return status;
}

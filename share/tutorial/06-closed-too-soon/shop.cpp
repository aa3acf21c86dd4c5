// SPDX-License-Identifier: GPL-3.0-or-later
// Rank 0 keeps the till of a shop. Customers pay; the last rank closes the shop when its own customer has paid.
#include <mpi.h>

#include <cstdio>
#include <vector>

enum Tag { Pay = 1, Close = 2 };

struct Till {
  std::vector<int> coins;
};

static Till* till = nullptr;

static void pay(int amount) {
  till->coins.push_back(amount);
}

static int closeShop() {
  int sum = 0;
  for (const int coin : till->coins) sum += coin;
  delete till;
  till = nullptr;
  return sum;
}

static void keepShop(int ranks) {
  till = new Till;
  int sum = 0;
  for (int messages = 0; messages < ranks; ++messages) {
    int amount = 0;
    MPI_Status status;
    MPI_Recv(&amount, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == Pay) {
      pay(amount);
    } else {
      sum = closeShop();
    }
  }
  std::printf("in the till: %d\n", sum);
}

static void buy(int rank, int ranks) {
  const int amount = 10 * rank;
  MPI_Send(&amount, 1, MPI_INT, 0, Pay, MPI_COMM_WORLD);
  if (rank == ranks - 1) MPI_Send(&amount, 1, MPI_INT, 0, Close, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) {
    keepShop(ranks);
  } else {
    buy(rank, ranks);
  }
  MPI_Finalize();
}
